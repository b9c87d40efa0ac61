"""Mirrors of scopes, kept up to date by a worker: a table of scopes and folders (docs/reference/mirror.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Annotated

from pydantic import Field

from jochi.errors import PartlyDone
from jochi.mirror import WriteResult
from jochi.policy.parts import Part
from jochi_workers.context_files import Files, Row, beside, read_toml


class Mirror(Row):
    """`[[folders]]`: one folder and whose memories are in it."""

    folder: Annotated[Path, Field(strict=False)]
    """Where it is; what isn't absolute is beside the table."""


class _Table(Part):
    folders: Annotated[tuple[Mirror, ...], Field(strict=False, min_length=1)]


def read_table(path: Path) -> tuple[Mirror, ...]:
    """The folders of a table in TOML; `UsageError` says what is wrong in it and where."""
    table = read_toml(path, _Table, 'write [[folders]], scope = "…", folder = "…/memory"')
    return beside(path, table.folders, "folder")


class Mirrors(Files):
    """The folders of a table."""

    def __init__(
        self, mirrors: tuple[Mirror, ...], write: Callable[..., WriteResult], clock: Callable[[], float] = monotonic
    ) -> None:
        def turn(each: Mirror) -> Callable[[], int]:
            def once() -> int:
                done = write(each.folder, each.scope, include_sensitive=each.include_sensitive)
                if done.left:
                    path, why = next(iter(done.left.items()))
                    more = f", and {len(done.left) - 1} more" if len(done.left) > 1 else ""
                    raise PartlyDone(f"{why}{more}", where=str(each.folder / path))
                return len(done.written) + len(done.removed)

            return once

        super().__init__("mirror", [(each.folder, each.every, turn(each)) for each in mirrors], clock)
