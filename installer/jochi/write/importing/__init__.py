"""Imports memories from JSON Lines and LoCoMo files (docs/reference/import-formats.md).

`import_files` is what `jochi import` runs; `records` reads one file; `write` writes records from anywhere.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from jochi.database.database import Database
from jochi.errors import UsageError
from jochi.write.importing.line import KNOWN_KINDS
from jochi.write.importing.reading import Reader
from jochi.write.importing.result import (
    BadLine,
    ImportResult,
    KindCounts,
    OnProgress,
    Progress,
    RelationshipCounts,
    bad_lines,
)
from jochi.write.importing.strict import first_bad
from jochi.write.importing.writing import BATCH_SIZE, Importer, ImportInterrupted, check_batch_size, check_ready
from jochi.write.newborn import SHIPPED, Newborn
from jochi.write.record import MemoryRecord, Place, Relationship

__all__ = [
    "BATCH_SIZE",
    "KNOWN_KINDS",
    "BadLine",
    "ImportInterrupted",
    "ImportResult",
    "KindCounts",
    "MemoryRecord",
    "OnProgress",
    "Place",
    "Progress",
    "Relationship",
    "RelationshipCounts",
    "import_files",
    "records",
    "write",
]


def import_files(
    database: Database,
    paths: Sequence[Path],
    *,
    now: datetime,
    kinds: frozenset[str] = KNOWN_KINDS,
    newborn: Newborn = SHIPPED,
    batch_size: int = BATCH_SIZE,
    strict: bool = False,
    errors: Path | None = None,
    on_progress: OnProgress | None = None,
) -> ImportResult:
    """Imports files; a memory that is there already stays as it is, one that was pruned stays pruned.

    ``now`` (zoned) stands in for a missing `created_at`. ``kinds`` are the labels that may be imported,
    ``newborn`` says what of each is left to a worker. Bad lines are
    counted, kept (the first thousand) and written to ``errors``; the others go in. With ``strict`` all files are
    checked first and nothing of the first bad line and after it is written (`ImportResult.stopped_at`).
    UsageError before anything is written if a file can't be read or the database isn't installed;
    ImportInterrupted if the server goes away: running again completes the import.
    """
    check_batch_size(batch_size)
    reader = Reader(paths, now=now, kinds=kinds)
    check_ready(database)
    result = ImportResult()
    tell = on_progress or (lambda progress: None)
    with bad_lines(result, errors) as bad:
        memories = None
        if strict:
            stop = first_bad(
                database,
                reader,
                page=batch_size,
                on_progress=lambda: tell(Progress("checking", reader.done, reader.total, 0)),
            )
            if stop is not None:
                bad.add(stop.bad)
                result.stopped_at = stop.bad
                memories = stop.memories_before
        with contextlib.closing(reader.records(bad.add, lambda note: result.notes.update([note]))) as read:
            Importer(
                database,
                now,
                newborn,
                batch_size,
                result,
                bad.add,
                lambda dealt: (reader.done, reader.total),
                tell,
                strict,
            ).write(itertools.islice(read, memories))
    return result


def write(
    database: Database,
    records: Iterable[MemoryRecord],
    *,
    now: datetime,
    newborn: Newborn = SHIPPED,
    batch_size: int = BATCH_SIZE,
    on_progress: OnProgress | None = None,
) -> ImportResult:
    """Writes records from anywhere (such as `jochi.generate.team`) by the same rules as an import.

    The records are trusted to hold what `records` would let through. Progress counts memories, of an unknown total (0).
    """
    check_batch_size(batch_size)
    check_ready(database)
    result = ImportResult()
    with bad_lines(result, None) as bad:
        tell = on_progress or (lambda progress: None)
        Importer(database, now, newborn, batch_size, result, bad.add, lambda dealt: (dealt, 0), tell).write(records)
    return result


def records(
    path: Path,
    *,
    now: datetime,
    kinds: frozenset[str] = KNOWN_KINDS,
    on_bad: Callable[[BadLine], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Iterator[MemoryRecord]:
    """The memories of one file, read as a stream. Without ``on_bad`` the first bad line is a UsageError."""

    def refuse(bad: BadLine) -> None:
        raise UsageError(bad.reason, where=f"{bad.file}:{bad.line}" if bad.line else bad.file, fix="set the line right")

    return Reader([path], now=now, kinds=kinds).records(on_bad or refuse, on_note or (lambda note: None))
