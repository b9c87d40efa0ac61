"""Uninstall takes merges back before it brings tombstones back (docs/reference/merge.md)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from tests import merge_graph
from tests.merge_graph import flag
from tests.oracle.memory import Memory
from tests.oracle.merging import Graph, Rel

from jochi import Jochi
from jochi.database.database import Database
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy

pytestmark = [pytest.mark.server, pytest.mark.slow]

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
A, B, C, D, E = (f"default/{id}" for id in "abcde")


@pytest.fixture
def client(database: Database, test_policy: LoadedPolicy) -> Jochi:
    """Freshly installed on an empty database, not armed."""
    made = Jochi(database.driver, policy=test_policy)
    made.install(arm=False)
    return made


def test_uninstall_gives_merged_memories_their_relationships_back(client: Jochi) -> None:
    """A chain of three comes apart; of d and e the one that went, whose key is in use again, comes back without, and is named."""
    client.apply()
    ages = {A: 50, B: 45, C: 40, D: 48, E: 40}
    nodes = {
        key: Memory(
            key[8:],
            ("MemoryEntry",),
            {"created_at": NOW - age * DAY, "content": "one text", "content_hash": f"h-{key}", "access_count": age},
        )
        for key, age in ages.items()
    }
    rels = [
        Rel("1", "ABOUT", C, merge_graph.THING, {"x": 1}),
        Rel("2", "ABOUT", B, C, {"x": 2}),
        Rel("3", "ABOUT", E, C, {}),
    ]
    merge_graph.write(client.database, Graph(nodes, {rel.id: rel for rel in rels}))
    for day, (left, right) in enumerate([(B, C), (A, B), (A, C), (D, E)]):
        # Of the two chances of a the one with who is left.
        flag(client.database, left, right, NOW + day * DAY, decision="approved")
        run_job(client.engine, "merge_duplicates", now=NOW + day * DAY, drain=True)
    assert client.database.run("MATCH (t:Tombstone) RETURN count(t) AS n") == [{"n": 3}]
    [gone] = client.database.run(
        "MATCH (t:Tombstone) WHERE t.id IN ['d', 'e'] RETURN t.key AS key, t.merged_into AS into"
    )
    client.database.run(
        "CREATE (:Curated:MemoryEntry {key: $key, scope: 'default', id: $id, content: 'again'})",
        {"key": gone["key"], "id": gone["key"][8:]},
    )
    result = client.uninstall()
    assert (result.restored, result.unmerged, result.not_unmerged) == (3, 2, (gone["key"],))
    rows = client.database.run(
        "MATCH (a:MemoryEntry)-[r:ABOUT]->(b) RETURN a.id AS start, coalesce(b.id, b.name) AS end, r.x AS x ORDER BY x"
    )
    assert [(row["start"], row["end"], row["x"]) for row in rows] == [
        ("c", "t", 1),
        ("b", "c", 2),
        (gone["into"][8:], "c", None),
    ]
    rows = client.database.run(
        "MATCH (m:MemoryEntry) WHERE m.id IN ['a', 'b', 'c'] RETURN m.id AS id, m.access_count AS n ORDER BY id"
    )
    assert [row["n"] for row in rows] == [50, 45, 40]
