"""Recall: by meaning, by words, by both; whose memories, which of them, and what is asked wrongly."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import neo4j
import numpy as np
import pytest
from tests.conftest import PolicyWith, TestServer, say_go
from tests.recall_data import Corpus, corpus, zipf_sizes
from typer.testing import CliRunner, Result

from jochi import Jochi
from jochi.cli import recall as command
from jochi.cli.app import app
from jochi.database.database import in_one_map
from jochi.errors import JochiError, UsageError
from jochi.forgetting import Request
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy, load_policy

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
SHIPPED = load_policy().policy.embedding
MODEL, D = SHIPPED.model, SHIPPED.dimensions
EXACT_UP_TO = 60
FULL_TEXT = 0.1
TEXT_WEIGHT = load_policy().policy.recall.text_weight

_CREATE = """
UNWIND $rows AS row
CREATE (m:Curated {key: row.scope + '/' + row.id, scope: row.scope, id: row.id})
SET m += row.properties, m:$(row.kind)
"""


@pytest.fixture(scope="session")
def policy(policy_with: PolicyWith) -> LoadedPolicy:
    """So small a limit for comparing one by one that the index is asked in tests; and few memories make a word rare."""
    return policy_with(f"[recall]\nexact_up_to = {EXACT_UP_TO}\nwidest = 600\nfull_text_score = {FULL_TEXT}")


@pytest.fixture
def client(install_once: Callable[[LoadedPolicy], Jochi], policy: LoadedPolicy) -> Jochi:
    """Installed, without memories."""
    return install_once(policy)


def add(client: Jochi, *memories: dict[str, Any]) -> None:
    """Memories given as {id, scope, kind, vector, …}; what isn't named gets a harmless value."""
    rows = []
    for memory in memories:
        properties = {
            "content": "a note",
            "tier": "HOT",
            "state": "active",
            "created_at": NOW,
            "next_due": NOW + timedelta(days=3650),
            **{name: value for name, value in memory.items() if name not in ("id", "scope", "kind", "vector")},
        }
        if "vector" in memory:
            properties = {"embedding_model": MODEL, **properties, "embedding": memory["vector"]}
        rows.append(
            {
                "id": memory["id"],
                "scope": memory.get("scope", "default"),
                "kind": memory.get("kind", "Belief"),
                "properties": properties,
            }
        )
    client.database.run(_CREATE, {"rows": rows})


def angle(cosine: float) -> list[float]:
    """A unit vector whose cosine with `angle(1)` is ``cosine``."""
    return [cosine, math.sqrt(max(0.0, 1 - cosine * cosine)), *[0.0] * (D - 2)]


TOWARDS = angle(1.0)


def ids(found: Any) -> list[str]:
    """The ids of hits, best first."""
    return [key.split("/", 1)[1] for key in found.keys]


def load(client: Jochi, made: Corpus) -> None:
    """A whole corpus."""
    rows = [
        {"id": f"m{i}", "scope": f"s{made.scope_of[i]}", "vector": made.vectors[i].tolist(), "content": f"memory {i}"}
        for i in range(len(made.vectors))
    ]
    for start in range(0, len(rows), 1000):
        add(client, *rows[start : start + 1000])


# -- what is found, and what isn't ----------------------------------------------------------------------------------


def test_nothing_is_found_in_an_empty_database_or_an_unknown_scope(client: Jochi) -> None:
    assert len(client.recall("anything", vector=TOWARDS)) == 0
    add(client, {"id": "a", "vector": TOWARDS, "content": "anything"})
    assert len(client.recall("anything", vector=TOWARDS, scope="nobody")) == 0
    assert client.recall("anything", scope="nobody", hops=1).hint == (
        "the scope 'nobody' has no memory, live or pruned: is that its name?"
    )
    client.database.run("CREATE (:Tombstone {key: 'gone/a', scope: 'gone', id: 'a'})")
    assert [client.recall("nothing", scope=scope).hint for scope in ("default", "gone")] == [None, None]
    assert ids(client.recall("anything", vector=TOWARDS)) == ["a"]


def test_hits_carry_what_was_measured(client: Jochi) -> None:
    add(client, {"id": "a", "vector": angle(0.5), "content": "green tea", "tier": "COLD", "kind": "Fact"})
    (hit,) = client.recall("tea", vector=TOWARDS)
    assert (hit.key, hit.kind, hit.content, hit.tier, hit.state) == ("default/a", "Fact", "green tea", "COLD", "active")
    assert hit.created_at == NOW
    assert hit.cosine == pytest.approx(0.5, abs=1e-6)
    assert hit.text_score is not None
    assert hit.text_score > 0
    assert (hit.vector_rank, hit.text_rank) == (1, 1)
    assert hit.score == pytest.approx((1 + TEXT_WEIGHT) * 1.05)  # best in both lists, and an active fact


