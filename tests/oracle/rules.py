"""The rules of this issue: seed 000, TTL Rules, for Notification and SessionContext, and expires_at (DESIGN §4, §8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.oracle.memory import Memory

NOTIFICATION_READ = timedelta(days=7)
NOTIFICATION_UNREAD = timedelta(days=30)
SESSION_INACTIVE = timedelta(hours=24)


@dataclass(frozen=True)
class Due:
    """A rule that applies, and the instant from which it is met."""

    rule: str
    at: datetime


def crossings(memory: Memory) -> list[Due]:
    """The rules that apply, in order of precedence. A rule whose state or clock is unknown is not among them."""
    found = []
    deadline = memory.moment("expires_at")
    if deadline is not None:
        found.append(Due("any.expires_at", deadline))
    kind = next((label for label in ("Notification", "SessionContext") if label in memory.labels), None)
    if kind == "Notification":
        found += _notification(memory)
    elif kind == "SessionContext" and memory.get("active") is False:
        found += _after("session.inactive", memory, ("last_active_at", "created_at"), SESSION_INACTIVE)
    return found


def _notification(memory: Memory) -> list[Due]:
    read = memory.get("read")
    if read is True:
        return _after("notification.read", memory, ("read_at", "created_at"), NOTIFICATION_READ)
    priority = memory.get("priority")
    if read is False and isinstance(priority, str) and priority != "critical":
        return _after("notification.unread", memory, ("created_at",), NOTIFICATION_UNREAD)
    return []


def _after(rule: str, memory: Memory, clock: tuple[str, ...], after: timedelta) -> list[Due]:
    """The clock starts at the first property that is there; if that one is no zoned datetime, the rule is unknown."""
    first = next((name for name in clock if memory.has(name)), clock[-1])
    since = memory.moment(first)
    return [] if since is None else [Due(rule, since + after)]
