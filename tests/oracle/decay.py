"""How a Belief's confidence falls: -0.01 a day after 7 idle days, below 0.9, floor 0.2, in closed form (DESIGN §9)."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import EVER
from tests.oracle.memory import Memory, is_number

PER_DAY = 0.01
IDLE = timedelta(days=7)
STEADY_FROM = 0.9
FLOOR = 0.2


def confidence(memory: Memory, now: datetime, first: datetime | None) -> float | None:
    """What it is worth at ``now``, to 12 places, so that the order of adding decides nothing; None where it can't be known.

    ``first``: the scope's first reported access."""
    stored = memory.get("confidence")
    if not is_number(stored) or (first is not None and _idle_from(memory, first) is None):
        return None
    start = _falls_from(memory, first)
    if start is None or now <= start:
        return float(stored)
    return round(max(FLOOR, stored - PER_DAY * ((now - start) / timedelta(days=1))), 12)


def _falls_from(memory: Memory, first: datetime | None) -> datetime | None:
    """When it begins to fall; None if it doesn't."""
    stored = memory.get("confidence")
    if first is None or not FLOOR < stored < STEADY_FROM:
        return None
    idle_from = _idle_from(memory, first)
    return None if idle_from is None else idle_from + IDLE


def _idle_from(memory: Memory, first: datetime) -> datetime | None:
    anchor = memory.moment("confidence_at" if memory.has("confidence_at") else "created_at")
    used = memory.moment("last_accessed_at") if memory.has("last_accessed_at") else EVER
    return None if anchor is None or used is None else max(anchor, used, first)