def test_every_filter_on_both_sides(client: Jochi) -> None:
    add(
        client,
        {"id": "belief", "vector": angle(0.9), "content": "tea"},
        {"id": "fact", "vector": angle(0.8), "content": "tea", "kind": "Fact"},
        {"id": "archive", "vector": angle(0.7), "content": "tea", "tier": "ARCHIVE"},
        {"id": "archived", "vector": angle(0.6), "content": "tea", "state": "archived"},
        {"id": "stateless", "vector": angle(0.5), "content": "tea", "state": None},
        {"id": "early", "vector": angle(0.4), "content": "tea", "created_at": NOW - timedelta(seconds=1)},
        {"id": "late", "vector": angle(0.3), "content": "tea", "created_at": NOW + timedelta(seconds=1)},
        {"id": "undated", "vector": angle(0.2), "content": "tea", "created_at": None},
        {"id": "elsewhere", "vector": angle(1.0), "content": "tea", "scope": "other"},
    )
    everything = {"belief", "fact", "archive", "archived", "stateless", "early", "late", "undated"}
    for text, vector in ((None, TOWARDS), ("tea", None), ("tea", TOWARDS)):

        def found(text: Any = text, vector: Any = vector, **asked: Any) -> set[str]:
            return set(ids(client.recall(text, vector=vector, k=20, **asked)))

        assert found() == everything - {"archived"}
        assert found(include_archived=True) == everything
        assert found(kinds=["Fact"]) == {"fact"}
        assert found(kinds=["Fact", "Belief"]) == everything - {"archived"}
        assert found(kinds=["Task"]) == set()
        assert found(tiers=["ARCHIVE"]) == {"archive"}
        assert found(tiers=["HOT"]) == everything - {"archived", "archive"}
        assert found(since=NOW) == everything - {"archived", "early", "undated"}
        assert found(until=NOW) == {"early"}
        assert found(since=NOW, until=NOW + timedelta(seconds=1)) == everything - {
            "archived",
            "early",
            "late",
            "undated",
        }
        assert found(scope="other") == {"elsewhere"}


def test_min_score_is_a_raw_cosine(client: Jochi) -> None:
    add(
        client,
        {"id": "above", "vector": angle(0.701), "content": "tea"},
        {"id": "below", "vector": angle(0.699), "content": "tea tea tea"},
        {"id": "against", "vector": angle(-0.5), "content": "tea"},
        {"id": "no vector", "content": "tea"},
    )
    assert ids(client.recall(vector=TOWARDS, min_score=0.7)) == ["above"]
    assert ids(client.recall("tea", vector=TOWARDS, min_score=0.7)) == ["above"]
    assert ids(client.recall(vector=TOWARDS, min_score=0.6)) == ["above", "below"]
    assert ids(client.recall(vector=TOWARDS, min_score=-0.501)) == ["above", "below", "against"]
    assert ids(client.recall(vector=TOWARDS, min_score=-0.499)) == ["above", "below"]
    assert set(ids(client.recall("tea", vector=TOWARDS))) == {"above", "below", "against", "no vector"}


def test_a_tombstone_is_never_found(client: Jochi) -> None:
    add(
        client,
        {"id": "gone", "kind": "Fact", "vector": TOWARDS, "content": "tea", "expires_at": NOW - timedelta(days=1)},
    )
    client.database.run("MATCH (m:Curated) SET m.created_at = $at, m.next_due = $at", {"at": NOW - timedelta(days=9)})
    assert ids(client.recall("tea", vector=TOWARDS)) == ["gone"]
    say_go(client)
    client.run("curate_due", now=NOW)
    assert client.database.run("MATCH (t:Tombstone) RETURN count(*) AS n") == [{"n": 1}]
    assert len(client.recall("tea", vector=TOWARDS, include_archived=True)) == 0
    client.restore(["default/gone"])
    assert ids(client.recall("tea", vector=TOWARDS)) == ["gone"]


def test_only_vectors_of_the_policys_model_and_length_are_compared(client: Jochi) -> None:
    add(
        client,
        {"id": "mine", "vector": angle(0.1), "content": "tea"},
        {"id": "other model", "vector": TOWARDS, "embedding_model": "another", "content": "tea"},
        {"id": "no model", "vector": TOWARDS, "embedding_model": None, "content": "tea"},
        {"id": "longer", "vector": [*TOWARDS, 0.0], "content": "tea"},
        {"id": "text", "vector": "x" * D, "content": "tea"},
        {"id": "integers", "vector": [1] * D, "content": "tea"},
    )
    assert set(ids(client.recall(vector=TOWARDS))) == {"mine", "integers"}
    cosines = {hit.key: hit.cosine for hit in client.recall("tea", vector=TOWARDS)}
    assert len(cosines) == 6
    assert {key for key, cosine in cosines.items() if cosine is not None} == {"default/mine", "default/integers"}


def test_a_stored_vector_that_nothing_compares_with_is_passed_over(client: Jochi) -> None:
    add(client, {"id": "mine", "vector": angle(0.5)}, {"id": "zero", "vector": [0.0] * D})
    found = client.recall(vector=TOWARDS)
    assert ids(found) == ["mine"]
    assert "can't be compared" in str(found.degraded)
    add(client, {"id": "nan", "vector": [math.nan] * D}, {"id": "huge", "vector": [1e300] * D})
    assert ids(client.recall(vector=TOWARDS)) == ["mine"]


def test_k_limits_and_more_than_there_is_does_no_harm(client: Jochi) -> None:
    add(client, *({"id": f"m{i}", "vector": angle(i / 10), "content": "tea"} for i in range(5)))
    assert ids(client.recall(vector=TOWARDS, k=1)) == ["m4"]
    assert ids(client.recall(vector=TOWARDS, k=5)) == ["m4", "m3", "m2", "m1", "m0"]
    assert len(client.recall("tea", vector=TOWARDS, k=1000)) == 5


