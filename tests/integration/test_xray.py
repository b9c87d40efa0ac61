"""Recall X-ray: what a score is made of adds up to it, whatever is stored and asked (seed 003; docs/reference/recall.md)."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from tests.conftest import TestServer
from tests.curation_looks import NOW, write
from tests.edge_graph import add_edges
from tests.integration.test_fact_recall import STATES
from tests.oracle import Memory
from tests.oracle.edges import Edge
from tests.oracle.fact_recall import DELTAS, DISPUTED, delta
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.use.recall import Match

pytestmark = pytest.mark.server

KINDS = ("Fact", "Belief", "Source", "SourceSummary", "Concept", "Storyline", "Macro")
WORDS = ["key", "rotates", "monday", "door", "blue", "tea", "cup", "far", "old", "song"]


def adds_up(one: Match) -> None:
    assert one.xray is not None
    assert sum(part.amount for part in one.xray.parts) == pytest.approx(one.score, abs=1e-15), one
    assert all(part.amount for part in one.xray.parts)


@pytest.fixture
def told(jochi: Jochi) -> tuple[Jochi, dict[str, Memory], Random]:
    """Two hundred memories of all kinds and states with few words, some with a vector, at random; and edges among them."""
    dice, embedding = Random(22), jochi.policy.policy.embedding
    memories = []
    for i in range(200):
        given = dice.choice(STATES) | {"content": " ".join(dice.choices(WORDS, k=4)), "created_at": NOW, "tier": "WARM"}
        if dice.random() < 0.7:
            given |= {"embedding": vector(jochi, dice), "embedding_model": embedding.model}
        memories.append(Memory(f"m{i:03}", (dice.choice(KINDS),), given))
    write(jochi, memories)
    keys = [memory.key for memory in memories]
    add_edges(jochi, [Edge(*dice.sample(keys, 2), confidence=dice.random(), id=str(i)) for i in range(500)])
    jochi.database.run("MATCH (m {key: $key}) SET m.mvs = 61.5", {"key": keys[0]})
    jochi.database.run(
        "MATCH (m {key: $key}) CREATE (m)-[:HAS_VALUE]->(:ValueClassification:JochiValue {value_score: 0.81, "
        "retention_tier: 'KEEP'})",
        {"key": keys[0]},
    )
    jochi.database.autocommit("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    return jochi, {memory.key: memory for memory in memories}, dice


def vector(client: Jochi, dice: Random) -> list[float]:
    return [dice.gauss(0, 1) for _ in range(client.policy.policy.embedding.dimensions)]


def test_the_parts_add_up_to_the_score(told: tuple[Jochi, dict[str, Memory], Random], server: TestServer) -> None:
    client, memories, dice = told
    seen: set[str] = set()
    ranking = client.policy.policy.recall
    for by_words, by_meaning in ((True, False), (False, True), (True, True)) * 3:
        asked: dict[str, Any] = {"vector": vector(client, dice) if by_meaning else None, "k": 50, "hops": 3}
        asked |= {"include_archived": dice.random() < 0.5, "include_superseded": dice.random() < 0.5}
        text = " ".join(dice.sample(WORDS, 2)) if by_words else None
        found = client.recall(text, **asked, xray=True)
        plain = client.recall(text, **asked)
        for one, without in zip((*found, *found.reached), (*plain, *plain.reached), strict=True):
            assert (one.key, one.score, without.xray) == (without.key, without.score, None)
            adds_up(one)
        greatest = by_meaning + by_words * (ranking.text_weight if by_meaning else 1.0)
        for hit in found:
            assert hit.xray is not None
            amounts = {part.name: part.amount for part in hit.xray.parts}
            seen |= amounts.keys()
            fact = memories[hit.key]
            assert by_meaning or "vector" not in amounts
            words = amounts.get("text", 0) / (ranking.text_weight if by_meaning else 1.0)
            best = max((other.text_score or 0.0) for other in found)
            # (The best by words needn't be among the hits.)
            assert 0 <= words <= (hit.text_score or 0.0) / best + 1e-9 if best else not words
            if hit.vector_rank == 1:
                assert amounts["vector"] == pytest.approx(1.0)
            if by_meaning and hit.cosine is None:
                assert amounts.get("vector", 0) == pytest.approx(words)
            disputed = greatest * DISPUTED if fact.get("verification_state") == "disputed" else 0
            by_state = greatest * delta(fact) - disputed
            wanted = (by_state, disputed) if "Fact" in fact.labels else (0, 0)
            assert (amounts.get("state", 0), amounts.get("disputed", 0)) == pytest.approx(wanted, abs=1e-15), fact
        scores = {hit.key: max(hit.score, 0.0) for hit in found}
        for one in found.reached:
            assert one.xray is not None
            assert sum(seed.amount for seed in one.xray.seeds) == pytest.approx(one.activation, abs=1e-15)
            assert {seed.name for seed in one.xray.seeds} <= scores.keys()
            assert one.xray.parts[0].name == "activation"
            assert one.xray.parts[0].amount == pytest.approx(0.15 * one.activation)
        assert found.reached
    assert seen == {"vector", "text", "state", "disputed"}
    assert len(DELTAS) == 5

    first = next(iter(memories))
    other = next(
        key for key, memory in memories.items() if "Concept" in memory.labels and memory.get("state") == "active"
    )
    known = client.engine.call("memory/salience", {"now": NOW, "keys": [first, other, "default/none"]}, write=False)
    assert [row["key"] for row in known["memories"]] == sorted([first, other])
    by_key = {row["key"]: row for row in known["memories"]}
    assert (by_key[first]["mvs"], by_key[first]["value_score"], by_key[first]["retention"]) == (61.5, 0.81, "KEEP")
    assert by_key[other]["mvs"] is None
    assert 0 < by_key[other]["salience"] <= 1

    for granularity in (1, 2, 3, "auto"):
        explored = client.explore(
            "key door", vector=vector(client, dice), granularity=granularity, include_archived=True, xray=True
        )
        assert explored.hits
        assert (explored.nearest is not None) == (granularity == "auto")
        for hit in explored.hits:
            adds_up(hit)

    environment = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD": server.password}

    def said(*words: str) -> str:
        result = CliRunner().invoke(app, list(words), env=environment)
        assert result.exit_code == 0, result.output
        return result.stdout

    hits = json.loads(said("recall", "key door", "--xray", "--hops", "2", "--json"))
    for entry in (*hits["hits"], *hits["reached"]):
        assert sum(part["amount"] for part in entry["xray"]["parts"]) == pytest.approx(entry["score"], abs=1e-15)
    shown = said("recall", "key door", "--xray", "--hops", "2")
    assert "rank 1, Lucene" in shown
    assert "beside it: tier WARM" in shown
    assert "activation by" in shown
    assert "best cosine" in said("explore", "key door", "--granularity", "auto", "--xray")
