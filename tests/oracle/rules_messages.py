"""Notification and SessionContext (seed 000, TTL Rules), and the Ticket of tests/policy.toml."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import Due, after, since
from tests.oracle.memory import Memory

READ = timedelta(days=7)
UNREAD = timedelta(days=30)
INACTIVE = timedelta(hours=24)
TICKET_DONE = timedelta(days=7)


def notification(memory: Memory, _now: datetime, _first: datetime | None) -> list[Due]:
    """Read: 7 days. Unread: 30 days, if not critical."""
    if memory.get("read") is True:
        return after("notification.read", since(memory, ("read_at", "created_at")), READ)
    priority = memory.get("priority")
    if memory.get("read") is False and isinstance(priority, str) and priority != "critical":
        return after("notification.unread", since(memory, ("created_at",)), UNREAD)
    return []


def session(memory: Memory, _now: datetime, _first: datetime | None) -> list[Due]:
    """Inactive: 24 hours."""
    if memory.get("active") is not False:
        return []
    return after("session.inactive", since(memory, ("last_active_at", "created_at")), INACTIVE)


def ticket(memory: Memory, _now: datetime, _first: datetime | None) -> list[Due]:
    """Done: 7 days after it was opened."""
    return after("ticket.done", since(memory, ("created_at",)), TICKET_DONE) if memory.get("read") is True else []
