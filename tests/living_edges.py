"""Relationships of the oracle that have a salience, in a database and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.edge_graph import add_memories
from tests.oracle.edge_salience import LivingEdge

from jochi import Jochi
from jochi.graph.driver_values import to_python

_EDGES = """
UNWIND $rows AS row
MATCH (a:Curated {key: row.start}) MATCH (b:Curated {key: row.end})
CREATE (a)-[r:RELATED_TO]->(b)
SET r = row.properties
"""


def add(client: Jochi, edges: Iterable[LivingEdge]) -> None:
    """As an app would write them in plain Cypher, with memories at their ends that aren't there yet."""
    rows = [{"start": e.start, "end": e.end, "properties": e.properties} for e in edges]
    keys = {row[end] for row in rows for end in ("start", "end")}
    there = client.database.run("MATCH (n:Curated) WHERE n.key IN $keys RETURN n.key AS key", {"keys": list(keys)})
    add_memories(client, sorted(keys - {row["key"] for row in there}))
    client.database.run(_EDGES, {"rows": rows})


def stored(client: Jochi) -> dict[str, dict[str, Any]]:
    """All properties of each, by id."""
    rows = client.database.run("MATCH ()-[r:RELATED_TO]->() RETURN properties(r) AS p", write=False)
    return {row["p"]["id"]: to_python(row["p"]) for row in rows}
