"""Moments as the driver can take them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from jochi.importing import values
from jochi.temporal import fixed_offset


def test_a_zone_with_a_name_gives_way_to_its_offset_and_the_moment_stays() -> None:
    for month, hours in ((1, 1), (7, 2)):
        named = datetime(2026, month, 10, 12, tzinfo=ZoneInfo("Europe/Berlin"))
        fixed = fixed_offset(named)
        assert fixed == named
        assert type(fixed.tzinfo) is timezone
        assert fixed.utcoffset() == timedelta(hours=hours)
        assert type(values.instant(named).tzinfo) is timezone


def test_what_has_an_offset_or_no_zone_stays_as_it_is() -> None:
    for value in (datetime(2026, 1, 1, tzinfo=timezone.utc), datetime(2026, 1, 1)):  # noqa: DTZ001
        assert fixed_offset(value) is value
