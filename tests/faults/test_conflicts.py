"""Six processes write and lock the same memories while the engine prunes, merges and moves them: no write is lost, no deadlock
surfaces, and every conflict is told to somebody (issue 8, conflict avoidance; DESIGN §10)."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import neo4j
import pytest
from neomodel import db
from tests.faults.support import within

from jochi import Jochi, clock
from jochi_models import CompressedContext, Locked, LostUpdate, MemoryEntry, Notification, Pruned

pytestmark = pytest.mark.server

WRITERS = 6
SCOPES = 4
CONTEXTS = 30
"""Young: they stay, in everybody's hands."""
NOTIFICATIONS = 20
"""Of each scope; old, and due once somebody has read them. Fewer in all than the breaker lets go."""
PAIRS = 8
"""Of each scope; old, of one text, and due to be merged one after the other for as long as the test lasts."""
JOBS = [
    "curate_due",
    "merge_duplicates",
    "enforce_budgets",
    "fold_accesses",
    "find_duplicates",
    "sweep_orphans",
    "hygiene",
    "settle_slots",
    "decay_edges",
    "schedule_edges",
    "choose_mode",
]

SECONDS = 200.0
"""One job a tick: in a shorter time not each has its turn."""

_MADE = """
UNWIND $rows AS row
CREATE (m:Curated)
SET m:$(row.kind), m = row.held, m.id = row.id, m.scope = row.scope, m.key = row.scope + '/' + row.id,
    m.revision = 0, m.team_id = '0', m.tier = 'HOT', m.token_count = 150, m.next_due = $now
"""
_PAIRED = """
UNWIND $pairs AS pair
MATCH (a:Curated {key: pair.a}) MATCH (b:Curated {key: pair.b})
CREATE (a)-[:SIMILAR_TO {score: 0.99, same_text: true, found_at: $now, seen_at: $now,
  start_hash: a.content_hash, end_hash: b.content_hash, verdict: 'merge', reasons: [], guard: 'same text',
  merge_due: $now + duration({milliseconds: pair.after})}]->(b)
"""


def fill(client: Jochi) -> None:
    """Memories whose ``team_id`` counts what was saved of them."""
    now = clock.now()
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []

    def add(kind: str, scope: int, id: str, days: int, **held: Any) -> None:
        base = {"created_at": now - timedelta(days=days), "content": f"{id} of scope {scope}"}
        rows.append({"kind": kind, "scope": f"s{scope}", "id": id, "held": base | held})

    for i in range(CONTEXTS):
        add("CompressedContext", 0, f"context{i}", 0)
    for scope in range(SCOPES):
        for i in range(NOTIFICATIONS):
            add("Notification", scope, f"message{i}", 20, read=False, priority="low")
        for i in range(PAIRS):
            for days, id in ((50, f"a{i}"), (40, f"b{i}")):
                add("MemoryEntry", scope, id, days, content=f"text {i}", content_hash=f"hash {i}", access_count=1)
            after = int(1000 * SECONDS * (scope + SCOPES * i) / (SCOPES * PAIRS))
            pairs.append({"a": f"s{scope}/a{i}", "b": f"s{scope}/b{i}", "after": after})
    client.database.run(_MADE, {"rows": rows, "now": now})
    client.database.run(_PAIRED, {"pairs": pairs, "now": now})
    client.database.run(
        "UNWIND $scopes AS s CREATE (:JochiScopeChange {scope: s, at: $now})",
        {"scopes": [f"s{i}" for i in range(SCOPES)], "now": now},
    )


def _one_of(dice: Random) -> tuple[Any, str]:
    """A kind and a key; some are in everybody's hands, on a quick machine, too."""
    low = dice.random() ** 3
    scope = dice.randrange(SCOPES)
    which = dice.random()
    if which < 0.5:
        return CompressedContext, f"s0/context{int(CONTEXTS * low)}"
    if which < 0.8:
        return Notification, f"s{scope}/message{int(NOTIFICATIONS * low)}"
    return MemoryEntry, f"s{scope}/{dice.choice('ab')}{dice.randrange(PAIRS)}"


def _write_at_random(uri: str, user: str, password: str, seed: int, hasty: float, enough: Any, answers: Any) -> None:
    """Adds one to what a memory counts, again and again: each sum that was said to be saved must be there in the end. ``hasty``:
    the share of saves of a message that also say that it was read. Every try ends as exactly one of the outcomes in ``told``."""
    dice = Random(seed)
    saved: Counter[str] = Counter()
    touched: Counter[str] = Counter()
    told: Counter[str] = Counter()
    with neo4j.GraphDatabase.driver(uri, auth=(user, password), notifications_min_severity="OFF") as driver:
        db.set_connection(driver=driver)
        client = Jochi(driver)
        try:
            while not enough.is_set():
                kind, key = _one_of(dice)
                choice = dice.random()
                told["tries"] += 1
                if choice < 0.15 and kind is CompressedContext:
                    client.touch([key], agent=f"agent-{seed}")
                    touched[key] += 1
                    told["touched"] += 1
                    continue
                memory = kind.nodes.get_or_none(key=key)
                if memory is None:
                    told["found dead"] += 1
                    continue
                try:
                    if choice < 0.55:
                        with memory.lock(f"agent-{seed}", wait=dice.choice((0.0, 0.5))):
                            memory.team_id = str(int(memory.team_id) + 1)
                            memory.save()
                            saved[key] += 1  # giving it back can't take that away
                    else:
                        memory.team_id = str(int(memory.team_id) + 1)
                        if kind is Notification and dice.random() < hasty:
                            memory.read = True
                        memory.save()
                        saved[key] += 1
                except LostUpdate:
                    told["lost update"] += 1
                except Locked:
                    told["locked"] += 1
                except Pruned:
                    told["pruned meanwhile"] += 1
                else:
                    told["saved"] += 1
        finally:
            db.close_connection()
    answers.put((saved, touched, told))


