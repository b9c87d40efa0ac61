"""Durations as people write them in a policy: `30s`, `5min`, `24h`, `7d`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_PATTERN = re.compile(r"(\d{1,9})\s*(s|min|h|d)")


def parse_duration(value: object) -> timedelta:
    """A `timedelta` from text like `7d`; raises ValueError for anything else. Units: s, min, h, d (24 h)."""
    if isinstance(value, timedelta):
        return value
    match = _PATTERN.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"a duration is written like 30s, 5min, 24h or 7d, not {value!r}")
    try:
        return timedelta(seconds=int(match[1]) * _UNITS[match[2]])
    except OverflowError:
        raise ValueError(f"{value!r} is longer than any clock can count") from None


def format_duration(value: timedelta) -> str:
    """The shortest way to write ``value``, in the unit that divides it."""
    seconds = int(value.total_seconds())
    for unit in ("d", "h", "min"):
        if seconds and seconds % _UNITS[unit] == 0:
            return f"{seconds // _UNITS[unit]}{unit}"
    return f"{seconds}s"


Duration = Annotated[timedelta, BeforeValidator(parse_duration), PlainSerializer(format_duration, return_type=str)]
