"""Memories as a stream of what agents do: written as new, and changed and used later, when their own dates say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from jochi.write.importing import MemoryRecord

USES_AT_MOST = 20
"""Touches that one memory's access count is played as."""

_LATER: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "Notification": ("read_at", {"read": False}, ("read", "read_at")),
    "SessionContext": ("last_active_at", {"active": True}, ("active", "last_active_at")),
    "Reflection": ("consolidated_at", {"consolidated": False}, ("consolidated", "consolidated_at")),
}
"""By kind: when its state changed, what it was before, and what is set then."""
_COUNTED = (
    "access_count",
    "access_count_7d",
    "access_days",
    "access_day",
    "last_accessed_at",
    "prev_accessed_at",
    "agents",
)


@dataclass(frozen=True)
class Event:
    """At ``at`` a memory is written (``record``), changed (``properties`` of ``key``) or used (neither of these)."""

    at: datetime
    key: str
    record: MemoryRecord | None = None
    properties: dict[str, Any] | None = None
    agent: str | None = None


def activity(records: Iterable[MemoryRecord]) -> list[Event]:
    """Everything that happens to these memories, by time."""
    return sorted(
        (event for record in records for event in _of(record)), key=lambda event: (event.at, event.record is None)
    )


def _of(record: MemoryRecord) -> Iterator[Event]:
    given = dict(record.properties)
    at = given["created_at"]
    used = {name: given.pop(name) for name in _COUNTED if name in given}
    moment, before, names = _LATER.get(record.kind, ("", {}, ()))
    if record.kind == "Task":
        moment = next((name for name in ("completed_at", "failed_at") if name in given), "")
        before, names = {"status": "in_progress"}, ("status", moment, "updated_at")
    changed_at = given.get(moment)
    if isinstance(changed_at, datetime) and changed_at > at:
        later = {name: given.pop(name) for name in names if name in given}
        given |= {name: value for name, value in before.items() if name in later}
        yield Event(changed_at, record.key, properties=later)
    yield Event(at, record.key, record=replace(record, properties=given))
    yield from _uses(record.key, at, used)


def _uses(key: str, born: datetime, used: dict[str, Any]) -> Iterator[Event]:
    """Its accesses, spread evenly from its birth to the last one, by its agents in turn."""
    last, n = used.get("last_accessed_at"), min(int(used.get("access_count") or 0), USES_AT_MOST)
    if not isinstance(last, datetime) or last <= born or n < 1:
        return
    agents = used.get("agents") or [None]
    for i in range(1, n + 1):
        at = born + (last - born) * (i / n)
        yield Event(at - timedelta(microseconds=at.microsecond), key, agent=agents[i % len(agents)])
