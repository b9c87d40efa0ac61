"""When a rule is met: its clock and what it adds (DESIGN §4: the clock starts at the first property that is there).

A clock runs out at an exact instant. What decays is judged at the look (DESIGN §8): a rule that reads it is due at the look that
finds it so, and not before its clock has run out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from tests.oracle.memory import Memory

EVER = datetime(1, 1, 1, tzinfo=timezone.utc)
"""For a condition that holds whenever it is looked at."""


@dataclass(frozen=True)
class Due:
    """A rule that applies, when it is due, what it does (prune | archive | flag | state), and when its clock runs out."""

    rule: str
    at: datetime
    action: str = "prune"
    over: datetime = EVER


def since(memory: Memory, clock: tuple[str, ...]) -> datetime | None:
    """When the clock started: the first property that is there; None if that one is no zoned datetime, or none is there."""
    return memory.moment(next((name for name in clock if memory.has(name)), clock[-1]))


def idle_since(memory: Memory, clock: tuple[str, ...], first: datetime | None) -> datetime | None:
    """The same for a rule that speaks of accesses: not before the scope's ``first`` reported one, and None without any."""
    start = since(memory, clock)
    return None if first is None or start is None else max(start, first)


def after(
    rule: str, start: datetime | None, span: timedelta, action: str = "prune", seen: datetime = EVER
) -> list[Due]:
    """The rule, ``span`` after ``start``; nothing where that is unknown. ``seen``: when what decays was found to be so."""
    return [] if start is None else [Due(rule, max(start + span, seen), action, start + span)]
