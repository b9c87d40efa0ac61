"""Task (seed 000, TTL Rules and Exit Criteria): archived, never pruned (DESIGN §9)."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import Due, after, since
from tests.oracle.memory import Memory
from tests.oracle.predicates import learned_from
from tests.oracle.task_statuses import task_status

COMPLETED = timedelta(days=14)
FAILED = timedelta(days=90)


def task(memory: Memory, _now: datetime, _first: datetime | None) -> list[Due]:
    """Completed: 14 days, unless it has a LEARNED_FROM. Failed: 90 days. In progress, pending, blocked: never."""
    if not may_be_archived(memory):
        return []
    status = task_status(memory.get("status"))
    if status == "completed" and not learned_from(memory):
        return after(
            "task.completed", since(memory, ("completed_at", "updated_at", "created_at")), COMPLETED, "archive"
        )
    if status == "failed":
        return after("task.failed", since(memory, ("failed_at", "updated_at", "created_at")), FAILED, "archive")
    return []


def may_be_archived(memory: Memory) -> bool:
    """Whether it isn't archived; a state of a wrong type is unknown, and unknown blocks."""
    return not memory.has("state") or (isinstance(memory.get("state"), str) and memory.get("state") != "archived")
