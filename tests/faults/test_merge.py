"""Merging while others merge, write or are terminated: never a lost relationship, never a half."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import neo4j
import pytest
from neo4j.exceptions import Neo4jError, TransientError
from tests import merge_graph
from tests.conftest import TestServer
from tests.faults.support import terminating

from jochi import Jochi
from jochi.database.database import in_one_map

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
PAIRS = 40
TIES = 12
"""Relationships of each memory."""

_MEMORIES = """
UNWIND range(0, $n - 1) AS i
UNWIND ['a', 'b', 'c'] AS who
CREATE (m:Curated:MemoryEntry {key: 's/' + who + i, scope: 's', id: who + i, content: 'text ' + i, content_hash: who + i,
access_count: 1,
  created_at: $now - duration({days: CASE who WHEN 'a' THEN 50 WHEN 'b' THEN 40 ELSE 30 END}), next_due: datetime({year: 2100})})
WITH m
UNWIND range(1, $ties) AS j
MERGE (t:Thing {name: 't' + (j % 5)})
CREATE (m)-[:ABOUT {rid: m.id + '-' + j}]->(t)
"""
_FLAGS = """
UNWIND range(0, $n - 1) AS i
UNWIND [['a', 'b'], ['b', 'c'], ['a', 'c']] AS two
MATCH (x:Curated {key: 's/' + two[0] + i}) MATCH (y:Curated {key: 's/' + two[1] + i})
CREATE (x)-[:SIMILAR_TO {score: 0.99, same_text: true, found_at: $now, start_hash: x.content_hash, end_hash: y.content_hash,
verdict: 'merge',
  guard: 'same text', merge_due: $now}]->(y)
"""


_LAST_MERGED = """
MATCH (t:Tombstone)
MATCH (s:Curated {key: t.merged_into})
MATCH (:CurationAudit {key: t.key, action: 'merge'})-[:KEEPS {role: 'survivor after'}]->(became)
WITH s, t, size(became.merged_from) AS merged ORDER BY merged DESC
WITH s, collect(t.key) AS lost
RETURN lost[0] AS key
"""


def fill(client: Jochi) -> None:
    """Triples of one text, each memory with relationships of its own."""
    merge_graph.clear(client.database)
    client.database.run(_MEMORIES, {"n": PAIRS, "ties": TIES, "now": NOW})
    client.database.run(_FLAGS, {"n": PAIRS, "now": NOW})


def ties(client: Jochi) -> Counter[str]:
    """By rid, how often it is there, whoever has it."""
    rows = client.database.run(
        "MATCH ()-[r:ABOUT]->() WHERE r.rid IS NOT NULL RETURN r.rid AS rid, count(*) AS n", write=False
    )
    return Counter({row["rid"]: row["n"] for row in rows})


def whole(client: Jochi, also: int = 0) -> int:
    """Nothing is lost, nothing is half; returns how many were merged. ``also``: relationships that others added."""
    found = ties(client)
    assert set(found.values()) == {1}
    assert len(found) == 3 * PAIRS * TIES + also
    rows = client.database.run(
        "MATCH (m) WHERE m:Curated OR m:Tombstone RETURN m.key AS key, labels(m) AS labels, m.merged_into AS into, "
        "m.merged_from AS froms, "
        "m.access_count AS n, COUNT { (m)-[:ABOUT]-() } AS ties, COUNT { MATCH (a:CurationAudit {key: m.key, action: 'merge'}) } "
        "- COUNT { MATCH (a:CurationAudit {key: m.key, action: 'unmerge'}) } AS audits",
        write=False,
    )
    by_key = {row["key"]: row for row in rows}
    assert len(rows) == len(by_key) == 3 * PAIRS
    dead = [row for row in rows if "Tombstone" in row["labels"]]
    for row in dead:
        assert (row["labels"], row["ties"], row["audits"]) == (["Tombstone"], 0, 1)
        assert row["key"] in by_key[row["into"]]["froms"]
    alive = [row for row in rows if "Tombstone" not in row["labels"]]
    assert all(row["into"] is None and row["audits"] == 0 for row in alive)
    assert sum(row["n"] for row in alive) == 3 * PAIRS
    return len(dead)


@pytest.fixture
def ready(engine: Jochi, alone: Callable[[str], None]) -> Jochi:
    engine.apply()
    alone("merge_duplicates")
    fill(engine)
    return engine


def act(client: Jochi, driver: neo4j.Driver, keys: list[str], run: str, now: datetime = NOW) -> int:
    """The job's own statement, past its lease, as two runs at once would send it; how often it had to be sent again."""
    text = client.engine.text("dedup/merge_duplicates", "act")
    again = 0
    with driver.session() as session:
        for key in keys:
            for turn in range(200):
                given = {"now": now, "keys": [key], "run": f"{run}/{turn}", "policy": "p", "job": {}}
                try:
                    session.run(text, in_one_map(given)).consume()
                    break
                except TransientError:
                    again += 1
            else:
                raise AssertionError(f"{key} never got its locks")
    return again


