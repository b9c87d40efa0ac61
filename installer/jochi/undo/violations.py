"""What constraints of applications forbid of what is brought back: found row by row, and named (DESIGN §17).

A page is written as a whole. Where a constraint forbids it, each half is tried by itself, down to the single row that is to blame:
the usual case costs nothing. A dry run asks the constraints, or tries what is rolled back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import neo4j
from neo4j.exceptions import Neo4jError

from jochi.compile.rendering import render_for_label
from jochi.database.batches import PageSize, chunks
from jochi.database.database import Database, Row
from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.errors import MemoryExceeded
from jochi.schema.constraints import Constraint, all_constraints
from jochi.undo.results import Leftover

T = TypeVar("T")
R = TypeVar("R")

_VIOLATION = "Neo.ClientError.Schema.ConstraintValidationFailed"
_CONFLICT = "IndexEntryConflictException"
_SPEAKS_OF_ONE = re.compile(
    r" already exists with | have the propert(?:y|ies) |\bBoth (?:Node|Relationship)\(| of type "
)
_NUMBERED = re.compile(r"\b(Node|Relationship)\((\d+)\)")


@dataclass(frozen=True)
class Violation:
    """``constraint``: its name. ``holder``: who has the value that it lets only one have: the key of a live memory, else labels and
    element id; None where it asks for something else, or nobody is found."""

    constraint: str
    holder: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """As fields of a result."""
        return {"outcome": "forbidden", "constraint": self.constraint, "holder": self.holder}


def row_by_row(
    database: Database, rows: Sequence[T], call: Callable[[list[T]], R], pages: PageSize | None = None
) -> Iterator[tuple[list[T], R | Violation]]:
    """``call`` with all ``rows``, or with as many at once as constraints let pass; in their order, each with what came of it.

    A single row that a constraint forbids comes with `Violation`, and is as it was. Rows that the server's memory doesn't hold
    together are divided just so, and ``pages`` remembers for calls to come how many it holds.
    """
    pages = pages or PageSize(max(1, len(rows)))
    waiting = list(chunks(rows, pages.size))[::-1]
    while waiting:
        part = waiting.pop()
        result: R | Violation
        try:
            result = call(part)
        except (MemoryExceeded, Neo4jError) as error:
            if isinstance(error, Neo4jError) and not (error.code == _VIOLATION or _CONFLICT in (error.message or "")):
                raise
            if len(part) > 1:
                middle = len(part) // 2
                if isinstance(error, MemoryExceeded):
                    pages.shrink(middle)
                waiting += [part[middle:], part[:middle]]
                continue
            if isinstance(error, MemoryExceeded):
                raise
            result = read_message(database, error.message or "") or Violation("a constraint that is gone by now")
        yield part, result


def find_violations(
    engine: Engine, name: str, given: Mapping[str, Any], rows: Sequence[str], column: str
) -> dict[str, Violation]:
    """Which of ``rows`` the procedure ``name`` couldn't bring back: it runs and is rolled back.

    ``column``: the parameter that takes the rows.
    """
    text = engine.text(name)
    passed: list[str] = []

    def attempt(part: list[str]) -> None:
        # Those before are brought back first each time: of two with one value the first has it.
        def work(tx: neo4j.ManagedTransaction) -> None:
            engine.call_in(tx, text, {**given, column: passed + part, "run": "undo/dry-run", "dry_run": False})
            raise _RolledBack

        try:
            engine.database.transaction(work)
        except _RolledBack:
            passed.extend(part)

    found = row_by_row(engine.database, rows, attempt)
    return {part[0]: result for part, result in found if isinstance(result, Violation)}


def release_nodes(
    database: Database,
    nodes: Sequence[str],
    given: Mapping[str, Any],
    left: list[tuple[str, Leftover]],
    pages: PageSize | None = None,
) -> Row:
    """Releases ``nodes`` (element ids) as `enrol/release` does; how many.

    Those that a constraint forbids are as they were, and come into ``left`` with their element ids.
    """

    def release(some: list[str]) -> Row:
        return database.run(statement("enrol/release"), {**given, "nodes": some, "aside": False})[0]

    total = {"released": 0, "restored": 0}
    for part, row in row_by_row(database, nodes, release, pages):
        if isinstance(row, Violation):
            keys = database.run(statement("enrol/keys"), {"nodes": part}, write=False)
            left += [(part[0], Leftover(each["key"], row.constraint, row.holder)) for each in keys]
        else:
            total = {name: total[name] + row[name] for name in total}
    return total


class Claims:
    """What tombstones would claim if they came back, one after the other: for a dry run that comes page by page."""

    def __init__(self, database: Database, those: Iterable[Constraint]) -> None:
        self._database = database
        self._those = [
            (each, text) for each in those if not each.of_relationships and (text := _text(each)) is not None
        ]
        self._taken: dict[tuple[str, Any], str] = {}

    def claim(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Violation]:
        """By id what the constraints forbid; the others have what they claim from now on.

        ``rows``: {id, node (element id of a tombstone), key} in their order.
        """
        answers: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for each, text in self._those if rows else []:
            for found in self._database.run(text, {"rows": rows, "label": each.label}, write=False):
                answers.setdefault(found["id"], []).append((each.name, found))
        forbidden: dict[str, Violation] = {}
        for row in rows:
            claims = [
                (name, (name, _hashable(answer["values"])) if answer["values"] is not None else None, answer)
                for name, answer in answers.get(row["id"], [])
            ]
            for name, place, value in claims:
                holder = value["holder"] or (self._taken.get(place) if place else None)
                if value["broken"] or holder:
                    forbidden[row["id"]] = Violation(name, holder)
                    break
            else:
                self._taken.update({place: row["key"] for _, place, _ in claims if place})
        return forbidden


def _text(each: Constraint) -> str | None:
    """None where its names can't be written."""
    about = {"properties": each.properties, "unique": each.is_unique, "required": each.is_required, "type": each.type}
    try:
        return render_for_label("undo/claims", each.label, **about)
    except ValueError:
        return None


class _RolledBack(Exception):
    """Takes back a transaction that was only to be tried."""


def read_message(database: Database, message: str) -> Violation | None:
    """What a server's message says of a constraint that is there, without the value that may stand in it; None: nothing."""
    if not _SPEAKS_OF_ONE.search(message):
        return None
    about = message.split(" = ")[0]
    named = [
        each
        for each in all_constraints(database)
        if f"`{each.label}`" in about
        and f"`{each.properties[0]}`" in about
        and (len(each.properties) > 1) == (" properties " in about)
    ]
    if not named:
        return None
    # Of those that begin with the same property the one whose kind the message is about, and whose others it names.
    shared = "already exists" in message or "Both " in message
    first = max(
        named, key=lambda each: (each.is_unique == shared, sum(f"`{name}`" in message for name in each.properties))
    )
    number_of = _NUMBERED.search(message)
    if not shared or number_of is None:
        return Violation(first.name)
    entity, number = number_of.groups()
    text = render_for_label("undo/holder", entity.upper())
    found = database.run(text, {"number": int(number), "label": first.label}, write=False)
    return Violation(first.name, found[0]["holder"] if found else None)


def _hashable(value: Any) -> Any:
    """A value so that two are equal where the database takes them for equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, bool):
        return ("boolean", value)
    return tuple(_hashable(each) for each in value) if isinstance(value, list) else value
