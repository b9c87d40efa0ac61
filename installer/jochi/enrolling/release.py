"""`disenrol`: takes back what enrolment added, a page of nodes a transaction; can be stopped and run again.

Tombstones of the label that were enrolled nodes come back first, as on uninstall: a node that was the app's before must be
the app's after. ``keep_tombstones`` leaves them to their purge instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jochi.database import Database
from jochi.engine import Engine
from jochi.enrolling.kinds import kind_of
from jochi.enrolling.pages import CHUNK, pages, stretches
from jochi.enrolling.results import Released
from jochi.errors import Refused
from jochi.ownership import WRITTEN
from jochi.resources import statement

PAGE = 2_000


def disenrol(
    engine: Engine,
    label: str,
    *,
    keep_tombstones: bool = False,
    on_progress: Callable[[Released], None] | None = None,
    page: int = PAGE,
    chunk: int = CHUNK,
) -> Released:
    """Releases every node of ``label`` that `enrol` or intake enrolled.

    `Refused` while the policy says `intake = true` for the kind: it would enrol them again.
    """
    _policy, kind = kind_of(engine, label)
    if kind.intake:
        raise Refused(
            f"the policy says intake = true for {label}, so its nodes would be enrolled again at once",
            where=f"database {engine.database.name}",
            fix=f"set intake = false for kinds.{label}, run `jochi install`, then disenrol",
        )
    result = Released(label)
    database = engine.database
    if not keep_tombstones:
        _release_tombstones(database, label, result, page, chunk, on_progress)
    else:
        result.kept = _count_tombstones(database, label, chunk)
    again = True
    while again:
        before, result.left = result.released, 0
        for stretch in stretches(database, label, chunk):
            result.left += stretch.others
            _release(database, stretch.ours, result, page, on_progress)
        again = result.released > before
    database.run(statement("enrol/forget_intake"), {"label": label})
    return result


def _release(
    database: Database, ids: list[str], result: Released, page: int, on_progress: Callable[[Released], None] | None
) -> int:
    restored: int = 0
    for some in pages(ids, page):
        row = database.run(statement("enrol/release"), {"nodes": some, "engine_owned": list(WRITTEN)})[0]
        result.released += row["released"]
        restored += int(row["restored"])
        if on_progress:
            on_progress(result)
    result.restored += restored
    return restored


def _release_tombstones(
    database: Database,
    label: str,
    result: Released,
    page: int,
    chunk: int,
    on_progress: Callable[[Released], None] | None,
) -> None:
    skip = 0
    while True:
        row = _tombstones(database, label, skip, chunk)
        restored = _release(database, row["ours"], result, page, on_progress)
        result.kept += row["purging"]
        if row["seen"] < chunk:
            return
        # What came back is no longer among the tombstones: the next stretch begins that much earlier.
        skip += row["seen"] - restored


def _count_tombstones(database: Database, label: str, chunk: int) -> int:
    skip, kept = 0, 0
    while True:
        row = _tombstones(database, label, skip, chunk)
        kept += len(row["ours"]) + int(row["purging"])
        if row["seen"] < chunk:
            return kept
        skip += int(row["seen"])


def _tombstones(database: Database, label: str, skip: int, chunk: int) -> dict[str, Any]:
    parameters = {"label": label, "skip": skip, "chunk": chunk}
    return database.run(statement("enrol/spool_tombstones"), parameters, write=False)[0]
