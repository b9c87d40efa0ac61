"""Compound memories lose one statement and keep the others, in one real forgetting (docs/reference/forgetting.md, Clauses)."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path

import pytest
from tests.clause_cases import cases, judged

from jochi import Jochi
from jochi.errors import Refused
from jochi.forgetting import Request
from jochi.forgetting.forget_key import VARIABLE
from jochi.text.tokens import Estimate
from jochi_workers.language import read, reader
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

NOW = datetime(2026, 11, 20, tzinfo=timezone.utc)
CASES = [case for case in islice((case for case in cases() if case.wanted == "Lyon"), None, None, 29) if case.left]


@pytest.fixture
def engine(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    return jochi


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_one_statement_is_nowhere_and_the_others_can_be_recalled(engine: Jochi, seed: int) -> None:
    """Some dozens in one scope, in any order, half of them with vectors; each says it in its content, a property and a list."""
    order = random.Random(seed).sample(range(len(CASES)), len(CASES))
    rows = [
        {
            "kind": "MemoryEntry",
            "scope": "s",
            "id": f"m{n}",
            "content": CASES[n].text,
            "properties": {"title": CASES[n].text, "tags": [CASES[n].text, "keep me"]},
        }
        for n in order
    ]
    rows.append({"kind": "MemoryEntry", "scope": "other", "id": "m", "content": "Bob works in Lyon and likes tea."})
    assert engine.remember(rows, now=NOW - timedelta(days=1)).written == len(rows)
    engine.database.run(
        "MATCH (m:Curated {scope: 's'}) WHERE toInteger(substring(m.id, 1)) % 2 = $odd SET m.embedding = [0.5], "
        "m.embedding_model = 'x'",
        {"odd": seed % 2},
    )
    read("Alice lives in Lyon.")
    done = engine.forget(Request(phrase="Lyon", scope="s"), verify=True)
    assert len(reader._kept) == 0
    asked = {f"s/m{n}" for n, case in enumerate(CASES) if judged(case) == "asked"}
    assert {target.key for target in done.asked} == asked
    assert len(asked) < len(CASES) / 4
    found = engine.database.run("MATCH (m:Curated {scope: 's'}) RETURN m.key AS key, properties(m) AS said")
    stored = {row["key"]: row["said"] for row in found}
    assert stored.keys() == {f"s/m{n}" for n in range(len(CASES))}
    for n, case in enumerate(CASES):
        said = stored[f"s/m{n}"]
        if f"s/m{n}" in asked:
            assert said["content"] == case.text
        else:
            assert "Lyon" not in str(said), said
            assert "lyon" not in str(said).casefold()
            assert (said["title"], said["tags"]) == (said["content"], [said["content"], "keep me"])
            assert "embedding" not in said
    # Where it stands yet is where a person was asked, and in the other scope.
    assert {"Curated"} == {mention.place[0] for mention in done.left}
    assert len(done.left) == len(asked) + 1
    # A worker that prepares what a person was asked about leaves it, as long as it says just that.
    engine.database.run("MATCH (m:Curated {scope: 's'}) SET m.prepare_due = $now", {"now": NOW})
    Worker(engine.engine, [PrepareHandler(Estimate())]).run(once=True)
    found = engine.database.run("MATCH (m:Curated {scope: 's'}) RETURN m.key AS key")
    assert {row["key"] for row in found} == stored.keys()
    # Nor is it an exception any more where it is to go as a whole.
    last = max(asked)
    assert engine.forget(Request(phrase="Lyon", scope="s", unsure="whole")).asked == ()
    assert engine.database.run("MATCH (m:Curated {key: $key}) RETURN m.key AS key", {"key": last}) == []
    again = {"kind": "MemoryEntry", "scope": "s", "id": last.partition("/")[2], "content": stored[last]["content"]}
    assert engine.remember([again], now=NOW).written == 0
    for n in [n for n in order if f"s/m{n}" not in asked][:5]:
        hits = engine.recall(stored[f"s/m{n}"]["content"], scope="s", k=5)
        assert stored[f"s/m{n}"]["content"] in [hit.content for hit in hits]


def test_one_statement_is_replaced_and_the_old_one_is_in_no_recall(engine: Jochi) -> None:
    told = (
        "Ann works at Acme and lives in Lyon.",
        "Ann lives in Lyon.",
        "Sie kennt Lyon, Rom und Bonn.",
        "Ann likes tea.",
    )
    rows = [{"kind": "MemoryEntry", "scope": "s", "id": f"m{n}", "content": said} for n, said in enumerate(told)]
    rows[1]["properties"] = {"title": "Ann, in Lyon", "tags": ["Lyon", "Ann speaks Dutch and lives in Lyon"]}
    engine.remember(rows, now=NOW - timedelta(days=1))
    facts = [
        {
            "kind": "Fact",
            "scope": "s",
            "id": "f",
            "content": "Ann's city is Lyon.",
            "properties": {"subject": "Ann", "attribute": "city", "value": "Lyon"},
        }
    ]
    engine.remember(facts, now=NOW - timedelta(days=1))
    done = engine.supersede("Lyon", "Ann lives in Oslo.", scope="s", now=NOW)
    assert done.replaced == {"s/m0": "Ann works at Acme. Ann lives in Oslo.", "s/m1": "Ann lives in Oslo."}
    assert {target.key: (target.reason or "")[:12] for target in done.asked} == {
        "s/m2": "it says more",
        "s/f": "it is a fact",
    }
    [row] = engine.database.run("MATCH (m:Curated {key: 's/m1'}) RETURN properties(m) AS said")
    assert (row["said"].get("title"), row["said"]["tags"]) == (None, ["Ann speaks Dutch"])
    assert row["said"]["prepare_due"] is not None
    # B is replaced by A again, and A is what is said.
    again = engine.supersede("lives in Oslo", "Ann lives in Lyon.", scope="s", now=NOW)
    assert again.replaced == {"s/m0": "Ann works at Acme. Ann lives in Lyon.", "s/m1": "Ann lives in Lyon."}
    hits = [
        hit.content for hit in engine.recall("where does Ann live, Oslo or Lyon", scope="s", include_superseded=True)
    ]
    assert "Ann lives in Lyon." in hits
    assert not any("Oslo" in str(hit) for hit in hits)
    # What is to be said has the old words, and says something else of them: a person is asked.
    left = engine.supersede("Lyon", "Ann left Lyon.", scope="s")
    assert (left.replaced, left.unsure) == ({}, True)
    engine.forget(Request(phrase="Ann hates tea", scope="s"))
    with pytest.raises(Refused, match="was forgotten"):
        engine.supersede("likes tea", "Ann hates tea.", scope="s")


def test_what_cannot_be_cut_in_one_spelling_is_not_cut_in_another(engine: Jochi) -> None:
    said = "My friend Sven Ostrov, alias Skye Quill, moved house"
    engine.remember([{"kind": "MemoryEntry", "scope": "s", "id": "m", "content": said}], now=NOW)
    plan = engine.plan_forgetting(Request(phrase="Sven Ostrov", scope="s"))
    assert [(target.outcome, target.left) for target in plan.targets] == [("ask", {})]
    assert engine.forget(Request(phrase="Skye Quill", scope="s", unsure="whole"), verify=True).counts["memories"] == 1
