"""A statement is replaced that the request says in other words, and nothing else (docs/reference/forgetting.md, In other words)."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from jochi import Jochi
from jochi.errors import Refused, UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.write.replacement import replace_statement

NOW = datetime(2026, 11, 20, tzinfo=timezone.utc)
TOLD = {
    "both": "Ann works at Acme and lives in Lyon.",
    "again": "Ann's home is Lyon.",
    "bob": "Bob lives in Lyon.",
    "work": "Ann works at Acme.",
    "visit": "Ann visited Lyon in May.",
    "two": "Cy and Di live in Kiel.",
    "drink": "Eve likes green tea.",
    "denied": "Eve doesn't live in Kiel.",
}


def _remember(client: Jochi, **more: Any) -> None:
    rows = [
        {"kind": "MemoryEntry", "scope": "s", "id": id, "content": content, "properties": more.get(id, {})}
        for id, content in TOLD.items()
    ]
    assert client.remember(rows, now=NOW - timedelta(days=1)).written == len(rows)


def _said(client: Jochi) -> dict[str, str]:
    found = client.database.run("MATCH (m:Curated {scope: 's'}) RETURN m.id AS id, m.content AS said")
    return {row["id"]: row["said"] for row in found}


def _recalled(client: Jochi, *texts: str) -> list[str | None]:
    return [
        hit.content
        for text in texts
        for hit in client.recall(text, scope="s", include_archived=True, include_superseded=True, k=20)
    ]


def test_one_statement_gives_way_wherever_it_is_said_and_comes_back(jochi: Jochi) -> None:
    _remember(jochi, both={"tags": ["Lyon", "Ann"], "title": "Ann lives in Lyon"})
    # An output of the engine's that tells of it.
    jochi.database.run(
        "MATCH (m:Curated {key: 's/both'}) "
        "CREATE (d:Curated:Note {key: 's/sum', scope: 's', id: 'sum', content: 'A flat in Lyon.', derived_by: 'levels', "
        "derived_for: 's/both', created_at: $now, revision: 1})-[:DERIVED_FROM]->(m)",
        {"now": NOW},
    )
    planned = jochi.supersede("where Ann lives", "Ann lives in Oslo.", scope="s", now=NOW, dry_run=True)
    changed = {"s/both": "Ann works at Acme. Ann lives in Oslo.", "s/again": "Ann lives in Oslo."}
    assert (planned.replaced, planned.run, planned.unsure) == (changed, None, False)
    assert _said(jochi)["both"] == TOLD["both"]
    done = asyncio.run(jochi.supersede_async("where Ann lives", "Ann lives in Oslo.", scope="s", now=NOW))
    assert (done.replaced, done.asked, done.remade, done.candidates) == (changed, (), ("s/sum",), ())
    now_said = _said(jochi)
    assert {id for id in TOLD if now_said[id] != TOLD[id]} == {"both", "again"}
    [row] = jochi.database.run("MATCH (m:Curated {key: 's/both'}) RETURN m.tags AS tags, m.title AS title")
    assert row == {"tags": ["Ann"], "title": None}
    hits = _recalled(jochi, "where does Ann live", "Ann Lyon home", "Ann works at Acme")
    assert not any("Ann" in str(hit) and "Lyon" in str(hit) for hit in hits if hit != TOLD["visit"])
    assert changed["s/both"] in hits
    # Asked for again there is nothing to do, in whichever words.
    for old in ("where Ann lives", "lives in Lyon", "Ann's home"):
        again = jochi.supersede(old, "Ann lives in Oslo.", scope="s", now=NOW)
        assert (again.replaced, again.run) == ({}, None), old
        assert not again.unsure, old
        assert {"s/both", "s/again"} <= {*again.already}, old
    # B gives way to A again, and A is what is said.
    back = jochi.supersede("Ann's home", "Ann lives in Lyon.", scope="s", now=NOW + timedelta(hours=1))
    assert set(back.replaced.values()) == {"Ann works at Acme. Ann lives in Lyon.", "Ann lives in Lyon."}
    assert not any("Oslo" in str(hit) for hit in _recalled(jochi, "where does Ann live", "Oslo"))
    for hours, run in ((2, back.run), (3, done.run)):
        assert run is not None
        assert jochi.undo(run, now=NOW + timedelta(hours=hours)).left == 0
    assert _said(jochi) == TOLD
    [row] = jochi.database.run("MATCH (m:Curated {key: 's/both'}) RETURN m.tags AS tags, m.title AS title")
    assert row == {"tags": ["Lyon", "Ann"], "title": "Ann lives in Lyon"}


def test_near_ones_are_asked_about_and_a_person_picks_one(jochi: Jochi) -> None:
    _remember(jochi)
    for old, new, first in (
        ("Eve's flat", "Eve lives in Rome.", "s/denied"),
        ("where Eve lives", "Eve lives in Rome.", "s/denied"),
        ("Gil's home", "Gil lives in Rome.", None),
        ("what Eve eats", "Eve eats rice.", "s/drink"),
        ("Ann's boss", "Ann's boss is Olga.", None),
    ):
        asked = jochi.supersede(old, new, scope="s", now=NOW)
        assert (asked.replaced, asked.run) == ({}, None), old
        assert asked.unsure, old
        assert first is None or asked.candidates[0].key == first, (old, asked.candidates)
        assert all(one.differs or one.margin < 0.25 or one.score < 0.75 for one in asked.candidates), old
    # Word for word, but of somebody else, or of something else.
    asked = jochi.supersede("Lyon", "Cy lives in Oslo.", scope="s", now=NOW)
    assert asked.replaced == {}
    assert {"s/both", "s/again", "s/bob", "s/visit"} <= {one.key for one in asked.candidates}
    assert _said(jochi) == TOLD
    named = jochi.supersede("Lyon", "Cy lives in Oslo.", scope="s", now=NOW, dry_run=True, key="s/bob")
    assert named.replaced == {"s/bob": "Cy lives in Oslo."}, "a person has said so"
    # One of two subjects.
    one = jochi.supersede("live in Kiel", "Cy lives in Rome.", scope="s", now=NOW)
    assert one.replaced == {"s/two": "Di lives in Kiel. Cy lives in Rome."}
    picked = jochi.supersede("what Eve drinks", "Eve likes mate.", scope="s", now=NOW, key="s/drink")
    assert picked.replaced == {"s/drink": "Eve likes mate."}
    with pytest.raises(UsageError, match="not of the scope"):
        jochi.supersede("tea", "Eve likes mate.", scope="s", key="t/drink")


def test_what_is_said_anew_takes_the_place_of_what_denied_it_and_a_named_memory_is_obeyed(jochi: Jochi) -> None:
    told = {
        "car": "Fay doesn't own a car.",
        "bike": "Fay doesn't own a bike.",
        "sister": "Fay's sister doesn't own a car.",
        "was": "Gus no longer lives in Kiel.",
        "mood": "Gus wants to live in Lyon, Kiel or Bonn because of Ida, who works there.",
        "ru": "Олег Рябов не курит, живёт в Омске и ловит рыбу.",
        "ar": "لا تملك هالة المصري سيارة.",
        "shop": "うさぎ堂は火曜日に配達します。",
        "vera": "Вера Рябова живёт в Омске.",
        "leo": "Лев Рябов не живёт в Омске.",
    }
    rows = [{"kind": "MemoryEntry", "scope": "s", "id": id, "content": text} for id, text in told.items()]
    jochi.remember(rows, now=NOW)
    jochi.database.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    for old, new, replaced in (
        ("Fay doesn't own a car", "Fay bought a Tesla.", {"car": "Fay bought a Tesla."}),
        ("Gus doesn't live in Kiel", "Gus lives in Kiel.", {"was": "Gus lives in Kiel."}),
        # The subject of what stays is said by the new statement before it.
        ("что Олег не курит", "Олег Рябов опять курит.", {"ru": "Олег Рябов опять курит. Живёт в Омске и ловит рыбу."}),
        ("أن هالة بلا سيارة", "اشترت هالة المصري سيارة.", {"ar": "اشترت هالة المصري سيارة."}),
        # What is to be said has the old words, and nobody says it otherwise: a person is asked.
        ("Kiel", "Gus likes Kiel.", {}),
        ("что Олег не курит", "Ольга опять курит.", {}),
        # Word for word, of another one, or denied.
        ("в Омске", "Вера Рябова живёт в Твери.", {"vera": "Вера Рябова живёт в Твери."}),
        ("火曜日", "うさぎ堂の定休日は木曜日です。", {}),
        ("живёт в Омске", "Лев Рябов живёт в Твери.", {}),
    ):
        plan = jochi.supersede(old, new, scope="s", now=NOW, dry_run=True)
        assert plan.replaced == {f"s/{id}": text for id, text in replaced.items()}, (old, plan.candidates, plan.asked)
        assert plan.unsure == (not replaced), old
    named = jochi.supersede(
        "where Gus wants to live", "Gus loves Kiel.", scope="s", now=NOW, key="s/mood", dry_run=True
    )
    assert named.replaced == {"s/mood": "Gus loves Kiel."}, "a person has named it, and nothing can be cut out of it"
    nobody = jochi.supersede("Zoe's piano", "Zoe sold her piano.", scope="none", now=NOW)
    assert (nobody.replaced, nobody.unsure) == ({}, True)


def test_what_was_said_is_kept_or_dropped_and_can_be_forgotten(
    jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    _remember(jochi, drink={"locked_by": "other", "locked_at": NOW})
    locked = jochi.supersede("likes green tea", "Eve likes mate.", scope="s", now=NOW)
    assert [(target.key, target.reason) for target in locked.asked] == [("s/drink", "it is locked by an agent")]
    assert _said(jochi) == TOLD
    jochi.supersede("where Ann works", "Ann works at Initech.", scope="s", now=NOW)
    records = "MATCH (a:CurationAudit {rule: 'statement.replaced'})-[:KEEPS]->() RETURN count(*) AS n"
    assert jochi.database.run(records) == [{"n": 4}]
    assert jochi.forget(Request(phrase="Acme", scope="s"), verify=True, now=NOW).left == ()
    assert jochi.database.run(records) == [{"n": 0}]
    # Without history nothing is on record.
    policy = jochi.policy.policy
    drop = policy.model_copy(update={"forgetting": policy.forgetting.model_copy(update={"replaced": "drop"})})
    done = replace_statement(
        jochi.engine, drop, "Bob's home", "Bob lives in Oslo.", scope="s", now=NOW, recall=jochi.recall
    )
    assert (done.replaced, done.run) == ({"s/bob": "Bob lives in Oslo."}, None)
    assert jochi.database.run(records) == [{"n": 0}]
    with pytest.raises(Refused, match="was forgotten"):
        jochi.supersede("where Ann works", "Ann works at Acme.", scope="s", now=NOW)


def test_a_fact_in_a_slot_is_history_then(jochi: Jochi) -> None:
    fact = {"subject": "Ann", "attribute": "home", "value": "Lyon"}
    row = {"kind": "Fact", "scope": "s", "id": "f", "content": "Ann lives in Lyon.", "properties": fact}
    jochi.remember([row], now=NOW - timedelta(days=1))
    for n, (city, old) in enumerate((("Oslo", "Ann's home"), ("Lyon", "lives in Oslo"))):
        done = jochi.supersede(old, f"Ann lives in {city}.", scope="s", now=NOW + timedelta(days=n))
        assert len(done.superseded) == 1, old
        assert [hit.content for hit in jochi.recall("where does Ann live", scope="s")] == [f"Ann lives in {city}."]
        assert not jochi.supersede(old, f"Ann lives in {city}.", scope="s", now=NOW + timedelta(days=n)).superseded
    told = [stretch.value for stretch in jochi.history_of("s", "Ann", "home")]
    assert told == ["Lyon", "Oslo", "Lyon"]
