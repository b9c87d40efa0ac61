"""CompressedContext and Synthesis (seed 000, TTL Rules)."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.counts import access_count
from tests.oracle.due import Due, after, idle_since
from tests.oracle.memory import Memory

KEYWORDS = timedelta(days=45)
SYNTHESIS = timedelta(days=120)
READ_OFTEN = 3


def context(memory: Memory, _now: datetime, first: datetime | None) -> list[Due]:
    """Keywords: 45 days without an access."""
    if memory.get("compression_level") != "keywords":
        return []
    return after("context.keywords", idle_since(memory, ("last_accessed_at", "created_at"), first), KEYWORDS)


def synthesis(memory: Memory, _now: datetime, first: datetime | None) -> list[Due]:
    """120 days, unless accessed more than 3 times."""
    count = access_count(memory)
    if count is None or count >= READ_OFTEN + 1:
        return []
    return after("synthesis.old", idle_since(memory, ("created_at",), first), SYNTHESIS)
