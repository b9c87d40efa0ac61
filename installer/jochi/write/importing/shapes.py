"""Memories as parameters of `memory/import_memories`: those of one shape together.

The driver's packing of parameters costs more than the server's writing (about 4 µs a value and 75 µs a datetime, in
pure Python), so property names and shared values travel once a group, and datetimes as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypedDict

from jochi.graph.catalogue import named
from jochi.write.newborn import SHIPPED, Newborn
from jochi.write.record import MemoryRecord

_SHARED = set(named(mark="newborn")) - {"created_at", "token_count"}
"""Of a newborn, what has few different values: it is part of the shape."""


class Group(TypedDict):
    """Memories of one shape; a row is id, values as in ``names``, ISO 8601 texts as in ``instants``."""

    kind: str
    scope: str
    shared: dict[str, Any]
    names: list[str]
    instants: list[str]
    rows: list[tuple[str, list[Any], list[str]]]


def groups(records: Iterable[MemoryRecord], now: datetime, newborn: Newborn = SHIPPED) -> list[Group]:
    """The records as groups; ``now`` stands in for a missing `created_at`."""
    found: dict[object, Group] = {}
    for record in records:
        properties = record.stored(now, newborn)
        shared = {name: properties.pop(name) for name in sorted(_SHARED & properties.keys())}
        values: dict[str, Any] = {}
        instants: dict[str, str] = {}
        for name in sorted(properties):
            value = properties[name]
            if isinstance(value, datetime):
                instants[name] = value.isoformat()
            else:
                values[name] = value
        shape = (record.kind, record.scope, tuple(shared.items()), tuple(values), tuple(instants))
        group = found.get(shape)
        if group is None:
            group = found[shape] = Group(
                kind=record.kind,
                scope=record.scope,
                shared=shared,
                names=list(values),
                instants=list(instants),
                rows=[],
            )
        group["rows"].append((record.id, list(values.values()), list(instants.values())))
    return list(found.values())
