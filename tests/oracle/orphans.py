"""Which memories hang on nothing, in plain Python, from docs/reference/orphans.md and the shipped `[orphans]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.oracle.memory import Memory
from tests.oracle.rails import blocking_rails

AFTER = timedelta(days=7)
SWEPT = {"SessionContext", "Notification", "CompressedContext", "Recommendation"}
CLOCK = ("updated_at", "read_at", "last_active_at", "last_accessed_at")
MOST = 1000
POLICY_KINDS = SWEPT | {
    "Task",
    "Belief",
    "Reflection",
    "Analysis",
    "Synthesis",
    "MemoryEntry",
    "Note",
    "Person",
    "Ticket",
    "Letter",
    "Diary",
}
"""Of the kinds of the tests' policy those that the tests use."""


@dataclass(frozen=True)
class Neighbour:
    """What is at the other end of a relationship: ``what`` is live | pruned | foreign (a :Tombstone of others) | ours | itself."""

    what: str
    deleted_at: datetime | None = None


def orphan_since(memory: Memory, neighbours: Sequence[Neighbour] = ()) -> datetime | None:
    """The moment from which its days as an orphan run; None if it is none."""
    kinds = set(memory.labels) & POLICY_KINDS
    if not kinds or not kinds <= SWEPT:
        return None
    if "Notification" in kinds and memory.get("read") is not True:
        return None
    newest = memory.moment("created_at")
    if newest is None:
        return None
    for name in CLOCK:
        if memory.has(name):
            at = memory.moment(name)
            if at is None:
                return None
            newest = max(newest, at)
    if memory.linked or len(neighbours) > MOST or any(n.what in {"live", "foreign"} for n in neighbours):
        return None
    return max([newest, *(n.deleted_at for n in neighbours if n.what == "pruned" and n.deleted_at)])


def swept(
    memory: Memory, neighbours: Sequence[Neighbour], now: datetime, paused: frozenset[str] = frozenset()
) -> str | None:
    """prune | protected | paused; None where it is no orphan or too early."""
    since = orphan_since(memory, neighbours)
    if since is None or now < since + AFTER:
        return None
    if paused & ({f"kind/{label}" for label in memory.labels} | {f"scope/{memory.scope}"}):
        return "paused"
    return "protected" if blocking_rails(memory, now) else "prune"
