"""The span of days that a report is about, in intervals of equal length, by the clock of the policy's time zone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

from jochi.errors import UsageError
from jochi.policy.durations import parse_duration

MOST_INTERVALS = 92
"""Bars of a plot, and rows of the table behind it, at most: a longer span has intervals of several days."""

_BY_HOUR = timedelta(days=2)
"""A span up to so long has intervals of an hour."""

_HOW = "write a number of days like 30d, a day like 2026-11-01, or a time like 2026-11-01T18:00:00Z"
_EARLIEST = datetime(1970, 1, 2, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Intervals:
    """``starts``: when each begins, ascending, in UTC; ``until``: when the last one ends; ``step``: how long one is."""

    starts: tuple[datetime, ...]
    until: datetime
    step: timedelta

    @property
    def since(self) -> datetime:
        """When the first begins."""
        return self.starts[0]

    def asked(self) -> dict[str, Any]:
        """What the bodies of procedures/report take."""
        starts = [int(start.timestamp()) for start in self.starts]
        step = max(1, int(self.step.total_seconds()))
        return {"since": self.since, "until": self.until, "starts": starts, "step": step}

    def pages(self, size: int) -> Iterator[tuple[int, Intervals]]:
        """The same in parts of ``size`` intervals, each with the place of its first."""
        for first in range(0, len(self.starts), size):
            later = self.starts[first + size : first + size + 1]
            yield first, Intervals(self.starts[first : first + size], later[0] if later else self.until, self.step)


@dataclass(frozen=True)
class Span(Intervals):
    """``zone``: whose days these are. ``unit``: what an interval is called."""

    zone: ZoneInfo
    unit: str

    def label(self, start: datetime) -> str:
        """What the interval that begins then is called in a table."""
        return f"{start.astimezone(self.zone):{'%Y-%m-%d %H:%M' if self.unit == 'hour' else '%Y-%m-%d'}}"

    def day(self, value: datetime) -> str:
        """The day that a moment lies on, in the zone."""
        return f"{value.astimezone(self.zone):%Y-%m-%d}"

    def moment(self, value: datetime | None) -> str:
        """A moment to the minute, in the zone."""
        return "–" if value is None else f"{value.astimezone(self.zone):%Y-%m-%d %H:%M}"


def parse_span(since: str, until: str | None, *, now: datetime, zone: ZoneInfo) -> Span:
    """From what a person wrote: a duration back from ``until`` (`30d`), a day, or a moment. ``until`` None: now; a day ends with
    its last moment.

    `UsageError` for what is no span, or lies in the future.
    """
    end = now if until is None else min(_parse(until, zone, whole_day=True), now)
    try:
        start = end - parse_duration(since)
    except ValueError:
        start = _parse(since, zone)
    except OverflowError:
        start = _EARLIEST
    if start >= now:
        raise UsageError(f"the span begins in the future, at {start.astimezone(zone):%Y-%m-%d %H:%M}", fix=_HOW)
    if start >= end:
        what = f"the span ends at {end.astimezone(zone):%Y-%m-%d %H:%M}, before it begins"
        raise UsageError(what, fix="give a --since that is earlier than --until")
    return span(max(start, _EARLIEST), end, zone)


def span(since: datetime, until: datetime, zone: ZoneInfo) -> Span:
    """The whole hours or days from the one that ``since`` lies in."""
    local = since.astimezone(zone)
    if until - since <= _BY_HOUR:
        first = (local.replace(minute=0, second=0, microsecond=0)).astimezone(timezone.utc)
        hours = range(-(-(until - first) // timedelta(hours=1)))
        starts = tuple(first + timedelta(hours=hour) for hour in hours)
        return Span(starts, until, timedelta(hours=1), zone, "hour")
    days = (until.astimezone(zone).date() - local.date()).days + 1
    step = -(-days // MOST_INTERVALS)
    midnights = [_midnight(local.date() + timedelta(days=day), zone) for day in range(0, days, step)]
    starts = tuple(midnight for midnight in midnights if midnight < until)
    return Span(starts, until, timedelta(days=step), zone, "day" if step == 1 else f"{step} days")


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time.min, zone).astimezone(timezone.utc)


def _parse(text: str, zone: ZoneInfo, *, whole_day: bool = False) -> datetime:
    try:
        if len(text) == len("2026-11-01"):
            return _midnight(date.fromisoformat(text) + timedelta(days=1 if whole_day else 0), zone)
        value = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is not a span, a day or a time", fix=_HOW) from None


def sums(rows: Sequence[tuple[str, int, int]], intervals: int) -> dict[str, list[int]]:
    """From (name, place, n) to a number for each interval, by name, the largest sum first."""
    found: dict[str, list[int]] = {}
    for name, place, n in rows:
        found.setdefault(name, [0] * intervals)[place] += n
    return dict(sorted(found.items(), key=lambda item: (-sum(item[1]), item[0])))
