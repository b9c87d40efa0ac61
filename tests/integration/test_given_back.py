"""Somebody's graph is enrolled, every feature runs over it, and it becomes its owner's again: property by property as before."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.integration.test_compression import TEXT, Says
from tests.merge_graph import flag

from jochi import Jochi
from jochi.database.database import Database
from jochi.graph.catalogue import OF_EDGES, ON_EDGES
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi.write import enrolling
from jochi_workers.derive.compress import CompressHandler, Summary
from jochi_workers.handler import Result
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue

pytestmark = [pytest.mark.server, pytest.mark.slow]

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
LABELS = ("MemoryEntry", "Person", "Fact", "Belief", "Notification", "Reflection", "Ticket")

GRAPH = """
UNWIND range(1, 6) AS i
CREATE (:MemoryEntry:Mine {id: 'e' + i, content: 'we moved the rack to Berlin' + CASE WHEN i > 4 THEN '' + i ELSE '' END,
  created_at: $now - duration({days: 30 + i}), colour: 'red', tags: ['x'], importance: 0.25, access_count: i, agents: ['ann']})
WITH count(*) AS one
CREATE (:MemoryEntry {id: 'long', content: $long, created_at: $now - duration({days: 200}), tier: 'ARCHIVE',
  odd: date('2026-01-01')})
CREATE (ann:Person {id: 'ann', name: 'Ann', created_at: $now - duration({days: 300}), state: 'active'})
CREATE (bob:Person {id: 'bob', name: 'Bob', created_at: $now - duration({days: 300}), state: 'active', where: point({x: 1, y: 2})})
CREATE (ann)-[:RELATED_TO {since: 3, created_at: $now - duration({days: 100}), state: 'active', salience: 0.5,
  salience_at: $now - duration({days: 99})}]->(bob)
CREATE (old:Fact {id: 'f1', content: 'Ann lives in Bonn', subject: 'Ann', attribute: 'city', value: 'Bonn',
  valid_from: $now - duration({days: 40}), created_at: $now - duration({days: 40})})
CREATE (new:Fact {id: 'f2', content: 'Ann lives in Köln', subject: 'Ann', attribute: 'city', value: 'Köln',
  valid_from: $now - duration({days: 10}), created_at: $now - duration({days: 10})})
CREATE (bob)-[:RELATED_TO {loose: true}]->(ann)
CREATE (old)-[:CAUSED {loose: true, confidence: 0.9, created_at: $now - duration({days: 10})}]->(new)
CREATE (:Belief {id: 'b', content: 'it holds', state: 'active', confidence: 0.25, created_at: $now - duration({days: 400})})
CREATE (:Notification {id: 'n', read: true, priority: 'low', created_at: $now - duration({days: 30})})
CREATE (:Reflection {id: 'r', content: 'think again', created_at: $now - duration({days: 60}), consolidated: false})
CREATE (:Ticket {ticket_no: 1, customer: 'acme', body: 'it broke', opened: $now.epochMillis - 9 * 86400000, done: true})
CREATE (:Ticket {ticket_no: 2, customer: 'acme', body: 'it broke too', opened: $now.epochMillis - 9 * 86400000, done: false,
  id: 'own'})
"""
READ = """
MATCH (n) WHERE any(label IN labels(n) WHERE label IN $labels) OR n:Tombstone
RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties,
  [(n)-[r]->(x) | [elementId(r), type(r), elementId(x), properties(r)]] AS links
"""
Graph = dict[str, Any]


def lasting(properties: dict[str, Any]) -> dict[str, Any]:
    """Of an edge that was used or charged (`loose`) without how sure and how present it is by now: that is the app's to know."""
    gone = set(OF_EDGES) - set(ON_EDGES) if "loose" in properties else set()
    return {name: value for name, value in properties.items() if name not in gone}


def read(database: Database) -> Graph:
    return {
        row["id"]: (
            sorted(row["labels"]),
            to_python(row["properties"]),
            sorted(([*link[:3], lasting(to_python(link[3]))] for link in row["links"]), key=lambda link: link[0]),
        )
        for row in database.run(READ, {"labels": LABELS}, write=False)
    }


