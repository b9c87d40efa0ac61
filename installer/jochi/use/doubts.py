"""Statements that may be replaced, and what a person decides over them (DESIGN §16; docs/reference/facts.md)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.graph.driver_values import to_python

DoubtDecision = Literal["replaces", "both"]
"""The newer one takes the older one's place; or both hold."""

MOST = 1_000
"""Doubts that one call lists, and decides over, at most."""


@dataclass(frozen=True)
class Doubt:
    """``newer`` says something else of what ``older`` speaks of (keys), and nobody was sure that it takes its place. ``…_at``: from
    when each holds."""

    older: str
    newer: str
    scope: str
    older_content: str
    newer_content: str
    older_at: datetime | None
    newer_at: datetime | None


@dataclass(frozen=True)
class Doubts:
    """``doubts``, the newest first; ``more``: there are others than were asked for."""

    doubts: tuple[Doubt, ...]
    more: bool


@dataclass(frozen=True)
class DecidedDoubt:
    """What became of one doubt. ``outcome``: replaces | both, or why nothing was decided: unknown | pruned | no_doubt.
    ``missing``: which memory isn't there."""

    newer: str
    older: str
    outcome: str
    missing: str | None = None

    @property
    def done(self) -> bool:
        return self.outcome in get_args(DoubtDecision)

    @property
    def sentence(self) -> str:
        """The outcome in words, with what to do."""
        return {
            "replaces": f"{self.newer} takes the place of {self.older}",
            "both": f"{self.newer} and {self.older}: both hold",
            "unknown": f"there is no memory {self.missing}; `jochi observe --doubts` lists the pairs",
            "pruned": f"{self.missing} was pruned; `jochi restore` brings it back",
            "no_doubt": f"{self.newer} isn't said to replace {self.older}; `jochi observe --doubts` lists the pairs",
        }[self.outcome]


@dataclass(frozen=True)
class DecidedDoubts:
    """``run``: what `undo` takes back; None where nothing was decided. ``results`` in the order of the pairs."""

    run: str | None
    results: tuple[DecidedDoubt, ...]


def list_doubts(engine: Engine, *, scope: str | None = "default", limit: int = 100) -> Doubts:
    """Statements that may be replaced, with what may replace them, the newest first (``scope`` None: of all scopes), at most
    ``limit`` (1 to 1,000). Writes nothing. Reads every doubt there is. `UsageError` for another limit."""
    if not 1 <= limit <= MOST:
        raise UsageError(f"limit is {limit:,}", fix=f"1 to {MOST:,}")
    row = to_python(engine.call("observe/doubts", {"scope": scope, "limit": limit}, write=False))
    return Doubts(tuple(Doubt(**each) for each in row["doubts"]), row["more"])


def decide_doubts(
    engine: Engine, pairs: Iterable[Sequence[str]], decision: DoubtDecision, *, now: datetime, by: str
) -> DecidedDoubts:
    """Decides over ``pairs`` of keys (newer, older). The call is a run, which `undo` takes back.

    `UsageError` for what is no pair."""
    if decision not in get_args(DoubtDecision):
        raise UsageError(f"there is no decision {decision!r}", fix="replaces or both")
    asked = [() if isinstance(pair, str) else tuple(pair) for pair in pairs]
    if not asked or any(len(pair) != 2 or pair[0] == pair[1] for pair in asked):
        raise UsageError("no pair of two keys", fix="give the key of the newer one, then that of the older one")
    if len(asked) > MOST:
        raise UsageError(f"{len(asked):,} pairs at once", fix=f"give {MOST:,} at most")
    rows = [{"newer": newer, "older": older} for newer, older in asked]
    given = {"now": now, "run": f"decide/{uuid.uuid4()}", "by": by, "decision": decision, "pairs": rows}
    results = tuple(DecidedDoubt(**each) for each in engine.call("observe/decide_doubts", given)["results"])
    return DecidedDoubts(given["run"] if any(one.done for one in results) else None, results)  # type: ignore[arg-type]
