"""What a value in a file may be, so that Neo4j stores it as it was meant."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter, ValidationError

from jochi.graph.catalogue import DEADLINES, EARLIEST, LONGEST_NAME, MOMENTS
from jochi.graph.driver_values import fixed_offset

AHEAD = timedelta(days=366)

_ISO = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)?")
_DATETIME = TypeAdapter(datetime)
_MIN_INT, _MAX_INT = -(2**63), 2**63 - 1


def instant(value: object) -> datetime:
    """A zoned datetime from ISO 8601 text (or a datetime); ValueError says what is wrong with it."""
    if isinstance(value, str):
        if _ISO.fullmatch(value) is None:
            raise ValueError(f"{value[:40]!r} is not an ISO 8601 date and time, such as 2026-01-31T12:00:00Z")
        try:
            value = _DATETIME.validate_python(value.replace(",", "."))
        except ValidationError:
            raise ValueError(f"{value!r} is no date and time that there is") from None
    if not isinstance(value, datetime):
        raise ValueError("must be ISO 8601 text with a zone, such as 2026-01-31T12:00:00Z")
    if value.utcoffset() is None:
        raise ValueError(f"{value.isoformat()} has no zone: write 2026-01-31T12:00:00Z or …+01:00")
    return fixed_offset(value)


def date_in(text: str) -> datetime | None:
    """The date and time that ISO 8601 text states, naive where it names no zone; None if it states none."""
    if _ISO.fullmatch(text) is None:
        return None
    try:
        return _DATETIME.validate_python(text.replace(",", "."))
    except ValidationError:
        return None


def plausible(value: datetime, now: datetime, *, bounded_ahead: bool = True) -> datetime:
    """The datetime itself, if it lies between 1990 and a year after ``now``: what lies outside is a mistaken unit."""
    if value < EARLIEST:
        raise ValueError(f"{value.isoformat()} is before 1990")
    if bounded_ahead and value > now + AHEAD:
        raise ValueError(f"{value.isoformat()} is more than a year ahead")
    return value


def text(value: str) -> str:
    """The text itself; lone surrogates can't be sent as UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is no Unicode text") from None
    return value


def name(value: str) -> str:
    """A scope, an id or a property name: text that isn't empty, not too long."""
    if not value.strip():
        raise ValueError("is empty")
    if len(value) > LONGEST_NAME:
        raise ValueError(f"has {len(value)} characters; {LONGEST_NAME} are allowed")
    if "\x00" in value:
        raise ValueError("holds a NUL character")
    return text(value)


def scalar(value: object) -> object:
    """A value that Neo4j stores as it is: text, bool, 64-bit integer, finite float, zoned datetime."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not _MIN_INT <= value <= _MAX_INT:
            raise ValueError("is beyond a 64-bit integer")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("is not a finite number")
        return value
    if isinstance(value, datetime):
        return instant(value)
    if value is None:
        raise ValueError("holds null")
    if isinstance(value, dict):
        raise ValueError("is nested: only scalars and lists of one scalar type can be stored")
    raise ValueError(f"a {type(value).__name__} can't be stored")


def storable(property_name: str, value: object, now: datetime) -> object:
    """The value of a property that no rule names. What stands under a name of a moment must be a zoned datetime."""
    name(property_name)
    if property_name.endswith("_at") or property_name in MOMENTS:
        return plausible(instant(value), now, bounded_ahead=property_name not in DEADLINES)
    if property_name == "valid_from" and isinstance(value, str):
        found = date_in(value)
        return value if found is None or found.tzinfo is None else found
    if isinstance(value, list):
        if any(isinstance(item, list) for item in value):
            raise ValueError("is nested: only scalars and lists of one scalar type can be stored")
        if len({type(item) for item in value}) > 1:
            raise ValueError("mixes types: a list must hold one scalar type")
        return [scalar(item) for item in value]
    return scalar(value)


def storable_map(properties: Mapping[str, object], now: datetime) -> dict[str, Any]:
    """Such a check of a whole map; null values are absent. ValueError names the property."""
    checked = {}
    for property_name, value in properties.items():
        if value is None:
            continue
        try:
            checked[property_name] = storable(property_name, value, now)
        except ValueError as error:
            raise ValueError(f"{property_name[:60]}: {error}") from None
    return checked