def test_text_and_vector_that_disagree_are_combined_by_their_scores(client: Jochi) -> None:
    """Each scope is a case: what it holds, and in which order the two lists together find it."""
    near, rare = ("near", 0.9, "brewed leaves"), "ticket OPS-2291"
    cases: dict[str, tuple[list[tuple[str, float | None, str]], list[str]]] = {
        "words lift": ([near, ("word", 0.6, rare), ("far", -0.9, "leaves")], ["word", "near", "far"]),
        "not from the end": ([near, ("word", -0.9, rare)], ["near", "word"]),
        "cosines that hardly differ": ([near, ("word", 0.8999, rare)], ["word", "near"]),
        "no vector yet": ([near, ("word", None, rare), ("far", 0.1, "leaves")], ["word", "near", "far"]),
        "no vector at all": ([("more", None, f"{rare} ticket"), ("less", None, "ticket and much else")], ["more", "less"]),
        "what all have": ([(f"m{i:02}", 0.9 - i / 50, "it is " * (1 + i) + "so") for i in range(9)], [f"m0{i}" for i in range(9)]),
    }  # fmt: skip
    add(client, *(
        {"id": id, "scope": scope, "content": text} | ({} if cosine is None else {"vector": angle(cosine)})
        for scope, (held, _) in cases.items() for id, cosine, text in held
    ))  # fmt: skip
    add(client, *({"id": f"m{i}", "scope": "others", "content": "it is so"} for i in range(200)))
    for scope, (_, order) in cases.items():
        found = client.recall("is it ops-2291 or ticket?", vector=TOWARDS, scope=scope)
        assert ids(found) == order, scope
        cosines = [hit.cosine for hit in found if hit.cosine is not None]
        spread = max(0.01, max(cosines, default=0) - min(cosines, default=0))
        full = max(FULL_TEXT, *(hit.text_score or 0.0 for hit in found))
        for hit in found:
            words = (hit.text_score or 0.0) / full
            meaning = words if hit.cosine is None else 1 - (max(cosines) - hit.cosine) / spread
            assert hit.score == pytest.approx(meaning + TEXT_WEIGHT * words, abs=1e-6), (scope, hit)
    by_words = client.recall("leaves", scope="words lift")
    assert [hit.score for hit in by_words] == pytest.approx([1.0, by_words[1].text_score / by_words[0].text_score])


def test_ties_go_by_key(client: Jochi) -> None:
    add(client, *({"id": name, "vector": angle(0.5), "content": "tea"} for name in ("c", "a", "d", "b")))
    for asked in ({"text": "tea"}, {"vector": TOWARDS}, {"text": "tea", "vector": TOWARDS}):
        assert ids(client.recall(**asked)) == ["a", "b", "c", "d"]  # type: ignore[arg-type]


def test_what_lies_beneath_a_hit_is_not_shown_a_second_time(client: Jochi) -> None:
    """The turns that it was learned from and what it quotes, wherever the two are in the list. Not what isn't shown itself."""
    order = ["turns", "fact", "other", "summary", "exact", "turns 2", "fact 2"]
    kinds = {"turns": "TurnBatch", "turns 2": "TurnBatch", "summary": "Note", "exact": "Artifact"}
    add(
        client,
        *(
            {"id": id, "kind": kinds.get(id, "Belief"), "vector": angle(0.9 - n / 10), "content": "tea"}
            for n, id in enumerate(order)
        ),
    )
    for a, type, b in (
        *(("fact", "DERIVED_FROM", "turns"), ("fact 2", "DERIVED_FROM", "turns 2"), ("other", "QUOTES", "exact")),
        *(
            ("summary", "DERIVED_FROM", "other"),
            ("turns 2", "QUOTES", "other"),
        ),
    ):
        client.database.run(
            f"MATCH (a:Curated {{id: $a}}), (b:Curated {{id: $b}}) CREATE (a)-[:{type}]->(b)", {"a": a, "b": b}
        )
    all_kinds: Any = {"kinds": ["Belief", "TurnBatch", "Note", "Artifact"]}
    for asked in ({"vector": TOWARDS}, {"vector": TOWARDS, "text": "tea"}):
        assert set(ids(client.recall(**asked, **all_kinds))) == {"fact", "other", "summary", "fact 2"}  # type: ignore[arg-type]
    assert ids(client.recall(vector=TOWARDS, **all_kinds)) == ["fact", "other", "summary", "fact 2"]
    assert ids(client.recall(vector=TOWARDS, k=1, **all_kinds)) == ["turns"]
    assert ids(client.recall(vector=TOWARDS, k=6, **all_kinds)) == ["fact", "other", "summary", "turns 2"]
    assert ids(client.recall(vector=TOWARDS, kinds=["TurnBatch"])) == ["turns", "turns 2"]


