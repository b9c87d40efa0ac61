"""Every kind of value that Neo4j 5.26 stores, written and read by the database itself.

Python's driver knows neither the zone `Z` nor single-precision vectors, so values are made by Cypher and told apart by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jochi.database.database import Database

_SCALARS = {
    "true": "true",
    "false": "false",
    "zero": "0",
    "largest": "9223372036854775807",
    "least": "-9223372036854775808",
    "float": "0.1",
    "whole_float": "2.0",
    "minus_zero": "-0.0",
    "nan": "toFloat('NaN')",
    "infinity": "1.0 / 0.0",
    "minus_infinity": "-1.0 / 0.0",
    "empty_text": "''",
    "text": "'Grüße 🙂 “x”'",
    "long_text": "reduce(t = 'x', _ IN range(1, 10) | t + t)",
    "date": "date('2026-01-02')",
    "local_time": "localtime('01:02:03.000000004')",
    "time": "time('01:02:03.000000004+02:00')",
    "time_z": "time('01:02:03Z')",
    "local_datetime": "localdatetime('2026-01-02T03:04:05.000000006')",
    "datetime_offset": "datetime('2026-01-02T03:04:05.000000006+09:00')",
    "datetime_z": "datetime('2026-01-02T03:04:05Z')",
    "datetime_region": "datetime('2026-10-25T02:30:00+01:00[Europe/Berlin]')",
    "duration": "duration({months: 1, days: 2, seconds: 3, nanoseconds: 4})",
    "minus_duration": "duration({months: -1, seconds: -3, nanoseconds: 4})",
    "wgs84": "point({longitude: 1.5, latitude: 2.5})",
    "wgs84_3d": "point({longitude: 1.5, latitude: 2.5, height: 3.5})",
    "cartesian": "point({x: 1.5, y: 2.5})",
    "cartesian_3d": "point({x: 1.5, y: 2.5, z: 3.5})",
}
_LISTS = {
    "list_empty": "[]",
    "list_truth": "[true, false]",
    "list_integers": "[1, -9223372036854775808]",
    "list_floats": "[0.1, -0.0, toFloat('NaN'), 1.0 / 0.0]",
    "list_texts": "['', 'a', 'Grüße']",
    "list_dates": "[date('2026-01-02'), date('1969-12-31')]",
    "list_local_times": "[localtime('01:02')]",
    "list_times": "[time('01:02Z'), time('01:02-05:00')]",
    "list_local_datetimes": "[localdatetime('2026-01-02T03:04')]",
    "list_datetimes": "[datetime('2026-01-02T03:04Z'), datetime('2026-01-02T03:04+01:00[Europe/Berlin]')]",
    "list_durations": "[duration('P1M2DT3S')]",
    "list_wgs84": "[point({longitude: 1.5, latitude: 2.5})]",
    "list_cartesian_3d": "[point({x: 1.5, y: 2.5, z: 3.5})]",
    "bytes": "$bytes",
}
VECTOR = "vector_of_floats"
"""A list of single-precision floats, which only a procedure writes."""
VALUES: Mapping[str, str] = _SCALARS | _LISTS
NAMES: tuple[str, ...] = (*VALUES, VECTOR)
PREFIX = "native_"

_ALL = ", ".join(f"{name}: {text}" for name, text in VALUES.items())
_ON_NODES = f"""
WITH {{{_ALL}}} AS every
UNWIND $rows AS row
MATCH (m:Curated {{key: row.key}})
FOREACH (name IN [n IN row.names WHERE n <> '{VECTOR}'] | SET m['{PREFIX}' + name] = every[name])
WITH m, row WHERE '{VECTOR}' IN row.names
CALL db.create.setNodeVectorProperty(m, '{PREFIX}{VECTOR}', [0.1, 0.2, -0.3])
RETURN count(*) AS n
"""
_ON_EDGES = f"""
WITH {{{_ALL}}} AS every
MATCH (m:Curated)-[r]->() WHERE m.key IN $keys AND type(r) = $type
FOREACH (name IN keys(every) | SET r['{PREFIX}' + name] = every[name])
"""

SAID = """[name IN keys({0}) | [name, valueType({0}[name]), CASE WHEN {0}[name] IS :: LIST<ANY> THEN toString(size({0}[name]))
  + reduce(t = '', x IN {0}[name] | t + '|' + coalesce(toStringOrNull(x), '?')) ELSE toStringOrNull({0}[name]) END]]"""
"""Cypher: a list of [name, type, text] of all properties of a node or relationship; the text tells any two values apart."""


def put(database: Database, rows: Mapping[str, Sequence[str]]) -> None:
    """Gives memories (by key) values (by name)."""
    given = [{"key": key, "names": list(names)} for key, names in rows.items()]
    database.run(_ON_NODES, {"rows": given, "bytes": b"\x00\xff\x80"})


def put_on_relationships(database: Database, keys: Sequence[str], type: str) -> None:
    """Gives the relationships of a type that begin at these memories all values but the vector."""
    database.run(_ON_EDGES, {"keys": list(keys), "type": type, "bytes": b"\x00\xff\x80"})


def said(rows: Sequence[Sequence[Any]], without: frozenset[str] | set[str]) -> tuple[tuple[Any, ...], ...]:
    """What `SAID` returned, sorted, without some names."""
    return tuple(sorted(tuple(row) for row in rows if row[0] not in without))
