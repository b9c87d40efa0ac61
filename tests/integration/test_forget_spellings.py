"""One thing in several spellings is forgotten in all of them, and what only looks like it stays (docs/reference/forgetting.md).

The many cases of forms and sentences are in tests/unit/test_spellings.py: here is what a database does with them.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import say_go
from tests.integration.test_forget import said_anywhere

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)

CASES: dict[str, tuple[list[str], list[str]]] = {
    "+49 170 5550199": (
        [
            "Call her at 0170/555 01 99 after six",
            "0049-170-5550199 is the mobile",
            "tel:+491705550199",
            "Office line 030 9018 2255 is the same number as +49 170 5550199",
            "The front desk answers 03090182255",
        ],
        ["+43 170 5550199 is Ben's", "0170 5550198 is the baker", "+49 170 5550199-7 rings the lab", "order 70555019"],
    ),
    "B-AB 1234": (
        ["Her plate is b ab 1234", "Seen: BAB1234 at noon", "Parked B–AB 1234"],
        ["BA-B 1234 is a van", "B-AB 1235 is a bus", "B-AB 1234E is electric"],
    ),
    "alice.smith@gmail.com": (
        ["Write AliceSmith@googlemail.com", "alicesmith [at] gmail [dot] com answers"],
        ["alice.smith+shop@gmail.com is the shop", "alice.smith@gmail.de is another", "alicesmith@acme.io works there"],
    ),
    "DE89 3704 0044 0532 0130 00": (
        ["Pay to DE89370400440532013000", "iban de89-3704-0044-0532-0130-00"],
        ["Pay to DE89370400440532013001", "AT89370400440532013000 is the landlord's"],
    ),
    "Екатерина Иванова": (
        [
            "Ekaterina Ivanova sings in a choir",
            "Екатерина Иванова, also known as Katya Ivanova, lives in Bonn",
            "Dinner with KATYA IVANOVA on Friday",
        ],
        ["Ekaterina Ivanovna teaches maths", "Екатерина Петрова is a dentist", "Katya Petrova skis", "version 1.2.10 of Katya"],
    ),
}  # fmt: skip
GOES = [text for goes, _ in CASES.values() for text in goes]
STAYS = [text for _, stays in CASES.values() for text in stays]


def _id(text: str) -> str:
    return f"m{(GOES + STAYS).index(text)}"


@pytest.fixture
def engine(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    say_go(jochi)
    return jochi


def _remember(client: Jochi, scope: str, texts: list[str]) -> int:
    rows = [{"kind": "MemoryEntry", "scope": scope, "id": _id(text), "content": text} for text in texts]
    return client.remember(rows, now=NOW, on_refused="report").written


def test_all_spellings_go_in_any_order_of_writing_and_what_looks_alike_stays(engine: Jochi) -> None:
    """Scope a was written in this order, b the other way round; a statement comes before and after what it speaks of."""
    assert _remember(engine, "a", GOES + STAYS) == _remember(engine, "b", (GOES + STAYS)[::-1]) == len(GOES + STAYS)
    desk, van, pay = (
        _id(text)
        for text in ("The front desk answers 03090182255", "BA-B 1234 is a van", "Pay to DE89370400440532013000")
    )
    more: list[dict[str, Any]] = [
        {
            "id": "made",
            "content": "Somebody answers the door",
            "kind": "Belief",
            "relationships": [{"type": "EVIDENCE", "to": desk}],
        },
        {"id": "kept", "content": "drives a lot and has BA-B 1234", "properties": {"title": "bab1234", "tags": ["x", "b-ab-1234"]}},
        {"id": "cut", "content": "Alice likes tea. Her plate is B AB 1234."},
    ]  # fmt: skip
    done = engine.remember([{"kind": "MemoryEntry", "scope": "a", **row} for row in more], now=NOW, on_refused="raise")
    assert done.written == 3
    engine.database.run(
        "MATCH (m:Curated {key: $pay}) SET m.embedding = [0.5], m.embedding_model = 'x' "
        "CREATE (m)-[:SAME_AS]->(:Curated:MemoryEntry {key: 'a/twin', scope: 'a', id: 'twin', created_at: $now}) "
        "CREATE (:CurationAudit {id: 'r/1', run: 'r', key: 'a/' + $van, scope: 'a', action: 'x', rule: 'x', at: $now, "
        "before_title: '0170-5550199', after_title: 'van'}) CREATE (:Invoice {to: '0170/555 01 99'})",
        {"pay": f"a/{pay}", "van": van, "now": NOW},
    )
    left: dict[str, list[tuple[str, ...]]] = {}
    for asked in CASES:
        plan = engine.plan_forgetting(Request(phrase=asked, unsure="whole"))
        done = engine.forget(Request(phrase=asked, unsure="whole"), verify=True, wait=0)
        left[asked] = [mention.place for mention in done.left]
        assert {t.key: t.outcome for t in plan.targets if t.outcome != "mark"}.keys() <= {
            *(f"{scope}/{_id(text)}" for scope in "ab" for text in CASES[asked][0]),
            *("a/made", "a/kept", "a/cut", "a/twin"),
        }
        said = [(each.text, each.source_key is None) for each in plan.spellings]
        assert said[0] == (asked, True)
        if asked.startswith("+49"):
            assert ("030 9018 2255", False) in said
        if asked.startswith("Е"):
            assert ("Katya Ivanova", False) in said
        forms = done.receipt.body["verified"]["forms"]
        assert forms["words"] == len(said), "the receipt says in how many forms, not in which"
        assert not any(text in json.dumps(done.receipt.body, ensure_ascii=False) for text, _ in said)
    # What an app keeps of its own isn't touched, and is told of.
    assert {asked: places for asked, places in left.items() if places} == {"+49 170 5550199": [("Invoice",)]}
    keys = {row["key"] for row in engine.database.run("MATCH (m:Curated) RETURN m.key AS key", write=False)}
    assert keys == {f"{scope}/{_id(text)}" for scope in "ab" for text in STAYS} | {"a/kept", "a/cut"}
    [kept] = engine.database.run(
        "MATCH (m:Curated {key: 'a/kept'}), (c:Curated {key: 'a/cut'}) "
        "RETURN m.content AS content, m.title AS title, m.tags AS tags, c.content AS cut",
        write=False,
    )
    assert kept == {
        "content": "drives a lot and has BA-B 1234",
        "title": None,
        "tags": ["x"],
        "cut": "Alice likes tea.",
    }
    [gone] = engine.database.run("MATCH (a:CurationAudit {id: 'r/1'}) RETURN count(a) AS n", write=False)
    assert gone["n"] == 0
    for text in (
        "0170-5550199",
        "03090182255",
        "googlemail",
        "BAB1234",
        "DE89370400440532013000",
        "Katya Ivanova",
        "Екатерина Иванова",
    ):
        assert said_anywhere(engine, text) == 0, text
    for scope in "ab":
        for text in STAYS:
            assert f"{scope}/{_id(text)}" in [hit.key for hit in engine.recall(text, scope=scope, k=20)], text
    # Neither is it learned again, in whatever spelling; what stays may be written anew.
    again = ["Ring 0170 - 555 0199", "(+49) 170 5550199", "030/90182255", "b-ab-1234", "a.licesmith@gmail.com"]
    again += ["IBAN DE8937040044 0532013000", "EKATERINA IVANOVA"]
    new = [
        {"kind": "MemoryEntry", "scope": "c", "id": f"x{n}", "content": text} for n, text in enumerate(again + STAYS)
    ]
    assert engine.remember(new, now=NOW).written == len(STAYS)
    assert engine.allow_again(Request(phrase="B-AB 1234")) > 1
    assert engine.remember([{**new[3], "scope": "d"}], now=NOW).written == 1


def test_a_number_of_several_countries_goes_only_as_it_is_written(engine: Jochi) -> None:
    texts = ["0171 5550100 is on the door", "+49 171 5550100 is in Bonn", "+43 171 5550100 is in Graz"]
    rows = [{"kind": "MemoryEntry", "id": f"n{n}", "content": text} for n, text in enumerate(texts)]
    engine.remember(rows, now=NOW)
    plan = engine.plan_forgetting(Request(phrase="0171/5550100", scope="default"))
    assert [target.key for target in plan.targets] == ["default/n0"]
    assert (sorted(plan.near), plan.spellings[0].national_only) == (["default/n1", "default/n2"], True)
    engine.forget(Request(keys=("default/n2",)), wait=0)
    plan = engine.plan_forgetting(Request(phrase="0171/5550100", scope="default"))
    assert sorted(target.key for target in plan.targets) == ["default/n0", "default/n1"]