def test_containers_are_found_only_where_their_kind_is_named(client: Jochi) -> None:
    """By words, by meaning and along edges; an entry of an app is no container, whatever it holds."""
    containers = ["Source", "Artifact", "TurnBatch", "MemoryBox", "Trace"]
    add(client, *({"id": kind, "kind": kind, "vector": angle(0.9), "content": "tea"} for kind in containers))
    add(client, {"id": "only turns", "scope": "new", "kind": "TurnBatch", "content": "tea"})
    for kind in ("MemoryEntry", "Fact", "StoreItem"):
        add(client, {"id": kind, "kind": kind, "vector": angle(0.5), "content": "tea"})
    add(client, {"id": "start", "vector": angle(0.1), "content": "a start"})
    for end in ("Source", "Fact"):
        client.database.run(
            "MATCH (a:Curated {id: 'start'}), (b:Curated {id: $end}) CREATE (a)-[:SAME_ENTITY]->(b)", {"end": end}
        )
    for asked in ({"text": "tea"}, {"vector": TOWARDS}, {"text": "tea", "vector": TOWARDS}):
        found = client.recall(**asked)  # type: ignore[arg-type]
        assert set(ids(found)) - {"start"} == {"MemoryEntry", "Fact", "StoreItem"}
        assert set(ids(client.recall(kinds=containers, **asked))) == set(containers)  # type: ignore[arg-type]
        both = set(ids(client.recall(k=20, include_containers=True, **asked)))  # type: ignore[arg-type]
        assert both - {"start"} == {*containers, "MemoryEntry", "Fact", "StoreItem"}
    for kinds, reached in ((None, ["Fact"]), (["Belief", "Source"], ["Source"])):
        spread = client.recall("start", hops=1, kinds=kinds)
        assert [one.kind for one in spread.reached] == reached
    hint = client.recall("tea", scope="new").hint
    assert hint is not None
    assert "no statement was made of it yet (a TurnBatch)" in hint
    assert client.recall("coffee", scope="new").hint is None


def test_what_may_be_replaced_stands_behind_what_was_said_later_and_names_it(
    client: Jochi, run: Callable[..., Result]
) -> None:
    """Also by way of others, by words as by meaning; what was said later and holds no more counts for nothing."""
    words = {
        "first": "the budget is 40", "second": "it was cut to 30", "third": "it went to 35", "gone": "it was cut to 1",
        "lone": "the budget of Merlin", "unfound": "Merlin has 7", "other": "the budget meeting", "wrong": "the budget is void",
    }  # fmt: skip
    for n, (id, text) in enumerate(words.items()):
        state = "superseded" if id == "gone" else "active"
        cosine = 0.0 if id == "unfound" else 0.9 - n / 10
        add(
            client,
            {"id": id, "kind": "Fact", "content": text, "created_at": NOW + timedelta(days=n), "state": state}
            | ({} if id == "unfound" else {"vector": angle(cosine)}),
        )
    add(client, {"id": "elsewhere", "scope": "other", "kind": "Fact", "vector": TOWARDS, "content": "the budget"})
    links = ["second first", "third second", "gone first", "unfound lone", "elsewhere other", "wrong wrong"]
    client.database.run(
        "UNWIND $links AS link MATCH (a:Curated {id: link[0]}), (b:Curated {id: link[1]}) CREATE (a)-[:MAY_REPLACE]->(b)",
        {"links": [link.split() for link in links]},
    )
    found = client.recall(vector=TOWARDS, later=0, xray=True)
    assert ids(found) == ["third", "second", "first", "lone", "other", "wrong"]
    later = {hit.key.split("/")[1]: [one.key.split("/")[1] for one in hit.later] for hit in found}
    assert later == {
        "third": [], "second": ["third"], "first": ["third", "second"], "lone": ["unfound"], "other": [], "wrong": [],
    }  # fmt: skip
    [first] = found[2].later[:1]
    assert (first.content, first.at) == ("it went to 35", NOW + timedelta(days=2))
    assert found[0].score == found[1].score == found[2].score
    for hit in found:
        assert hit.xray is not None
        assert sum(part.amount for part in hit.xray.parts) == pytest.approx(hit.score, abs=1e-12)
    shown = " ".join(run("the budget is 40").stdout.replace("│", " ").split())
    assert "later: it went to 35" in shown
    assert ids(client.recall("the budget is 40", k=3, later=0))[0] == "first", "the later ones have none of the words"
    assert ids(client.recall("the budget 30", vector=TOWARDS, k=2, later=0)) == ["third", "second"]
    assert ids(client.recall(vector=TOWARDS, include_superseded=True, later=0))[:3] == ["third", "second", "first"]
    assert "gone" in ids(client.recall(vector=TOWARDS, include_superseded=True))


def test_what_was_said_later_of_the_same_thing_goes_with_a_hit(client: Jochi) -> None:
    """The nearest of the scope's nearest statements that hold from a later moment on; in a large scope as in a small one."""
    facts = {
        "old": (1.0, 0),
        "same day": (0.99, 0),
        "new": (0.98, 2),
        "newest": (0.97, 3),
        "third": (0.96, 4),
        "far": (0.1, 9),
    }
    for id, (cosine, day) in facts.items():
        moment = NOW + timedelta(days=day)
        add(client, {"id": id, "kind": "Fact", "content": f"it is {id}", "vector": angle(cosine), "valid_from": moment})
    add(
        client,
        {"id": "over", "kind": "Fact", "state": "superseded", "vector": TOWARDS, "valid_from": NOW + timedelta(days=5)},
    )
    add(client, {"id": "belief", "vector": TOWARDS, "created_at": NOW + timedelta(days=6)})
    add(
        client,
        {"id": "theirs", "scope": "other", "kind": "Fact", "vector": TOWARDS, "valid_from": NOW + timedelta(days=7)},
    )
    for size in (0, EXACT_UP_TO):
        add(client, *({"id": f"n{size}-{n}", "kind": "Belief", "vector": angle(-0.5)} for n in range(size)))
        found = client.recall(vector=TOWARDS, kinds=["Fact"], k=3)
        assert {hit.key.split("/")[1]: [one.key.split("/")[1] for one in hit.later] for hit in found} == {
            "old": ["new", "newest"],
            "same day": ["new", "newest"],
            "third": ["far"],
        }
    assert found[0].text == "it is old\nlater, 2026-03-03: it is new\nlater, 2026-03-04: it is newest"
    assert [len(hit.later) for hit in client.recall(vector=TOWARDS, kinds=["Fact"], k=1, later=1)] == [1]
    with pytest.raises(UsageError, match="later is 6"):
        client.recall(vector=TOWARDS, later=6)
    # Nearer ones of the scope, earlier as well, take the places: `near` of the policy.
    add(
        client,
        *({"id": f"b{n}", "kind": "Fact", "vector": TOWARDS, "valid_from": NOW - timedelta(days=n)} for n in range(8)),
    )
    [first] = client.recall(vector=TOWARDS, kinds=["Fact"], k=1, since=NOW + timedelta(days=1))[:1] or [None]
    assert first is None
    assert all(
        hit.later == () for hit in client.recall(vector=TOWARDS, kinds=["Fact"], k=9) if hit.key == "default/old"
    )


