"""Files of what agents start with, kept up to date by a worker: a table of scopes and paths (docs/reference/context.md)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Annotated, TypeVar

from neo4j.exceptions import Neo4jError
from pydantic import Field, ValidationError

from jochi.context import WriteResult
from jochi.context.writer import Outcome
from jochi.errors import ConnectionFailed, JochiError, UsageError
from jochi.policy.parts import Part, PositiveDuration
from jochi.toml import tomllib
from jochi.use.context import check_scope

T = TypeVar("T", bound=Part)


class Row(Part):
    """What each row of a table says."""

    scope: Annotated[str, Field(min_length=1)]
    include_sensitive: bool = False
    every: PositiveDuration = timedelta(minutes=1)
    """It is looked at this often."""


R = TypeVar("R", bound=Row)


class ContextFile(Row):
    """`[[files]]`: one file and whose context is in it."""

    file: Annotated[Path, Field(strict=False)]
    """Where it is; what isn't absolute is beside the table."""
    max_tokens: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    """None: what the scope's manifest has, else the policy's."""


class _Table(Part):
    files: Annotated[tuple[ContextFile, ...], Field(strict=False, min_length=1)]


def read_table(path: Path) -> tuple[ContextFile, ...]:
    """The files of a table in TOML; `UsageError` says what is wrong in it and where."""
    table = read_toml(path, _Table, 'write [[files]], scope = "…", file = "…/MEMORY.md"')
    files = beside(path, table.files, "file")
    limits: dict[tuple[str, bool], ContextFile] = {}
    for each in files:
        if each.max_tokens is None:
            continue
        other = limits.setdefault((each.scope, each.include_sensitive), each)
        if other.max_tokens != each.max_tokens:
            raise UsageError(
                f"{other.file} and {each.file} hold the scope {each.scope} with {other.max_tokens} and {each.max_tokens} tokens, "
                "and it has one manifest",
                where=str(path),
                fix="give both the same max_tokens",
            )
    return files


def read_toml(path: Path, table: type[T], fix: str) -> T:
    """A table in TOML; `UsageError` says what is wrong in it and where. ``fix``: what one looks like."""
    try:
        return table.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"the table can't be read: {error.strerror}", where=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"that is no TOML: {error}", where=str(path)) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{place}: {first['msg']}", where=str(path), fix=fix) from None


def beside(table: Path, rows: Iterable[R], place: str) -> tuple[R, ...]:
    """The rows, with what they name as ``place`` beside the table where it isn't absolute. `UsageError` for what can't be a scope,
    and for a place that is there twice, under whatever spelling."""
    there: dict[str, Path] = {}
    found = []
    for row in rows:
        try:
            check_scope(row.scope)
        except UsageError as error:
            raise UsageError(error.what, where=str(table), fix=error.fix) from None
        path = table.parent / getattr(row, place)
        other = there.setdefault(os.path.realpath(path), path)
        if other is not path:
            other_spelling = "" if other == path else f", also as {path}"
            raise UsageError(
                f"{other} is there twice{other_spelling}", where=str(table), fix="give each scope one of its own"
            )
        found.append(row.model_copy(update={place: path}))
    return tuple(found)


class Files:
    """Files or folders, by their paths, each written when its turn has come. One that can't be is said, and the others go on.

    ``turns``: of each how often it is looked at, and what writes it and returns how many files it has written.
    """

    on_disk = True
    """Whether what it writes are files."""

    def __init__(
        self,
        name: str,
        turns: Sequence[tuple[Path, timedelta, Callable[[], int]]],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.name = name
        self._turns = turns
        self._clock = clock
        self._due = dict.fromkeys(range(len(turns)), 0.0)
        self.written = 0
        self.edits: Counter[str] = Counter()
        """Of people, that were taken in, by what they did."""
        self.errors = 0
        """Tries that failed."""
        self.failed: dict[str, str] = {}
        """By path, where and why its last try failed, and what to do."""

    def work(self, *, all_of_them: bool = False) -> bool:
        """Those whose turn has come; whether any was written. `ConnectionFailed` is the worker's to wait out."""
        before = self.written
        for n, (path, every, write) in enumerate(self._turns):
            if not all_of_them and self._due[n] > self._clock():
                continue
            try:
                written = write()
            except ConnectionFailed:
                raise
            except JochiError as error:
                place = error.where if error.where and str(path) in error.where else str(path)
                self.failed[str(path)] = f"{place}: {error.what}" + (f" → {error.fix}" if error.fix else "")
            except Neo4jError as error:  # its text might quote a memory
                self.failed[str(path)] = f"{path}: the server refuses it ({error.code})"
            else:
                self.failed.pop(str(path), None)
                self.written += written
            self.errors += str(path) in self.failed
            self._due[n] = self._clock() + every.total_seconds()
        return self.written > before

    @property
    def note(self) -> str | None:
        """What can't be written, and why."""
        return "; ".join(self.failed.values()) or None


class ContextFiles(Files):
    """The files of a table. ``taken_in``, if any, is called with each edit of a person's that is in the graph now."""

    def __init__(
        self,
        files: tuple[ContextFile, ...],
        write: Callable[..., WriteResult],
        clock: Callable[[], float] = monotonic,
        taken_in: Callable[[Path, Outcome], None] | None = None,
    ) -> None:
        def turn(each: ContextFile) -> Callable[[], int]:
            def write_one() -> int:
                done = write(
                    each.file,
                    each.scope,
                    include_sensitive=each.include_sensitive,
                    max_tokens=each.max_tokens,
                    another_file=True,  # the table says so
                )
                for edit in done.taken_in:
                    self.edits[edit.edit] += 1
                    if taken_in is not None:
                        taken_in(each.file, edit)
                return int(done.rewritten)

            return write_one

        super().__init__("context", [(each.file, each.every, turn(each)) for each in files], clock)