@pytest.mark.timeout(300)
def test_two_runs_at_once_on_pairs_that_overlap(ready: Jochi, server: TestServer) -> None:
    orders = [[f"s/{who}{i}" for i in range(PAIRS) for who in "ab"] for _ in range(3)]
    orders[1].reverse()
    random.Random(7).shuffle(orders[2])
    failed: list[BaseException] = []

    def work(which: int) -> None:
        try:
            with server.driver() as driver:
                for step in range(3):
                    act(ready, driver, orders[which], f"r{which}-{step}", NOW + step * DAY)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(which,)) for which in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert whole(ready) == 2 * PAIRS
    # And back again: the last merge of each first. Each run has a clock of its own, so that moments don't tell which that is.
    while keys := [row["key"] for row in ready.database.run(_LAST_MERGED)]:
        assert {r.outcome for r in ready.unmerge(keys)} == {"unmerged"}
    assert whole(ready) == 0
    held = ready.database.run(
        "MATCH (m:Curated)-[r:ABOUT]->() WITH m, r WHERE NOT r.rid STARTS WITH m.id + '-' RETURN count(r) AS n"
    )
    assert held == [{"n": 0}]


@pytest.mark.timeout(300)
def test_agents_write_while_pairs_merge(ready: Jochi, server: TestServer) -> None:
    """Plain Cypher, without our locks: each relationship that an agent was told is written is there afterwards, on a live
    memory."""
    stop = threading.Event()
    written: list[str] = []

    def agent(which: int) -> None:
        dice = random.Random(which)
        with server.driver() as driver, driver.session() as session:
            n = 0
            while not stop.is_set():
                n += 1
                rid = f"agent{which}-{n}"
                key = f"s/{dice.choice('abc')}{dice.randrange(PAIRS)}"
                try:
                    found = session.run(
                        "MATCH (m:Curated {key: $key}) MERGE (t:Thing {name: 't1'}) CREATE (m)-[:ABOUT {rid: $rid}]->(t) RETURN 1",
                        key=key,
                        rid=rid,
                    ).single()
                except TransientError:
                    continue
                if found:
                    written.append(rid)

    agents = [threading.Thread(target=agent, args=(which,)) for which in range(2)]
    for thread in agents:
        thread.start()
    with server.driver() as driver:
        for step in range(3):
            act(ready, driver, [f"s/{who}{i}" for i in range(PAIRS) for who in "ab"], f"r{step}", NOW + step * DAY)
    stop.set()
    for thread in agents:
        thread.join()
    # What found a memory before it was merged and wrote to it after follows it.
    dead = [
        row["key"] for row in ready.database.run("MATCH (t:Tombstone) WHERE COUNT { (t)--() } > 0 RETURN t.key AS key")
    ]
    with server.driver() as driver:
        act(ready, driver, dead, "late", NOW + 4 * DAY)
    assert len(written) > 20
    assert set(written) <= set(ties(ready))
    assert whole(ready, also=len(written)) == 2 * PAIRS


@pytest.mark.timeout(300)
def test_terminated_transactions_leave_no_half(ready: Jochi, server: TestServer) -> None:
    failures = 0
    text = ready.engine.text("dedup/merge_duplicates", "act")
    with (
        terminating(server.driver, "Merges pairs that", pause=0.002, spread=0.02),
        server.driver() as driver,
        driver.session() as session,
        driver.session() as other,
    ):
        for i in range(PAIRS):
            # On a quick machine a merge is over before it can be seen: each fourth waits, with its locks, for somebody else.
            holder = other.begin_transaction()
            if i % 4 == 0:
                holder.run("MATCH (m:Curated {key: $key}) SET m.held_here = true", key=f"s/b{i}").consume()
            given = {"now": NOW, "keys": [f"s/a{i}"], "run": f"r{i}", "policy": "p", "job": {}}
            try:
                session.run(text, in_one_map(given)).consume()
            except Neo4jError:
                failures += 1
            holder.rollback()
    merged = whole(ready)
    assert merged == PAIRS - failures
    assert failures >= PAIRS / 4


