"""`jochi uninstall`: brings tombstones back, then leaves no object of Jochi's in the database.

Works in pages, each a transaction of its own, so it can be stopped and run again at any point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jochi import clock, migrations
from jochi.database import Database
from jochi.engine import Engine
from jochi.errors import Refused
from jochi.facts import read_facts
from jochi.install import indexes
from jochi.install.holding import stop_pump
from jochi.operate.unmerge import take_merges_back
from jochi.ownership import WRITTEN
from jochi.resources import statement

PAGE = 5_000
MERGES = 500


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
    # Not at the top: triggers need what install renders.
    from jochi.triggers import remove_triggers_if_any

    remove_triggers_if_any(engine)
    say("taking merges back")
    unmerged, not_unmerged = _take_merges_back(engine, database)
    say("bringing tombstones back")
    restored = _in_pages(database, "install/restore_page", "restored")
    say("releasing the memories")
    unenrolled = _in_pages(database, "install/unenrol_page", "unenrolled", engine_owned=list(WRITTEN))
    say("removing the engine's own nodes")
    deleted = _in_pages(database, "install/delete_engine_page", "deleted")
    say("dropping constraints and indexes")
    indexes.remove(database)
    migrations.remove_chain(database)
    return UninstallResult(restored + unmerged, unenrolled, deleted, unmerged, tuple(not_unmerged))


def _take_merges_back(engine: Engine, database: Database) -> tuple[int, list[str]]:
    """The last of a chain first, each memory in a transaction of its own; what can't be taken back is passed over."""
    done = 0
    skip: list[str] = []
    while keys := database.run(statement("install/merged_page"), {"limit": MERGES, "skip": skip})[0]["keys"]:
        for key in keys:
            try:
                results = take_merges_back(engine, [key], now=clock.now())
            except Refused:
                # A database whose procedures went in an earlier try: all there was to take back has been.
                return done, [*skip, *keys[keys.index(key) :]]
            if any(result.outcome == "unmerged" for result in results):
                done += 1
            else:
                skip.append(key)
    return done, skip


def _in_pages(database: Database, name: str, column: str, **parameters: object) -> int:
    total = 0
    while done := int(database.run(statement(name), {"limit": PAGE, **parameters})[0][column]):
        total += done
    return total
