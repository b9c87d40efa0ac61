"""`jochi uninstall`: brings tombstones back, then leaves no object of Jochi's in the database.

Works in pages, each a transaction of its own, so it can be stopped and run again at any point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jochi.compile.policy_data import policy_data
from jochi.compile.rendering import render_one
from jochi.database.batches import PageSize
from jochi.database.database import Database
from jochi.database.engine import Engine
from jochi.database.installed import InstalledProcedure
from jochi.database.server_facts import ServerFacts, read_facts
from jochi.database.statements import statement
from jochi.errors import UsageError
from jochi.graph.catalogue import EARLIER, RELEASED, named
from jochi.install.holding import stop_pump
from jochi.install.triggers import remove_triggers_if_any
from jochi.policy import SHIPPED_TEXT, load_policy, stored_policy
from jochi.schema import indexes, migrations
from jochi.undo.results import Leftover
from jochi.undo.unmerge import take_all_merges_back
from jochi.undo.violations import release_nodes

PAGE = 5_000


@dataclass(frozen=True)
class UninstallResult:
    """How many tombstones came back, memories were released and nodes of the engine deleted.

    ``unmerged``: of those that came back, how many had been merged away and have what had moved again; ``not_unmerged``: keys of
    those that came back without it, as of their merge nothing is kept or the key is in use. ``forbidden``: what a constraint of an
    application kept from becoming what it was; a tombstone keeps the label `:Tombstone` then, and its labels in `tombstone_labels`.
    """

    restored: int
    unenrolled: int
    deleted: int
    unmerged: int = 0
    not_unmerged: tuple[str, ...] = ()
    forbidden: tuple[Leftover, ...] = ()


def uninstall(
    database: Database, *, on_progress: Callable[[str], None] | None = None, wait_seconds: float = 60
) -> UninstallResult:
    """Disarms the jobs, restores tombstones, takes `:Curated` and the engine's properties off memories, drops the schema.

    Waits up to ``wait_seconds`` for runs in progress: one that went on would prune what was just brought back. `Refused`
    where one doesn't end, or where a newer jochi has installed it. What an earlier one has installed goes without an upgrade.
    """
    say = on_progress or (lambda _message: None)
    engine = Engine(database)
    facts = read_facts(database)
    _require_known_version(engine, facts)
    say("stopping the jobs")
    stop_pump(engine, wait_seconds)
    if "apoc.periodic.cancel" in facts.callable:
        database.autocommit(statement("install/disarm"), {"names": [engine.watch, engine.pump]})
    remove_triggers_if_any(engine)
    say("taking merges back")
    unmerged, not_unmerged = take_all_merges_back(engine)
    say("releasing the memories")
    count = restored = 0
    left: list[tuple[str, Leftover]] = []
    pages = PageSize(PAGE)
    given = {"released": RELEASED + EARLIER, "stays": named(mark="stays")}
    while nodes := database.run(statement("install/release_page"), {"limit": PAGE}, write=False)[0]["nodes"]:
        before = len(left)
        row = release_nodes(database, nodes, given, left, pages)
        count, restored = count + row["released"], restored + row["restored"]
        if aside := [node for node, _ in left[before:]]:
            database.run(statement("enrol/release"), {**given, "nodes": aside, "aside": True})
    say("removing the engine's own nodes")
    deleted = _delete_own_nodes(database)
    say("dropping constraints and indexes")
    indexes.remove(database)
    migrations.remove_chain(database)
    forbidden = tuple(each for _, each in left)
    stay = {each.key for each in forbidden}
    without = tuple(key for key in not_unmerged if key not in stay)
    return UninstallResult(restored + unmerged, count - restored, deleted, unmerged, without, forbidden)


def _require_known_version(engine: Engine, facts: ServerFacts) -> None:
    """An earlier engine's merges are taken back by this version's body; of a newer one nobody here knows what it made."""
    if (other := engine.other_version()) is None:
        return
    if other.newer:
        raise other
    try:
        policy = stored_policy(engine.state().policy_text or SHIPPED_TEXT).policy
    except UsageError:
        policy = load_policy().policy  # it names kinds; a merge's record has all that is written back
    unmerge = render_one("memory/unmerge", policy, facts)
    engine.use_bodies(
        {unmerge.name: InstalledProcedure(unmerge.name, unmerge.sections, unmerge.sha256, None)}, policy_data(policy)
    )


def _delete_own_nodes(database: Database) -> int:
    total = 0
    pages = PageSize(PAGE)
    text = statement("install/delete_engine_page")
    while done := int(pages.fit(lambda size: database.run(text, {"limit": size, "none_left": False})[0]["deleted"])):
        total += done
    return total
