"""Whether what a migration creates is there and built, and not something else in its place (DESIGN §17).

`IF NOT EXISTS` is content with whatever has the name or the schema: an index of somebody else's on another label, one that could
not be built, one of another name that nobody asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neo4j.exceptions import Neo4jError

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.schema.migrations.files import MigrationFile
from jochi.schema.migrations.schema_objects import SchemaObject, created_by
from jochi.schema.migrations.server_errors import MigrationFailed, explained

_ASKED_BY_NAME = ("FULLTEXT", "VECTOR")
_EXCEPTION = re.compile(r"^[\w.$]+(?:Exception|Error): ")

Row = Mapping[str, Any]


def drop_failed(database: Database, file: MigrationFile) -> None:
    """Drops the indexes of ``file`` that could not be built: its own CREATE builds them again."""
    rows = {row["name"]: row for row in database.run(statement("migrations/show_indexes"), write=False)}
    for wanted in _objects(file):
        row = rows.get(wanted.name)
        if row is not None and row["state"] == "FAILED" and _is(wanted, row):
            database.run(statement("migrations/drop_index"), {"name": wanted.name})


def expect_built(database: Database, file: MigrationFile, seconds: int) -> None:
    """Waits for the indexes of ``file``, ``seconds`` for each. `MigrationFailed` for one that can't be built, isn't in time, or
    has something else in its place."""
    constraints = database.run(statement("migrations/show_constraints"), write=False)
    indexes = database.run(statement("migrations/show_indexes"), write=False)
    names: list[str] = []
    for wanted in _objects(file):
        by_name = next((row for row in [*constraints, *indexes] if row["name"] == wanted.name), None)
        if by_name is not None and not _is(wanted, by_name):
            raise MigrationFailed(
                f"the name {wanted.name} is taken: it is on {by_name['label']}({', '.join(by_name['properties'])})",
                where=str(file.path),
                fix=f"drop that one (its owner may create it under another name), and run the same again: {wanted} is needed",
            )
        if by_name is None and wanted.kind in _ASKED_BY_NAME:
            other = next((row["name"] for row in indexes if row["kind"] == wanted.kind and _is(wanted, row)), None)
            if other is not None:
                raise MigrationFailed(
                    f"the index {other} stands in the place of {wanted}, which is asked by its name",
                    where=str(file.path),
                    fix=f"`DROP INDEX {other}`, and run the same again; whoever needs {other} can ask {wanted.name}",
                )
        if by_name is not None and not wanted.is_constraint:
            names.append(wanted.name)
    try:
        database.autocommit(statement("migrations/await_indexes"), {"names": names, "seconds": seconds})
    except Neo4jError as error:
        for row in database.run(statement("migrations/show_indexes"), write=False):
            if row["name"] in names and row["state"] == "FAILED":
                reason = _EXCEPTION.sub("", (row["failure"] or "").splitlines()[0])
                raise MigrationFailed(
                    f"the index {row['name']} can't be built: {reason}",
                    where=str(file.path),
                    fix="correct or remove that value, and run the same again: the index is built anew",
                ) from None
        raise explained(error, database, f"{file.path}, waiting {seconds} s for its indexes") from error


def _objects(file: MigrationFile) -> Iterator[SchemaObject]:
    """What is to be there when the file has run."""
    for wanted in created_by(file, strict=False):
        if not re.search(rf"\bDROP\s+\w+\s+{wanted.name}\b", file.text, re.IGNORECASE):
            yield wanted


def _is(wanted: SchemaObject, row: Row) -> bool:
    properties: Sequence[str] = row["properties"]
    return bool(row["label"] == wanted.label and tuple(properties) == wanted.properties)