# -- text and scopes are never syntax ---------------------------------------------------------------------------------

NASTY = [
    '"', "'", "\\", "\\\\", '\\"', "AND", "OR NOT AND", "NOT tea", "tea AND", "(", ")", "((((", "[a TO b]", "{a TO b}", "*",
    "*:*", "?", "te*", "tea~2", "tea^9", "tea^0", "scope:other", "+scope:other -tea", 'content:tea OR scope:"other"',
    '") OR scope:("other', "tea && other", "tea || other", "!tea", "/te.*/", "a:b:c", "<tea>", "=", "\u0000", "\n\t\r ", "",
    "   ", "\u3000", "...", "!!!", "—", "👩‍🚀", "茶", "чай", "tea\u00a0other", "\\u0041", "${now}", "$scope", "TO", "ANDROID",
    "é" * 3000, "茶" * 5000, "tea " * 5000, "a-b" * 3000, "👍" * 3000, "x" * 100_000, "\ud7ff" * 999, "a\\", "tea\\ other",
]  # fmt: skip


def test_no_text_is_syntax(client: Jochi) -> None:
    add(
        client,
        {"id": "tea", "content": "tea"},
        {"id": "else", "content": "something else"},
        {"id": "other", "scope": "other", "content": "tea other"},
    )
    expected = {"NOT tea", "tea AND", "tea~2", "tea^9", "tea^0", "tea && other", "tea || other", "!tea", "<tea>"}
    expected |= {"+scope:other -tea", "tea\u00a0other", "tea " * 5000, "tea\\ other"}
    for text in NASTY:
        found = client.recall(text, vector=None)
        assert ids(found) == (["tea"] if text in expected else []), repr(text[:40])
        assert ids(client.recall(text, vector=TOWARDS)) == ids(found), repr(text[:40])


def test_words_are_found_in_many_scripts_and_forms(client: Jochi) -> None:
    texts = {
        "plus": "C++ is not C", "chinese": "我喜欢绿茶", "russian": "Я люблю чай", "android": "ANDROID phones FOR work",
        "mail": "write to ann@example.com", "colon": "ratio a:b", "slash": "and/or", "quote": 'she said "hello"',
        "number": "version 1.5-rc2", "long": "y" * 400,
    }  # fmt: skip
    add(client, *({"id": name, "content": text} for name, text in texts.items()))
    for name, text in texts.items():
        assert ids(client.recall(text, k=1)) == [name], name
    assert ids(client.recall("绿茶", k=1)) == ["chinese"]
    assert ids(client.recall("ЧАЙ", k=1)) == ["russian"]
    assert ids(client.recall("ANDROID")) == ["android"]
    assert ids(client.recall("FOR")) == ["android"]


SCOPES = [
    "user-1", "user-10", "USER-1", "user 1", "user_1", "user", "1", "-", "---", "!!!", "\"", "\\", "a\"b", "a\\", "*", "user-*",
    "AND", "a AND b", "scope:user-1", "É", "é", "e\u0301", "ß", "ss", "ẞ", "İ", "i", "茶", "👍", " ", " user-1", "\n", "x" * 199,
    "x" * 201, "x " * 101, "z" * 2000, "user-1'", "$scope", "default", "()", "[1 TO 9]", "jochiasksfornothing",
]  # fmt: skip


def test_every_scope_finds_its_own_and_nobody_elses(client: Jochi) -> None:
    add(
        client,
        *({"id": f"m{i}", "scope": scope, "vector": TOWARDS, "content": "tea"} for i, scope in enumerate(SCOPES)),
    )
    for i, scope in enumerate(SCOPES):
        for asked in ({"text": "tea"}, {"vector": TOWARDS}):
            assert ids(client.recall(scope=scope, **asked)) == [f"m{i}"], repr(scope[:40])  # type: ignore[arg-type]


def test_words_in_a_scope_that_lucene_can_not_ask_for(client: Jochi) -> None:
    """A scope of signs only narrows nothing: the query widens until the scope's own are found behind all the others."""
    add(client, *({"id": f"m{i}", "scope": "large", "content": "tea"} for i in range(400)))
    add(
        client,
        *({"id": f"m{i}", "scope": "---", "content": "tea in a much longer sentence than theirs"} for i in range(7)),
    )
    assert ids(client.recall("tea", scope="---", k=5)) == [f"m{i}" for i in range(5)]  # all alike: by key
    assert {hit.key for hit in client.recall("tea", scope="---", k=50)} == {f"---/m{i}" for i in range(7)}


