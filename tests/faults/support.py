"""What the scheduler's and the installer's fault tests share: memories that are due, and waiting with a deadline."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import neo4j

from jochi import Jochi
from jochi.database.database import Database
from jochi.policy import LoadedPolicy, load_policy

T = TypeVar("T")

# By name: as attributes of the package these are the functions that it exports.
INSTALL = import_module("jochi.install.install")
UNINSTALL = import_module("jochi.install.uninstall")

# Constraints of an app's own, which one change of one memory violates where a test wants it to throw: the swap of labels when it is
# pruned, or a count. They are there from the beginning: each constraint that comes or goes has the server plan everything anew.
APPS_CONSTRAINTS = {
    "tests_poison_tombstone": "FOR (t:Tombstone) REQUIRE t.poison IS UNIQUE",
    "tests_poison_notification": "FOR (n:Notification) REQUIRE n.poison IS UNIQUE",
    "tests_one_ref": "FOR ()-[r:TESTS_CITES]-() REQUIRE r.ref IS UNIQUE",
    "tests_one_recall": "FOR (m:TestsOnce) REQUIRE m.recall_count IS UNIQUE",
    "tests_one_source": "FOR (m:MemoryEntry) REQUIRE m.source_ref IS UNIQUE",
    "tests_one_place": "FOR (m:Notification) REQUIRE (m.shelf, m.box) IS UNIQUE",
    "tests_one_content": "FOR (m:TestsText) REQUIRE m.content IS UNIQUE",
    "tests_one_line": "FOR ()-[r:TESTS_MENTIONS]-() REQUIRE (r.state, r.line) IS UNIQUE",
}


def within(seconds: float, look: Callable[[], T], what: str = "it") -> T:
    """The first true answer of ``look``; fails where there is none in time. For what the database does by itself.

    ``seconds`` are those of an idle machine: a busy one has four times as long.
    """
    deadline = time.monotonic() + 4 * seconds
    while not (answer := look()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.1)
    return answer


@contextmanager
def terminating(
    connect: Callable[[], neo4j.Driver], *texts: str, pause: float, spread: float, chance: float = 1.0
) -> Iterator[None]:
    """For as long as the block runs, ends transactions whose statement has one of ``texts`` in it: it looks every ``pause``
    seconds and up to ``spread`` more, and ends what it sees with that ``chance``."""
    stop = threading.Event()
    seen = (
        "SHOW TRANSACTIONS YIELD transactionId AS id, currentQuery AS q "
        "WHERE any(text IN $texts WHERE q CONTAINS text) AND NOT q CONTAINS 'SHOW TRANSACTIONS' RETURN id"
    )

    def terminate() -> None:
        with connect() as driver, driver.session() as session:
            while not stop.is_set():
                ids = session.run(seen, texts=list(texts)).value("id")
                if ids and random.random() < chance:
                    session.run("TERMINATE TRANSACTIONS $ids YIELD message RETURN count(*)", ids=ids).consume()
                time.sleep(pause + random.random() * spread)

    killer = threading.Thread(target=terminate)
    killer.start()
    try:
        yield
    finally:
        stop.set()
        killer.join()


def remember(database: Database, n: int, *, name: str = "m", days: int = 1, unread: bool = False) -> list[str]:
    """``n`` notifications, read ``days`` past their TTL (or unread: kept); returns their keys."""
    database.run(
        "UNWIND range(1, $n) AS i CREATE (:Curated:Notification {key: 'default/' + $name + i, id: $name + i, scope: 'default', "
        "content: 'text ' + i, read: NOT $unread, priority: 'low', tier: 'HOT', "
        "created_at: datetime.realtime() - duration({days: $days + 7}), "
        "next_due: datetime.realtime() - duration({days: 1, seconds: -i})})",
        {"n": n, "name": name, "days": days, "unread": unread},
    )
    return [f"default/{name}{i}" for i in range(1, n + 1)]


def poison(database: Database, key: str) -> None:
    """Makes the swap of this memory's labels throw: live to tombstone, or (for a tombstone that a rail holds) back."""
    found = database.run(
        "MATCH (m {key: $key}) WHERE m:Curated OR m:Tombstone "
        "CALL (m) { WITH m WHERE m:Curated CREATE (:Tombstone {poison: $key}) } "
        "CALL (m) { WITH m WHERE m:Tombstone CREATE (:Notification {poison: $key}) SET m.pinned = true } "
        "SET m.poison = $key RETURN m.key AS key",
        {"key": key},
    )
    assert found == [{"key": key}]


def keys(database: Database, label: str, where: str = "true") -> set[str]:
    """Keys of the memories with ``label`` for which ``where`` (on `m`) holds."""
    text = f"MATCH (m:{label}) WHERE m.key IS NOT NULL AND ({where}) RETURN m.key AS key"
    return {row["key"] for row in database.run(text, write=False)}


