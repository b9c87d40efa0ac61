"""Memories with more relationships than fit into one transaction: copied page by page, merged at one stroke, taken back likewise
(docs/reference/merge.md, Dense memories)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests import merge_graph
from tests.conftest import say_go
from tests.merge_graph import flag, flag_of
from tests.oracle.memory import Memory
from tests.oracle.merging import Graph, Rel, merge

from jochi import Jochi
from jochi.database.database import in_one_map
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
A, B = "default/a", "default/b"
JOB = "merge_duplicates"
PAGE = 5
"""Here; 1,000 as shipped."""
DENSE = 4 * PAGE
_TEXTS = (
    "MATCH (p:JochiProcedure) UNWIND ['act', 'body'] AS part WITH p, part WHERE p[part] IS NOT NULL "
    "AND p.name IN ['dedup/merge_duplicates', 'dedup/weigh', 'dedup/merge', 'dedup/take_back'] "
    "RETURN p.name AS name, part, p[part] AS text"
)
_STORE = "MATCH (p:JochiProcedure {name: $name}) SET p[$part] = $text"
_MARKED = (
    "MATCH ()-[r]->() WHERE any(name IN keys(r) WHERE name STARTS WITH 'curation_' AND name <> 'curation_merges') "
    "RETURN count(r) AS n"
)


@pytest.fixture
def client(jochi: Jochi) -> Iterator[Jochi]:
    """With small pages, so that small graphs are dense."""
    say_go(jochi)
    merge_graph.clear(jochi.database)
    texts = [dict(row) for row in jochi.database.run(_TEXTS, write=False)]
    assert len(texts) == 4
    for row in texts:
        assert re.search(r"\b1000\b", row["text"])
        jochi.database.run(_STORE, row | {"text": re.sub(r"\b1000\b", str(PAGE), row["text"])})
    yield Jochi(jochi.database.driver)
    for row in texts:
        jochi.database.run(_STORE, row)
    jochi.database.run("MATCH (g:JochiMerging) DELETE g")


def memory(id: str, age: float = 40, **properties: Any) -> Memory:
    return Memory(
        id,
        ("MemoryEntry",),
        {"created_at": NOW - age * DAY, "content": "one text", "content_hash": f"h-{id}"} | properties,
    )


def dense(n: int = DENSE, mine: int = 3) -> Graph:
    """b has n relationships, a, which survives, ``mine``; every third of b's says what one of a's says, some surer."""
    others = [f"default/x{i}" for i in range(n)]
    rels = []
    for i, key in enumerate(others):
        start, end = (B, key) if i % 2 else (key, B)
        said: dict[str, Any] = {"w": i, "at": NOW - i * DAY} | ({"confidence": 0.9} if i % 3 == 0 else {})
        rels.append(Rel(f"b{i:04}", "ABOUT" if i % 4 else "CAUSED", start, end, said))
        if i % 3 == 0 and i < 3 * mine:
            start, end = (A, key) if i % 2 else (key, A)
            own = said | {"confidence": 0.5 if i % 2 else 0.95, "created_at": NOW - 9 * DAY}
            rels.append(Rel(f"a{i:04}", "ABOUT" if i % 4 else "CAUSED", start, end, own))
    rels.append(Rel("c1", "CAUSED", B, A, {"z": 1}))
    rels.append(Rel("l1", "ABOUT", B, B, {"z": 2}))
    nodes = [memory("a", 50, tags=["p"], confidence=1.0, access_count=3), memory("b", tags=["q"], access_count=4)]
    nodes += [memory(key[8:], 30) for key in others]
    return Graph({m.key: m for m in nodes}, {r.id: r for r in rels})


def put(client: Jochi, graph: Graph, **said: Any) -> Graph:
    merge_graph.clear(client.database)
    client.database.run("MATCH (g:JochiMerging) DELETE g")
    merge_graph.write(client.database, graph)
    was = merge_graph.read(client.database)
    flag(client.database, A, B, NOW, **said)
    return was


def batch(client: Jochi, now: datetime = NOW) -> dict[str, Any]:
    """One batch of the job, as it would be sent."""
    text = client.engine.text("dedup/merge_duplicates", "select")
    [row] = client.database.run(text, in_one_map({"now": now, "limit": 100, "skip": [], "job": {}}))
    act = client.engine.text("dedup/merge_duplicates", "act")
    given = {"now": now, "keys": row["keys"], "run": f"t/{now.isoformat()}", "policy": "p", "job": {}}
    [done] = client.database.run(act, in_one_map(given))
    return {"keys": row["keys"]} | {one["name"]: one["n"] for one in done["tally"]}


def drain(client: Jochi, now: datetime = NOW) -> dict[str, int]:
    runs = run_job(client.engine, JOB, now=now, drain=True)
    assert [one.error for one in runs if one.error] == []
    return {name: sum(one.tally.get(name, 0) for one in runs) for name in ("merged", "held", "pages", "taken_back")}


def merging(client: Jochi) -> list[dict[str, Any]]:
    return [dict(r["g"]) for r in client.database.run("MATCH (g:JochiMerging) RETURN properties(g) AS g", write=False)]


def seen(client: Jochi) -> dict[str, list[tuple[str, Any]]]:
    """What our readers see of a and b, by the rule of theirs: each with its relationships by type and a value."""
    rows = client.database.run(
        "MATCH (m:Curated)-[r]-() WHERE m.key IN [$a, $b] AND r.found_at IS NULL AND NOT (r.curation_copy_of IS NOT NULL "
        "AND EXISTS { MATCH (g:JochiMerging {id: r.curation_copy_of}) }) RETURN m.key AS key, collect([type(r), r.w]) AS said",
        {"a": A, "b": B},
        write=False,
    )
    return {row["key"]: sorted((type, w) for type, w in row["said"] if w is not None) for row in rows}


@pytest.mark.slow
def test_a_dense_merge_leaves_what_a_small_one_leaves_and_comes_apart(client: Jochi) -> None:
    was = put(client, dense())
    without = merge_graph.without(was, (A, B))
    tally = drain(client)
    assert (tally["merged"], tally["held"]) == (1, 0)
    assert tally["pages"] >= 3
    assert merging(client) == []
    wanted, _ = merge(without, A, B, NOW, None)
    left = merge_graph.read(client.database)
    # What the survivor has; the other's own are still there, on its tombstone.
    mine = {id: r for id, r in stripped(left).items() if B not in (r.start, r.end)}
    found = Graph({k: v for k, v in left.nodes.items() if k != B}, mine)
    assert merge_graph.differ(found, Graph({k: v for k, v in wanted.nodes.items() if k != B}, wanted.rels)) == {}
    [would] = client.unmerge([B], dry_run=True, now=NOW + DAY)
    [done] = client.unmerge([B], now=NOW + DAY)
    assert (would.outcome, done.outcome, done.changed) == ("would_unmerge", "unmerged", ())
    assert would.relationships == done.relationships == DENSE + 3
    assert merging(client) == []
    back = merge_graph.without(merge_graph.read(client.database), (A, B))
    assert merge_graph.differ(back, without) == {}
    assert client.database.run(_MARKED) == [{"n": 0}]
    pair = flag_of(client.database, A, B)
    assert (pair["decision"], pair["decided_by"]) == ("rejected", "unmerge")
    assert drain(client, NOW + 2 * DAY) == {"merged": 0, "held": 0, "pages": 0, "taken_back": 0}


def stripped(graph: Graph) -> dict[str, Rel]:
    """Relationships without the marks of a dense merge."""
    return {
        id: Rel(r.id, r.type, r.start, r.end, {k: v for k, v in r.properties.items() if not k.startswith("curation_")})
        for id, r in graph.rels.items()
    }


@pytest.mark.parametrize(("n", "pages"), [(PAGE - 1, 0), (PAGE, 1), (2 * PAGE - 1, 1), (2 * PAGE, 2)])
def test_both_sides_of_the_threshold(client: Jochi, n: int, pages: int) -> None:
    """b has n and a loop: what fits into a page goes in one transaction."""
    put(client, dense(n))
    assert drain(client)["pages"] == pages
    [done] = client.unmerge([B], now=NOW + DAY)
    assert (done.outcome, done.relationships) == ("unmerged", n + 3)


@pytest.mark.slow
def test_readers_see_two_whole_or_one_whole(client: Jochi) -> None:
    put(client, dense(mine=0))
    two = seen(client)
    assert len(two[B]) == DENSE
    assert A not in two or two[A] == []
    states = []
    while not states or states[-1]["merged"] == 0:
        states.append(batch(client))
        now = seen(client)
        if states[-1]["merged"] == 0:
            assert now == two
        else:
            assert now == {A: two[B]}
        # In plain Cypher none is ever missing, from either.
        plain = client.database.run(
            "MATCH (m:Curated)-[r]-() WHERE m.key IN [$a, $b] RETURN count(DISTINCT r.w) AS n", {"a": A, "b": B}
        )
        assert plain == [{"n": DENSE}]
    assert len(states) >= 4
    row = client.engine.call(
        "memory/unmerge", {"now": NOW + DAY, "keys": [B], "dry_run": False, "run": "u", "hold": False, "audits": None}
    )
    steps = 0
    while row["results"][0]["more"]:
        assert seen(client) == two
        steps += 1
        row = client.engine.call(
            "memory/unmerge",
            {"now": NOW + DAY, "keys": [B], "dry_run": False, "run": f"u{steps}", "hold": False, "audits": None},
        )
    assert steps >= 3
    assert seen(client) == two


def test_the_job_ends_an_unmerge_that_was_cut_off(client: Jochi) -> None:
    was = put(client, dense())
    drain(client)
    row = client.engine.call(
        "memory/unmerge", {"now": NOW + DAY, "keys": [B], "dry_run": False, "run": "u", "hold": False, "audits": None}
    )
    assert row["results"][0]["more"] is True
    assert drain(client, NOW + DAY)["taken_back"] > DENSE / 2
    assert merging(client) == []
    assert client.database.run(_MARKED) == [{"n": 0}]
    back = merge_graph.without(merge_graph.read(client.database), (A, B))
    assert merge_graph.differ(back, merge_graph.without(was, (A, B))) == {}


def test_the_last_page_of_an_unmerge_with_other_records_of_its_key(client: Jochi) -> None:
    """Wherever the record of the unmerge stands, and however often its key is given: what stays is named there."""
    client.database.run(
        "CREATE (:Curated:MemoryEntry {key: $a}), (:Curated:MemoryEntry {key: $b}), (:JochiMerging {id: 'm', from: $b, into: $a, "
        "state: 'back', unmerged: true, kept: ['(x)-[:Y]->(z)'], started_at: $now, record: 'r2'}) "
        "WITH 1 AS one UNWIND range(1, 3) AS n "
        "CREATE (:CurationAudit {id: 'r' + n, key: $b, run: 'r', action: 'unmerge', at: $now})",
        {"a": A, "b": B, "now": NOW},
    )
    given = {"now": NOW, "keys": [B, B], "dry_run": False, "run": "u/1", "hold": False, "audits": None}
    [found] = client.engine.call("memory/unmerge", given)["results"]
    assert (found["outcome"], found["changed"], found["more"]) == ("unmerged", ["(x)-[:Y]->(z)"], False)
    told = client.database.run(
        "MATCH (a:CurationAudit) WHERE a.left_as_it_is IS NOT NULL RETURN a.id AS id", write=False
    )
    assert [row["id"] for row in told] == ["r2"]


FLAG = "MATCH (:Curated {key: $b})-[f:SIMILAR_TO]-() WHERE f.found_at IS NOT NULL "
CHANGES = [
    FLAG + "SET f.verdict = 'veto'",
    "MATCH (m:Curated {key: $a}) SET m.content = 'other', m.content_hash = 'other'",
    "MATCH (m:Curated {key: $b}) SET m:Tombstone, m.tombstone = true REMOVE m:Curated",
]
MORE = [FLAG + "SET f.decision = 'rejected'", FLAG + "DELETE f", "MATCH (m:Curated {key: $b}) SET m.pinned = true"]


@pytest.mark.parametrize("change", [*CHANGES, *(pytest.param(each, marks=pytest.mark.exhaustive) for each in MORE)])
def test_copies_are_taken_back_when_it_comes_to_nothing(client: Jochi, change: str) -> None:
    was = put(client, dense())
    batch(client)
    batch(client)
    assert merging(client)[0]["state"] == "copying"
    client.database.run(change, {"a": A, "b": B})
    assert drain(client)["merged"] == 0
    assert merging(client) == []
    assert client.database.run(_MARKED) == [{"n": 0}]
    back = merge_graph.without(merge_graph.read(client.database), (A, B))
    assert merge_graph.differ(Graph({}, back.rels), Graph({}, merge_graph.without(was, (A, B)).rels)) == {}


def test_a_constraint_that_forbids_copies_holds_the_pair(client: Jochi) -> None:
    """The copies that were made before it was met are taken back, and no run fails."""
    graph = dense()
    # As many as all others: whatever order the server has them in, one transaction doesn't move them all.
    once = [Rel(f"u{i}", "TESTS_CITES", B, f"default/x{i}", {"ref": i}) for i in range(DENSE)]
    put(client, Graph(graph.nodes, graph.rels | {each.id: each for each in once}))
    assert drain(client)["merged"] == 0
    found = flag_of(client.database, A, B)
    assert (found["held_by"], found["merge_due"]) == (["constraint"], NOW + DAY)
    assert merging(client) == []
    assert client.database.run(_MARKED) == [{"n": 0}]
    client.database.run("MATCH ()-[r:TESTS_CITES]->() REMOVE r.ref")
    assert drain(client, NOW + DAY)["merged"] == 1


def test_a_pause_in_the_middle_goes_on_where_it_was(client: Jochi) -> None:
    put(client, dense())
    batch(client)
    before = merging(client)
    client.pause(Switch("scope", "default"))
    assert drain(client) == {"merged": 0, "held": 1, "pages": 0, "taken_back": 0}
    assert merging(client) == before
    client.resume(Switch("scope", "default"))
    tally = drain(client, NOW + client.policy.policy.queue.pause_recheck)
    assert (tally["merged"], tally["taken_back"]) == (1, 0)


def test_what_agents_write_in_the_middle_follows(client: Jochi) -> None:
    """New ones, changed ones and deleted ones, of what has been copied and of what hasn't; and a copy that somebody deletes."""
    put(client, dense(mine=0))
    batch(client)
    batch(client)
    done = client.database.run(
        "MATCH (:Curated {key: $b})-[r]-() WHERE r.curation_copied IS NOT NULL RETURN r.w AS w ORDER BY w", {"b": B}
    )
    copied = [row["w"] for row in done if row["w"] is not None]
    rest = [w for w in range(DENSE) if w not in copied]
    change = "MATCH (:Curated {key: $b})-[r {w: $w}]-() "
    for some in (copied, rest):
        client.database.run(change + "SET r.note = 'since'", {"b": B, "w": some[0]})
        client.database.run(change + "DELETE r", {"b": B, "w": some[1]})
    client.database.run("MATCH (:Curated {key: $a})-[c {w: $w}]-() DELETE c", {"a": A, "w": copied[2]})
    client.database.run("MATCH (m:Curated {key: $b}) CREATE (m)-[:TOLD {w: 99}]->(:Thing {name: 'new'})", {"b": B})
    assert drain(client)["merged"] == 1
    rows = client.database.run(
        "MATCH (:Curated {key: $a})-[r]-() WHERE r.w IS NOT NULL RETURN r.w AS w, r.note AS note", {"a": A}
    )
    found = {row["w"]: row["note"] for row in rows}
    assert len(rows) == len(found)
    assert set(found) == set(range(DENSE)) - {copied[1], rest[1]} | {99}
    assert [w for w, note in found.items() if note] == sorted([copied[0], rest[0]]) or {
        w for w, note in found.items() if note
    } == {copied[0], rest[0]}


