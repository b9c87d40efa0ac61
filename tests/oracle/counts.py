"""How often a memory was accessed, as its properties say it (DESIGN §4: seven UTC day buckets, access_day the newest)."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

from tests.oracle.memory import Memory, is_number

DAYS = 7


def access_count(memory: Memory) -> float | None:
    """Absent is zero; a negative one or a wrong type is unknown."""
    count = memory.get("access_count")
    if count is None:
        return 0
    return count if is_number(count) and count >= 0 else None


def uses_in_7_days(memory: Memory, now: datetime) -> int | None:
    """The uses of the seven UTC days that end today; None where it can't be read."""
    if not memory.has("access_days") and not memory.has("access_day"):
        count = memory.get("access_count_7d")
        return 0 if count is None else count if _is_count(count) else None
    held = buckets(memory)
    return None if held is None else _sum(held, now.astimezone(timezone.utc).date())


def buckets(memory: Memory) -> dict[date, int] | None:
    """The uses of each day; None where there are none, or they can't be read."""
    newest, days = memory.get("access_day"), memory.get("access_days")
    if not isinstance(newest, date) or isinstance(newest, datetime):
        return None
    if not isinstance(days, list) or len(days) != DAYS or not all(_is_count(n) for n in days):
        return None
    return {newest - timedelta(days=i): n for i, n in enumerate(days)}


def _sum(held: dict[date, int], today: date) -> int:
    return sum(n for day, n in held.items() if today - timedelta(days=DAYS) < day <= today)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
