"""What a run over the token budgets must leave, in plain Python, by seed 000 (Token Budget Enforcement) and DESIGN §8 and §9.

Written from those pages and not from the template, which it judges. It pops the least recently accessed memory until the rest
fits, tier by tier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import pairwise

from tests.oracle.memory import Memory, is_moment

TIERS = ("HOT", "WARM", "COLD", "ARCHIVE")
SEED = {"HOT": 1600, "WARM": 400, "COLD": 200}
_LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class Move:
    """One memory that had to go: from where to where; ``reason`` is the budget that pushed it out first."""

    start: str
    end: str
    reason: str


@dataclass(frozen=True)
class Outcome:
    """``moves`` by key; ``overflow``: by scope and tier, how many tokens what can't move has above the budget."""

    moves: Mapping[str, Move]
    overflow: Mapping[tuple[str, str], int]

    def tier(self, memory: Memory) -> object:
        """Where it stands afterwards."""
        move = self.moves.get(memory.key)
        return move.end if move else memory.properties.get("tier")


def tokens(memory: Memory) -> int:
    """A count that makes sense, else a quarter of the characters, else nothing."""
    count = memory.properties.get("token_count")
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return count
    content = memory.properties.get("body" if "Ticket" in memory.labels else "content")
    return -(-len(content) // 4) if isinstance(content, str) else 0


def recency(memory: Memory) -> tuple[datetime, str]:
    """Last access, else creation; what can't be read counts as longest ago; the key breaks ties."""
    value = memory.properties.get("last_accessed_at")
    if value is None:
        value = memory.get("created_at")
    return (value.astimezone(timezone.utc) if is_moment(value) else _LONG_AGO, memory.key)


def stays(memory: Memory, paused_kinds: Collection[str] = ()) -> bool:
    """Pinned, or perhaps pinned, or of a kind that somebody paused."""
    pinned = memory.get("pinned")
    free = pinned is None or (isinstance(pinned, bool) and not pinned)
    return not free or any(label in paused_kinds for label in memory.labels)


def enforce(
    memories: Iterable[Memory],
    budgets: Mapping[str, int] = SEED,
    *,
    paused_scopes: Collection[str] = (),
    paused_kinds: Collection[str] = (),
) -> Outcome:
    """All scopes, one after the other."""
    scopes: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        scopes[memory.scope].append(memory)
    moves: dict[str, Move] = {}
    overflow: dict[tuple[str, str], int] = {}
    for scope, mine in scopes.items():
        if scope in paused_scopes:
            continue
        pushed: list[Memory] = []
        reasons: dict[str, str] = {}
        for tier, below in pairwise(TIERS):
            here = [memory for memory in mine if memory.properties.get("tier") == tier]
            held = sum(tokens(memory) for memory in here if stays(memory, paused_kinds))
            room = max(0, budgets[tier] - held)
            if held > budgets[tier]:
                overflow[scope, tier] = held - budgets[tier]
            candidates = [memory for memory in here if not stays(memory, paused_kinds)] + pushed
            pushed = [memory for memory in candidates if tokens(memory) > room]
            fitting = sorted((memory for memory in candidates if tokens(memory) <= room), key=recency)
            too_many = sum(map(tokens, fitting)) - room
            while too_many > 0:
                too_many -= tokens(fitting[0])
                pushed.append(fitting.pop(0))
            for memory in pushed:
                reason = reasons.setdefault(memory.key, f"budget.{tier}")
                moves[memory.key] = Move(str(memory.properties["tier"]), below, reason)
    return Outcome(moves, overflow)
