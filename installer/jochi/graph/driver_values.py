"""Values as the driver hands them out, turned into plain Python or into a type of ours, and moments as it can take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from typing import Any, TypeVar

import neo4j.time
from pydantic import TypeAdapter, ValidationError

from jochi.errors import JochiError, UsageError

_T = TypeVar("_T")
_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def zoned(value: object, name: str, *, where: str) -> datetime:
    """The moment that was given as the argument ``name`` of ``where``; `UsageError` for what is no datetime with a zone."""
    fix = "give a datetime with tzinfo, such as datetime.now(timezone.utc)"
    if not isinstance(value, datetime):
        raise UsageError(f"{name} is no datetime: {value!r}", where=where, fix=fix)
    if value.utcoffset() is None:
        raise UsageError(f"{name} has no zone: {value}", where=where, fix=fix)
    return value


def keys_of(named: Sequence[str], *, where: str) -> list[str]:
    """Keys of memories as a list. `UsageError` where nobody is named, or one key stands where a list of them belongs."""
    if isinstance(named, str):
        raise UsageError("keys must be a list of keys, not one text", where=where, fix=f"write [{named!r}]")
    if not named:
        raise UsageError("no memory named", where=where, fix="give one or more keys such as default/m1")
    return list(named)


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


def read_as(made: type[_T], row: Mapping[str, Any], **more: Any) -> _T:
    """``row``, as a procedure returned it, and ``more`` as the dataclass ``made`` with all that is nested in it.

    What ``made`` has no field for is left out. `JochiError` where the rest doesn't fit: another version is installed.
    """
    try:
        found: _T = _adapter(made).validate_python(to_python({**row, **more}))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in (made.__name__, *first["loc"]))
        raise JochiError(
            f"the installed engine answers otherwise than this version expects: {first['msg']}",
            where=where,
            fix="run `jochi install`",
        ) from None
    return found


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