# -- what is asked wrongly --------------------------------------------------------------------------------------------


NONSENSE: list[tuple[dict[str, Any], str]] = [
    ({}, "at least one"),
    ({"vector": [1.0] * (D - 1)}, f"{D} numbers"),
    ({"vector": [1.0] * (D + 1)}, f"{D} numbers"),
    ({"vector": []}, f"{D} numbers"),
    ({"vector": [0.0] * D}, "not all zeros"),
    ({"vector": [math.nan] + [1.0] * (D - 1)}, "no NaN"),
    ({"vector": [math.inf] + [1.0] * (D - 1)}, "finite"),
    ({"vector": ["a"] * D}, "list of numbers"),
    ({"text": "tea", "k": 0}, "k: 1 to 1000"),
    ({"text": "tea", "k": 1001}, "k: 1 to 1000"),
    ({"text": "tea", "k": "ten"}, "k: an integer"),
    ({"text": "tea", "k": 1.5}, "k: an integer"),
    ({"text": 7}, "text: a text"),
    ({"text": "tea", "scope": "a/b"}, "scope"),
    ({"text": "tea", "scope": ""}, "scope"),
    ({"text": "tea", "scope": 7}, "scope"),
    ({"text": "tea", "tiers": ["WARMISH"]}, "tiers"),
    ({"text": "tea", "include_containers": "yes"}, "include_containers"),
    ({"text": "tea", "kinds": [1]}, "kinds"),
    ({"text": "tea", "kinds": "Belief"}, "kinds is one text"),
    ({"text": "tea", "kinds": ["Belief", "Beleif"]}, "has no Beleif"),
    ({"text": "tea", "since": datetime(2026, 1, 1)}, "no zone"),  # noqa: DTZ001
    ({"text": "tea", "until": "2026-01-01"}, "until is no datetime"),
    ({"text": "tea\ud800"}, "surrogate pair"),
    ({"text": "tea", "k": 2**70}, "64 bits"),
    ({"vector": "1" * D}, "list of numbers"),
    ({"text": "tea", "min_score": 0.5}, "needs a vector"),
    ({"vector": TOWARDS, "min_score": 1.01}, "-1 to 1"),
    ({"vector": TOWARDS, "min_score": math.nan}, "-1 to 1"),
]


def test_a_request_that_makes_no_sense_is_refused(client: Jochi) -> None:
    for asked, said in NONSENSE:
        with pytest.raises(UsageError, match=said):
            client.recall(**asked)


def test_extreme_but_finite_vectors_are_fine(client: Jochi) -> None:
    add(client, {"id": "a", "vector": TOWARDS})
    for factor in (1e-100, 1e-30, 1e30, 1e100):
        assert client.recall(vector=[factor * value for value in TOWARDS])[0].cosine == pytest.approx(1.0)
    assert client.recall(vector=np.array(TOWARDS, dtype=np.float32))[0].cosine == pytest.approx(1.0)  # type: ignore[arg-type]


def test_any_driver_calls_it_in_one_statement_and_it_writes_nothing(client: Jochi) -> None:
    add(client, {"id": "a", "vector": TOWARDS, "content": "tea"})
    asked = in_one_map({"now": NOW, "asked": {"scope": "default", "text": "tea", "vector": TOWARDS, "k": 3}})
    with client.database.driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
        row = session.run(
            "MATCH (p:JochiProcedure {name: 'memory/recall'}) CALL apoc.cypher.run(p.body, $asked) YIELD value RETURN value",
            asked=asked,
        ).single(strict=True)
        assert [hit["key"] for hit in row["value"]["hits"]] == ["default/a"]
        assert row["value"]["refused"] is None
        counters = session.run(client.engine.text("memory/recall"), asked).consume().counters
    assert not counters.contains_updates


def test_nothing_is_scanned(client: Jochi) -> None:
    asked = in_one_map({"now": NOW, "asked": {"scope": "default", "text": "tea", "vector": TOWARDS, "k": 3}})
    with client.database.driver.session() as session:
        plan = session.run("EXPLAIN " + client.engine.text("memory/recall"), asked).consume().plan
    found: list[str] = []

    def walk(step: dict[str, Any]) -> None:
        found.append(step["operatorType"].split("@")[0])
        for child in step.get("children", []):
            walk(child)

    assert plan is not None
    walk(plan)
    assert not [operator for operator in found if "Scan" in operator]
    assert len([operator for operator in found if operator == "NodeUniqueIndexSeekByRange"]) == 2
    # The others: what is current in the slot of a fact that confirms.
    others = {operator for operator in found if "IndexSeek" in operator} - {"NodeUniqueIndexSeekByRange"}
    assert others <= {"NodeUniqueIndexSeek"}


# -- scopes of every size ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> Corpus:
    """5,000 memories in 20 scopes of 20 to some thousands."""
    return corpus(zipf_sizes(5_000, 20), D, shared_topics=60)


