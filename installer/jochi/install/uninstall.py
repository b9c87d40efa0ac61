"""`jochi uninstall`: brings tombstones back, then leaves no object of Jochi's in the database.

Works in pages, each a transaction of its own, so it can be stopped and run again at any point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jochi.database.database import Database
from jochi.database.engine import Engine
from jochi.database.server_facts import read_facts
from jochi.database.statements import statement
from jochi.graph.catalogue import RELEASED, named
from jochi.install.holding import stop_pump
from jochi.install.triggers import remove_triggers_if_any
from jochi.schema import indexes, migrations
from jochi.undo.unmerge import take_all_merges_back

PAGE = 5_000


@dataclass(frozen=True)
class UninstallResult:
    """How many tombstones came back, memories were released and nodes of the engine deleted.

    ``unmerged``: of those that came back, how many had been merged away and have what had moved again; ``not_unmerged``: keys of
    those that came back without it, as of their merge nothing is kept or the key is in use.
    """

    restored: int
    unenrolled: int
    deleted: int
    unmerged: int = 0
    not_unmerged: tuple[str, ...] = ()


def uninstall(
    database: Database, *, on_progress: Callable[[str], None] | None = None, wait_seconds: float = 60
) -> UninstallResult:
    """Disarms the jobs, restores tombstones, takes `:Curated` and the engine's properties off memories, drops the schema.

    Waits up to ``wait_seconds`` for runs in progress: one that went on would prune what was just brought back. `Refused`
    where one doesn't end.
    """
    say = on_progress or (lambda _message: None)
    engine = Engine(database)
    say("stopping the jobs")
    stop_pump(engine, wait_seconds)
    if "apoc.periodic.cancel" in read_facts(database).callable:
        database.autocommit(statement("install/disarm"), {"names": [engine.watch, engine.pump]})
    remove_triggers_if_any(engine)
    say("taking merges back")
    unmerged, not_unmerged = take_all_merges_back(engine)
    say("releasing the memories")
    released = restored = 0
    while nodes := database.run(statement("install/release_page"), {"limit": PAGE}, write=False)[0]["nodes"]:
        row = database.run(
            statement("enrol/release"), {"nodes": nodes, "released": RELEASED, "stays": named(mark="stays")}
        )[0]
        released, restored = released + row["released"], restored + row["restored"]
    say("removing the engine's own nodes")
    deleted = _in_pages(database, "install/delete_engine_page", "deleted")
    say("dropping constraints and indexes")
    indexes.remove(database)
    migrations.remove_chain(database)
    return UninstallResult(restored + unmerged, released - restored, deleted, unmerged, tuple(not_unmerged))


def _in_pages(database: Database, name: str, column: str) -> int:
    total = 0
    while done := int(database.run(statement(name), {"limit": PAGE})[0][column]):
        total += done
    return total
