"""Verbs for raw sources (seed 002): take them in, and see how far they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone, tzinfo
from pathlib import Path
from typing import IO, Any

from jochi.client.base import Base, on_engine
from jochi.use.sources import ls, show
from jochi.write import ingesting
from jochi.write.ingesting import CopyResult, Fault, FileReport, IngestResult, Omission, OmittedFile, Piece, read
from jochi.write.ingesting.folder import files_in, path_text, read_found


class IngestVerbs(Base):
    def ingest(
        self,
        what: str | Path | IO[bytes] | Iterable[str | Path] | Iterable[Piece],
        *,
        scope: str = "default",
        format: str | None = None,
        zone: tzinfo = timezone.utc,
        now: datetime | None = None,
        agent: str | None = None,
        properties: Mapping[str, Any] | None = None,
        on_fault: Callable[[Fault], None] | None = None,
        dry_run: bool = False,
    ) -> IngestResult:
        """Writes raw sources as they come, at once and without a model: files, folders, a binary stream, or pieces of an app's.

        Each source is a memory of kind Source (seed 002, Phase 0), a long one several. The same again is known by its content,
        whatever the file is called; what is new of it goes in behind. ``format``: one of docs/reference/ingesting.md, else it is
        guessed; ``zone`` is that of times without one. ``properties``: more of each new source, such as
        `sensitivity`. What can't be read is told with its place (``on_fault``, `IngestResult.faults`), and the rest goes in.
        Of a folder conversations are read and what people wrote; what else is in it is in `IngestResult.omitted_files`, by reason.
        `IngestInterrupted` where the server goes away: then the same call goes on. ``dry_run`` reads everything and writes
        nothing: the result says what would be new.
        """
        files = _Files()
        done = ingesting.ingest(
            self.engine,
            files.pieces(what, format, zone),
            limits=self.policy.policy.ingest,
            scope=scope,
            now=self._at(now, "ingest", "now"),
            agent=agent,
            properties=properties,
            on_fault=on_fault,
            dry_run=dry_run,
        )
        done.files_read, done.files = files.n, files.reports
        return done

    def take_source(self, key: str, scope: str, *, now: datetime | None = None, agent: str | None = None) -> CopyResult:
        """A team's source (`scope/id`) in the scope of one of its users, who needs it now for the first time: a copy of its
        own, of which
        workers extract that user's people, concepts and entities. Again it brings in what is new. Raises `JochiError`."""
        return ingesting.copy_source(
            self.engine, key, scope=scope, now=self._at(now, "take_source", "now"), agent=agent
        )

    sources = on_engine(ls)

    source = on_engine(show)


class _Files:
    """Reads files and folders, and counts what comes of each file."""

    def __init__(self) -> None:
        self.n = 0
        self.reports: list[FileReport] = []

    def pieces(self, what: Any, format: str | None, zone: tzinfo) -> Iterator[Piece]:
        """All that is in it; a place names its file."""
        for each in [what] if isinstance(what, str | Path) or hasattr(what, "read") else what:
            if isinstance(each, tuple | Fault | Omission):
                yield each
            elif hasattr(each, "read"):
                yield from self._of_file("the stream", read(each, format=format, zone=zone))
            elif os.path.isdir(each):  # never raises  # noqa: PTH112
                for found in files_in(Path(each)):
                    if isinstance(found, Path):
                        pieces = self._of_file(path_text(found), read_found(found, format=format, zone=zone))
                        yield from _placed(found, pieces)
                    else:
                        yield found
            else:
                pieces = self._of_file(path_text(Path(each)), read(each, format=format, zone=zone))
                yield from _placed(Path(each), pieces)

    def _of_file(self, path: str, pieces: Iterator[Piece]) -> Iterator[Piece]:
        report = FileReport(path)
        for piece in pieces:
            if isinstance(piece, tuple):
                report.format = report.format or str(piece[0].provenance.get("origin") or "") or None
                report.messages += 1
            elif isinstance(piece, Fault):
                report.faults += 1
            elif isinstance(piece, OmittedFile):
                yield piece
                return
            else:
                report.omissions += 1
            yield piece
        self.n += 1
        if len(self.reports) < ingesting.KEPT:
            self.reports.append(report)


def _placed(path: Path, pieces: Iterable[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        if isinstance(piece, Fault | Omission) and not isinstance(piece, OmittedFile):
            yield replace(piece, where=f"{path_text(path)}: {piece.where}")
        else:
            yield piece