def test_six_processes_and_the_engine_lose_no_write(engine: Jochi, arm: Callable[[], None], server: Any) -> None:
    fill(engine)
    engine.database.run(
        "MATCH (j:JochiJob) SET j.every_s = 1, j.every = duration('PT1S'), j.slot_days = null, j.pace = null, "
        "j.next_start = datetime.realtime(), j.enabled = j.name IN $jobs",
        {"jobs": JOBS},
    )
    engine.apply()
    arm()
    context = multiprocessing.get_context("spawn")
    answers, enough = context.Queue(), context.Event()
    given = (server.uri, server.user, server.password)
    writers = [
        context.Process(target=_write_at_random, args=(*given, seed, 2 / SECONDS, enough, answers))
        for seed in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    try:
        # They go on until the engine has pruned and merged what they write, and for so long at least.
        end = time.monotonic() + SECONDS
        within(SECONDS + 45, lambda: time.monotonic() > end and worked(engine), "the engine works on what they write")
    finally:
        enough.set()
    saved: Counter[str] = Counter()
    touched: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for _ in writers:
        for sum_of, some in zip((saved, touched, told), answers.get(timeout=120), strict=True):
            sum_of.update(some)
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0  # nothing but a conflict that it counted came to the surface
    engine.database.run("MATCH (j:JochiJob) SET j.enabled = false")
    within(20, lambda: not engine.database.run("MATCH (j:JochiJob) WHERE j.run_open RETURN j.name"), "all runs end")
    every_try_has_an_outcome(told, saved)
    nothing_is_lost(engine, saved, touched)
    the_dead_are_on_record(engine)
    runs = engine.history(limit=1_000_000)
    assert [run for run in runs if run["status"] != "ok" or run.get("error") or run.get("quarantined")] == []
    ran = {run["job"] for run in runs if run["batches"]}
    assert ran >= set(JOBS), ran


def worked(client: Jochi) -> bool:
    """The engine pruned and merged more than a few."""
    rows = client.database.run(
        "MATCH (a:CurationAudit) WHERE a.action IN ['prune', 'merge'] RETURN a.action AS action, count(*) AS n",
        write=False,
    )
    counts = {row["action"]: row["n"] for row in rows}
    return counts.get("prune", 0) > 3 and counts.get("merge", 0) > 3


def every_try_has_an_outcome(told: Counter[str], saved: Counter[str]) -> None:
    outcomes = {name: n for name, n in told.items() if name != "tries"}
    assert sum(outcomes.values()) == told["tries"], told
    assert all(told[name] > 0 for name in ("saved", "lost update", "locked", "touched", "found dead")), told
    assert saved.total() == told["saved"], told


def nothing_is_lost(client: Jochi, saved: Counter[str], touched: Counter[str]) -> None:
    """What every memory counts, alive or dead, is what its writers were told; what they touched is counted or waits."""
    rows = client.database.run(
        "MATCH (m) WHERE (m:Curated OR m:Tombstone) AND m.team_id IS NOT NULL "
        "RETURN m.key AS key, toInteger(m.team_id) AS n, m.revision AS revision, m.locked_by AS by, m:Curated AS live, "
        "coalesce(m.recall_count, 0) + COUNT { MATCH (a:JochiAccess) WHERE a.key = m.key } AS accesses",
        write=False,
    )
    assert len(rows) == CONTEXTS + SCOPES * (NOTIFICATIONS + 2 * PAIRS)
    assert {row["key"]: row["n"] for row in rows if row["n"]} == dict(saved)
    # A save is a revision of its own; the engine adds some where it changes what an app could overwrite.
    assert [row["key"] for row in rows if row["revision"] < row["n"]] == []
    assert [row["key"] for row in rows if row["live"] and row["by"] is not None] == []
    contexts = {row["key"]: row["accesses"] for row in rows if "/context" in row["key"] and row["accesses"]}
    assert contexts == dict(touched)


def the_dead_are_on_record(client: Jochi) -> None:
    """Each was pruned or merged once, and nothing else was; nobody's relationship is lost."""
    dead = client.database.run("MATCH (t:Tombstone) RETURN t.key AS key, labels(t) AS labels ORDER BY key", write=False)
    audits = client.database.run(
        "MATCH (a:CurationAudit) WHERE a.action IN ['prune', 'merge'] RETURN a.key AS key ORDER BY key", write=False
    )
    assert [row["key"] for row in dead] == [row["key"] for row in audits]
    assert {tuple(row["labels"]) for row in dead} == {("Tombstone",)}
    blamed = "MATCH (m:Curated) WHERE m.quarantined_until IS NOT NULL RETURN m.key AS key"
    assert client.database.run(blamed, write=False) == []
