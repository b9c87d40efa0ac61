"""When a task is next due: a cron expression on the clock of a place, or an interval (seed 001: `schedule`)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from jochi.errors import UsageError
from jochi.policy.durations import parse_duration

_MINUTE = timedelta(minutes=1)
_HOW = (
    "write five fields (minute hour day month weekday), such as '30 9 * * 1', or an interval: every 30s, 15min, 6h, 7d"
)


def next_due(schedule: str, time_zone: str, *, after: datetime, since: datetime) -> datetime:
    """The first moment of ``schedule`` after ``after`` (zoned), in UTC.

    An interval is counted from ``since`` on and knows no daylight saving. A cron expression is read in ``time_zone`` (IANA) as
    Debian's cron reads it: at a time of day that doesn't exist it is due where the clock goes on, at one that comes twice it is
    due the first time alone; if its minute or hour begins with `*`, it goes by the hands of the clock. A month without the day
    is left out. `UsageError` for what can't be read or never comes.
    """
    try:
        return _next_due(schedule, time_zone, after, since)
    except OverflowError:
        raise UsageError(f"{schedule!r} comes after the year 9999 only", fix=_HOW) from None


def _next_due(schedule: str, time_zone: str, after: datetime, since: datetime) -> datetime:
    zone, step = _zone(time_zone), interval(schedule)
    if step is not None:
        return (since + ((after - since) // step + 1) * step if after >= since else since + step).astimezone(
            timezone.utc
        )
    fields = schedule.split()
    if len(fields) != 5:
        raise UsageError(f"{schedule!r} is no schedule", fix=_HOW)
    here = after.astimezone(zone)
    # What the clock shows twice has passed only once when it shows it for the first time.
    repeated = _offset(here.replace(fold=0)) - _offset(here.replace(fold=1))
    start = here.replace(tzinfo=None) - repeated
    by_hand = "*" in (fields[0][0], fields[1][0])
    try:
        found = [_first(schedule, start, zone, fold, after, by_hand) for fold in ((0, 1) if by_hand else (0,))]
    except CronSimError as error:
        raise UsageError(f"{schedule!r} is no schedule: {str(error)[:1].lower()}{str(error)[1:]}", fix=_HOW) from None
    if None in found:
        raise UsageError(f"{schedule!r} never comes", fix="name a day that its months have")
    return min(moment for moment in found if moment)


def _first(
    schedule: str, start: datetime, zone: ZoneInfo, fold: int, after: datetime, by_hand: bool
) -> datetime | None:
    """The first moment after ``after`` that shows a match after ``start`` on the clock; of two that look alike that of ``fold``."""
    for shown in CronSim(schedule, start):
        while not by_hand and not _exists(shown, zone):
            shown += _MINUTE  # up to where the clock goes on
        moment = shown.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc)
        if moment > after and _exists(shown, zone):
            return moment
    return None


def _exists(shown: datetime, zone: ZoneInfo) -> bool:
    return shown.replace(tzinfo=zone).astimezone(timezone.utc).astimezone(zone).replace(tzinfo=None) == shown


def _offset(moment: datetime) -> timedelta:
    offset = moment.utcoffset()
    assert offset is not None
    return offset


def interval(schedule: str) -> timedelta | None:
    """The time between two moments of `every 15min` or `15min`; None if it isn't an interval."""
    try:
        step = parse_duration(schedule.removeprefix("every ").strip())
    except ValueError:
        return None
    if not step:
        raise UsageError(f"{schedule!r} takes no time", fix=_HOW)
    return step


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UsageError(
            f"there is no time zone {name!r}", fix="name one of the IANA database, such as Europe/Berlin"
        ) from None
