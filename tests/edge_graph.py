"""Edges of the oracle as relationships in a database, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from tests.oracle import activation
from tests.oracle.edges import Edge

from jochi import Jochi
from jochi.graph.driver_values import to_python

PROPERTIES = ("confidence", "weight", "last_reinforced_at", "created_at")
_MEMORIES = """
UNWIND $keys AS key
CREATE (:Curated:Fact {key: key, scope: split(key, '/')[0], id: split(key, '/')[1], content: 'fact ' + key,
                       next_due: datetime('2100-01-01T00:00Z')})
"""
_EDGES = """
UNWIND $rows AS row
MATCH (a {key: row.start}) MATCH (b {key: row.end})
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
"""


def add_memories(client: Jochi, keys: Iterable[str]) -> None:
    """Facts without anything that is ever due."""
    client.database.run(_MEMORIES, {"keys": list(keys)})


def add_edges(client: Jochi, edges: Iterable[Edge], types: Mapping[str, str] | None = None) -> None:
    """As an app would write them in plain Cypher. ``types``: by id; else CAUSED for one way, SAME_ENTITY for both ways."""
    rows = [
        {
            "start": edge.start,
            "end": edge.end,
            "type": (types or {}).get(edge.id, "CAUSED" if edge.one_way else "SAME_ENTITY"),
            "properties": {"id": edge.id} | {n: getattr(edge, n) for n in PROPERTIES if getattr(edge, n) is not None},
        }
        for edge in edges
    ]
    client.database.run(_EDGES, {"rows": rows})


def stored(client: Jochi, edges: Iterable[Edge]) -> dict[str, Edge]:
    """The same edges as the database has them now, by id."""
    rows = client.database.run("MATCH ()-[r]->() WHERE r.id IS NOT NULL RETURN properties(r) AS p", write=False)
    found = {row["p"]["id"]: to_python(row["p"]) for row in rows}
    return {edge.id: replace(edge, **{name: found[edge.id].get(name) for name in PROPERTIES}) for edge in edges}


def next_dues(client: Jochi) -> dict[str, Any]:
    """When each edge is due, as the database has it."""
    rows = client.database.run(
        "MATCH ()-[r]->() WHERE r.id IS NOT NULL RETURN r.id AS id, r.next_due AS due", write=False
    )
    return {row["id"]: to_python(row["due"]) for row in rows}


def look_along(
    client: Jochi, scope: str, edges: Sequence[Edge], seeds: Mapping[str, float], hops: int, now: datetime
) -> None:
    """What recall reaches from these seeds, by how much and on which way, is what the oracle says; the edges are the scope's."""
    asked: dict[str, Any] = dict.fromkeys(("kinds", "tiers", "since", "until", "include_archived"))
    asked |= {"scope": scope, "hops": hops, "k": 100}
    asked["seeds"] = [{"key": key, "score": score} for key, score in seeds.items()]
    row = client.engine.call("memory/recall_spread", {"now": now, "asked": asked}, write=False)
    assert (row["refused"], row["cut_off"]) == (None, False)
    reached = {entry["key"]: entry for entry in row["reached"]}
    scores = activation.activations(seeds, edges, hops)
    assert {key: entry["activation"] for key, entry in reached.items()} == pytest.approx(scores, abs=1e-12), asked
    refined = activation.refined(scores, edges)
    assert {key: entry["score"] for key, entry in reached.items()} == pytest.approx(refined, abs=1e-12), asked
    ways = activation.paths(seeds, edges, hops)
    for key, entry in reached.items():
        best = activation.shown(ways[key])
        shown = tuple(entry["keys"]), tuple(edge["confidence"] for edge in entry["edges"])
        assert shown == (best.keys, best.confidences), asked
        assert (entry["seed"], entry["hops"]) == (best.keys[0], len(best.edges)), asked
    listed = [(entry["score"], entry["key"]) for entry in row["reached"]]
    assert listed == sorted(listed, key=lambda pair: (-pair[0], pair[1])), asked


def wipe(client: Jochi) -> None:
    """Memories, tombstones and their edges; and the walk begins anew."""
    client.database.run("MATCH (n:Curated|Tombstone|JochiJobRun|JochiPause|JochiAccessBatch) DETACH DELETE n")
    client.database.run("MATCH (j:JochiJob {name: 'schedule_edges'}) SET j.cursor = null, j.walked_at = null")