_DENSE = """
UNWIND ['a', 'b'] AS who
CREATE (m:Curated:MemoryEntry {key: 's/' + who, scope: 's', id: who, content: 'text', content_hash: who,
  created_at: $now - duration({days: CASE who WHEN 'a' THEN 50 ELSE 40 END}), next_due: datetime({year: 2100})})
WITH collect(m) AS two
UNWIND range(1, $n) AS j
WITH two[0] AS a, two[1] AS b, j
CREATE (b)-[:ABOUT {rid: j}]->(:Thing {name: 'd' + j})
WITH a, b, count(*) AS n
CREATE (a)-[:SIMILAR_TO {score: 0.99, same_text: true, found_at: $now, start_hash: 'a', end_hash: 'b', verdict: 'merge',
  guard: 'same text', merge_due: $now}]->(b)
"""
_LIVE = """
MATCH (m:Curated)-[r:ABOUT]->()
WHERE NOT (r.curation_copy_of IS NOT NULL AND EXISTS { MATCH (g:JochiMerging {id: r.curation_copy_of}) })
RETURN count(*) AS n, count(DISTINCT r.rid) AS different, count(DISTINCT m) AS memories
"""


@pytest.mark.timeout(600)
def test_a_dense_merge_and_its_undoing_go_on_after_every_termination(ready: Jochi, server: TestServer) -> None:
    """5,000 relationships in pages of 1,000; at every moment each is there once, of one memory."""
    n = 5_000
    merge_graph.clear(ready.database)
    ready.database.run(_DENSE, {"n": n, "now": NOW})
    # Who survives isn't what this is about: who has less is made to.
    ready.database.run(
        "CREATE (:JochiMerging {id: 'forced', from: 's/b', into: 's/a', state: 'copying', started_at: $now, copies: 0})",
        {"now": NOW},
    )
    text = ready.engine.text("dedup/merge_duplicates", "act")
    back = ready.engine.text("memory/unmerge")
    whole_ones = []

    def step(session: neo4j.Session, statement: str, **given: object) -> bool:
        try:
            session.run(statement, in_one_map({"now": NOW, "run": "r", **given})).consume()
            done = True
        except Neo4jError:
            done = False
        [seen] = ready.database.run(_LIVE, write=False)
        assert (seen["n"], seen["different"], seen["memories"]) == (n, n, 1)
        whole_ones.append(done)
        return done

    def merged() -> bool:
        return bool(ready.database.run("MATCH (t:Tombstone) RETURN count(t) AS n")[0]["n"])

    def under_way() -> bool:
        return bool(ready.database.run("MATCH (g:JochiMerging) RETURN count(g) AS n")[0]["n"])

    # Planned before anybody is terminated, or no plan would ever be made.
    nobody = {"now": NOW, "run": "r", "keys": ["s/none"]}
    ready.database.run(text, in_one_map({**nobody, "policy": "p", "job": {}}))
    ready.database.run(back, in_one_map({**nobody, "dry_run": False, "hold": False, "audits": None}))
    ended = terminating(server.driver, "Merges pairs that", "Takes merges back", pause=0.02, spread=0.1, chance=0.3)
    with ended, server.driver() as driver, driver.session() as session:
        for _turn in range(200):
            step(session, text, keys=["s/a"], policy="p", job={})
            if merged():
                break
        assert merged()
        assert not under_way()
        for _turn in range(200):
            step(session, back, keys=["s/b"], dry_run=False, hold=False, audits=None)
            if not merged() and not under_way():
                break
    assert not merged()
    assert not under_way()
    assert whole_ones.count(True) >= 8
    held = ready.database.run(
        "MATCH (m:Curated {key: 's/b'})-[r:ABOUT]->() RETURN count(r) AS n, count(r.curation_copied) AS marked"
    )
    assert held == [{"n": n, "marked": 0}]
    assert ready.database.run("MATCH (m:Curated {key: 's/a'})-[r:ABOUT]->() RETURN count(r) AS n") == [{"n": 0}]
