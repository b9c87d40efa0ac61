"""Verbs for raw sources (seed 002): take them in, and see how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone, tzinfo
from pathlib import Path
from typing import IO, Any

from jochi.client.base import Base, on_engine
from jochi.use.sources import ls, show
from jochi.write import ingesting
from jochi.write.ingesting import CopyResult, Fault, IngestResult, Left, Piece, read


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
    ) -> IngestResult:
        """Writes raw sources as they come, at once and without a model: files, folders, a binary stream, or pieces of an app's.

        Each source is a memory of kind Source (seed 002, Phase 0), a long one several. The same again is known by its content,
        whatever the file is called; what is new of it goes in behind. ``format``: one of docs/reference/ingesting.md, else it is
        guessed; ``zone`` is that of times without one. ``properties``: more of each new source, such as
        `sensitivity`. What can't be read is told with its place (``on_fault``, `IngestResult.faults`), and the rest goes in.
        `IngestInterrupted` where the server goes away: then the same call goes on.
        """
        return ingesting.ingest(
            self.engine,
            _pieces(what, format, zone),
            limits=self.policy.policy.ingest,
            scope=scope,
            now=self._at(now, "ingest", "now"),
            agent=agent,
            properties=properties,
            on_fault=on_fault,
        )

    def take_source(self, key: str, scope: str, *, now: datetime | None = None, agent: str | None = None) -> CopyResult:
        """A team's source (`scope/id`) in the scope of one of its users, who needs it now for the first time: a copy of its
        own, of which
        workers extract that user's people, concepts and entities. Again it brings in what is new. Raises `JochiError`."""
        return ingesting.copy_source(
            self.engine, key, scope=scope, now=self._at(now, "take_source", "now"), agent=agent
        )

    sources = on_engine(ls)

    source = on_engine(show)


def _pieces(what: Any, format: str | None, zone: tzinfo) -> Iterator[Piece]:
    for each in [what] if isinstance(what, str | Path) or hasattr(what, "read") else what:
        if isinstance(each, tuple | Fault | Left):
            yield each
        elif hasattr(each, "read"):
            yield from read(each, format=format, zone=zone)
        else:
            for path in _files(Path(each)):
                for piece in read(path, format=format, zone=zone):
                    yield replace(piece, where=f"{path}: {piece.where}") if isinstance(piece, Fault | Left) else piece


def _files(path: Path) -> list[Path]:
    """The file, or all in the folder and in folders in it but hidden ones, in the order of their names."""
    if not path.is_dir():
        return [path]
    found = (each for each in path.rglob("*") if each.is_file())
    return sorted(each for each in found if not any(part.startswith(".") for part in each.relative_to(path).parts))
