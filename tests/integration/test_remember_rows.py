"""`memory/remember` as a driver of any language calls it: every row has a defined answer, on both sides of each threshold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from typing import Any

import neo4j.time
import pytest
from tests.conftest import PolicyWith

from jochi import Jochi
from jochi.errors import UsageError
from jochi.graph.catalogue import DEADLINES, MOMENTS, NOT_REMEMBERED
from jochi.policy import LoadedPolicy
from jochi.policy.model import PROTECTED_KINDS
from jochi.text.content import content_hash

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
NAIVE = NOW.replace(tzinfo=None)
AHEAD = timedelta(days=366)
MODEL = "all-MiniLM-L6-v2-int8"
HASH = "v2:" + "0a" * 32
VECTOR = [0.5] * 384


def call(jochi: Jochi, memories: Any, **more: Any) -> dict[str, Any]:
    return jochi.engine.call("memory/remember", {"now": NOW, "agent": None, "memories": memories, **more})


def one(jochi: Jochi, **row: Any) -> dict[str, Any]:
    result: dict[str, Any] = call(jochi, [{"kind": "Belief", **row}])["results"][0]
    return result


def stored(jochi: Jochi, key: str) -> dict[str, Any]:
    found = jochi.database.run("MATCH (m:Curated {key: $key}) RETURN properties(m) AS p, labels(m) AS l", {"key": key})
    return {**found[0]["p"], "labels": set(found[0]["l"])}


def everything(jochi: Jochi) -> int:
    return int(jochi.database.run("MATCH (m) WHERE m:Curated OR m:JochiAccess RETURN count(m) AS n")[0]["n"])


REFUSED: list[tuple[str, dict[str, Any], str | None]] = [
    ("no kind", {"kind": None}, "unknown_kind"),
    ("kind is a number", {"kind": 7}, "unknown_kind"),
    ("kind that no policy has", {"kind": "Nonsense"}, "unknown_kind"),
    ("kind with a quote", {"kind": "Belief` DETACH DELETE m //"}, "unknown_kind"),
    *((f"protected {kind}", {"kind": kind}, "protected_kind") for kind in sorted(PROTECTED_KINDS)),
    ("typo in a field", {"embeding": VECTOR}, "unknown_field"),
    ("scope is a number", {"scope": 7}, "bad_scope"),
    ("scope is a list", {"scope": ["a"]}, "bad_scope"),
    ("scope is empty", {"scope": ""}, "bad_scope"),
    ("scope is blank", {"scope": "  "}, "bad_scope"),
    ("scope holds a slash", {"scope": "a/b"}, "bad_scope"),
    ("scope too long", {"scope": "s" * 1001}, "bad_scope"),
    ("id is a number", {"id": 7}, "bad_id"),
    ("id is empty", {"id": ""}, "bad_id"),
    ("id too long", {"id": "i" * 1001}, "bad_id"),
    ("content is a number", {"content": 7}, "bad_content"),
    ("content is empty", {"content": ""}, "empty_content"),
    ("content is blank", {"content": " \t\n\u00a0\u200b"}, "empty_content"),
    ("content too long", {"content": "x" * 1_000_001}, "content_too_long"),
    ("hash of no form", {"content": "x", "content_hash": "abc"}, "bad_content_hash"),
    ("hash in capitals", {"content": "x", "content_hash": HASH.upper()}, "bad_content_hash"),
    ("hash is a number", {"content": "x", "content_hash": 7}, "bad_content_hash"),
    ("hash without content", {"content_hash": HASH}, "bad_content_hash"),
    ("tokens are text", {"content": "x", "token_count": "7"}, "bad_token_count"),
    ("tokens below zero", {"content": "x", "token_count": -1}, "bad_token_count"),
    ("tokens with a fraction", {"content": "x", "token_count": 1.5}, "bad_token_count"),
    ("counter alone", {"content": "x", "token_counter": "mine"}, "bad_token_count"),
    ("counter is a number", {"content": "x", "token_count": 1, "token_counter": 1}, "bad_token_count"),
    ("vector is text", {"embedding": "0.5", "embedding_model": MODEL}, "bad_embedding"),
    ("vector of texts", {"embedding": ["0.5"] * 384, "embedding_model": MODEL}, "bad_embedding"),
    ("vector with null", {"embedding": [None, *VECTOR[1:]], "embedding_model": MODEL}, "bad_embedding"),
    ("zero vector", {"embedding": [0.0] * 384, "embedding_model": MODEL}, "bad_embedding"),
    ("vector too short", {"embedding": VECTOR[1:], "embedding_model": MODEL}, "embedding_length"),
    ("vector too long", {"embedding": [*VECTOR, 0.5], "embedding_model": MODEL}, "embedding_length"),
    ("vector empty", {"embedding": [], "embedding_model": MODEL}, "embedding_length"),
    ("NaN in the vector", {"embedding": [float("nan"), *VECTOR[1:]], "embedding_model": MODEL}, "embedding_not_finite"),
    (
        "-inf in the vector",
        {"embedding": [float("-inf"), *VECTOR[1:]], "embedding_model": MODEL},
        "embedding_not_finite",
    ),
    ("vector without a model", {"embedding": VECTOR}, "embedding_model"),
    ("vector of another model", {"embedding": VECTOR, "embedding_model": "other"}, "embedding_model"),
    ("model is a number", {"embedding": VECTOR, "embedding_model": 7}, "embedding_model"),
    ("model without a vector", {"embedding_model": MODEL}, "embedding_model"),
    ("properties are a list", {"properties": [1]}, "bad_properties"),
    ("a name is blank", {"properties": {" ": 1}}, "bad_property_name"),
    ("a name is too long", {"properties": {"n" * 1001: 1}}, "bad_property_name"),
    *((f"{name} is the engine's", {"properties": {name: 1}}, None) for name in NOT_REMEMBERED),
    ("curation_ anything", {"properties": {"curation_x": 1}}, "engine_owned"),
    ("tombstone anything", {"properties": {"tombstone_x": 1}}, "engine_owned"),
    ("content in properties", {"properties": {"content": "x"}}, "misplaced_property"),
    ("key in properties", {"properties": {"key": "default/x"}}, "misplaced_property"),
    ("naive created_at", {"properties": {"created_at": NAIVE}}, "local_datetime"),
    ("naive moment under any name", {"properties": {"born": NAIVE}}, "local_datetime"),
    ("list of naive moments", {"properties": {"seen": [NAIVE]}}, "local_datetime"),
    ("epoch seconds", {"properties": {"created_at": 1_780_000_000}}, "not_a_datetime"),
    ("epoch milliseconds", {"properties": {"created_at": 1_780_000_000_000}}, "not_a_datetime"),
    ("date as text", {"properties": {"created_at": "2026-01-01T00:00:00Z"}}, "not_a_datetime"),
    ("date without time", {"properties": {"expires_at": date(2026, 7, 1)}}, "not_a_datetime"),
    ("number where an until belongs", {"properties": {"valid_until": 5}}, "not_a_datetime"),
    (
        "before 1990",
        {"properties": {"created_at": datetime(1989, 12, 31, 23, 59, 59, tzinfo=timezone.utc)}},
        "implausible_datetime",
    ),
    ("too far ahead", {"properties": {"created_at": NOW + AHEAD + timedelta(seconds=1)}}, "implausible_datetime"),
    ("any _at too far ahead", {"properties": {"seen_at": NOW + AHEAD + timedelta(seconds=1)}}, "implausible_datetime"),
    (
        "expires before 1990",
        {"properties": {"expires_at": datetime(1970, 1, 21, tzinfo=timezone.utc)}},
        "implausible_datetime",
    ),
    *(
        (f"{name} {value}", {"properties": {name: value}}, code)
        for name in sorted(MOMENTS)
        for value, code in (
            (1_780_000_000, "not_a_datetime"),
            (1_780_000_000_000, "not_a_datetime"),
            ("2026-01-01T00:00:00Z", "not_a_datetime"),
            (NAIVE, "local_datetime"),
            (datetime(1970, 1, 21, tzinfo=timezone.utc), "implausible_datetime"),
        )
    ),
    *(
        (f"{name} too far ahead", {"properties": {name: NOW + AHEAD + timedelta(seconds=1)}}, "implausible_datetime")
        for name in sorted(MOMENTS - DEADLINES)
    ),
    *(
        (f"{name} {value}", {"properties": {name: value}}, code)
        for name in ("confidence", "importance", "salience")
        for value, code in (
            (float("nan"), "not_finite"),
            (float("inf"), "not_finite"),
            (1.01, "out_of_range"),
            (-0.01, "out_of_range"),
            ("0.5", "wrong_type"),
            (True, "wrong_type"),
        )
    ),
    ("NaN under any name", {"properties": {"weight": float("nan")}}, "not_finite"),
    ("NaN in a list", {"properties": {"weights": [1.0, float("nan")]}}, "not_finite"),
    ("pinned is text", {"properties": {"pinned": "true"}}, "wrong_type"),
    ("state is a number", {"properties": {"state": 1}}, "wrong_type"),
    ("tier is no tier", {"properties": {"tier": "hot"}}, "wrong_type"),
    ("agents is a text", {"properties": {"agents": "kublai"}}, "wrong_type"),
    ("a map", {"properties": {"meta": {"a": 1}}}, "not_storable"),
    ("a list of maps", {"properties": {"meta": [{"a": 1}]}}, "not_storable"),
    ("a list of lists", {"properties": {"meta": [[1]]}}, "not_storable"),
    ("a mixed list", {"properties": {"meta": [1, "a"]}}, "not_storable"),
    ("integers and floats mixed", {"properties": {"meta": [1, 0.5]}}, "not_storable"),
    ("a list with null", {"properties": {"meta": ["a", None]}}, "not_storable"),
    ("relationships are a map", {"relationships": {"type": "A", "to": "x"}}, "bad_relationship"),
    ("a relationship is null", {"relationships": [None]}, "bad_relationship"),
    *(
        (f"relationship {link}", {"relationships": [link]}, "bad_relationship")
        for link in (
            {"type": "evi dence", "to": "x"},
            {"type": "E V", "to": "x"},
            {"type": "E" * 65, "to": "x"},
            {"type": 7, "to": "x"},
            {"to": "x"},
            {"type": "EVIDENCE"},
            {"type": "EVIDENCE", "to": "x", "to_key": "default/x"},
            {"type": "EVIDENCE", "to": 7},
            {"type": "EVIDENCE", "to": ""},
            {"type": "EVIDENCE", "to_key": "x"},
            {"type": "EVIDENCE", "to": "x", "direction": "both"},
            {"type": "EVIDENCE", "to": "x", "direction": 1},
            {"type": "EVIDENCE", "to": "x", "properties": [1]},
            {"type": "EVIDENCE", "to": "x", "since": 1},
        )
    ),
    ("relationship with a map", {"relationships": [{"type": "E", "to": "x", "properties": {"m": {}}}]}, "not_storable"),
    (
        "relationship with a naive moment",
        {"relationships": [{"type": "E", "to": "x", "properties": {"since_at": NAIVE}}]},
        "local_datetime",
    ),
]


def test_each_fault_is_refused_by_itself_and_says_what_is_wrong(jochi: Jochi) -> None:
    rows = [{"kind": "Belief", "id": f"bad{i}", **row} for i, (_, row, _) in enumerate(REFUSED)]
    good = [{"kind": "Belief", "id": f"good{i}", "content": f"good {i}"} for i in range(len(rows))]
    answer = call(jochi, [row for pair in zip(rows, good, strict=True) for row in pair])

    assert [result["index"] for result in answer["results"]] == list(range(2 * len(rows)))
    for (name, _, code), result in zip(REFUSED, answer["results"][0::2], strict=True):
        expected = (code,) if code else ("engine_owned", "misplaced_property")
        assert (result["outcome"], result["reason"] in expected) == ("refused", True), (name, result)
        assert len(result["detail"].split()) > 2, name
    assert {result["outcome"] for result in answer["results"][1::2]} == {"written"}
    assert (answer["written"], answer["reinforced"], answer["refused"]) == (len(rows), 0, len(rows))
    assert everything(jochi) == len(rows)


TAKEN: list[tuple[str, dict[str, Any]]] = [
    ("nothing but a kind", {}),
    (
        "nulls are absent",
        {"content": None, "scope": None, "properties": None, "relationships": None, "embedding": None},
    ),
    ("null property", {"properties": {"nothing": None, "created_at": None}}),
    ("longest content", {"content": "x" * 1_000_000}),
    ("longest scope", {"scope": "s" * 1000}),
    ("longest id", {"id": "i" * 1000}),
    ("id with a slash", {"id": "a/b/c"}),
    ("emoji content", {"content": "👍"}),
    ("no tokens", {"content": "x", "token_count": 0}),
    ("vector", {"content": "x", "embedding": VECTOR, "embedding_model": MODEL}),
    ("vector of integers and floats", {"embedding": [1, *VECTOR[1:]], "embedding_model": MODEL}),
    ("created in 1990", {"properties": {"created_at": datetime(1990, 1, 1, tzinfo=timezone.utc)}}),
    ("created as far ahead as allowed", {"properties": {"created_at": NOW + AHEAD}}),
    ("expires in the far future", {"properties": {"expires_at": datetime(2999, 1, 1, tzinfo=timezone.utc)}}),
    ("valid until the far future", {"properties": {"valid_until": datetime(2999, 1, 1, tzinfo=timezone.utc)}}),
    *((f"{name} as far ahead as allowed", {"properties": {name: NOW + AHEAD}}) for name in sorted(MOMENTS - DEADLINES)),
    *(
        (f"{name} in the far future", {"properties": {name: datetime(2999, 1, 1, tzinfo=timezone.utc)}})
        for name in sorted(DEADLINES - {*NOT_REMEMBERED})
    ),
    ("a birthday is no moment of ours", {"properties": {"born": datetime(1900, 1, 1, tzinfo=timezone.utc)}}),
    ("shares", {"properties": {"confidence": 0, "importance": 1, "salience": 0.5}}),
    ("flags and texts", {"properties": {"pinned": True, "state": "active", "tier": "COLD", "agents": ["a", "b"]}}),
    (
        "whatever can be stored",
        {
            "properties": {
                "t": "x",
                "i": 2**63 - 1,
                "f": 0.1,
                "b": False,
                "d": date(2026, 1, 1),
                "z": NOW,
                "u": neo4j.time.Duration(days=3),
                "p": neo4j.spatial.WGS84Point((1.0, 2.0)),
                "tt": ["x", "y"],
                "ii": [1, 2],
                "ff": [0.1, 0.2],
                "bb": [True],
                "zz": [NOW],
                "none": [],
            }
        },
    ),
]


@pytest.mark.parametrize("kind", ["Belief", "Notification"])
def test_what_lies_on_the_allowed_side_is_written(jochi: Jochi, kind: str) -> None:
    rows = [{"kind": kind, "id": f"ok{i}", **row} for i, (_, row) in enumerate(TAKEN)]
    answer = call(jochi, rows)

    assert [(name, r["reason"]) for (name, _), r in zip(TAKEN, answer["results"], strict=True) if r["reason"]] == []
    assert answer["written"] == len(TAKEN) == jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"]


def test_properties_come_back_as_they_were(jochi: Jochi) -> None:
    name, row = TAKEN[-1]
    one(jochi, id="all", **row)

    found = stored(jochi, "default/all")
    for property, value in row["properties"].items():
        there = found[property]
        native = there.to_native() if hasattr(there, "to_native") else there
        assert (native == value) or property == "zz", (name, property)


@pytest.mark.parametrize("given", [None, "text", 7, {"kind": "Belief"}, True])
def test_what_is_no_list_is_one_refusal(jochi: Jochi, given: object) -> None:
    answer = call(jochi, given)

    assert [(r["index"], r["outcome"], r["reason"]) for r in answer["results"]] == [(0, "refused", "not_a_list")]
    assert answer["refused"] == 1


def test_rows_that_are_no_maps(jochi: Jochi) -> None:
    answer = call(jochi, [None, 7, "text", ["kind", "Belief"], {"kind": "Belief", "id": "a"}])

    assert [r["reason"] for r in answer["results"]] == ["not_a_map"] * 4 + [None]
    assert everything(jochi) == 1


def test_an_empty_list_is_one_row_of_nothing(jochi: Jochi) -> None:
    assert call(jochi, []) == {"results": [], "written": 0, "reinforced": 0, "refused": 0}


@pytest.mark.parametrize("moment", [None, NAIVE, "2026-01-01T00:00:00Z", 1_780_000_000])
def test_a_wrong_now_refuses_everything(jochi: Jochi, moment: object) -> None:
    answer = call(jochi, [{"kind": "Belief"}, {"kind": "Belief"}], now=moment)

    assert [r["reason"] for r in answer["results"]] == ["bad_now"] * 2
    assert everything(jochi) == 0


def test_a_wrong_agent_refuses_everything(jochi: Jochi) -> None:
    for agent in (["a"], "", "a" * 201):
        assert [r["reason"] for r in call(jochi, [{"kind": "Belief"}], agent=agent)["results"]] == ["bad_agent"]
    assert call(jochi, [{"kind": "Belief"}], agent="a" * 200)["written"] == 1


def test_defaults_of_a_new_memory(jochi: Jochi) -> None:
    one(jochi, id="full", content="ünïcode 👍👍", properties={"state": "active"})
    one(jochi, id="bare")

    full, bare = stored(jochi, "default/full"), stored(jochi, "default/bare")
    assert full["labels"] == bare["labels"] == {"Curated", "Belief"}
    assert (full["scope"], full["id"], full["tier"], full["revision"], full["state"]) == (
        "default",
        "full",
        "HOT",
        1,
        "active",
    )
    assert (full["token_count"], full["token_counter"]) == (3, "estimate:chars/4")
    for name in ("created_at", "next_due", "prepare_due", "embed_due"):
        assert full[name].to_native() == NOW, name
    assert not {"content_hash", "content_key"} & full.keys()
    assert set(bare) - {"labels"} == {"key", "scope", "id", "tier", "revision", "created_at", "next_due"}


@pytest.mark.parametrize(
    ("row", "prepare", "embed"),
    [
        ({"content": "x"}, True, True),
        ({"content": "x", "content_hash": HASH}, True, True),
        ({"content": "x", "content_hash": HASH, "token_count": 1, "token_counter": "estimate:chars/4"}, True, True),
        ({"content": "x", "content_hash": HASH, "token_count": 1, "token_counter": "tiktoken:o200k_base"}, False, True),
        ({"content": "x", "content_hash": HASH, "token_count": 1}, False, True),
        (
            {"content": "x", "content_hash": HASH, "token_count": 1, "embedding": VECTOR, "embedding_model": MODEL},
            False,
            False,
        ),
        ({"embedding": VECTOR, "embedding_model": MODEL}, False, False),
        ({}, False, False),
        ({"kind": "Notification", "content": "x"}, True, False),
        ({"kind": "Notification", "content": "x", "content_hash": HASH, "token_count": 1}, False, False),
    ],
)
def test_work_is_left_for_a_worker_only_where_something_is_missing(
    jochi: Jochi, row: dict[str, Any], prepare: bool, embed: bool
) -> None:
    assert one(jochi, id="a", **row)["outcome"] == "written"

    found = stored(jochi, "default/a")
    assert ("prepare_due" in found, "embed_due" in found) == (prepare, embed)
    if "embedding" in row:
        assert found["embedding"] == [float(x) for x in row["embedding"]]
        assert found.get("embedding_hash") == row.get("content_hash")
    assert found.get("content_key") == (
        f"default/Belief/{HASH}" if "content_hash" in row and row.get("kind") is None else None
    )


@pytest.mark.exhaustive
def test_embeddings_that_are_off_leave_no_work(
    install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith
) -> None:
    jochi = install_once(policy_with("[embedding]\nenabled = false"))

    one(jochi, id="a", content="x")

    assert "embed_due" not in stored(jochi, "default/a")


def test_a_generated_id_is_told(jochi: Jochi) -> None:
    first, second = call(jochi, [{"kind": "Task"}, {"kind": "Task"}])["results"]

    assert first["key"] != second["key"]
    assert stored(jochi, first["key"])["key"] == first["key"]


def test_apoc_runs_the_stored_body(jochi: Jochi) -> None:
    row = jochi.database.run(
        "MATCH (p:JochiProcedure {name: 'memory/remember'}) CALL apoc.cypher.doIt(p.body, "
        "{in: {now: $when, agent: 'kublai', memories: [{kind: 'Belief', id: 'a', content: 'through APOC'}]}}) "
        "YIELD value RETURN value",
        {"when": NOW},
    )[0]["value"]

    assert (row["written"], row["results"][0]["key"]) == (1, "default/a")
    assert stored(jochi, "default/a")["content"] == "through APOC"


def test_content_known_by_its_hash_reinforces(jochi: Jochi) -> None:
    known = content_hash("The export job has no owner.")
    same = content_hash("the EXPORT job — has no owner!")
    assert known == same
    rows = [
        {"kind": "Belief", "id": "a", "content": "The export job has no owner.", "content_hash": known},
        {"kind": "Belief", "id": "b", "content": "the EXPORT job — has no owner!", "content_hash": same},
        {
            "kind": "Belief",
            "id": "c",
            "scope": "other",
            "content": "The export job has no owner.",
            "content_hash": known,
        },
        {"kind": "Analysis", "id": "d", "content": "The export job has no owner.", "content_hash": known},
        {"kind": "Notification", "id": "e", "content": "The export job has no owner.", "content_hash": known},
        {"kind": "Notification", "id": "f", "content": "The export job has no owner.", "content_hash": known},
    ]
    answer = call(jochi, rows, agent="kublai")

    assert [r["outcome"] for r in answer["results"]] == ["written", "reinforced", *["written"] * 4]
    assert answer["results"][1]["owner"] == "default/a"
    touches = jochi.database.run("MATCH (t:JochiAccess) RETURN properties(t) AS p")
    assert [{**t["p"], "at": t["p"]["at"].to_native()} for t in touches] == [
        {"key": "default/a", "at": NOW, "used": True, "agent": "kublai"}
    ]
    assert "content_key" not in stored(jochi, "default/e")
    assert jochi.database.run("MATCH (m:Curated {key: 'default/b'}) RETURN m") == []
    assert jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"] == 5


def test_the_same_id_again(jochi: Jochi) -> None:
    one(jochi, id="a", content="One thing.", content_hash=content_hash("One thing."), properties={"state": "active"})
    one(jochi, id="empty")

    same = one(jochi, id="a", content="One thing.", properties={"state": "archived"})
    by_hash = one(jochi, id="a", content="one THING", content_hash=content_hash("one THING"))
    other = one(jochi, id="a", content="Another thing.", content_hash=content_hash("Another thing."))
    without = one(jochi, id="a")
    kind = one(jochi, kind="Analysis", id="a", content="One thing.")
    empty = one(jochi, id="empty")

    assert [r["outcome"] for r in (same, by_hash, empty)] == ["reinforced"] * 3
    assert [r["reason"] for r in (other, without, kind)] == ["id_taken"] * 3
    assert stored(jochi, "default/a")["state"] == "active"
    assert stored(jochi, "default/a")["revision"] == 1
    assert everything(jochi) == 2 + 3


def test_twice_in_one_batch(jochi: Jochi) -> None:
    x, y = content_hash("x"), content_hash("y")
    rows = [
        {"kind": "Belief", "id": "a", "content": "x", "content_hash": x},
        {"kind": "Belief", "id": "a", "content": "y", "content_hash": y},  # the id is taken …
        {"kind": "Belief", "id": "b", "content": "y", "content_hash": y},  # … so this is the first y
        {"kind": "Belief", "id": "c", "content": "y", "content_hash": y},
        {"kind": "Belief", "id": "c", "content": "z"},  # c was reinforced elsewhere: the id is free
        {"kind": "Belief", "id": "a", "content": "x", "content_hash": x},
    ]
    results = call(jochi, rows)["results"]

    assert [(r["outcome"], r["reason"], r["owner"]) for r in results] == [
        ("written", None, None),
        ("refused", "id_taken", None),
        ("written", None, None),
        ("reinforced", None, "default/b"),
        ("written", None, None),
        ("reinforced", None, "default/a"),
    ]
    assert stored(jochi, "default/c")["content"] == "z"
    assert "duplicate_of" not in stored(jochi, "default/c")
    assert jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"] == 3


def prune(jochi: Jochi, key: str) -> None:
    jochi.database.run(
        "MATCH (m:Curated {key: $key}) SET m.state = 'archived', m.expires_at = $then, m.next_due = $then, m.created_at = $then",
        {"key": key, "then": NOW - timedelta(days=30)},
    )
    jochi.apply()
    jochi.run("curate_due", drain=True, now=NOW + timedelta(days=1))
    assert jochi.database.run("MATCH (t:Tombstone {key: $key}) RETURN count(t) AS n", {"key": key})[0]["n"] == 1


def test_what_was_pruned_can_be_written_anew(jochi: Jochi) -> None:
    hashed = content_hash("The key is under the mat.")
    row = {"id": "a", "content": "The key is under the mat.", "content_hash": hashed}
    assert one(jochi, **row)["pruned_before"] is False
    prune(jochi, "default/a")

    again = one(jochi, **row)

    assert (again["outcome"], again["pruned_before"]) == ("written", True)
    assert stored(jochi, "default/a")["content_key"] == f"default/Belief/{hashed}"
    assert jochi.restore(["default/a"])[0].outcome == "taken"
    # Under another id, too; then the restored one comes back beside it, without the key of the content.
    jochi.database.run("MATCH (m:Curated {key: 'default/a'}) DETACH DELETE m")
    one(jochi, **{**row, "id": "b"})
    back = jochi.restore(["default/a"])[0]
    assert (back.outcome, back.duplicate_of) == ("restored", "default/b")
    found = stored(jochi, "default/a")
    assert (found.get("content_key"), found["duplicate_of"]) == (None, "default/b")
    assert found["content_hash"] == hashed


def test_a_restored_memory_keeps_the_content_that_nobody_took(jochi: Jochi) -> None:
    hashed = content_hash("Nobody else knows.")
    one(jochi, id="a", content="Nobody else knows.", content_hash=hashed)
    prune(jochi, "default/a")

    back = jochi.restore(["default/a"])[0]

    assert (back.outcome, back.duplicate_of) == ("restored", None)
    assert stored(jochi, "default/a")["content_key"] == f"default/Belief/{hashed}"
    assert "duplicate_of" not in stored(jochi, "default/a")


def test_every_kind_of_the_policy_is_written_under_its_label(jochi: Jochi, test_policy: LoadedPolicy) -> None:
    kinds = sorted(test_policy.policy.labels())
    answer = call(jochi, [{"kind": kind, "id": kind, "content": f"of {kind}"} for kind in kinds])

    assert [(r["key"], r["outcome"]) for r in answer["results"]] == [(f"default/{kind}", "written") for kind in kinds]
    assert {kind: stored(jochi, f"default/{kind}")["labels"] for kind in kinds} == {
        kind: {"Curated", kind} for kind in kinds
    }


@pytest.mark.slow
def test_five_thousand_in_one_statement(jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"kind": "Belief", "id": f"b{i:04}", "content": f"belief {i}", "token_count": 2} for i in range(5_000)]
    first = call(jochi, rows)
    assert (first["written"], first["reinforced"], first["refused"]) == (5_000, 0, 0)
    assert [r["key"] for r in first["results"]] == [f"default/{row['id']}" for row in rows]

    calls = []
    real = jochi.engine.call

    def counted(name: str, *given: Any, **more: Any) -> Any:
        calls.append(name)
        return real(name, *given, **more)

    monkeypatch.setattr(jochi.engine, "call", counted)
    with pytest.raises(UsageError, match=r"batch of 5001"):
        jochi.remember(rows, now=NOW, batch_size=5_001)
    assert calls == []
    again = jochi.remember(rows, now=NOW, batch_size=5_000)
    assert (again.written, again.reinforced, again.refused) == (0, 5_000, 0)
    assert calls == ["memory/remember"]
    assert everything(jochi) == 10_000
