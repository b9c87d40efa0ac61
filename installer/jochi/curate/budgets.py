"""Token budgets: what the next runs would move, and what is above a budget because it is pinned (docs/reference/budgets.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from jochi import clock
from jochi.database.engine import Engine

_SCOPES_A_CALL = 500


@dataclass(frozen=True)
class BudgetMove:
    """``n`` memories of a scope, ``tokens`` together, that would go from one tier to another; ``samples`` names some."""

    scope: str
    before: str
    after: str
    n: int
    tokens: int
    samples: list[str]


@dataclass(frozen=True)
class Overflow:
    """What can't move weighs ``held`` tokens: ``above`` more than the tier's budget."""

    scope: str
    tier: str
    budget: int
    held: int
    above: int


@dataclass(frozen=True)
class BudgetPlan:
    """What `enforce_budgets` would do now with ``scopes`` scopes; ``moves`` and ``overflows`` name the first of them."""

    scopes: int
    memories: int
    moves: list[BudgetMove] = field(default_factory=list)
    overflows: list[Overflow] = field(default_factory=list)
    overflowing: int = 0


def plan_budgets(engine: Engine, scope: str | None = None, *, most: int = 100) -> BudgetPlan:
    """What the token budgets would move now, in one scope or in all (which reads every memory), and what is pinned above them.

    Names the first ``most`` moves and overflows; the counts are complete. Writes nothing.
    """
    scopes = memories = overflowing = 0
    moves: list[BudgetMove] = []
    overflows: list[Overflow] = []
    for looked_at, some, above in _pages(engine, scope):
        scopes += looked_at
        memories += sum(move.n for move in some)
        overflowing += len({over.scope for over in above})
        moves += some[: most - len(moves)]
        overflows += above[: most - len(overflows)]
    return BudgetPlan(scopes, memories, moves, overflows, overflowing)


def _pages(engine: Engine, scope: str | None) -> Iterator[tuple[int, list[BudgetMove], list[Overflow]]]:
    after: str | None = ""
    while after is not None:
        asked = {"now": clock.now(), "only": scope, "after": after, "most": _SCOPES_A_CALL}
        row = engine.call("tiers/plan_budgets", asked, write=False)
        moves = [BudgetMove(**move) for move in row["moves"]]
        yield row["looked_at"], moves, [Overflow(**over) for over in row["overflows"]]
        after = row["last"]
