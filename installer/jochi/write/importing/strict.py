"""The first pass of a strict import: finds the first bad line before anything is written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.write.importing.reading import Reader
from jochi.write.importing.result import BadLine
from jochi.write.importing.spool import References
from jochi.write.importing.writing import unknown_target


class Stop(NamedTuple):
    """The first bad line and how many memories stand before it."""

    bad: BadLine
    memories_before: int


def first_bad(database: Database, reader: Reader, *, page: int, on_progress: Callable[[], None]) -> Stop | None:
    """Reads all files without writing. None if every line is good and every relationship leads somewhere."""
    unreadable: list[Stop] = []
    count = 0
    references = References()

    def on_bad(bad: BadLine) -> None:
        if not unreadable:
            unreadable.append(Stop(bad, count))

    try:
        with contextlib.closing(reader.records(on_bad, lambda note: None)) as records:
            for record in records:
                references.add(record, count)
                count += 1
                if count % page == 0:
                    on_progress()
        leads_nowhere = next(_unknown(database, references, page), None)
    finally:
        references.close()
    found = [*unreadable, *([leads_nowhere] if leads_nowhere else [])]
    return min(found, key=lambda stop: stop.memories_before, default=None)


def _unknown(database: Database, references: References, page: int) -> Iterator[Stop]:
    """The relationships, in the order of the files, whose target neither the files nor the database know."""
    outside = references.outside()
    while rows := list(islice(outside, page)):
        keys = list({row.to_key for row in rows})
        unknown = {row["key"] for row in database.run(statement("memory/import_unknown"), {"keys": keys}, write=False)}
        for row in rows:
            if row.to_key in unknown:
                bad = BadLine(row.place.file, row.place.line, unknown_target(row.type, row.to_key))
                yield Stop(bad, row.number)
