"""Files of what agents start with, kept up to date by a worker: a table of scopes and paths (docs/reference/context.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Annotated, Protocol

from neo4j.exceptions import Neo4jError
from pydantic import Field, ValidationError

from jochi.context import Written
from jochi.errors import ConnectionFailed, JochiError, UsageError
from jochi.policy.parts import Part, PositiveDuration
from jochi.use.context import check_scope

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class ContextFile(Part):
    """`[[files]]`: one file and whose context is in it."""

    scope: Annotated[str, Field(min_length=1)]
    file: Annotated[Path, Field(strict=False)]
    """Where it is; what isn't absolute is beside the table."""
    include_sensitive: bool = False
    max_tokens: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    """None: what the scope's manifest has, else the policy's."""
    every: PositiveDuration = timedelta(minutes=1)
    """It is looked at this often, for edits of people and for changes of the graph."""


class _Table(Part):
    files: Annotated[tuple[ContextFile, ...], Field(strict=False, min_length=1)]


class Write(Protocol):
    """`Jochi.write_context`."""

    def __call__(self, path: Path, scope: str, *, include_sensitive: bool, max_tokens: int | None) -> Written: ...


def read_table(path: Path) -> tuple[ContextFile, ...]:
    """The files of a table in TOML; `UsageError` says what is wrong in it and where."""
    try:
        table = _Table.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"the table can't be read: {error.strerror}", where=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"that is no TOML: {error}", where=str(path)) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{place}: {first['msg']}", where=str(path), fix='write [[files]], scope = "…", file = "…/MEMORY.md"'
        ) from None
    files = tuple(each.model_copy(update={"file": path.parent / each.file}) for each in table.files)
    there: dict[str, ContextFile] = {}
    limits: dict[tuple[str, bool], ContextFile] = {}
    for each in files:
        try:
            check_scope(each.scope)
        except UsageError as error:
            raise UsageError(error.what, where=str(path), fix=error.fix) from None
        other = there.setdefault(os.path.realpath(each.file), each)
        if other is not each:
            said = "" if other.file == each.file else f", also as {each.file}"
            raise UsageError(
                f"{other.file} is there twice{said}", where=str(path), fix="give each scope a file of its own"
            )
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


class ContextFiles:
    """Writes each file when its turn has come. One that can't be written is said, and the others go on."""

    name = "context"

    def __init__(self, files: tuple[ContextFile, ...], write: Write, clock: Callable[[], float] = monotonic) -> None:
        self._files = files
        self._write = write
        self._clock = clock
        self._due = dict.fromkeys(range(len(files)), 0.0)
        self.written = 0
        self.failed: dict[str, str] = {}
        """By file, where and why its last try failed, and what to do."""

    def work(self, *, all_of_them: bool = False) -> bool:
        """Those whose turn has come; whether any was written. `ConnectionFailed` is the worker's to wait out."""
        before = self.written
        for n, each in enumerate(self._files):
            if not all_of_them and self._due[n] > self._clock():
                continue
            try:
                done = self._write(
                    each.file, each.scope, include_sensitive=each.include_sensitive, max_tokens=each.max_tokens
                )
            except ConnectionFailed:
                raise
            except JochiError as error:
                place = error.where if error.where and str(each.file) in error.where else str(each.file)
                self.failed[str(each.file)] = f"{place}: {error.what}" + (f" → {error.fix}" if error.fix else "")
            except Neo4jError as error:  # its text might quote a memory
                self.failed[str(each.file)] = f"{each.file}: the server refuses it ({error.code})"
            else:
                self.failed.pop(str(each.file), None)
                self.written += done.rewritten
            self._due[n] = self._clock() + each.every.total_seconds()
        return self.written > before

    @property
    def note(self) -> str | None:
        """What can't be written, and why."""
        return "; ".join(self.failed.values()) or None
