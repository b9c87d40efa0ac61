"""The fixed store: memories that were drawn once, a generated team, edges, and what happens to them day by day."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from tests.edge_graph import add_edges
from tests.golden.coded import decoded
from tests.oracle import Link, Memory, graph
from tests.oracle.edges import Edge

from jochi import Jochi
from jochi.generate import team
from jochi.text.content import content_hash
from jochi.write import importing

STORE = Path(__file__).with_name("store.jsonl")
BASE = datetime(2026, 6, 1, 9, tzinfo=timezone.utc)
DAYS = (0, 1, 8, 31, 75, 130, 200)
TEAM = 120
"""Memories of the generated team: about so many."""


def day(number: float) -> datetime:
    """The instant so many days after the first one."""
    return BASE + timedelta(days=number)


def drawn() -> list[Memory]:
    """The memories of the file."""
    made = []
    for line in STORE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        links = tuple(
            Link(type, way, tuple(labels), decoded(properties)) for type, way, labels, properties in row["links"]
        )
        made.append(
            Memory(
                row["id"],
                tuple(row["labels"]),
                decoded(row["properties"]),
                tuple(row["linked"]),
                row["touched"],
                row["scope"],
                links,
            )
        )
    return made


def build(client: Jochi) -> list[str]:
    """Writes all of it as it is on day 0; returns the keys of what was drawn."""
    memories = drawn()
    graph.write(client.database, memories, due=day(-1))
    # One scope has reported accesses for long, one begins to, one never did.
    graph.write_scopes(client.database, {"default": day(-400), "other": day(20), "team": day(-60)})
    importing.write(client.database, team(5, end=BASE, days=40, size=TEAM, scope="team"), now=BASE)
    _facts(client)
    _near(client)
    return [memory.key for memory in memories]


def _facts(client: Jochi) -> None:
    """One subject's values over time, and edges of each sort between them."""
    cities = [("Rome", -90), ("Oslo", -50), ("Rome", -10), ("Bonn", 60)]
    facts = [
        {
            "kind": "Fact",
            "id": f"city{i}",
            "scope": "facts",
            "content": f"Ann lives in {value}",
            "properties": {
                "subject": "Ann",
                "attribute": "city",
                "value": value,
                "valid_from": day(since),
                "confidence": 0.9,
            },
        }
        for i, (value, since) in enumerate(cities)
    ]
    client.remember(facts, now=BASE)
    ends = [f"facts/city{i}" for i in range(4)]
    levels = [None, 0.1, 0.3, 0.65, 0.9, 1, "x"]
    edges = [
        Edge(ends[i % 4], ends[(i + 1 + i // 4) % 4], level, None, day(-i * 40), day(-i * 60), one_way)
        for i, level in enumerate(levels)
        for one_way in (False, True)
    ]
    named = [replace(edge, id=f"e{i:02}") for i, edge in enumerate(edges)]
    kinds = ("SAME_ENTITY", "NEAR_IN_TIME", "CAUSED", "RELATED_TO")
    types = {edge.id: "CAUSED" if edge.one_way else kinds[i % 4] for i, edge in enumerate(named)}
    add_edges(client, named, types)


def _near(client: Jochi) -> None:
    """Some that are near each other, two of them with one text."""
    embedding = client.policy.policy.embedding
    texts = [*(f"Ann met Bo in room {i} on Monday" for i in range(4)), "Same", "Same"]
    near = [
        {
            "kind": "Belief",
            "id": f"near{i}",
            "scope": "near",
            "content": text,
            "embedding": [1.0, i / 40] + [0.0] * (embedding.dimensions - 2),
            "embedding_model": embedding.model,
        }
        for i, text in enumerate(texts)
    ]
    client.remember(near, now=BASE)
    hashes = [{"key": f"near/near{i}", "hash": content_hash(text)} for i, text in enumerate(texts)]
    client.database.run(
        "UNWIND $rows AS row MATCH (m:Curated {key: row.key}) "
        "SET m.content_hash = row.hash, m.embedding_hash = row.hash, m.similar_due = $now",
        {"rows": hashes, "now": BASE},
    )
