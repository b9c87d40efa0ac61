"""Reflection (seed 000, TTL Rules): consolidated ones go after 90 days, the others are flagged and never pruned."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.counts import access_count
from tests.oracle.due import Due, after, idle_since, since
from tests.oracle.memory import Memory

CONSOLIDATED = timedelta(days=90)
PROVEN = 5


def reflection(memory: Memory, _now: datetime, first: datetime | None) -> list[Due]:
    """Consolidated: 90 days unless accessed more than 5 times. Not consolidated: flagged."""
    consolidated = memory.get("consolidated")
    if consolidated is False:
        return after("reflection.unconsolidated", since(memory, ("created_at",)), timedelta(0), "flag")
    count = access_count(memory)
    if consolidated is True and count is not None and count < PROVEN + 1:
        return after(
            "reflection.consolidated", idle_since(memory, ("consolidated_at", "created_at"), first), CONSOLIDATED
        )
    return []