@pytest.mark.slow
def test_the_true_nearest_of_a_scope_are_found_whatever_its_size(client: Jochi, many: Corpus) -> None:
    load(client, many)
    dice = np.random.default_rng(3)
    shares: dict[str, list[float]] = {"scope": [], "index": []}
    for scope in range(20):
        for row in (dice.choice(many.rows(scope)), dice.integers(len(many.vectors)), dice.choice(many.rows(0))):
            query = many.question(int(row), dice)
            wanted = many.nearest(scope, query, 10)
            found = client.recall(vector=query.tolist(), scope=f"s{scope}")
            assert found.vector_by is not None
            assert len(found) == min(10, len(many.rows(scope)))
            shares[found.vector_by].append(len(set(wanted) & set(found.keys)) / len(wanted))
            cosines = [hit.cosine for hit in found]
            assert cosines == sorted(cosines, reverse=True)  # type: ignore[type-var]
    assert len(shares["index"]) >= 5
    assert np.mean(shares["scope"]) == 1.0
    assert np.mean(shares["index"]) >= 0.95
    assert len({hit.key for hit in client.recall(vector=many.vectors[0].tolist(), scope="s3", k=1000)}) == len(
        many.rows(3)
    )


def test_a_large_tenant_does_not_starve_a_small_one(client: Jochi) -> None:
    """Every memory of the large scope is nearer, and says the words more often, than any of the small ones."""
    add(client, *({"id": f"m{i}", "scope": "large", "vector": angle(0.99), "content": "tea tea"} for i in range(1500)))
    for scope, size in (("small", 12), ("middle", EXACT_UP_TO + 40)):
        add(
            client,
            *(
                {"id": f"m{i}", "scope": scope, "vector": angle(i / 1000), "content": f"a cup of tea, the {i}th"}
                for i in range(size)
            ),
        )
    for scope, size in (("small", 12), ("middle", EXACT_UP_TO + 40)):
        assert ids(client.recall(vector=TOWARDS, scope=scope)) == [f"m{i}" for i in range(size - 1, size - 11, -1)]
        assert len(client.recall("tea", scope=scope)) == 10
    assert client.recall(vector=TOWARDS, scope="large").vector_by == "index"


def test_filters_that_few_pass_do_not_starve_in_a_large_scope(client: Jochi) -> None:
    add(client, *({"id": f"m{i}", "vector": angle(0.9), "content": "tea"} for i in range(900)))
    add(client, *({"id": f"f{i}", "vector": angle(i / 100), "content": "tea", "kind": "Fact"} for i in range(5)))
    assert ids(client.recall(vector=TOWARDS, kinds=["Fact"])) == ["f4", "f3", "f2", "f1", "f0"]
    assert len(client.recall("tea", kinds=["Fact"])) == 5
    assert len(client.recall(vector=TOWARDS, min_score=0.95)) == 0


def test_around_the_limit_for_comparing_one_by_one(client: Jochi) -> None:
    add(client, *({"id": f"m{i}", "vector": angle(i / 1000)} for i in range(EXACT_UP_TO)))
    assert client.recall(vector=TOWARDS).vector_by == "scope"
    add(client, {"id": "one more", "vector": angle(0.5)})
    found = client.recall(vector=TOWARDS)
    assert found.vector_by == "index"
    assert found.neighbours >= 10
    assert ids(found)[0] == "one more"


def test_the_index_is_asked_again_while_that_is_cheaper(client: Jochi) -> None:
    add(client, *({"id": f"m{i}", "vector": angle(0.9 - i / 100)} for i in range(EXACT_UP_TO + 1)))
    there = 0
    for nearer, k, by, neighbours in (
        (9, 1, "index", 10),  # the tenth neighbour is the scope's
        (10, 1, "index", 20),  # none of ten is: twice as many, since the scope's share says that 5 should do
        (19, 1, "index", 20),
        (20, 1, "scope", 20),  # none of these either
        (1_000, 3, "scope", EXACT_UP_TO + 1),  # 52 by the scope's share, three times that is more than it has memories
        (1_000, 4, "scope", 40),  # 70 by its share: more than it has without any margin, so not asked
    ):
        others = range(there, nearer)
        add(client, *({"id": f"m{i}", "scope": "other", "vector": angle(0.95 + i / 50_000)} for i in others))
        there = nearer
        found = client.recall(vector=TOWARDS, k=k)
        assert ids(found) == [f"m{i}" for i in range(k)]
        assert (found.vector_by, found.neighbours) == (by, neighbours), (nearer, k)


# -- indexes that aren't there, and everybody at once --------------------------------------------------------------------


@pytest.fixture
def without_indexes(client: Jochi) -> Iterator[Jochi]:
    """Both indexes dropped; made again afterwards."""
    for name in ("vector_index_Curated_embedding", "curated_text"):
        client.database.autocommit(f"DROP INDEX {name}")
    yield client
    client.install(arm=False)


def test_without_its_indexes_recall_goes_on_as_it_can(without_indexes: Jochi) -> None:
    client = without_indexes
    add(client, *({"id": f"m{i}", "vector": angle(i / 1000), "content": "tea"} for i in range(EXACT_UP_TO + 20)))
    for _forgets in range(2):
        found = client.recall("tea", vector=TOWARDS)
        assert ids(found)[0] == f"m{EXACT_UP_TO + 19}"
        assert "vector_index_Curated_embedding" in str(found.degraded)
        assert "curated_text" in str(found.degraded)
        with pytest.raises(JochiError, match="curated_text"):
            client.recall("tea")
        client.engine.indexes_ready = True  # a client that saw them before somebody dropped them
    # Forgetting does without the hint that it takes from one of them.
    assert client.plan_forgetting(Request(phrase="Quentin", scope="default")).alike == ()


