"""When something was said, however a source writes it."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo

from jochi.graph.catalogue import EARLIEST
from jochi.graph.driver_values import fixed_offset
from jochi.graph.property_values import date_in

_EPOCH, _LAST = datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(2200, 1, 1, tzinfo=timezone.utc)
_NUMBER = re.compile(r"\d{1,20}(\.\d{1,20})?")
_MILLISECONDS, _MICROSECONDS = 1e11, 1e14
"""A number from here on isn't seconds any longer: that many seconds after 1970 is the year 5138."""


def moment(value: object, zone: tzinfo) -> datetime | None:
    """A zoned moment from ISO 8601 text (a date alone is its midnight), seconds, milli- or microseconds since 1970.

    What names no zone is in ``zone``. None for what is no moment, or none that anybody can have meant: before 1990 (`EARLIEST`
    of memories), after 2200.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        if _NUMBER.fullmatch(text) is None:
            return plausible(date_in(text) or _midnight(text), zone)
        value = float(text)
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
        divisor = 1e6 if number >= _MICROSECONDS else 1e3 if number >= _MILLISECONDS else 1.0
        return plausible(_EPOCH + timedelta(seconds=number / divisor), zone)
    except (OverflowError, ValueError):
        return None


def plausible(value: datetime | None, zone: tzinfo) -> datetime | None:
    """``value`` with its zone, or in ``zone``; None outside 1990 to 2200."""
    if value is None or not EARLIEST.year <= value.year <= _LAST.year:
        return None
    zoned = fixed_offset(value if value.utcoffset() is not None else value.replace(tzinfo=zone))
    return zoned if EARLIEST <= zoned < _LAST else None


def _midnight(text: str) -> datetime | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime(day.year, day.month, day.day)  # noqa: DTZ001