def job_of(jochi: Jochi, name: str) -> dict[str, Any]:
    """All properties of a job."""
    row = jochi.database.run("MATCH (j:JochiJob {name: $name}) RETURN properties(j) AS j", {"name": name}, write=False)
    return dict(row[0]["j"])


def pump_of(jochi: Jochi) -> dict[str, Any]:
    """All properties of the pump's node."""
    name = jochi.engine.pump
    rows = jochi.database.run("MATCH (p:JochiPump {name: $n}) RETURN properties(p) AS p", {"n": name}, write=False)
    return dict(rows[0]["p"])


def set_job(jochi: Jochi, name: str, **values: Any) -> None:
    """Sets properties of a job."""
    jochi.database.run("MATCH (j:JochiJob {name: $name}) SET j += $values", {"name": name, "values": values})


def claim(jochi: Jochi, clock: datetime, job: str | None = "curate_due", runner: str = "pump") -> dict[str, Any]:
    """The installed claim, at a time of the test's choice."""
    return jochi.engine.call(
        "scheduler/claim",
        {
            "clock": clock,
            "due_by": clock,
            "now": clock,
            "pump": jochi.engine.pump,
            "job": job,
            "except": [],
            "runner": runner,
        },
    )


def write_policy(folder: Path, text: str, name: str = "custom") -> LoadedPolicy:
    """A policy over the shipped one, with the short intervals of the tests."""
    file = folder / f"{name}.toml"
    head = f'[policy]\nname = "{name}"\nextends = "default"\n'
    file.write_text(head + text, encoding="utf-8")
    return load_policy(file)


def expect_whole(database: Database) -> None:
    """Nothing was done twice or by halves: one prune audit per tombstone and the other way round, no key live and dead."""
    twice = database.run(
        "MATCH (a:CurationAudit {action: 'prune'}) WITH a.key AS k, count(*) AS n WHERE n > 1 RETURN k, n"
    )
    assert twice == []
    assert keys(database, "Tombstone") == {
        row["k"] for row in database.run("MATCH (a:CurationAudit {action: 'prune'}) RETURN a.key AS k")
    }
    assert keys(database, "Tombstone") & keys(database, "Curated") == set()
    assert (
        database.run("MATCH (t:Tombstone) WHERE t:Notification OR NOT 'Curated' IN t.tombstone_labels RETURN t.key")
        == []
    )


INPUTS = {
    "(:Curated {key: 'u1/a'})": (
        "curate_due",
        "requeue",
        "sweep_orphans",
        "requeue_embeddings",
        "roll_access_days",
        "hygiene",
        "index_topics",
        "consolidate_profiles",
        "consolidate_identity",
        "requeue_slots",
        "requeue_duplicates",
        "enforce_budgets",
    ),
    "(:Tombstone {key: 'u1/b'})": ("purge_tombstones", "merge_duplicates"),
    "(:JochiScopeChange {scope: 'u1'})": ("enforce_budgets",),
    "(:CurationAudit {id: 'a'})": ("expire_audit", "learn_guidelines"),
    "(:JochiAccess {key: 'u1/a'})": ("fold_accesses",),
    "(:JochiAccessBatch {id: 'b'})": ("forget_batches",),
    "(:JochiManifest {id: 'm', scope: 'u1'})": ("make_manifests",),
    "(:JochiAction {id: 'a', scope: 'u1'})": ("expire_actions", "learn_guidelines"),
    "(:JochiPass {scope: 'u1'})": ("consolidate_scopes",),
    "(:JochiBuffer {key: 'u1/s'})": ("flush_buffers",),
    "(:JochiSlotChange {key: 'u1/a'})": ("settle_slots",),
    "(:JochiIntake {label: 'Note'})": ("intake",),
    "()-[:RELATED_TO]->()": ("decay_edges", "schedule_edges"),
    "()-[:SIMILAR_TO]->()": ("merge_duplicates",),
    "(:Curated {key: 'u1/c', is_dirty: true, last_accessed_at: datetime()})": ("consolidate",),
    "(:Curated {key: 'u1/d', count_due: datetime()})": ("count_mentions",),
    "(:Curated {key: 'u1/e', promote_due: datetime()})": ("promote_storylines",),
    "(:Curated {key: 'u1/f', macro_due: datetime()})": ("promote_macros",),
    "(:Curated {key: 'u1/g', meaning_due: datetime()})": ("find_meaning",),
    "(:Curated {key: 'u1/h', slot_due: datetime()})": ("settle_slots",),
    "(:Curated {key: 'u1/i', similar_due: datetime()})": ("find_duplicates",),
}
"""What gives a job something to do, by the jobs that it makes live (the oracle of `_macros/schedule/inputs.j2`)."""


def write_inputs(jochi: Jochi) -> None:
    """Every job has something to do."""
    for pattern in INPUTS:
        jochi.database.run(f"CREATE {pattern}")