@pytest.mark.slow
def test_recall_during_ticks_and_writes(client: Jochi, many: Corpus) -> None:
    """Ten clients recall while others write, prune and change what is found: no error, nothing of another scope, no tombstone."""
    add(
        client,
        *(
            {"id": f"m{i}", "scope": f"s{i % 5}", "vector": many.vectors[i].tolist(), "content": "tea", "kind": "Fact"}
            for i in range(600)
        ),
    )
    client.apply()
    stop = threading.Event()
    errors: list[BaseException] = []
    recalled: list[int] = []

    def guarded(work: Callable[[int], None]) -> Callable[[int], None]:
        def run(number: int) -> None:
            step = number
            try:
                while not stop.is_set():
                    work(step)
                    step += 100
            except BaseException as error:
                errors.append(error)
                stop.set()

        return run

    def reads(step: int) -> None:
        scope = f"s{step % 5}"
        found = client.recall("tea", vector=many.vectors[step % 600].tolist(), scope=scope)
        assert all(key.startswith(f"{scope}/") for key in found.keys)
        assert found.degraded is None
        recalled.append(len(found))

    def writes(step: int) -> None:
        add(
            client,
            {"id": f"w{step}", "scope": f"s{step % 5}", "vector": many.vectors[step % 600].tolist(), "content": "tea"},
        )

    def ticks(step: int) -> None:
        client.database.run(
            "UNWIND $keys AS key MATCH (m:Curated {key: key}) SET m.expires_at = $past, m.created_at = $past, m.next_due = $past",
            {"keys": [f"s{(step + i) % 5}/m{(step + i) % 600}" for i in range(5)], "past": NOW - timedelta(days=30)},
        )
        run_job(client.engine, "curate_due", now=NOW)
        if len(recalled) > 30:
            stop.set()

    threads = [threading.Thread(target=guarded(reads), args=(i,)) for i in range(10)]
    threads += [threading.Thread(target=guarded(writes), args=(0,)), threading.Thread(target=guarded(ticks), args=(1,))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    stop.set()
    assert errors == []
    assert min(recalled) > 0
    assert client.database.run("MATCH (t:Tombstone) RETURN count(*) > 0 AS some") == [{"some": True}]


@pytest.fixture
def run(server: TestServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("JOCHI_URI", server.uri)
    monkeypatch.setenv("JOCHI_USER", server.user)
    monkeypatch.setenv("JOCHI_PASSWORD", server.password)
    monkeypatch.delenv("JOCHI_PASSWORD_FILE", raising=False)
    return lambda *words: CliRunner().invoke(app, ["recall", *words])


def told(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [hit["key"].removeprefix("default/") for hit in json.loads(result.stdout)["hits"]]


def test_the_command(client: Jochi, run: Callable[..., Result]) -> None:
    add(client, {"id": "a", "content": "green tea"}, {"id": "b", "content": "old tea", "state": "archived"})
    shown = run("tea")
    assert shown.exit_code == 0, shown.output
    assert "default/a" in shown.output
    assert "default/b" not in shown.output
    assert told(run("tea", "--include-archived", "-n", "5", "-k", "Belief", "--json")) == ["a", "b"]
    assert told(run("tea", "--scope", "nobody", "--json")) == []
    assert "the scope 'nobody' has no memory" in run("tea", "--scope", "nobody").output
    refused = run("tea", "--limit", "0").exception
    assert isinstance(refused, UsageError)
    assert refused.exit_code == 2


def test_the_command_s_filters_on_both_sides(client: Jochi, run: Callable[..., Result]) -> None:
    add(
        client,
        {"id": "hot", "content": "tea", "created_at": NOW},
        {"id": "warm", "content": "tea", "created_at": NOW - timedelta(seconds=1), "tier": "WARM"},
        {"id": "archive", "content": "tea", "created_at": NOW + timedelta(seconds=1), "tier": "ARCHIVE"},
    )
    moment = NOW.isoformat()
    assert sorted(told(run("tea", "--json"))) == ["archive", "hot", "warm"]
    assert told(run("tea", "--json", "--tiers", "WARM")) == ["warm"]
    assert sorted(told(run("tea", "--json", "--tiers", "WARM", "--tiers", "ARCHIVE"))) == ["archive", "warm"]
    assert sorted(told(run("tea", "--json", "--since", moment))) == ["archive", "hot"]
    assert told(run("tea", "--json", "--until", moment)) == ["warm"]
    assert told(run("tea", "--json", "--since", moment, "--until", "2026-03-01T00:00:01Z")) == ["hot"]
    for words, said in (
        (("--tiers", "WARMISH"), "tiers"),
        (("--until", "2026-03-01"), "no zone"),
        (("--until", "soon"), "not a time"),
        (("--min-score", "0.5"), "needs a vector"),
    ):
        refused = run("tea", *words).exception
        assert isinstance(refused, UsageError)
        assert said in str(refused)


def test_the_command_s_least_cosine(client: Jochi, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "embedded", lambda text, provider, policy: TOWARDS)
    add(client, *({"id": f"m{n}", "vector": angle(n / 10), "content": "tea"} for n in (2, 5, 8)))
    assert sorted(told(run("tea", "--provider", "minilm", "--json"))) == ["m2", "m5", "m8"]
    assert sorted(told(run("tea", "--provider", "minilm", "--json", "--min-score", "0.49"))) == ["m5", "m8"]
    assert told(run("tea", "--provider", "minilm", "--json", "--min-score", "0.51")) == ["m8"]
    refused = run("tea", "--provider", "minilm", "--min-score", "1.01").exception
    assert isinstance(refused, UsageError)
