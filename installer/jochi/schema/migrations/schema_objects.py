"""Which constraints and indexes a folder of migrations creates: read from its own CREATE statements, so that uninstall
never needs a second list that could drift from the first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jochi.errors import UsageError
from jochi.schema.migrations.file_text import without_comments
from jochi.schema.migrations.files import MigrationFile

_CREATE = re.compile(
    r"""\s*CREATE\s+(?:(?P<constraint>CONSTRAINT)|(?:(?P<kind>RANGE|TEXT|POINT|FULLTEXT|VECTOR)\s+)?INDEX)
        \s+(?P<name>\w+)\s+IF\s+NOT\s+EXISTS\s+FOR\s+
        (?:\(\w*:(?P<label>\w+)\)|\(\)-\[\w*:(?P<type>\w+)\]-\(\))\s+
        (?:REQUIRE|ON)\s+(?P<rest>.+)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_SCHEMA_COMMAND = re.compile(r"\s*CREATE\s+(?:\w+\s+)?(?:CONSTRAINT|INDEX)\b", re.IGNORECASE)
_END_OF_PROPERTIES = re.compile(r"\b(?:IS|OPTIONS)\b", re.IGNORECASE)
_PROPERTY = re.compile(r"\w+\.(\w+)")


@dataclass(frozen=True)
class SchemaObject:
    """A named constraint or index; ``label`` is a label or a relationship type."""

    is_constraint: bool
    name: str
    label: str
    properties: tuple[str, ...]
    kind: str = "RANGE"
    """Of an index: RANGE, TEXT, POINT, FULLTEXT or VECTOR. The last two are asked by their names."""

    def __str__(self) -> str:
        return f"{self.name} on {self.label}({', '.join(self.properties)})"


def created_by(*files: MigrationFile, strict: bool = True) -> tuple[SchemaObject, ...]:
    """The objects that the migrations create, in their order.

    Raises `UsageError` for a schema command that is not of the form CREATE … name IF NOT EXISTS FOR … ; not ``strict`` leaves
    it out.
    """
    found: list[SchemaObject] = []
    for file in files:
        for number, text in enumerate(file.executable, start=1):
            command = without_comments(text)
            if not _SCHEMA_COMMAND.match(command):
                continue
            match = _CREATE.match(command)
            if match is None:
                if not strict:
                    continue
                raise UsageError(
                    "a schema command without a plain name or without IF NOT EXISTS",
                    where=f"{file.path}, statement {number}",
                    fix="write CREATE … INDEX|CONSTRAINT name IF NOT EXISTS FOR …",
                )
            rest = _END_OF_PROPERTIES.split(match["rest"])[0]
            found.append(
                SchemaObject(
                    is_constraint=match["constraint"] is not None,
                    name=match["name"],
                    label=match["label"] or match["type"],
                    properties=tuple(_PROPERTY.findall(rest)),
                    kind=(match["kind"] or "RANGE").upper(),
                )
            )
    return tuple(found)
