"""`Jochi.remember()` and `jochi remember`: what Python adds to the procedure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ConstraintError
from tests.conftest import TestServer
from typer.testing import CliRunner

from jochi import Jochi, clock
from jochi.cli.app import app
from jochi.errors import UsageError
from jochi.text.content import content_hash
from jochi.text.tokens import best_counter
from jochi.write.remembering import Link, Memory, Result, SomeRefused, sending

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)


def stored(jochi: Jochi, key: str) -> dict[str, Any]:
    found = jochi.database.run("MATCH (m:Curated {key: $key}) RETURN properties(m) AS p", {"key": key})
    return dict(found[0]["p"])


def count(jochi: Jochi) -> int:
    return int(jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"])


def test_a_model_and_a_mapping_come_with_hash_tokens_and_id(jochi: Jochi) -> None:
    model = Memory(
        kind="Belief",
        content="The export job has no owner.",
        properties={"created_at": "2026-01-02T03:04:05+01:00", "title": "2026-01-02T03:04:05"},
        relationships=[Link(type="EVIDENCE", to="turn")],
    )
    done = jochi.remember([model, {"kind": "MemoryEntry", "id": "turn", "content": "nobody owns it"}], now=NOW)

    assert (done.written, done.reinforced, done.refused, done.refusals) == (2, 0, 0, [])
    key = done.results[0].key
    assert key is not None
    assert [link.outcome for link in done.results[0].relationships] == ["written"]
    found = stored(jochi, key)
    assert found["content_hash"] == content_hash("The export job has no owner.")
    counter = best_counter()
    assert (found["token_count"], found["token_counter"]) == (counter.count(model.content or ""), counter.name)
    assert found["created_at"].to_native() == datetime(2026, 1, 2, 2, 4, 5, tzinfo=timezone.utc)
    assert found["title"] == "2026-01-02T03:04:05"
    assert jochi.remember(model, now=NOW).results[0].owner == key


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"content": "half \ud83d of a pair"}, "not_storable"),
        ({"properties": {"n": 2**63}}, "not_storable"),
        ({"properties": {"n": -(2**63) - 1}}, "not_storable"),
        ({"properties": {"n": object()}}, "not_storable"),
        ({"properties": {"n": {1, 2}}}, "not_storable"),
        ({"properties": {7: 1}}, "unknown_field"),
        ({7: 1}, "unknown_field"),
        ({"embedding": [object()]}, "bad_embedding"),
        ({"properties": {"created_at": "2026-01-02T03:04:05"}}, "local_datetime"),
        ({"properties": {"created_at": "yesterday"}}, "not_a_datetime"),
        ({"properties": {"created_at": "2026-13-02T03:04:05Z"}}, "not_a_datetime"),
        ({"relationships": [{"type": "E", "to": "x", "properties": {"s": {1}}}]}, "not_storable"),
    ],
)
def test_what_the_driver_could_not_send_is_refused_like_the_rest(
    jochi: Jochi, row: dict[Any, Any], reason: str
) -> None:
    done = jochi.remember([{"kind": "Belief"}, {"kind": "Belief", "id": "bad", **row}, {"kind": "Belief"}], now=NOW)

    assert [(r.index, r.outcome, r.reason) for r in done.results] == [
        (0, "written", None),
        (1, "refused", reason),
        (2, "written", None),
    ]
    assert count(jochi) == 2


@pytest.mark.parametrize("memory", [None, 7, "text"])
def test_what_is_no_memory_at_all(jochi: Jochi, memory: Any) -> None:
    assert jochi.remember([memory], now=NOW).results[0].reason == "not_a_map"


def test_byte_strings_are_stored(jochi: Jochi) -> None:
    jochi.remember({"kind": "Belief", "id": "a", "properties": {"raw": b"\x00\x01"}}, now=NOW)

    assert stored(jochi, "default/a")["raw"] == b"\x00\x01"


def test_refused_can_be_raised(jochi: Jochi) -> None:
    rows = [{"kind": "Belief"}, {"kind": "Nonsense", "id": "x"}, {"kind": "Nonsense"}, {"kind": "Belief"}]
    with pytest.raises(SomeRefused, match=r"memory 1 'default/x': refused \(unknown_kind\).* \(and 1 more\)") as caught:
        jochi.remember(rows, now=NOW, on_refused="raise")

    assert (caught.value.exit_code, caught.value.remembered.written, count(jochi)) == (3, 2, 2)


def test_a_stream_is_read_batch_by_batch_and_keeps_no_results(jochi: Jochi) -> None:
    ahead: list[int] = []
    seen: list[Result] = []

    def rows() -> Iterator[dict[str, Any]]:
        for i in range(25):
            ahead.append(i - len(seen))
            yield {"kind": "Task", "id": f"t{i}"}

    done = jochi.remember(rows(), now=NOW, batch_size=5, on_result=seen.append)

    assert (done.written, done.results, len(seen)) == (25, [], 25)
    assert [r.index for r in seen] == list(range(25))
    # One batch on its way and one being made ready.
    assert max(ahead) <= 2 * 5


def test_batches_end_at_their_weight(jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "BATCH_WEIGHT", 100)
    sent: list[int] = []
    real = sending._send
    monkeypatch.setattr(
        sending, "_send", lambda e, batch, *rest: (sent.append(len(batch.found)), real(e, batch, *rest))[1]
    )

    jochi.remember([{"kind": "Task", "id": f"t{i}", "content": "x" * 60} for i in range(6)], now=NOW)

    assert sent == [1] * 6 or sent == [2] * 3
    assert sum(sent) == 6


def test_a_row_that_only_the_server_can_refuse_stands_alone(jochi: Jochi) -> None:
    jochi.database.autocommit("CREATE INDEX of_an_app IF NOT EXISTS FOR (m:Belief) ON (m.title)")
    jochi.database.run("CALL db.awaitIndexes(60)", write=False)
    try:
        rows = [
            {"kind": "Belief", "id": f"b{i}", "properties": {"title": "x" * (20_000 if i == 3 else 5)}}
            for i in range(8)
        ]
        done = jochi.remember(rows, now=NOW)
    finally:
        jochi.database.autocommit("DROP INDEX of_an_app")

    assert [r.index for r in done.results] == list(range(8))
    assert [(r.index, r.reason) for r in done.refusals] == [(3, "server_refused")]
    assert count(jochi) == 7


def test_a_constraint_met_in_a_race_is_tried_again_a_bounded_number_of_times(
    jochi: Jochi, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = jochi.engine.call
    met = 0

    def racing(name: str, parameters: Any, **more: Any) -> Any:
        nonlocal met
        met += 1
        if met < sending.TRIES:
            error = ConstraintError._hydrate_neo4j(
                code="Neo.ClientError.Schema.ConstraintValidationFailed", message="raced"
            )
            raise error
        return real(name, parameters, **more)

    monkeypatch.setattr(jochi.engine, "call", racing)
    assert jochi.remember({"kind": "Belief"}, now=NOW).written == 1
    met = -sending.TRIES
    assert jochi.remember({"kind": "Belief"}, now=NOW).refusals[0].reason == "server_refused"


def test_wrong_calls(jochi: Jochi) -> None:
    with pytest.raises(UsageError, match="batch of 0"):
        jochi.remember([], batch_size=0)
    with pytest.raises(UsageError, match="no zone"):
        jochi.remember([], now=NOW.replace(tzinfo=None))
    assert jochi.remember([], now=NOW).written == 0


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(jochi: Jochi, server: TestServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("JOCHI_URI", server.uri)
    monkeypatch.setenv("JOCHI_USER", server.user)
    monkeypatch.setenv("JOCHI_PASSWORD", server.password)
    monkeypatch.delenv("JOCHI_PASSWORD_FILE", raising=False)
    return lambda *words, **more: CliRunner().invoke(app, ["remember", *words], **more)


def test_one_text(run: Any, jochi: Jochi) -> None:
    first = run("--kind", "Belief", "--id", "a", "--scope", "team", "The export job has no owner.")
    again = run("--kind", "Belief", "--scope", "team", "the export job has no owner")
    assert (first.exit_code, first.stdout.strip()) == (0, "team/a written")
    assert again.exit_code == 0
    assert again.stdout.strip().endswith("reinforced: team/a is known")
    assert count(jochi) == 1


def test_a_refused_text_ends_with_3(run: Any) -> None:
    result = run("--kind", "Nonsense", "text")

    assert result.exit_code == run("--kind", "Nonsense", "text", "--json").exit_code == 3
    assert "memory 0" in result.stderr
    assert "(unknown_kind): the policy has no kind Nonsense" in result.stderr


@pytest.mark.parametrize(
    "words", [[], ["text"], ["--kind", "Note"], ["--file", "-", "text"], ["--file", "-", "--id", "a"]]
)
def test_usage(run: Any, words: list[str]) -> None:
    result = run(*words)

    assert isinstance(result.exception, UsageError)


def test_a_file_and_standard_input(run: Any, jochi: Jochi, tmp_path: Path) -> None:
    soon = (NOW + timedelta(days=1)).isoformat()
    lines = [
        json.dumps({"kind": "Note", "id": "a", "content": "one", "properties": {"expires_at": soon}}),
        "{broken",
        "",
        json.dumps({"kind": "Note", "id": "b", "contents": "two"}),
        json.dumps({"kind": "Note", "id": "c", "content": "three", "relationships": [{"type": "NEXT", "to": "a"}]}),
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines))

    result = run("--file", str(path))
    assert (result.exit_code, result.stdout.strip()) == (3, "2 written, 0 reinforced, 2 refused")
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["memory 1", "memory 2 'default/b'"]
    assert "(not_json)" in result.stderr
    assert "(unknown_field): contents" in result.stderr

    piped = run("--file", "-", "--json", input="\n".join([lines[0], lines[4]]))
    assert piped.exit_code == 0
    assert json.loads(piped.stdout)["reinforced"] == 2


@pytest.mark.parametrize(
    ("given", "more", "said"),
    [
        (None, {}, "memories are none"),
        ("text", {}, "memories are none"),
        ([], {"on_refused": "boo"}, "on_refused is 'boo'"),
    ],
)
def test_what_is_no_memories_is_refused(jochi: Jochi, given: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        jochi.remember(given, **more)


def test_a_clock_before_1990_is_refused(jochi: Jochi) -> None:
    """Seconds taken for milliseconds: such a memory would be born old."""
    memory = {"kind": "Belief", "id": "b", "content": "now"}
    early = datetime(1989, 12, 31, 23, 59, 59, tzinfo=timezone.utc)
    assert [result.reason for result in jochi.remember([memory], now=early).refusals] == ["bad_now"]
    assert jochi.remember([memory], now=early + timedelta(seconds=1)).written == 1


def test_a_now_that_is_too_far_ahead_of_this_machine_is_refused(jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    """The procedure asks no clock, so it would believe any year; the policy says how far ahead is a mistaken unit."""
    monkeypatch.setattr(clock, "now", lambda: NOW)
    ahead = jochi.policy.policy.content.date_ahead
    with pytest.raises(UsageError, match="too far ahead"):
        jochi.remember({"kind": "Belief"}, now=NOW + ahead + timedelta(microseconds=1))
    assert jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"] == 0
    assert jochi.remember({"kind": "Belief"}, now=NOW + ahead).written == 1
