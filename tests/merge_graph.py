"""The oracle's graphs of two memories to be merged, written into a database, and what became of them read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from tests.oracle.memory import Memory
from tests.oracle.merging import Graph, Rel

from jochi.database.database import Database
from jochi.graph.driver_values import to_python

MARK = "curation_merges"
ENGINES = {"next_due", "revision", "last_curated_at", "curation_action", "prepare_due", "similar_due"}
"""What the engine writes on a memory besides, and what a merge and its undoing both move on."""
THING = "thing/t"
"""A node that nobody curates."""

_NODES = """
UNWIND $rows AS row
CREATE (m:Curated)
SET m:$(row.labels), m = row.properties, m.id = row.id, m.scope = row.scope, m.key = row.key
"""
_THING = "MERGE (t:Thing {name: 't'})"
_ENDS = (
    "OPTIONAL MATCH (a1:Curated {key: row.start}) OPTIONAL MATCH (a2:Thing {name: 't'}) WHERE row.start = $thing "
    "OPTIONAL MATCH (b1:Curated {key: row.end}) OPTIONAL MATCH (b2:Thing {name: 't'}) WHERE row.end = $thing "
    "WITH row, coalesce(a1, a2) AS a, coalesce(b1, b2) AS b "
)
_RELS = (
    "UNWIND $rows AS row " + _ENDS + "CREATE (a)-[r:$(row.type)]->(b) SET r = row.properties RETURN elementId(r) AS id"
)
_FLAG = """
MATCH (a:Curated {key: $left}) MATCH (b:Curated {key: $right})
CREATE (a)-[f:SIMILAR_TO]->(b)
SET f = {score: $score, same_text: true, found_at: $at, seen_at: $at, start_hash: a.content_hash, end_hash: b.content_hash,
         start_said: a.content, end_said: b.content,
         verdict: 'merge', reasons: [], guard: 'test', judged_at: $at, merge_due: $at}
SET f += $more
"""
_READ_NODES = """
MATCH (m) WHERE m:Curated OR m:Tombstone
RETURN m.key AS key, [l IN labels(m) WHERE l <> 'Curated'] AS labels, properties(m) AS properties
"""
_READ_RELS = """
MATCH (a)-[r]->(b) WHERE (a:Curated OR a:Tombstone OR a:Thing) AND (b:Curated OR b:Tombstone OR b:Thing)
RETURN elementId(r) AS id, type(r) AS type, coalesce(a.key, $thing) AS start, coalesce(b.key, $thing) AS end, properties(r)
AS properties
"""


def write(database: Database, graph: Graph) -> None:
    """Nodes and relationships as an app and the engine would have left them."""
    database.run(_THING)
    database.run(
        _NODES,
        {
            "rows": [
                {"id": m.id, "scope": m.scope, "key": m.key, "labels": list(m.labels), "properties": m.properties}
                for m in graph.nodes.values()
            ]
        },
    )
    add(database, graph.rels.values())


def add(database: Database, rels: Iterable[Rel]) -> None:
    """Relationships between what is there."""
    rows = [{"type": r.type, "start": r.start, "end": r.end, "properties": dict(r.properties)} for r in rels]
    database.run(_RELS, {"rows": rows, "thing": THING})


def flag(database: Database, left: str, right: str, at: datetime, *, score: float = 1.0, **more: Any) -> None:
    """The pair may merge from ``at`` on; ``more`` overwrites properties of the flag."""
    first, second = sorted((left, right))
    database.run(_FLAG, {"left": first, "right": second, "at": at, "score": score, "more": more})


def read(database: Database) -> Graph:
    """All of it; a tombstone's own bookkeeping as the oracle has it, moments as Python's."""
    nodes = {}
    for row in database.run(_READ_NODES, write=False):
        properties = {name: to_python(value) for name, value in row["properties"].items()}
        scope, id = properties.pop("key").split("/", 1)
        for name in ("scope", "id"):
            properties.pop(name)
        if "tombstone_labels" in properties:
            properties["tombstone_labels"] = sorted(set(properties["tombstone_labels"]) - {"Curated"})
        nodes[row["key"]] = Memory(id, tuple(sorted(row["labels"])), properties, scope=scope)
    rels = {}
    for row in database.run(_READ_RELS, {"thing": THING}, write=False):
        properties = {name: to_python(value) for name, value in row["properties"].items() if name != MARK}
        rels[row["id"]] = Rel(row["id"], row["type"], row["start"], row["end"], properties)
    return Graph(nodes, rels)


def without(graph: Graph, *pairs: tuple[str, str]) -> Graph:
    """Without our flags between these two, and without what a merge notes on other flags."""
    rels = {}
    for id, rel in graph.rels.items():
        if rel.type == "SIMILAR_TO" and "guard" in rel.properties and (rel.start, rel.end) in pairs:
            continue
        noted = {"unlinked", "held_by", "merge_due"} if rel.type == "SIMILAR_TO" else set()
        rels[id] = replace(rel, properties={name: v for name, v in rel.properties.items() if name not in noted})
    return Graph(graph.nodes, rels)


def said(value: Any) -> str:
    """To be compared: instants by themselves, NaN as itself, 1 not as 1.0."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return repr(value.astimezone(timezone.utc))
    if isinstance(value, float):
        return f"{value:.12g}f"
    return repr(value)


