"""HEARTBEAT.md files, kept up to date by a worker: a table of scopes and paths (docs/reference/heartbeat.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Annotated

from pydantic import Field

from jochi.heartbeat import SyncResult
from jochi.heartbeat.file import MAX_TOKENS
from jochi.policy.parts import Part
from jochi_workers.context_files import Files, Row, beside, read_toml


class HeartbeatFile(Row):
    """`[[files]]`: one file and whose tasks are in it."""

    file: Annotated[Path, Field(strict=False)]
    """Where it is; what isn't absolute is beside the table."""
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = MAX_TOKENS


class _Table(Part):
    files: Annotated[tuple[HeartbeatFile, ...], Field(strict=False, min_length=1)]


def read_table(path: Path) -> tuple[HeartbeatFile, ...]:
    """The files of a table in TOML; `UsageError` says what is wrong in it and where."""
    table = read_toml(path, _Table, 'write [[files]], scope = "…", file = "…/HEARTBEAT.md"')
    return beside(path, table.files, "file")


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