def test_what_is_tied_to_it_late_follows_and_comes_back(client: Jochi) -> None:
    put(client, dense())
    drain(client)
    client.database.run("MATCH (t:Tombstone {key: $b}) CREATE (t)-[:TOLD {at: 1}]->(:Thing {name: 'x'})", {"b": B})
    runs = run_job(client.engine, JOB, now=NOW + timedelta(minutes=5), drain=True)
    assert sum(one.tally.get("late", 0) for one in runs) == 1
    assert client.database.run("MATCH (:Curated {key: $a})-[r:TOLD]->() RETURN count(r) AS n", {"a": A}) == [{"n": 1}]
    assert client.unmerge([B], now=NOW + DAY)[0].relationships == DENSE + 4
    assert client.database.run("MATCH (:Curated {key: $b})-[r:TOLD]->() RETURN count(r) AS n", {"b": B}) == [{"n": 1}]


def test_what_changed_since_stays_with_the_survivor_and_is_named(client: Jochi) -> None:
    put(client, dense(mine=0))
    drain(client)
    # One that was copied: the last page, whichever it holds, is moved like those of a small merge.
    copied = "MATCH (:Tombstone {key: $b})-[q:ABOUT]->(x) WHERE q.curation_copy IS NOT NULL RETURN q.w AS w, x.key AS x"
    w, x = client.database.run(f"{copied} ORDER BY w LIMIT 1", {"b": B})[0].values()
    client.database.run("MATCH (:Curated {key: $a})-[r {w: $w}]->() SET r.w = 70", {"a": A, "w": w})
    [done] = client.unmerge([B], now=NOW + DAY)
    assert done.changed == (f"({B})-[:ABOUT]->({x})",)
    rows = client.database.run(
        "MATCH (m:Curated)-[r]-(:Curated {key: $x}) RETURN m.key AS key, r.w AS w ORDER BY key", {"x": x}
    )
    assert [dict(row) for row in rows] == [{"key": A, "w": 70}, {"key": B, "w": w}]
    assert client.database.run(_MARKED) == [{"n": 0}]


def test_a_purge_deletes_what_stayed_with_the_tombstone_only(client: Jochi) -> None:
    put(client, dense())
    drain(client)
    later = NOW + client.policy.policy.limits.tombstone_ttl
    run_job(client.engine, "purge_tombstones", now=later, drain=True)
    assert client.database.run("MATCH (t:Tombstone) RETURN count(t) AS n") == [{"n": 0}]
    rows = client.database.run("MATCH (:Curated {key: $a})-[r]-() RETURN count(DISTINCT r.w) AS n", {"a": A})
    assert rows == [{"n": DENSE}]


def test_nobody_merges_with_one_that_is_being_copied(client: Jochi) -> None:
    graph = dense()
    c = memory("c", 60)
    put(client, Graph(graph.nodes | {c.key: c}, graph.rels))
    batch(client)
    flag(client.database, A, "default/c", NOW, decision="approved", score=2.0)
    run_job(client.engine, JOB, now=NOW, drain=True)
    assert flag_of(client.database, A, "default/c")["held_by"] == ["taken"]
    assert "merged_into" not in merge_graph.read(client.database).nodes[A].properties
