"""Puts the oracle's memories into a real graph and reads back what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.oracle.memory import Memory

from jochi.database.database import Database

_WRITE = """
UNWIND $rows AS row
CREATE (m:Curated)
SET m:$(row.labels), m = row.properties, m.id = row.id, m.scope = row.scope, m.key = row.key, m.next_due = $due
FOREACH (_ IN CASE WHEN row.touched THEN [1] ELSE [] END | CREATE (:JochiAccess {key: row.key}))
FOREACH (agent IN row.linked | MERGE (a:Agent {id: agent}) CREATE (m)-[:SEEN_BY]->(a))
FOREACH (link IN row.links |
  CREATE (x:OtherEnd) SET x:$(link.labels), x += link.properties
  FOREACH (_ IN CASE WHEN link.out THEN [1] ELSE [] END | CREATE (m)-[:$(link.type)]->(x))
  FOREACH (_ IN CASE WHEN link.out THEN [] ELSE [1] END | CREATE (x)-[:$(link.type)]->(m)))
"""
_SCOPES = """
UNWIND $rows AS row
MERGE (s:JochiScope {name: row.scope})
SET s.first_access_at = row.first, s.last_access_at = row.first
"""
_STATE = """
MATCH (m) WHERE m.key IS NOT NULL AND (m:Curated OR m:Tombstone) AND NOT m:OtherEnd
RETURN m.key AS key, labels(m) AS labels, properties(m) AS properties
"""
_AUDITS = "MATCH (a:CurationAudit) WHERE $lists OR a.key IS NOT NULL RETURN properties(a) AS audit ORDER BY a.at, a.id"
_CLEAR = """
MATCH (n)
WHERE n:Curated OR n:Tombstone OR n:CurationAudit OR n:JochiAccess OR n:Agent OR n:JochiJobRun OR n:JochiQuota OR n:JochiPause
  OR n:JochiScope OR n:OtherEnd OR n:JochiValue
DETACH DELETE n
"""


@dataclass(frozen=True)
class Stored:
    """A node as it is in the graph now."""

    labels: frozenset[str]
    properties: dict[str, Any]

    @property
    def live(self) -> bool:
        """Whether it is a live memory; a tombstone has no other label."""
        return "Curated" in self.labels


def write(database: Database, memories: Iterable[Memory], *, due: datetime) -> None:
    """Creates the memories, all due at ``due``."""
    rows = [
        {
            "id": memory.id,
            "scope": memory.scope,
            "key": memory.key,
            "labels": list(memory.labels),
            "properties": memory.properties,
            "linked": list(memory.linked),
            "touched": memory.touched,
            "links": [
                {
                    "type": link.type,
                    "out": link.direction == "out",
                    "labels": list(link.labels),
                    "properties": link.properties,
                }
                for link in memory.links
            ],
        }
        for memory in memories
    ]
    database.run(_WRITE, {"rows": rows, "due": due})


def write_scopes(database: Database, firsts: Mapping[str, datetime | None]) -> None:
    """When each scope reported its first used access, as folding writes it; None: never."""
    rows = [{"scope": scope, "first": first} for scope, first in firsts.items() if first]
    database.run(_SCOPES, {"rows": rows})


def state(database: Database) -> dict[str, Stored]:
    """Every memory and tombstone by key; of several with one key the last that the database names."""
    rows = database.run(_STATE, write=False)
    return {row["key"]: Stored(frozenset(row["labels"]), row["properties"]) for row in rows}


def pruned(database: Database) -> set[str]:
    """The keys that only a tombstone has."""
    return {key for key, stored in state(database).items() if not stored.live}


def audits(database: Database, *, lists: bool = False) -> list[dict[str, Any]]:
    """The records of single memories, with ``lists`` also those of batches, oldest first."""
    return [row["audit"] for row in database.run(_AUDITS, {"lists": lists}, write=False)]


def clear(database: Database) -> None:
    """Takes out memories, tombstones and what curation wrote about them; the engine stays."""
    database.run(_CLEAR)
