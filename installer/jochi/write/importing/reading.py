"""Reads one file or several, of either format, as one stream of records."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from datetime import datetime
from pathlib import Path

from jochi.write.importing import jsonlines, locomo
from jochi.write.importing.files import Source, open_source
from jochi.write.importing.result import BadLine
from jochi.write.record import MemoryRecord


class Reader:
    """The files of one import. UsageError at once if one can't be read or has neither format."""

    def __init__(self, paths: Sequence[Path], *, now: datetime, kinds: frozenset[str]) -> None:
        self._paths = paths
        self._now = now
        self._kinds = kinds
        self._source: Source | None = None
        self._before = 0
        self.total = 0
        for path in paths:
            source = open_source(path)
            try:
                self.total += source.size
                if source.format == "locomo":
                    locomo.check(source)
            finally:
                source.close()

    @property
    def done(self) -> int:
        """Bytes on disk read so far, of ``total``."""
        return self._before + (self._source.position() if self._source else 0)

    def records(self, on_bad: Callable[[BadLine], None], on_note: Callable[[str], None]) -> Generator[MemoryRecord]:
        """All memories in the order of the files. Can be read again from the start.

        To be closed by whoever may stop in the middle: where an import fails it lives on in the traceback, its file stays open
        until both are collected, and that may be in another thread.
        """
        self._before = 0
        for path in self._paths:
            source = open_source(path)
            self._source = source
            try:
                if source.format == "locomo":
                    yield from locomo.read(source, now=self._now, kinds=self._kinds, on_bad=on_bad, on_note=on_note)
                else:
                    yield from jsonlines.read(source, now=self._now, kinds=self._kinds, on_bad=on_bad)
            finally:
                self._source = None
                self._before += source.size
                source.close()
