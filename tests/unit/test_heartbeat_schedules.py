"""When a task is next due: a table of what calendars and clocks do, and every minute looked at one by one."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jochi.errors import UsageError
from jochi.heartbeat.schedules import next_due

MINUTE = timedelta(minutes=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "due"),
    [
        ("30 9 * * 1", "UTC", "2026-11-23T09:29:59+00:00", "2026-11-23T09:30+00:00"),
        ("30 9 * * 1", "UTC", "2026-11-23T09:30:00+00:00", "2026-11-30T09:30+00:00"),
        ("0 9 * * *", "Asia/Kathmandu", "2026-11-23T03:14:59+00:00", "2026-11-23T03:15+00:00"),
        # Berlin, 29 March 2026: after 01:59 comes 03:00.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00+00:00", "2026-03-29T03:00+02:00"),
        ("15,45 2 * * *", "Europe/Berlin", "2026-03-29T03:00+02:00", "2026-03-30T02:15+02:00"),
        ("*/30 2 * * *", "Europe/Berlin", "2026-03-29T00:00+01:00", "2026-03-30T02:00+02:00"),
        ("0 * * * *", "Europe/Berlin", "2026-03-29T01:30+01:00", "2026-03-29T03:00+02:00"),
        # Berlin, 25 October 2026: after 02:59 comes 02:00 again.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T01:00+02:00", "2026-10-25T02:30+02:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:10+01:00", "2026-10-26T02:30+01:00"),
        ("*/30 * * * *", "Europe/Berlin", "2026-10-25T02:30+02:00", "2026-10-25T02:00+01:00"),
        # Santiago, 6 September 2026: the day begins at 01:00.
        ("0 0 * * *", "America/Santiago", "2026-09-05T12:00-04:00", "2026-09-06T01:00-03:00"),
        # Month ends.
        ("0 0 31 * *", "UTC", "2026-01-31T00:00+00:00", "2026-03-31T00:00+00:00"),
        ("0 0 29 2 *", "UTC", "2026-01-01T00:00+00:00", "2028-02-29T00:00+00:00"),
        ("0 0 29 2 *", "UTC", "2096-02-29T00:00+00:00", "2104-02-29T00:00+00:00"),
        # Day of month or weekday, when both are said.
        ("0 0 13 * 5", "UTC", "2026-02-07T00:00+00:00", "2026-02-13T00:00+00:00"),
        ("0 0 13 * 5", "UTC", "2026-02-01T00:00+00:00", "2026-02-06T00:00+00:00"),
        # Intervals count from 1 January 2026, 00:00:10 UTC.
        ("every 15min", "Europe/Berlin", "2026-01-01T00:00:09+00:00", "2026-01-01T00:15:10+00:00"),
        ("every 15min", "UTC", "2026-01-01T00:15:09+00:00", "2026-01-01T00:15:10+00:00"),
        ("every 15min", "UTC", "2026-01-01T00:15:10+00:00", "2026-01-01T00:30:10+00:00"),
        ("30s", "UTC", "2026-03-01T00:00:00+00:00", "2026-03-01T00:00:10+00:00"),
        ("every 7d", "Europe/Berlin", "2026-03-28T12:00:00+00:00", "2026-04-02T00:00:10+00:00"),
    ],
)
def test_it_is_due_next(schedule: str, zone: str, after: str, due: str) -> None:
    found = next_due(schedule, zone, after=at(after), since=at("2026-01-01T00:00:10+00:00"))
    assert found == at(due)
    assert found.tzinfo is timezone.utc


@pytest.mark.parametrize(
    ("schedule", "zone", "says"),
    [
        ("", "UTC", "no schedule"),
        ("* * * *", "UTC", "no schedule"),
        ("* * * * * *", "UTC", "no schedule"),
        ("60 * * * *", "UTC", "bad minute"),
        ("0 0 31 2 *", "UTC", "day"),
        ("0 0 * 2 1#9", "UTC", "day-of-week"),
        ("every 0s", "UTC", "no time"),
        ("every fortnight", "UTC", "no schedule"),
        ("* * * * *", "Mars/Olympus", "Mars/Olympus"),
        ("* * * * *", "../etc/passwd", "time zone"),
        ("* * * * *", "", "time zone"),
    ],
)
def test_what_is_no_schedule_is_refused(schedule: str, zone: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as error:
        next_due(schedule, zone, after=at("2026-01-01T00:00+00:00"), since=at("2026-01-01T00:00+00:00"))
    assert error.value.fix


def fits(field: str, value: int, first: int) -> bool:
    """An oracle of one field: lists of `*`, `*/n`, `n`, `a-b`."""
    for part in field.split(","):
        body, _, step = part.partition("/")
        low, _, high = body.partition("-")
        if body == "*":
            if (value - first) % int(step or 1) == 0:
                return True
        elif int(low) <= value <= int(high or low):
            return True
    return False


def matches(fields: list[str], wall: datetime) -> bool:
    minute, hour, day, month, weekday = fields
    of_month = fits(day, wall.day, 1)
    of_week = fits(weekday, wall.isoweekday() % 7, 0)
    days = of_month and of_week if "*" in (day[0], weekday[0]) else of_month or of_week
    return fits(minute, wall.minute, 0) and fits(hour, wall.hour, 0) and fits(month, wall.month, 1) and days


def by_the_minute(schedule: str, zone: ZoneInfo, after: datetime, until: datetime) -> datetime | None:
    """Every minute that really passes, with what the clock on the wall shows."""
    fields = schedule.split()
    by_hand = "*" in (fields[0][0], fields[1][0])
    moment = after.replace(second=0, microsecond=0)
    before = moment.astimezone(zone).replace(tzinfo=None)
    while (moment := moment + MINUTE) <= until:
        wall = moment.astimezone(zone)
        shown = wall.replace(tzinfo=None)
        if matches(fields, shown) and (by_hand or wall.fold == 0):
            return moment
        skipped = before + MINUTE
        while not by_hand and skipped < shown:
            if matches(fields, skipped):
                return moment
            skipped += MINUTE
        before = shown
    return None


CHANGES = {
    "Europe/Berlin": ("2026-03-29T01:00", "2026-10-25T01:00"),
    "America/New_York": ("2026-03-08T07:00", "2026-11-01T06:00"),
    "America/Santiago": ("2026-09-06T04:00", "2026-04-05T03:00"),
    "Australia/Lord_Howe": ("2026-10-03T15:30", "2026-04-04T15:00"),
    "Asia/Kathmandu": ("2026-02-28T18:15",),
    "UTC": ("2028-02-29T00:00", "2026-12-31T23:59"),
}


def field(first: int, last: int) -> st.SearchStrategy[str]:
    one = st.integers(first, last)
    span = st.tuples(one, one).map(lambda ab: f"{min(ab)}-{max(ab)}")
    return st.one_of(
        st.just("*"),
        st.sampled_from(["*/2", "*/7", "*/15"]),
        st.lists(one.map(str), min_size=1, max_size=3).map(",".join),
        span,
    )


@given(
    schedule=st.tuples(
        field(0, 59), field(0, 3) | field(0, 23), st.just("*") | field(1, 31), st.just("*"), st.just("*") | field(0, 6)
    ).map(" ".join),
    change=st.sampled_from([(zone, moment) for zone, moments in CHANGES.items() for moment in moments]),
    seconds=st.integers(-30 * 3600, 3 * 3600),
)
@example(schedule="30 2 * * *", change=("Europe/Berlin", "2026-10-25T01:00"), seconds=60)
def test_no_minute_is_left_out_and_none_is_added(schedule: str, change: tuple[str, str], seconds: int) -> None:
    zone, moment = change
    after = datetime.fromisoformat(moment).replace(tzinfo=timezone.utc) + timedelta(seconds=seconds)
    until = after + timedelta(hours=40)
    found = next_due(schedule, zone, after=after, since=after)
    expected = by_the_minute(schedule, ZoneInfo(zone), after, until)
    assert (found if found <= until else None) == expected


@pytest.mark.parametrize("schedule", ["every 3000000d", "0 0 1 1 *"])
def test_what_no_calendar_reaches_is_refused(schedule: str) -> None:
    last = at("9999-12-31T23:00+00:00")
    with pytest.raises(UsageError, match=r"9999|never comes"):
        next_due(schedule, "UTC", after=last, since=last)


@given(seconds=st.integers(1, 10**6), passed=st.integers(-(10**6), 10**9), zone=st.sampled_from(sorted(CHANGES)))
def test_an_interval_keeps_its_pace(seconds: int, passed: int, zone: str) -> None:
    since = at("2026-03-28T00:00:07+00:00")
    after = since + timedelta(seconds=passed)
    due = next_due(f"every {seconds}s", zone, after=after, since=since)
    assert due > after
    assert (due - since) % timedelta(seconds=seconds) == timedelta(0)
    assert due - max(after, since) <= timedelta(seconds=seconds)
