"""What an import did, while it runs and at its end."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jochi.errors import UsageError

KEPT_LINES = 1000
"""So many bad lines (and so many notes) a result holds; all are counted, and all go into the errors file."""


class BadLine(NamedTuple):
    """Something in a file that was not imported. ``line`` counts from 1; None in a LoCoMo file, which has no lines."""

    file: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}" if self.line else f"{self.file}: {self.reason}"


class Progress(NamedTuple):
    """How far an import is. ``done`` and ``total`` are bytes while files are read, relationships afterwards."""

    phase: Literal["checking", "memories", "relationships"]
    done: int
    total: int
    memories: int


OnProgress = Callable[[Progress], None]


@dataclass
class KindCounts:
    """What became of the memories of one kind."""

    written: int = 0
    already_there: int = 0
    pruned_before: int = 0
    forgotten: int = 0

    def add(self, outcome: str, memories: int) -> None:
        name = outcome.replace(" ", "_")
        setattr(self, name, getattr(self, name) + memories)


@dataclass
class RelationshipCounts:
    """What became of the relationships. ``left_out``: an end was pruned, or a strict import stopped before it."""

    written: int = 0
    already_there: int = 0
    left_out: int = 0


@dataclass
class ImportResult:
    """Counts of one run, its bad lines and its notes."""

    kinds: dict[str, KindCounts] = field(default_factory=dict)
    relationships: RelationshipCounts = field(default_factory=RelationshipCounts)
    bad_lines: list[BadLine] = field(default_factory=list)
    bad_count: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    stopped_at: BadLine | None = None
    """The bad line that ended a strict import; nothing of it or after it was written."""

    @property
    def written(self) -> int:
        return sum(counts.written for counts in self.kinds.values())

    @property
    def already_there(self) -> int:
        return sum(counts.already_there for counts in self.kinds.values())

    @property
    def pruned_before(self) -> int:
        return sum(counts.pruned_before for counts in self.kinds.values())

    @property
    def forgotten(self) -> int:
        """Memories that aren't learned again: they were forgotten on request."""
        return sum(counts.forgotten for counts in self.kinds.values())

    @property
    def exit_code(self) -> int:
        """0 all in · 3 some lines were bad, the others are in · 1 bad lines and nothing else."""
        if not self.bad_count:
            return 0
        return 3 if self.written or self.already_there or self.pruned_before or self.forgotten else 1

    def count(self, kind: str, outcome: str, memories: int) -> None:
        self.kinds.setdefault(kind, KindCounts()).add(outcome, memories)

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON shows it."""
        return {
            "memories": {kind: asdict(counts) for kind, counts in sorted(self.kinds.items())},
            "written": self.written,
            "already_there": self.already_there,
            "pruned_before": self.pruned_before,
            "forgotten": self.forgotten,
            "relationships": asdict(self.relationships),
            "bad_count": self.bad_count,
            "bad_lines": [bad._asdict() for bad in self.bad_lines],
            "notes": dict(self.notes),
            "stopped_at": None if self.stopped_at is None else self.stopped_at._asdict(),
        }


class BadLines:
    """Takes bad lines: counts all, keeps the first, writes each into the errors file if there is one."""

    def __init__(self, result: ImportResult, errors: Path | None) -> None:
        self._result = result
        self._file = errors.open("w", encoding="utf-8") if errors else None

    def add(self, bad: BadLine) -> None:
        self._result.bad_count += 1
        if len(self._result.bad_lines) < KEPT_LINES:
            self._result.bad_lines.append(bad)
        if self._file:
            self._file.write(f"{bad}\n")

    def close(self) -> None:
        if self._file:
            self._file.close()


@contextlib.contextmanager
def bad_lines(result: ImportResult, errors: Path | None) -> Iterator[BadLines]:
    """A `BadLines` whose file is closed at the end; an errors file that can't be written is a usage error."""
    try:
        taker = BadLines(result, errors)
    except OSError as error:
        raise UsageError(
            f"the errors file can't be written: {error.strerror}", where=str(errors), fix="name another file"
        ) from error
    try:
        yield taker
    finally:
        taker.close()
