"""`disenrol`: takes back what enrolment added, a page of nodes a transaction; can be stopped and run again.

Tombstones of the label that were enrolled nodes come back first, as on uninstall: a node that was the app's before must be
the app's after. One that a constraint of the app forbids stays a tombstone and is named. ``keep_tombstones`` leaves them to their
purge instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jochi.database.database import Database
from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.errors import Refused
from jochi.graph.catalogue import ON_EDGES, RELEASED
from jochi.undo.results import Leftover
from jochi.undo.unmerge import take_all_merges_back
from jochi.undo.violations import release_nodes
from jochi.write.enrolling.kinds import kind_of
from jochi.write.enrolling.pages import CHUNK, node_ranges, pages
from jochi.write.enrolling.results import DisenrolResult

PAGE = 2_000


def disenrol(
    engine: Engine,
    label: str,
    *,
    keep_tombstones: bool = False,
    on_progress: Callable[[DisenrolResult], None] | None = None,
    page: int = PAGE,
    chunk: int = CHUNK,
) -> DisenrolResult:
    """Releases every node of ``label`` that `enrol` or intake enrolled.

    `Refused` while the policy says `intake = true` for the kind: it would enrol them again.
    """
    policy, kind = kind_of(engine, label)
    if kind.intake:
        raise Refused(
            f"the policy says intake = true for {label}, so its nodes would be enrolled again at once",
            where=f"database {engine.database.name}",
            fix=f"set intake = false for kinds.{label}, run `jochi install`, then disenrol",
        )
    result = DisenrolResult(label)
    database, tell = engine.database, on_progress or (lambda _: None)
    edges = {"types": [entry.type for entry in policy.policy.edges.types], "names": ON_EDGES, "limit": PAGE}

    def release(ids: list[str]) -> int:
        restored = 0
        for some in pages(ids, page):
            while database.run(statement("enrol/release_edges"), {**edges, "nodes": some})[0]["released"]:
                pass
            left: list[tuple[str, Leftover]] = []
            row = release_nodes(database, some, {"released": RELEASED, "stays": None}, left)
            result.forbidden += [each for _, each in left if each not in result.forbidden]
            result.released += row["released"]
            restored += row["restored"]
            tell(result)
        result.restored += restored
        return restored

    if not keep_tombstones:
        take_all_merges_back(engine, label)
    for row in _tombstones(database, label, chunk):
        if keep_tombstones:
            result.kept += len(row["ours"])
        else:
            row["gone"] = release(row["ours"])
        result.kept += row["purging"]
    again = True
    while again:
        before, result.left = result.released, 0
        for stretch in node_ranges(database, label, chunk):
            result.left += stretch.others
            release(stretch.enrolled)
        again = result.released > before
    database.run(statement("enrol/forget_intake"), {"label": label})
    return result


def _tombstones(database: Database, label: str, chunk: int) -> Iterator[dict[str, Any]]:
    """Stretches of the tombstones. Who releases some says in ``gone`` how many: the next stretch begins that much earlier."""
    skip = 0
    while True:
        parameters = {"label": label, "skip": skip, "chunk": chunk}
        row = {**database.run(statement("enrol/spool_tombstones"), parameters, write=False)[0], "gone": 0}
        yield row
        if row["seen"] < chunk:
            return
        skip += row["seen"] - row["gone"]