def work(client: Jochi, handler: CompressHandler | PrepareHandler, now: datetime) -> int:
    queue = Queue(client.engine, handler.name, clock=lambda: now, asks=getattr(handler, "asks", {}))
    batch = queue.lease(100, exact=handler.exact)
    return queue.finish(batch, handler.handle(batch.rows).done).done


def embed(client: Jochi, now: datetime) -> int:
    queue = Queue(client.engine, "embed", clock=lambda: now)
    batch = queue.lease(100)
    values = {
        "embedding": [0.5] * 384,
        "embedding_model": client.policy.policy.embedding.model,
        "embedding_unknown": 0.0,
    }
    return queue.finish(
        batch, [Result(row["key"], {**values, "embedding_hash": row["content_hash"]}) for row in batch.rows]
    ).done


WRITTEN_BY_THEN = {
    *("access_windows", "agents", "compressed_hash", "embedding_hash", "merged_from"),
    *("mvs", "needs_consolidation", "salience_at", "slot_line", "superseded_at", "tier_reason", "tombstone_labels"),
}


def live(client: Jochi) -> set[str]:
    """Everything that the engine has anywhere at the moment: names of properties, and of states of its own."""
    rows = client.database.run("MATCH (n) WHERE n.enrolled_run IS NOT NULL RETURN keys(n) AS k", write=False)
    return {name for row in rows for name in row["k"]}


def everything(client: Jochi) -> set[str]:
    """Runs every feature over what is enrolled; returns the names of the properties that were seen on it."""
    seen: set[str] = set()
    assert work(client, PrepareHandler(Estimate()), NOW) > 5
    assert embed(client, NOW) > 5
    for at, (left, right) in enumerate([("default/e1", "default/e2"), ("default/e3", "default/e4")]):
        flag(client.database, left, right, NOW, decision="approved")
        assert (
            sum(run.changed for run in run_job(client.engine, "merge_duplicates", now=NOW + at * DAY, drain=True)) == 1
        )
        seen |= live(client)
    (gone,) = client.database.run("MATCH (t:Tombstone) WHERE t.key IN ['default/e1', 'default/e2'] RETURN t.key AS key")
    assert [each.outcome for each in client.unmerge([gone["key"]], now=NOW + DAY)] == ["unmerged"]
    keys = ["default/ann", "default/f1", "default/r"]
    for day in (1, 2, 3):
        client.touch(keys, agent="bot", now=NOW + day * DAY)
    jobs = [
        name
        for name in client.policy.policy.jobs
        if name not in ("purge_tombstones", "expire_audit", "choose_mode", "intake")
    ]
    for day in (3, 4, 40, 400):
        for name in jobs:
            runs = run_job(client.engine, name, now=NOW + day * DAY, drain=True)
            if (name, day) == ("curate_due", 40):
                assert client.undo(runs[0].id, now=NOW + day * DAY).counts["undone"] > 0
            seen |= live(client)
        if day == 4:
            short = CompressHandler(
                Says(Summary("Ann moved web-03 to Berlin on 8 May 2026: 42 servers.")),
                client.policy.policy.compression,
                Estimate(),
            )
            assert work(client, short, NOW + day * DAY) == 1
    return seen


def disenrol(client: Jochi) -> None:
    for label in LABELS:
        assert client.disenrol(label).left == 0


def uninstall(client: Jochi) -> None:
    client.uninstall()
    assert client.database.run(
        "MATCH (n) WHERE any(l IN labels(n) WHERE l =~ 'Jochi.*|Curat.*') RETURN count(*) AS n"
    ) == [{"n": 0}]


def test_a_graph_is_as_it_was_before_it_was_enrolled(jochi: Jochi) -> None:
    jochi.database.run(GRAPH, {"now": NOW, "long": TEXT})
    before = read(jochi.database)
    assert len(before) == 16
    jochi.apply()
    for give_back in (disenrol, uninstall):
        for label in LABELS:
            assert enrolling.enrol(jochi.engine, label, now=NOW, generate_ids=True).troubles.total == 0
        seen = everything(jochi)
        assert seen >= WRITTEN_BY_THEN
        now = read(jochi.database)
        assert [id for id, was in before.items() if now[id] == was] == []
        give_back(jochi)
        after = read(jochi.database)
        assert after.keys() == before.keys()
        for id, was in before.items():
            assert after[id] == was
