"""Reads one file or several, of either format, as one stream of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from jochi.importing import jsonlines, locomo
from jochi.importing.checkpoint import Checkpoint, Position
from jochi.importing.files import Source, open_source
from jochi.importing.record import MemoryRecord
from jochi.importing.result import BadLine


class Marked(NamedTuple):
    """A memory with where the files stand after it, and what was found between it and the one before."""

    record: MemoryRecord | None
    position: Position | None = None
    bad: tuple[BadLine, ...] = ()
    notes: tuple[str, ...] = ()


class Reader:
    """The files of one import. UsageError at once if one can't be read or has neither format.

    To be closed by whoever reads: where an import fails its half-read iterators live on in the traceback, and a file
    would stay open until both are collected.
    """

    def __init__(self, paths: Sequence[Path], *, now: datetime, kinds: frozenset[str]) -> None:
        self._paths = paths
        self._now = now
        self._kinds = kinds
        self._source: Source | None = None
        self._before = 0
        self._position = Position()
        self.total = 0
        for path in paths:
            source = open_source(path)
            try:
                self.total += source.size
                if source.format == "locomo":
                    locomo.check(source)
            finally:
                source.close()

    def close(self) -> None:
        """Closes the file that was being read. May be called again."""
        if self._source is not None:
            self._source.close()

    def _locomo(
        self, source: Source, on_bad: Callable[[BadLine], None], on_note: Callable[[str], None], skip: int
    ) -> Iterator[MemoryRecord]:
        """A LoCoMo file is read whole in any case; what an earlier run has dealt with is passed over in silence."""
        passing = skip > 0
        found = locomo.read(
            source,
            now=self._now,
            kinds=self._kinds,
            on_bad=lambda bad: None if passing else on_bad(bad),
            on_note=lambda note: None if passing else on_note(note),
        )
        for _ in islice(found, skip):
            pass
        passing = False
        yield from found

    @property
    def done(self) -> int:
        """Bytes on disk read so far, of ``total``."""
        return self._before + (self._source.position() if self._source else 0)

    def records(self, on_bad: Callable[[BadLine], None], on_note: Callable[[str], None]) -> Iterator[MemoryRecord]:
        """All memories in the order of the files. Can be read again from the start."""
        yield from self._records(on_bad, on_note, Position(), None)

    def marked(self, checkpoint: Checkpoint) -> Iterator[Marked]:
        """The memories behind the position of ``checkpoint``, each with where the files stand after it.

        The last one is no memory: it says that the files are read, and brings what was found behind the last memory.
        """
        bad: list[BadLine] = []
        notes: list[str] = []
        start = checkpoint.left.position if checkpoint.left else Position()
        for record in self._records(bad.append, notes.append, start, checkpoint):
            yield Marked(record, self._position, tuple(bad), tuple(notes))
            bad.clear()
            notes.clear()
        yield Marked(None, Position(len(self._paths)), tuple(bad), tuple(notes))

    def _records(
        self,
        on_bad: Callable[[BadLine], None],
        on_note: Callable[[str], None],
        start: Position,
        checkpoint: Checkpoint | None,
    ) -> Iterator[MemoryRecord]:
        self._before = 0
        for number, path in enumerate(self._paths):
            source = open_source(path)
            if number < start.file:
                self._before += source.size
                source.close()
                continue
            at = start if number == start.file else Position(number)
            self._source = source
            try:
                if source.format == "locomo":
                    found = self._locomo(source, on_bad, on_note, at.memories)
                else:
                    if at.offset:
                        source.skip_to(at.offset, at.line)
                    seen = checkpoint.seen(number) if checkpoint else None
                    found = jsonlines.read(source, now=self._now, kinds=self._kinds, on_bad=on_bad, seen=seen)
                for count, record in enumerate(found, start=at.memories + 1):
                    self._position = Position(number, source.offset, source.line, count)
                    yield record
            finally:
                self._source = None
                self._before += source.size
                source.close()
