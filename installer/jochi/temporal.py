"""Values as the driver hands them out, turned into plain Python, and moments as it can take them."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import neo4j.time

from jochi.errors import UsageError


def zoned(value: object, name: str, *, where: str) -> datetime:
    """The moment that was given as the argument ``name`` of ``where``; `UsageError` for what is no datetime with a zone."""
    fix = "give a datetime with tzinfo, such as datetime.now(timezone.utc)"
    if not isinstance(value, datetime):
        raise UsageError(f"{name} is no datetime: {value!r}", where=where, fix=fix)
    if value.utcoffset() is None:
        raise UsageError(f"{name} has no zone: {value}", where=where, fix=fix)
    return value


def fixed_offset(value: datetime) -> datetime:
    """The same moment with its offset instead of a zone's name; ``value`` has a zone.

    The driver asks a datetime's zone for its offset with an object of its own. CPython's `ZoneInfo` takes that for a datetime
    and reads past its end: now and then the process crashes (seen with driver 6.1.0 and CPython 3.11.7).
    """
    offset = value.utcoffset()
    return value if isinstance(value.tzinfo, timezone) or offset is None else value.astimezone(timezone(offset))


def to_python(value: Any) -> Any:
    """Driver dates and times become `datetime` ones, in maps and lists too; everything else stays as it is."""
    if isinstance(value, neo4j.time.DateTime | neo4j.time.Date | neo4j.time.Time):
        return value.to_native()
    if isinstance(value, dict):
        return {key: to_python(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_python(item) for item in value]
    return value


def to_json(value: Any) -> Any:
    """Anything as JSON can hold it: times as ISO 8601 text, other driver values as text."""
    plain = to_python(value)
    if isinstance(plain, dict):
        return {str(key): to_json(item) for key, item in plain.items()}
    if isinstance(plain, list | tuple | set | frozenset):
        return [to_json(item) for item in plain]
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    return plain.isoformat() if hasattr(plain, "isoformat") else str(plain)
