"""Import into a live server. Needs the fixture `database`."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from jochi import Jochi, generate
from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.errors import JochiError, UsageError
from jochi.text.content import content_hash
from jochi.write.importing import ImportResult, MemoryRecord, Progress, Relationship, import_files, write

pytestmark = pytest.mark.server

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
Lines = Callable[..., Path]


@pytest.fixture
def ready(jochi: Jochi) -> Database:
    return jochi.database


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    def write_lines(*items: dict[str, Any] | str, name: str = "memories.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{i if isinstance(i, str) else json.dumps(i)}\n" for i in items), encoding="utf-8")
        return path

    return write_lines


def note(id: str, *to: str, **more: Any) -> dict[str, Any]:
    return {"kind": "Note", "id": id, "relationships": [{"type": "PART_OF", "to": other} for other in to]} | more


def keys(database: Database) -> list[str]:
    return [row["key"] for row in database.run("MATCH (m:Curated) RETURN m.key AS key ORDER BY key")]


def graph(database: Database) -> list[list[Any]]:
    rows = database.run(
        "MATCH (m:Curated) OPTIONAL MATCH (m)-[r]->(o) WITH m, r, o ORDER BY type(r), o.key "
        "RETURN m.key AS key, labels(m) AS labels, properties(m) AS stored, "
        "collect([type(r), properties(r), o.key]) AS links ORDER BY key"
    )
    return [[row["key"], sorted(row["labels"]), row["stored"], row["links"]] for row in rows]


def counts(result: ImportResult) -> tuple[int, int, int, int]:
    return result.written, result.already_there, result.pruned_before, result.bad_count


def test_a_memory_is_stored_as_it_was_given(ready: Database, lines: Lines) -> None:
    path = lines(
        note("b"),
        note(
            "a", "b", content="abcde", created_at="2026-01-02T03:04:05+01:00", agents=["jochi"], x=[1, 2], day_at=None
        ),
    )
    result = import_files(ready, [path], now=NOW)
    assert counts(result) == (2, 0, 0, 0)
    assert result.relationships.written == 1
    created = datetime.fromisoformat("2026-01-02T03:04:05+01:00")
    (key, labels, stored, links), (_, _, other, _) = graph(ready)
    assert (key, labels, links) == ("default/a", ["Curated", "Note"], [["PART_OF", {}, "default/b"]])
    due = dict.fromkeys(("prepare_due", "embed_due", "similar_due"), NOW)
    native = {name: stored.pop(name).to_native() for name in ("created_at", "next_due", *due)}
    assert native == {"created_at": created, "next_due": min(created, NOW), **due}
    assert stored == {
        "key": "default/a",
        "scope": "default",
        "id": "a",
        "content": "abcde",
        "token_count": 2,
        "token_counter": "estimate:chars/4",
        "tier": "HOT",
        "revision": 1,
        "content_hash": content_hash("abcde"),
        "agents": ["jochi"],
        "x": [1, 2],
    }
    assert other["created_at"].to_native() == other["next_due"].to_native() == NOW
    assert ready.run("MATCH (m:Curated) RETURN collect(DISTINCT valueType(m.created_at)) AS t")[0]["t"] == [
        "ZONED DATETIME NOT NULL"
    ]


def test_importing_again_changes_nothing(ready: Database, lines: Lines) -> None:
    path = lines(note("a", "b", "b"), note("b", "a", content="new"))
    import_files(ready, [path], now=NOW)
    ready.run("MATCH (m:Curated {id: 'a'}) SET m.content = 'mine', m.revision = 4")
    before = graph(ready)
    result = import_files(ready, [path], now=NOW + timedelta(days=1))
    assert counts(result) == (0, 2, 0, 0)
    assert (result.relationships.written, result.relationships.already_there) == (0, 2)
    assert result.exit_code == 0
    assert graph(ready) == before


def test_properties_of_relationships_keep_their_types(ready: Database, lines: Lines) -> None:
    at = "2026-01-02T03:04:05+01:00"
    properties = {"seen_at": at, "w": 1.0, "n": 2, "l": ["a"], "at": "x", "ok": True}
    link = {"type": "PART_OF", "to": "b", "properties": properties}
    import_files(ready, [lines(note("a") | {"relationships": [link]}, note("b"))], now=NOW, batch_size=1)
    stored = ready.run("MATCH ()-[r:PART_OF]->() RETURN properties(r) AS p")[0]["p"]
    assert stored == properties | {"seen_at": stored["seen_at"]}
    assert stored["seen_at"].to_native() == datetime.fromisoformat(at)
    assert [type(stored[name]) for name in ("w", "n", "ok")] == [float, int, bool]


def test_a_pruned_memory_stays_pruned_and_its_relationships_are_left_out(ready: Database, lines: Lines) -> None:
    ready.run("CREATE (:Tombstone {key: 'default/a'}), (:Tombstone {key: 'default/a'})")
    result = import_files(ready, [lines(note("a", "b"), note("b", "a"))], now=NOW)
    assert counts(result) == (1, 0, 1, 0)
    assert result.relationships.left_out == 2
    assert keys(ready) == ["default/b"]


def test_a_key_that_was_written_again_after_its_pruning_is_there(ready: Database, lines: Lines) -> None:
    ready.run("CREATE (:Tombstone {key: 'default/a'}), (:Curated:Note {key: 'default/a'})")
    assert counts(import_files(ready, [lines(note("a"))], now=NOW)) == (0, 1, 0, 0)


def test_bad_lines_are_reported_and_the_others_go_in(ready: Database, lines: Lines, tmp_path: Path) -> None:
    path = lines(note("a"), "{", note("b", "nowhere", "a"), note("a"), note("c", pinned="yes"))
    errors = tmp_path / "errors.txt"
    result = import_files(ready, [path], now=NOW, errors=errors)
    assert counts(result) == (2, 0, 0, 4)
    assert result.exit_code == 3
    assert sorted(bad.line or 0 for bad in result.bad_lines) == [2, 3, 4, 5]
    assert "PART_OF leads to 'default/nowhere'" in next(bad.reason for bad in result.bad_lines if bad.line == 3)
    assert result.relationships.written == 1
    assert len(errors.read_text(encoding="utf-8").splitlines()) == 4
    assert import_files(ready, [lines("{")], now=NOW).exit_code == 1


def test_strict_writes_nothing_from_the_first_bad_line_on(ready: Database, lines: Lines) -> None:
    path = lines(note("a", "d"), note("b", "a"), note("c", pinned="yes"), note("d"))
    for size in (1, 5000):
        result = import_files(ready, [path], now=NOW, strict=True, batch_size=size)
        assert keys(ready) == ["default/a", "default/b"]
        assert result.stopped_at is not None
        assert result.stopped_at.line == 3
        assert (result.bad_count, result.exit_code, result.relationships.left_out) == (1, 3, 1)


def test_strict_stops_before_a_line_that_leads_nowhere(ready: Database, lines: Lines) -> None:
    ready.run("CREATE (:Curated:Note {key: 'default/live'}), (:Tombstone {key: 'default/gone'})")
    path = lines(note("a", "live", "gone", "later"), note("b", "nowhere"), note("later"), "{")
    result = import_files(ready, [path], now=NOW, strict=True)
    assert result.stopped_at is not None
    assert result.stopped_at.line == 2
    assert keys(ready) == ["default/a", "default/live"]
    good = import_files(ready, [lines(note("a", "live", "gone", "later"), note("later"))], now=NOW, strict=True)
    assert (good.stopped_at, good.exit_code, good.relationships.written) == (None, 0, 1)


@pytest.mark.parametrize("strict", [False, True])
def test_what_the_server_refuses_is_found_within_its_batch(ready: Database, lines: Lines, strict: bool) -> None:
    ready.autocommit("CREATE CONSTRAINT note_slug IF NOT EXISTS FOR (n:Note) REQUIRE n.slug IS UNIQUE")
    try:
        ready.run("CREATE (:Note {slug: 's5'})")
        path = lines(*(note(f"n{i}", "n0", slug=f"s{i}") for i in range(12)))
        result = import_files(ready, [path], now=NOW, strict=strict)
        assert [bad.line for bad in result.bad_lines] == [6]
        assert "already exists" in result.bad_lines[0].reason
        assert result.written == (5 if strict else 11)
        assert len(keys(ready)) == result.written
        assert result.relationships.written == result.written
    finally:
        ready.run("MATCH (n:Note) DETACH DELETE n")
        ready.autocommit("DROP CONSTRAINT note_slug IF EXISTS")


def test_two_files_hold_the_same_key_and_lead_to_each_other(ready: Database, lines: Lines) -> None:
    first = lines(note("a", "b", content="first"), name="1.jsonl")
    second = lines(note("b"), note("a", content="second"), name="2.jsonl")
    result = import_files(ready, [first, second], now=NOW)
    assert counts(result) == (2, 1, 0, 0)
    assert result.relationships.written == 1
    assert ready.run("MATCH (m:Curated {key: 'default/a'}) RETURN m.content AS c")[0]["c"] == "first"


def test_many_relationships_of_one_memory_over_several_batches(ready: Database, lines: Lines) -> None:
    path = lines(note("hub", *(f"n{i}" for i in range(25))), *(note(f"n{i}", "hub") for i in range(25)))
    for written in (50, 0):
        result = import_files(ready, [path], now=NOW, batch_size=10)
        assert result.relationships.written == written
    assert ready.run("MATCH ()-[r:PART_OF]->() RETURN count(r) AS n")[0]["n"] == 50


def test_relationship_properties_and_types_are_kept(ready: Database) -> None:
    records = [
        MemoryRecord(
            "Note",
            "a",
            "s",
            relationships=(Relationship("PART_OF", "s", "b", {"since_at": NOW}), Relationship("EVIDENCE", "s", "b")),
        ),
        MemoryRecord("Note", "b", "s"),
    ]
    assert write(ready, records, now=NOW).relationships.written == 2
    rows = ready.run("MATCH (:Curated)-[r]->() RETURN type(r) AS type, r.since_at AS since ORDER BY type")
    assert [row["type"] for row in rows] == ["EVIDENCE", "PART_OF"]
    assert rows[1]["since"].to_native() == NOW


@pytest.mark.slow
def test_a_generated_team_is_the_same_written_and_imported(ready: Database, tmp_path: Path) -> None:
    made = list(generate.team(end=NOW, days=5, size=600))
    written = write(ready, made, now=NOW)
    assert (written.written, written.bad_count) == (len(made), 0)
    before = graph(ready)
    path = tmp_path / "team.jsonl"
    generate.write_jsonl(path, made)
    again = import_files(ready, [path], now=NOW)
    assert (again.already_there, again.relationships.written) == (len(made), 0)
    ready.run("MATCH (m:Curated) DETACH DELETE m")
    steps: list[Progress] = []
    import_files(ready, [path], now=NOW, batch_size=100, on_progress=steps.append)
    assert graph(ready) == before
    assert [step.memories for step in steps if step.phase == "memories"][-1] == len(made)
    assert steps[-1].phase == "relationships"
    assert all(0 < step.done <= step.total for step in steps)


def test_nothing_is_read_without_the_constraint_or_with_a_wrong_request(ready: Database, lines: Lines) -> None:
    good = lines(note("a"))
    for wrong in ({"batch_size": 0}, {"batch_size": 5001}, {"errors": good / "no" / "file"}):
        with pytest.raises(UsageError):
            import_files(ready, [good], now=NOW, **wrong)
    with pytest.raises(UsageError, match="can't be read"):
        import_files(ready, [good, good.with_name("missing.jsonl")], now=NOW)
    assert keys(ready) == []
    ready.autocommit("DROP CONSTRAINT curated_key")
    try:
        with pytest.raises(JochiError, match=r"constraint on the keys|not installed"):
            import_files(ready, [good], now=NOW)
    finally:
        ready.autocommit("CREATE CONSTRAINT curated_key IF NOT EXISTS FOR (m:Curated) REQUIRE m.key IS UNIQUE")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("import_memories", {"groups": []}),
        ("import_relationships", {"rows": [], "type": "PART_OF"}),
        ("import_unknown", {"keys": []}),
    ],
)
def test_statements_seek_by_key_on_an_empty_graph(ready: Database, name: str, parameters: dict[str, Any]) -> None:
    """On an empty graph the planner likes scans, and keeps such a plan while an import fills the graph."""
    with ready.driver.session(database=ready.name) as session:
        plan = session.run(f"EXPLAIN {statement(f'memory/{name}')}", parameters).consume().plan
    operators: list[str] = []
    open_plans = [plan]
    while open_plans:
        step = open_plans.pop()
        assert step is not None
        operators.append(step["operatorType"])
        open_plans += step.get("children", [])
    assert not [operator for operator in operators if "Scan" in operator]
