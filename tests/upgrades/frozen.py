"""A database as one compact file and back: nodes, relationships, constraints and indexes, every value with its type.

xz-compressed JSON lines: the properties of nodes (`labels`, `values`, `typed`), relationships by the numbers of their nodes, then
the statements that make the schema. What JSON can't say is in `typed`: name, type, text (DESIGN §12). A list of
single-precision floats comes back with double precision: no statement writes it.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from neo4j.spatial import Point

from jochi.database.database import Database

FOLDER = Path(__file__).parent
KEY_FILE = FOLDER / "forget.key"
"""The key of the seals in all of them."""
_PAGE = 500

_TEMPORAL = (
    ("ZONED DATETIME", "datetime"),
    ("LOCAL DATETIME", "localdatetime"),
    ("DATE", "date"),
    ("ZONED TIME", "time"),
    ("LOCAL TIME", "localtime"),
    ("DURATION", "duration"),
)
"""Types whose values are written as the database's own text, and the functions that read it: the driver knows no zone `Z`."""

_SPLIT = """
[name IN keys(x) | [name, valueType(x[name]), CASE
  WHEN NOT any(word IN ['DATE', 'TIME', 'DURATION'] WHERE valueType(x[name]) CONTAINS word) THEN x[name]
  WHEN valueType(x[name]) STARTS WITH 'LIST' THEN [one IN x[name] | toString(one)]
  ELSE toString(x[name]) END]]"""
_NODES = f"MATCH (x) RETURN elementId(x) AS id, labels(x) AS labels, {_SPLIT} AS properties"
_RELATIONSHIPS = (
    f"MATCH (a)-[x]->(b) RETURN elementId(a) AS a, elementId(b) AS b, type(x) AS type, {_SPLIT} AS properties"
)
_SCHEMA = (
    "SHOW INDEXES YIELD name, type, owningConstraint, createStatement WHERE type <> 'LOOKUP' AND owningConstraint IS NULL "
    "RETURN createStatement AS text ORDER BY name",
    "SHOW CONSTRAINTS YIELD name, createStatement RETURN createStatement AS text ORDER BY name",
)

_SET_TYPED = "\n".join(
    f"FOREACH (p IN [p IN row.typed WHERE p[1] = '{made}'] | SET x[p[0]] = {made}(p[2]))\n"
    f"FOREACH (p IN [p IN row.typed WHERE p[1] = '{made}s'] | SET x[p[0]] = [one IN p[2] | {made}(one)])"
    for _, made in _TEMPORAL
)
_CREATE_NODES = (
    f"UNWIND $rows AS row CREATE (x:$(row.labels)) SET x = row.values\n{_SET_TYPED}\nRETURN elementId(x) AS id"
)
_CREATE_RELATIONSHIPS = (
    "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.a MATCH (b) WHERE elementId(b) = row.b "
    f"CREATE (a)-[x:$(row.type)]->(b) SET x = row.values\n{_SET_TYPED}\nRETURN count(*) AS n"
)


def names() -> list[str]:
    """The frozen databases, oldest first."""
    return sorted(path.name.removesuffix(".jsonl.xz") for path in FOLDER.glob("*.jsonl.xz"))


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.jsonl.xz"


def rows_of(database: Database) -> Iterator[list[Any]]:
    """All of a database: ['n', labels, values, typed], ['r', from, to, type, values, typed], ['s', statement]."""
    numbers: dict[str, int] = {}
    for row in database.run(_NODES, write=False):
        numbers[row["id"]] = len(numbers)
        yield ["n", row["labels"], *_split(row["properties"])]
    for row in database.run(_RELATIONSHIPS, write=False):
        values, typed = _split(row["properties"])
        # A record knows the other end of a relationship by its element id, which is another one in each store.
        named = {
            name: {"node": numbers[value]}
            for name, value in values.items()
            if isinstance(value, str) and value in numbers
        }
        yield ["r", numbers[row["a"]], numbers[row["b"]], row["type"], {**values, **named}, typed]
    for text in _SCHEMA:
        for row in database.run(text, write=False):
            yield ["s", row["text"]]


def _split(properties: list[list[Any]]) -> tuple[dict[str, Any], list[list[Any]]]:
    values: dict[str, Any] = {}
    typed: list[list[Any]] = []
    for name, type, value in sorted(properties):
        made = next((made for word, made in _TEMPORAL if word in type), None)
        if made is not None:
            typed.append([name, made + "s" if type.startswith("LIST") else made, value])
        else:
            values[name] = _to_json(value)
    return values, typed


def _to_json(value: Any) -> Any:
    if isinstance(value, Point):
        return {"srid": value.srid, "point": list(value)}
    if isinstance(value, bytes | bytearray):
        return {"bytes": bytes(value).hex()}
    return [_to_json(one) for one in value] if isinstance(value, list) else value


def _from_json(value: Any, ids: Sequence[str]) -> Any:
    if isinstance(value, dict):
        if "node" in value:
            return ids[value["node"]]
        if "bytes" in value:
            return bytes.fromhex(value["bytes"])
        point = Point(value["point"])
        point.srid = value["srid"]
        return point
    return [_from_json(one, ids) for one in value] if isinstance(value, list) else value


def freeze(database: Database, name: str) -> int:
    """Writes the file of ``name``; returns its size in bytes."""
    lines = "".join(f"{json.dumps(row, ensure_ascii=False, separators=(',', ':'))}\n" for row in rows_of(database))
    path_of(name).write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    return path_of(name).stat().st_size


def read(name: str) -> list[list[Any]]:
    """The rows of a file, as `rows_of` gave them."""
    return [json.loads(line) for line in lzma.decompress(path_of(name).read_bytes()).decode().splitlines()]


def load(database: Database, name: str) -> None:
    """Fills the empty ``database`` with what was frozen: nodes, relationships, then constraints and indexes, built."""
    rows = read(name)
    ids: list[str] = []
    for page in _pages(row for row in rows if row[0] == "n"):
        given = [{"labels": row[1], **_given(row[2:])} for row in page]
        ids += [row["id"] for row in database.run(_CREATE_NODES, {"rows": given})]
    for page in _pages(row for row in rows if row[0] == "r"):
        given = [{"a": ids[row[1]], "b": ids[row[2]], "type": row[3], **_given(row[4:], ids)} for row in page]
        database.run(_CREATE_RELATIONSHIPS, {"rows": given})

    def make(tx: Any) -> None:
        for row in rows:
            if row[0] == "s":
                tx.run(row[1]).consume()

    database.transaction(make)
    database.run("CALL db.awaitIndexes(300)")


def _given(row: list[Any], ids: Sequence[str] = ()) -> Mapping[str, Any]:
    values, typed = row
    return {"values": {name: _from_json(value, ids) for name, value in values.items()}, "typed": typed}


def _pages(rows: Iterable[list[Any]]) -> Iterator[list[list[Any]]]:
    every = list(rows)
    for start in range(0, len(every), _PAGE):
        yield every[start : start + _PAGE]
