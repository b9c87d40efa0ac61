"""Relationships that come with a remembered memory."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from jochi import Jochi
from jochi.text.content import content_hash

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)


def call(jochi: Jochi, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    memories = [{"kind": "Belief", **row} for row in rows]
    results: list[dict[str, Any]] = jochi.engine.call(
        "memory/remember", {"now": NOW, "agent": None, "memories": memories}
    )["results"]
    return results


def links(jochi: Jochi) -> set[tuple[str, str, str]]:
    rows = jochi.database.run("MATCH (a)-[r]->(b) WHERE a:Curated RETURN a.key AS a, type(r) AS t, b.key AS b")
    assert len(rows) == len({(r["a"], r["t"], r["b"]) for r in rows}), "one is doubled"
    return {(r["a"], r["t"], r["b"]) for r in rows}


def test_to_earlier_later_and_known_memories_in_both_directions(jochi: Jochi) -> None:
    call(jochi, {"id": "known"}, {"id": "far", "scope": "other"})
    results = call(
        jochi,
        {
            "id": "a",
            "relationships": [
                {"type": "EVIDENCE", "to": "known", "properties": {"weight": 0.5, "seen_at": NOW}},
                {"type": "NEXT", "to": "b"},
                {"type": "NEXT", "to": "b", "direction": "in"},
                {"type": "ABOUT", "to_key": "other/far", "direction": "out"},
            ],
        },
        {"id": "b", "relationships": [{"type": "PART_OF", "to": "a"}]},
    )

    assert [link["outcome"] for r in results for link in r["relationships"]] == ["written"] * 5
    assert links(jochi) == {
        ("default/a", "EVIDENCE", "default/known"),
        ("default/a", "NEXT", "default/b"),
        ("default/b", "NEXT", "default/a"),
        ("default/a", "ABOUT", "other/far"),
        ("default/b", "PART_OF", "default/a"),
    }
    properties = jochi.database.run("MATCH ()-[r:EVIDENCE]->() RETURN r.weight AS w, r.seen_at AS s")[0]
    assert (properties["w"], properties["s"].to_native()) == (0.5, NOW)


def test_an_end_that_isnt_there_is_said_and_the_memory_written(jochi: Jochi) -> None:
    call(
        jochi,
        {
            "kind": "Note",
            "id": "gone",
            "properties": {"expires_at": NOW - timedelta(days=40), "created_at": NOW - timedelta(days=60)},
        },
    )
    jochi.apply()
    jochi.run("curate_due", drain=True, now=NOW)
    (result,) = call(
        jochi,
        {"id": "a", "relationships": [{"type": "E", "to": to} for to in ("gone", "nowhere", "a")]},
    )

    assert result["outcome"] == "written"
    assert [(link["to"], link["outcome"]) for link in result["relationships"]] == [
        ("default/gone", "pruned"),
        ("default/nowhere", "unknown"),
        ("default/a", "self"),
    ]
    assert links(jochi) == set()


def test_reinforcing_adds_what_is_new(jochi: Jochi) -> None:
    row = {"id": "a", "content": "x", "content_hash": content_hash("x")}
    call(jochi, {**row, "relationships": [{"type": "E", "to": "b"}]}, {"id": "b"}, {"id": "c"})

    (by_id,) = call(jochi, {**row, "relationships": [{"type": "E", "to": "b"}, {"type": "E", "to": "c"}]})
    (by_content,) = call(
        jochi, {**row, "id": "z", "relationships": [{"type": "F", "to": "b"}, {"type": "E", "to": "a"}]}
    )

    assert [link["outcome"] for link in by_id["relationships"]] == ["already_there", "written"]
    assert [link["outcome"] for link in by_content["relationships"]] == ["written", "self"]
    assert links(jochi) == {
        ("default/a", "E", "default/b"),
        ("default/a", "E", "default/c"),
        ("default/a", "F", "default/b"),
    }


def test_a_relationship_to_a_memory_of_the_batch_whose_content_was_known_leads_to_the_known_one(jochi: Jochi) -> None:
    call(jochi, {"id": "owner", "content": "x", "content_hash": content_hash("x")})
    results = call(
        jochi,
        {"id": "a", "relationships": [{"type": "E", "to": "again"}]},
        {"id": "again", "content": "x", "content_hash": content_hash("x")},
    )

    assert results[0]["relationships"] == [{"type": "E", "to": "default/owner", "outcome": "written"}]
    assert links(jochi) == {("default/a", "E", "default/owner")}


def test_the_same_relationship_twice_in_a_row_is_written_once(jochi: Jochi) -> None:
    (result, _) = call(jochi, {"id": "a", "relationships": [{"type": "E", "to": "b"}] * 2}, {"id": "b"})

    assert [link["outcome"] for link in result["relationships"]] == ["written", "already_there"]
    assert len(links(jochi)) == 1


def test_a_refused_memory_writes_no_relationship(jochi: Jochi) -> None:
    call(jochi, {"id": "a", "content": "x"}, {"id": "b"})
    (result,) = call(jochi, {"id": "a", "content": "y", "relationships": [{"type": "E", "to": "b"}]})

    assert (result["reason"], result["relationships"]) == ("id_taken", [])
    assert links(jochi) == set()


def test_a_tombstone_of_another_scope_and_one_that_leads_here(jochi: Jochi) -> None:
    old = {"expires_at": NOW - timedelta(days=40), "created_at": NOW - timedelta(days=60)}
    call(jochi, {"kind": "Note", "id": "gone", "scope": "other", "properties": old})
    call(jochi, {"kind": "Note", "id": "gone", "properties": old}, {"id": "live", "scope": "other"})
    jochi.apply()
    jochi.run("curate_due", drain=True, now=NOW)
    said = [
        {"type": "E", "to_key": "other/gone"},
        {"type": "E", "to_key": "other/gone", "direction": "in"},
        {"type": "E", "to": "gone", "direction": "in"},
        {"type": "E", "to_key": "other/live", "direction": "in"},
        {"type": "E", "to_key": "other/nowhere", "direction": "in"},
    ]
    (first,) = call(jochi, {"id": "a", "relationships": said})

    assert [(link["to"], link["outcome"]) for link in first["relationships"]] == [
        ("other/gone", "pruned"),
        ("other/gone", "pruned"),
        ("default/gone", "pruned"),
        ("other/live", "written"),
        ("other/nowhere", "unknown"),
    ]
    assert links(jochi) == {("other/live", "E", "default/a")}

    # Written anew: beside its tombstone there is a live one now, and that is meant.
    (again, *_) = call(jochi, {"kind": "Note", "id": "gone", "scope": "other"})
    assert again["pruned_before"] is True
    (second,) = call(jochi, {"id": "b", "relationships": said[:3]})
    assert [link["outcome"] for link in second["relationships"]] == ["written", "written", "pruned"]
    assert links(jochi) == {
        ("other/live", "E", "default/a"),
        ("default/b", "E", "other/gone"),
        ("other/gone", "E", "default/b"),
    }
    assert jochi.database.run("MATCH (t:Tombstone)--(m:Curated) RETURN m.key") == []