def told(graph: Graph, *, leave_out: frozenset[str] = frozenset(ENGINES)) -> tuple[Any, Any]:
    """A graph as it can be compared: nodes by key, relationships as a multiset without ids."""
    nodes = {
        key: (node.labels, {name: said(v) for name, v in sorted(node.properties.items()) if name not in leave_out})
        for key, node in graph.nodes.items()
    }
    return nodes, Counter(meaning(rel) for rel in graph.rels.values())


def meaning(rel: Rel) -> tuple[Any, ...]:
    """What a relationship says, without its id."""
    return rel.type, rel.start, rel.end, tuple((name, said(v)) for name, v in sorted(rel.properties.items()))


def differ(found: Graph, wanted: Graph) -> dict[str, Any]:
    """Where the two differ: by key of a node the names with both values, and relationships with how many more there are."""
    (nodes, rels), (other_nodes, other_rels) = told(found), told(wanted)
    out: dict[str, Any] = {}
    for key in nodes.keys() | other_nodes.keys():
        mine, other = nodes.get(key, ((), {})), other_nodes.get(key, ((), {}))
        names = {
            n: (mine[1].get(n), other[1].get(n))
            for n in mine[1].keys() | other[1].keys()
            if mine[1].get(n) != other[1].get(n)
        }
        if names or mine[0] != other[0]:
            out[key] = (mine[0], other[0], names)
    for meant in rels.keys() | other_rels.keys():
        if rels[meant] != other_rels[meant]:
            out[repr(meant)] = (rels[meant], other_rels[meant])
    return out


def merge_audits(database: Database) -> list[Mapping[str, Any]]:
    """The records of merges, oldest first."""
    rows = database.run(
        "MATCH (a:CurationAudit {action: 'merge'}) RETURN properties(a) AS a ORDER BY a.at, a.key", write=False
    )
    return [row["a"] for row in rows]


def flag_of(database: Database, left: str, right: str) -> dict[str, Any]:
    """The properties of the pair's flag, before those of a relationship of somebody else's; empty where there is none."""
    first, second = sorted((left, right))
    rows = database.run(
        "MATCH ({key: $left})-[f:SIMILAR_TO]->({key: $right}) RETURN properties(f) AS f ORDER BY f.found_at IS NULL",
        {"left": first, "right": second},
        write=False,
    )
    return {name: to_python(value) for name, value in rows[0]["f"].items()} if rows else {}


def clear(database: Database) -> None:
    """Everything but the engine."""
    database.run(
        "MATCH (n) WHERE n:Curated OR n:Tombstone OR n:Thing OR n:CurationAudit OR n:CurationSnapshot OR n:JochiMerged OR "
        "n:JochiScope "
        "OR n:JochiQuota OR n:JochiScopeChange OR n:JochiAccess OR n:JochiPause OR n:JochiJobRun OR n:JochiSlot OR "
        "n:JochiSlotChange OR n:Agent "
        "DETACH DELETE n"
    )
