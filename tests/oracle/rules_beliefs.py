"""Belief (seed 000, TTL Rules): "auto-archive first, then TTL"."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.decay import confidence
from tests.oracle.due import Due, after, idle_since, since
from tests.oracle.memory import Memory
from tests.oracle.predicates import active_belief

WEAK = 0.3
ARCHIVED = timedelta(days=30)
IDLE = timedelta(days=60)


def belief(memory: Memory, now: datetime, first: datetime | None) -> list[Due]:
    """Archived and weak: pruned after 30 days unless an active Belief refers to it. Active and weak: archived after 60."""
    state, sure = memory.get("state"), confidence(memory, now, first)
    if sure is None or sure >= WEAK:
        return []
    if state == "archived" and not active_belief(memory):
        return after("belief.archived", since(memory, ("archived_at",)), ARCHIVED, seen=now)
    if state in ("active", "core", "validated"):
        start = idle_since(memory, ("last_accessed_at", "created_at"), first)
        return after("belief.weak", start, IDLE, "archive", seen=now)
    return []
