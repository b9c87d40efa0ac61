"""What hangs on a memory, as rules ask for it (seed 000: "unless has Recommendation"). A tombstone hangs on nothing."""

from __future__ import annotations

from tests.oracle.memory import Memory
from tests.oracle.task_statuses import task_status


def learned_from(memory: Memory) -> bool:
    """Somebody learned from it, or it from something."""
    return any(link.live and link.type == "LEARNED_FROM" for link in memory.links)


def active_belief(memory: Memory) -> bool:
    """An active Belief refers to it; what it refers to itself says nothing."""
    return any(
        link.live
        and link.direction == "in"
        and "Belief" in link.labels
        and link.properties.get("state") in ("active", "core", "validated")
        for link in memory.links
    )


def recommendation(memory: Memory) -> bool:
    """A Recommendation hangs on it, in any direction."""
    return any(link.live and "Recommendation" in link.labels for link in memory.links)


def active_session(memory: Memory) -> bool:
    """A SessionContext that is active hangs on it."""
    return any(
        link.live and "SessionContext" in link.labels and link.properties.get("active") is True for link in memory.links
    )


def in_progress_task(memory: Memory) -> bool:
    """A Task in progress hangs on it."""
    tasks = [link for link in memory.links if link.live and "Task" in link.labels]
    return any(task_status(task.properties.get("status")) == "in_progress" for task in tasks)
