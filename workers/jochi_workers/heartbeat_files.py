"""HEARTBEAT.md files, kept up to date by a worker: a table of scopes and paths (docs/reference/heartbeat.md)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Annotated

from pydantic import Field

from jochi.heartbeat import SyncResult
from jochi.heartbeat.file import MAX_TOKENS
from jochi.policy.parts import Part, PositiveDuration
from jochi_workers.context_files import Files, check_row, read_toml


class HeartbeatFile(Part):
    """`[[files]]`: one file and whose tasks are in it."""

    scope: Annotated[str, Field(min_length=1)]
    file: Annotated[Path, Field(strict=False)]
    """Where it is; what isn't absolute is beside the table."""
    include_sensitive: bool = False
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = MAX_TOKENS
    every: PositiveDuration = timedelta(minutes=1)
    """Changes of the graph are looked for this often."""


class _Table(Part):
    files: Annotated[tuple[HeartbeatFile, ...], Field(strict=False, min_length=1)]


def read_table(path: Path) -> tuple[HeartbeatFile, ...]:
    """The files of a table in TOML; `UsageError` says what is wrong in it and where."""
    table = read_toml(path, _Table, 'write [[files]], scope = "…", file = "…/HEARTBEAT.md"')
    files = tuple(each.model_copy(update={"file": path.parent / each.file}) for each in table.files)
    there: dict[str, Path] = {}
    for each in files:
        check_row(path, each.scope, each.file, there)
    return files


class HeartbeatFiles(Files):
    """The files of a table."""

    def __init__(
        self, files: tuple[HeartbeatFile, ...], sync: Callable[..., SyncResult], clock: Callable[[], float] = monotonic
    ) -> None:
        def turn(each: HeartbeatFile) -> Callable[[], int]:
            return lambda: int(
                sync(
                    each.file,
                    scope=each.scope,
                    include_sensitive=each.include_sensitive,
                    max_tokens=each.max_tokens,
                ).rewritten
            )

        super().__init__("heartbeat", [(each.file, each.every, turn(each)) for each in files], clock)
