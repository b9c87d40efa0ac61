"""Memories as rows of `$memories`: what is absent is filled in, and what the driver couldn't send is refused here.

Everything else is judged by the procedure, which any driver may call.
"""

from __future__ import annotations

import array
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import neo4j.spatial
import neo4j.time

from jochi.graph import property_values as values
from jochi.graph.catalogue import is_moment
from jochi.graph.driver_values import fixed_offset
from jochi.text.content_properties import content_properties
from jochi.text.slot_names import slot_name_of
from jochi.text.tokens import TokenCounter
from jochi.write.record import DEFAULT_SCOPE, key_of
from jochi.write.remembering.memory import Link, Memory
from jochi.write.remembering.results import Result

Row = dict[str, Any]

_SENT_AS_IS = (
    *(bool, float, bytes, date, time, timedelta),
    *(neo4j.time.Date, neo4j.time.Time, neo4j.time.DateTime, neo4j.time.Duration, neo4j.spatial.Point),
)


@dataclass(frozen=True)
class Unreadable:
    """Stands among memories for one that couldn't even be read, such as a line that is no JSON."""

    reason: str


class _Unsendable(Exception):
    def __init__(self, code: str, sentence: str) -> None:
        self.code = code
        super().__init__(sentence)


def row_of(memory: object, index: int, counter: TokenCounter) -> Row | Result:
    """The row of one memory, or its refusal."""
    try:
        return _row(memory, counter)
    except _Unsendable as error:
        key = None
        if isinstance(memory, Mapping) and isinstance(memory.get("id"), str):
            scope = memory.get("scope")
            key = key_of(scope if isinstance(scope, str) else DEFAULT_SCOPE, memory["id"])
        return Result(index, key, "refused", error.code, str(error))


def _row(memory: object, counter: TokenCounter) -> Row:
    if isinstance(memory, Unreadable):
        raise _Unsendable("not_json", memory.reason)
    given = memory.model_dump(exclude_none=True) if isinstance(memory, Memory) else memory
    if not isinstance(given, Mapping):
        raise _Unsendable("not_a_map", f"a {type(memory).__name__} is no memory: give a Memory or a mapping")
    row: Row = {}
    for name, value in given.items():
        if value is None and isinstance(name, str):
            row[name] = None
        elif name == "embedding":
            row[name] = _vector(value)
        elif name == "properties" and isinstance(value, Mapping):
            row[name] = _properties(value)
        elif name == "relationships" and isinstance(value, list | tuple):
            row[name] = [_link(link) for link in value]
        else:
            row[_name(name)] = _value(name, value)
    content = row.get("content")
    if isinstance(content, str):
        given_hash = row.get("content_hash")
        row |= content_properties(content)
        if given_hash is not None:
            row["content_hash"] = given_hash
        if row.get("token_count") is None and row.get("token_counter") is None:
            row["token_count"], row["token_counter"] = counter.count(content), counter.name
    properties = row.get("properties")
    slot = slot_name_of(properties) if isinstance(properties, dict) and row.get("slot_name") is None else None
    if slot is not None:
        row["slot_name"], row["slot_value"] = slot.name, slot.value
    if row.get("id") is None:
        # Made here and not by the server, so that a repeated transaction finds what a lost answer had written.
        row["id"] = uuid.uuid4().hex
    return row


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise _Unsendable("unknown_field", f"a field is named {name!r}, which is no text")
    return str(_value("the name of a field", name))


def _vector(value: object) -> object:
    listed = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(listed, list | tuple):
        return _value("embedding", listed)
    try:
        # An array takes true for 1.
        if any(isinstance(number, bool) for number in listed):
            raise TypeError
        return array.array("d", listed).tolist()
    except (TypeError, OverflowError):
        raise _Unsendable("bad_embedding", "embedding is no list of numbers") from None


def _link(link: object) -> object:
    if isinstance(link, Link):
        link = link.model_dump(exclude_none=True)
    if not isinstance(link, Mapping):
        return _value("relationships", link)
    return {
        _name(name): _properties(value)
        if name == "properties" and isinstance(value, Mapping)
        else _value("relationships", value)
        for name, value in link.items()
    }


def _properties(given: Mapping[Any, Any]) -> Row:
    checked = {}
    for name, value in given.items():
        dated = isinstance(name, str) and (is_moment(name) or name == "valid_from")
        if dated and isinstance(value, str):
            value = values.date_in(value) or value
        checked[_name(name)] = _value(name, value)
    return checked


def _value(name: object, value: object) -> object:
    """The value, if the driver can send it; a number of numpy's as the plain one that it is."""
    if type(value).__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "shape", ()):
        value = value.item()
    if isinstance(value, datetime):
        return fixed_offset(value)
    if value is None or isinstance(value, _SENT_AS_IS):
        return value
    if isinstance(value, str):
        try:
            return values.text(value)
        except ValueError as error:
            raise _Unsendable("not_storable", f"{name!a} {error}") from None
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise _Unsendable("not_storable", f"{name} is beyond a 64-bit integer")
        return int(value)
    if isinstance(value, list | tuple):
        return [_value(name, item) for item in value]
    if isinstance(value, Mapping):
        return {_name(key): _value(key, item) for key, item in value.items()}
    raise _Unsendable("not_storable", f"{name}: a {type(value).__name__} can't be stored")
