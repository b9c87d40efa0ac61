"""Raw sources come in as they are, once, and workers process them (seed 002, Phases 0 and 1; docs/reference/ingesting.md)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PolicyWith, TestServer, say_go
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import JochiError, UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.text.tokens import Estimate
from jochi.use.sources import unfinished
from jochi.write.ingesting import Fault, Message, Omission, Piece, Source
from jochi.write.ingesting.writer import line_of
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.models import Reply
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)
PROCESS = derivation("process")


@pytest.fixture(scope="session")
def processing(policy_with: PolicyWith) -> Any:
    return policy_with(
        "[ingest]\npart_messages = 20\npart_characters = 2_000\nbatch_characters = 6_000\n[derive.extract]\nderiving = false"
    )


@pytest.fixture
def client(install_once: Any, processing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    ready: Jochi = install_once(processing)
    say_go(ready)
    return ready


def said(n: int, text: str | None = None, **more: Any) -> Message:
    who = ("Ann", "Bob")[n % 2]
    text = text or f"The keeper of the lighthouse painted stair number {n}."
    return Message(more.get("id"), NOW + n * MINUTE, who, text, f'{{"from": "{who}", "text": "{text}"}}')


def talk(messages: Sequence[Message], **source: Any) -> Iterator[Piece]:
    of = Source("conversation", **source)
    return ((of, message) for message in messages)


def workers() -> list[Any]:
    return [PrepareHandler(Estimate()), DeriveHandler(PROCESS, OfflineMaker(PROCESS, Estimate()), Estimate())]


def work(client: Jochi) -> int:
    """Everything that is due, to the end; how many sources were processed."""
    worker = Worker(client.engine, workers())
    worker.run(once=True)
    assert not worker.progress["process"].failed
    return worker.progress["process"].done


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, {"now": NOW, **given})]


def parts(client: Jochi, scope: str = "default") -> list[dict[str, Any]]:
    text = "MATCH (m:Curated:Source {scope: $scope}) RETURN m {.*} AS m ORDER BY m.source_type, m.started_at, m.key"
    return [row["m"] for row in run(client, text, scope=scope)]


def test_the_same_again_is_one_source_and_only_what_is_new_goes_in(client: Jochi) -> None:
    messages = [said(n) for n in range(3)]
    first = client.ingest(talk(messages), now=NOW, properties={"sensitivity": "high"})
    assert (first.sources, first.messages, first.known, first.faulty) == (1, 3, 0, 0)
    [one] = parts(client)
    assert one["content"].splitlines() == [
        f"[2026-06-15 12:0{n}] {who}: The keeper of the lighthouse painted stair number {n}."
        for n, who in enumerate(("Ann", "Bob", "Ann"))
    ]
    assert one["raw_content"] == [message.raw for message in messages]
    assert (one["started_at"], one["ended_at"], one["participants"]) == (NOW, NOW + 2 * MINUTE, ["Ann", "Bob"])
    assert (one["processing_status"], one["state"], one["sensitivity"]) == ("raw", "candidate", "high")
    again = client.ingest(talk(messages, title="renamed"), now=NOW)
    assert (again.sources, again.unchanged, again.messages, again.known) == (0, 1, 0, 3)
    more = client.ingest(talk([*messages, said(3)]), now=NOW)
    assert (more.sources, more.continued, more.messages, more.known) == (0, 1, 1, 3)
    assert again.keys == more.keys == first.keys == [one["key"]]
    [now] = parts(client)
    assert (now["content"].count("stair number 3"), now["ended_at"]) == (1, NOW + 3 * MINUTE)
    assert (len(now["message_ids"]), now["processing_status"]) == (4, "raw")
    # By its own id a source is one, whatever it begins with. What begins alike and goes on otherwise is another; so is
    # another scope's.
    client.ingest(talk([said(7)], id="thread"), now=NOW)
    client.ingest(talk([said(8), said(7)], id="thread"), now=NOW)
    client.ingest(talk([messages[0], said(9)]), now=NOW)
    client.ingest(talk([messages[0], said(9), said(10)]), now=NOW)
    client.ingest(talk(messages), scope="bob", now=NOW)
    assert sorted(len(each["message_ids"]) for each in parts(client)) == [2, 3, 4]
    assert len(parts(client, "bob")) == 1
    # The same words twice, at no known time, were said twice; that is the same when they come again.
    twice = [Message(None, None, None, text, text) for text in ("ok", "so", "ok")]
    assert client.ingest(talk(twice), scope="twice", now=NOW).messages == 3
    assert client.ingest(talk(twice), scope="twice", now=NOW).known == 3


def edited(messages: Sequence[Message], at: int, text: str) -> list[Message]:
    return [replace(each, text=text, raw=text) if n == at else each for n, each in enumerate(messages)]


def test_an_edited_message_takes_the_place_of_the_old_one(client: Jochi) -> None:
    """A message is the same by its id, or by sender and moment where only one of them is there."""
    ids = [replace(said(n), id=f"m{n}") for n in range(3)]
    none = [said(n) for n in range(30, 54)]  # two parts
    untimed = [Message(None, None, None, text, text) for text in ("one", "two", "three")]
    first = [client.ingest(talk(each), now=NOW).keys[0] for each in (ids, none, untimed)]
    work(client)
    made_of = "MATCH (:SourceSummary)-[d:DERIVED_FROM]->(m:Source) RETURN m.key AS key, d.content_hash AS hash"
    hashes = run(client, made_of)
    shorter = edited(ids, 1, "The keeper painted.\nAll of it.")
    later = [*edited(none, 1, "He fell asleep."), said(54)]
    last = edited(none, 23, "It rains.")
    told = [client.ingest(talk(each), now=NOW + MINUTE) for each in (shorter, later, last, ids, none)]
    assert [(one.edited, one.messages, one.known, one.faulty, one.sources) for one in told] == [
        (1, 0, 2, 0, 0),
        (1, 1, 23, 0, 0),
        (1, 0, 23, 0, 0),
        # An older export, in which the messages are as they were, changes nothing.
        (0, 0, 3, 0, 0),
        (0, 0, 24, 0, 0),
    ]
    assert [one.keys for one in told] == [[first[0]], [first[1]], [first[1]], [first[0]], [first[1]]]
    by_key = {each["key"]: each for each in parts(client)}
    one = by_key[first[0]]
    assert one["content"].splitlines()[1:3] == ["[2026-06-15 12:01] Bob: The keeper painted.", "  All of it."]
    assert one["raw_content"] == [*(each.raw for each in ids), "The keeper painted.\nAll of it."]
    state = client.source(first[0])
    assert state is not None
    assert (state.messages, state.state) == (3, "stuck"), "it waits to be prepared, since long ago"
    long = "\n".join(by_key[key]["content"] for key in sorted(by_key) if key.startswith(first[1]))
    assert [long.count(text) for text in ("number 31", "He fell", "number 53", "It rains.")] == [0, 1, 0, 1]
    # What was made of them is made anew.
    assert work(client) == 3
    assert {row["key"] for row in run(client, made_of) if row not in hashes} == by_key.keys() - {first[2]}
    # Without ids and moments nothing tells an edit from another text, nor where two are of one moment.
    assert client.ingest(talk(edited(untimed, 2, "tree")), now=NOW).messages == 3
    two = [said(89), said(90), replace(said(90), text="Twice.", raw="Twice.")]
    assert client.ingest(talk(two), now=NOW).messages == 3
    assert client.ingest(talk(edited(two, 2, "Thrice.")), now=NOW).edited == 0
    # An undo puts the old text back, and the edited export can be taken in again.
    assert told[0].run is not None
    client.undo(told[0].run)
    [back] = [each for each in parts(client) if each["key"] == first[0]]
    assert (back["content"], back["raw_content"]) == (
        "\n".join(line_of(each) for each in ids),
        [each.raw for each in ids],
    )
    assert client.ingest(talk(shorter), now=NOW).edited == 1
    # What a memory can't hold stays as it was, and is named.
    far = client.ingest(talk(edited(ids, 0, "word " * 250_000)), now=NOW)
    assert (far.edited, far.faulty) == (0, 1)


def test_a_source_without_an_id_is_never_taken_for_one_that_is_gone(client: Jochi) -> None:
    def pieces() -> Iterator[Piece]:
        # 200 batches: what is let go behind each may leave its place in memory to the next.
        for n in range(200):
            text = f"Note {n}. " + "x" * 6_000
            yield Source("text-note"), Message(None, None, None, text, text)
            yield Omission("a file", "notice")

    done = client.ingest(pieces(), scope="apart")
    assert (done.sources, done.continued, done.omissions) == (200, 0, {"notice": 200})


def test_what_was_forgotten_comes_back_by_no_edited_and_no_longer_export(client: Jochi) -> None:
    secret = "Zanzibar was where the gold was hidden."
    ids = [replace(said(n), id=f"m{n}") for n in range(3)]
    with_id = [*ids, replace(said(3, secret), id="m3"), replace(said(4), id="m4")]
    without = [*(said(n) for n in range(10, 13)), said(13, secret), said(14)]
    alike = [*without[:3], said(15), said(16)]
    long = [said(n) for n in range(45)]
    client.ingest([*talk(with_id, id="a"), *talk(without), *talk(alike), *talk(long, id="long")], now=NOW)
    client.forget(Request(phrase="Zanzibar", scope="default"))
    assert "Zanzibar" not in str(parts(client))
    for each in parts(client):
        assert len(each["raw_content"]) == len(each["message_ids"]) == len(each["message_versions"])
    for messages, source, more in (
        (with_id, {"id": "a"}, replace(said(20), id="m20")),
        (without, {}, said(20)),
    ):
        told = client.ingest(talk(messages, **source), now=NOW)
        assert (told.edited, told.faulty, told.messages) == (0, 1, 0)
        told = client.ingest(talk([*edited(messages, 3, "I said nothing."), more], **source), now=NOW)
        assert (told.edited, told.faulty, told.messages) == (0, 1, 1)
    assert "I said nothing." not in str(parts(client))
    # A whole one, all parts of it: neither what it said nor what was said since. One that only begins alike may.
    for messages, source in ((with_id, {"id": "a"}), (without, {}), (long, {"id": "long"}), ([said(70)], {})):
        [key] = client.ingest(talk(messages, **source), now=NOW).keys
        client.forget(Request(keys=(key,)))
        for export in (messages, [*messages, replace(said(80), id="m80")], messages[:4]):
            told = client.ingest(talk(export, **source), now=NOW)
            assert (told.messages, told.edited, told.faulty > 0) == (0, 0, True)
        if source == {"id": "a"}:
            assert client.allow_again(Request(keys=(key,))) > len(messages)
            assert client.ingest(talk(ids, **source), now=NOW).messages == 3
    assert client.ingest(talk(alike), now=NOW).known == 5
    assert [each["part"] for each in parts(client)] == [1, 1]


def test_a_long_source_has_parts_that_are_filled_in_turn(client: Jochi) -> None:
    """The policy here: at most 20 messages and 2,000 characters a part; read 6,000 characters at a time."""
    messages = [said(n) for n in range(250)]
    done = client.ingest(talk(messages[:205], id="long", title="Stairs"), now=NOW)
    assert (done.sources, done.continued, done.messages) == (1, 0, 205)
    assert client.ingest(talk(messages, id="long"), now=NOW).messages == 45
    found = parts(client)
    assert [each["part"] for each in found] == list(range(1, len(found) + 1))
    assert all(len(each["content"]) <= 2_000 and len(each["message_ids"]) <= 20 for each in found)
    lines = [line for each in found for line in each["content"].splitlines()]
    assert lines.pop(0) == "# Stairs"
    assert [int(line.rpartition(" ")[2].rstrip(".")) for line in lines] == list(range(250))
    assert max(len(each["message_ids"]) for each in found) in (19, 20)
    # A message that is longer than a part stands alone; one that is longer than a memory may be is left out, and the others go in.
    big, huge = said(1, "word " * 1_000), said(2, "word " * 250_000)
    done = client.ingest(talk([said(0), big, huge, said(3)], id="big"), scope="big", now=NOW)
    assert (done.messages, done.faulty) == (3, 1)
    assert "characters" in done.faults[0].why
    assert [len(each["message_ids"]) for each in parts(client, "big")] == [1, 1, 1]


def test_faults_are_told_and_the_rest_goes_in(client: Jochi) -> None:
    told: list[Fault] = []
    broken = Fault("line 2", "this is no JSON")
    done = client.ingest([*talk([said(0)]), broken, *talk([said(1)])], now=NOW, on_fault=told.append)
    assert told == done.faults == [broken]
    assert (done.messages, done.faulty) == (2, 1)


def test_two_at_once_write_everything_once(client: Jochi) -> None:
    messages = [said(n) for n in range(120)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda n: client.ingest(talk(messages[: 90 + 10 * n], id="both"), now=NOW), range(4)))
    found = [each for part in parts(client) for each in part["message_ids"]]
    assert len(found) == len(set(found)) == sum(each.messages for each in done) == 120


def test_processed_and_again_when_more_comes(client: Jochi) -> None:
    client.ingest(talk([said(n) for n in range(12)], title="Stairs"), now=NOW)
    assert work(client) == 1
    [source] = parts(client)
    assert source["processing_status"] == "processed"
    state = client.source(source["key"])
    assert state is not None
    assert state.summary
    assert (state.state, state.waiting, state.title) == ("processed", (), "Stairs")
    assert "conversation" in state.tags
    assert "lighthouse" in " ".join(state.keywords).lower()
    [summary] = run(client, "MATCH (:Source)-[:SUMMARIZED_TO]->(s:Curated) RETURN s {.*} AS s")
    assert summary["s"]["embed_due"]
    client.ingest(talk([*(said(n) for n in range(12)), said(12, "Then the harbour froze over.")]), now=NOW)
    assert parts(client)[0]["processing_status"] == "raw"
    assert work(client) == 1
    assert parts(client)[0]["processing_status"] == "processed"
    # An undo of the first run takes what it made; the source is as raw as before.
    counts, listed = client.sources(state="processed")
    assert (counts, len(listed)) == ({"processed": 1}, 1)


def test_undo_of_a_run_makes_it_raw_again(client: Jochi) -> None:
    client.ingest(talk([said(n) for n in range(12)]), now=NOW)
    work(client)
    [row] = run(client, "MATCH (a:CurationAudit {action: 'derive'}) RETURN DISTINCT a.run AS run")
    client.undo(row["run"])
    [source] = parts(client)
    assert source["processing_status"] == "raw"
    assert "processing_completed_at" not in source
    assert run(client, "MATCH (s:Curated:SourceSummary) RETURN s.key") == []


def test_forgetting_takes_it_from_text_raw_data_and_summary_and_it_does_not_come_again(client: Jochi) -> None:
    secret = "Zanzibar was where the gold was hidden."
    messages = [*(said(n) for n in range(8)), said(8, secret)]
    client.ingest(talk(messages), now=NOW)
    work(client)
    client.forget(Request(phrase="Zanzibar", scope="default"), verify=True)
    work(client)
    [source] = parts(client)
    assert "Zanzibar" not in str(source)
    assert len(source["raw_content"]) == 8
    assert source["processing_status"] == "processed"
    again = client.ingest(talk([*messages, said(9)], id=None), now=NOW)
    assert (again.messages, "Zanzibar" in str(parts(client))) == (1, False)


def test_what_workers_gave_up_on_is_failed_and_can_be_put_back(
    client: Jochi, server: TestServer, processing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.ingest(talk([said(0)]), now=NOW)
    monkeypatch.setattr(OfflineMaker, "make", lambda *_: Reply(PROCESS.output(summary=" "), 0, 0))
    Worker(client.engine, workers()).run(once=True)
    counts, [found] = client.sources(state="failed")
    assert (counts, [(one.phase, one.error, one.put_aside) for one in found.waiting]) == (
        {"failed": 1},
        [("process", "empty", True)],
    )
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))
    told = CliRunner().invoke(app, ["--policy", str(processing.path), "sources", "retry", found.key])
    assert "1 piece of work" in told.stdout
    assert client.sources()[0] == {"raw": 1}
    run(client, "MATCH (w:JochiWork) SET w.wanted_at = datetime() - duration('P2D')")
    shown = CliRunner().invoke(app, ["--policy", str(processing.path), "sources", "ls", "--json"])
    assert json.loads(shown.stdout)["counts"] == {"stuck": 1}
    assert "harbour" not in CliRunner().invoke(app, ["sources", "show", "default/none"]).stdout


def test_what_stands_still_is_told_by_phase_and_reason(
    client: Jochi, server: TestServer, processing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, hair = NOW + timedelta(days=1), timedelta(milliseconds=1)
    later, done = at + MINUTE, datetime(9999, 1, 1, tzinfo=timezone.utc)
    mark = {"prepare_due": NOW - hair}
    # Of each source what it says and what its work says; then the state, phase and reason.
    cases: list[tuple[dict[str, Any], dict[str, Any], tuple[str, str, str] | None]] = [
        (mark, {}, ("stuck", "prepare", "no worker has taken it")),
        ({"prepare_due": NOW}, {}, None),
        ({}, {"phase": "process", "ready": 1}, ("stuck", "process", "no worker has taken it")),
        ({}, {"phase": "process", "ready": 1, "wanted_at": NOW}, None),
        ({}, {"phase": "extract", "lease": "x", "due": later}, ("stuck", "extract", "a worker has it")),
        ({}, {"phase": "extract", "due": later}, ("stuck", "extract", "a cap or a hold keeps it")),
        ({}, {"phase": "extract", "due": later, "error": "language"}, ("stuck", "extract", "language")),
        ({}, {"phase": "prepare", "due": done}, None),
        ({}, {"phase": "process", "put_aside_at": NOW, "error": "empty"}, ("failed", "process", "empty")),
        (
            {},
            {"phase": "process", "put_aside_at": at, "wanted_at": at, "error": "empty"},
            ("failed", "process", "empty"),
        ),
        ({"tombstone": True}, {"phase": "process", "put_aside_at": NOW, "error": "empty"}, None),
        ({}, {}, None),
    ]
    for number, (own, its, _) in enumerate(cases):
        [key] = client.ingest(talk([said(number)], id=f"s{number}"), now=NOW).keys
        run(client, "MATCH (m:Source {key: $key}) SET m.prepare_due = null SET m += $own", key=key, own=own)
        if its:
            put = {
                "derivation": its["phase"],
                "wanted_at": NOW - hair,
                **its,
                "id": f"{its['phase']}/{key}",
                "key": key,
            }
            run(client, "CREATE (w:JochiWork) SET w = $put", put=put)
    monkeypatch.setattr("jochi.clock.now", lambda: at)
    wanted = Counter(reason for _, _, reason in cases if reason)
    assert {(one.state, one.phase, one.why): one.n for one in unfinished(client.engine)} == wanted
    assert sum(n for state, n in client.sources()[0].items() if state in ("failed", "stuck")) == wanted.total()

    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))

    def told(*arguments: str) -> str:
        return CliRunner().invoke(app, ["--policy", str(processing.path), *arguments]).stdout

    [first, *_] = json.loads(told("status", "--no-tiers", "--json"))["sources"]
    assert [first[name] for name in ("state", "phase", "why", "n")] == ["failed", "process", "empty", 2]
    table = told("status", "--all", "--no-tiers")
    assert "Sources that stand still" in table
    [check] = [one for one in json.loads(told("doctor", "--no-probe", "--json"))["checks"] if one["name"] == "sources"]
    assert (check["level"], check["found"].startswith("2 failed in process: empty")) == ("warn", True)
    assert "`jochi sources retry`" in check["fix"]
    run(client, "MATCH (w:JochiWork) DELETE w")
    run(client, "MATCH (m:Source) REMOVE m.prepare_due")
    assert "Sources that stand still" not in told("status", "--all", "--no-tiers")


def test_files_of_every_kind_through_the_command_line(
    client: Jochi, server: TestServer, processing: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {
        "talk.jsonl": '{"from": "Ann", "text": "The lamp is lit.", "at": "2026-01-05T10:00:00Z"}\nno json\n'
        '{"from": "Bob", "text": "I saw it.", "at": "2026-01-05T10:01:00Z"}\n',
        "mail.eml": "From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: Re: Lamp\nMessage-ID: <2@x>\nReferences: <1@x>\n"
        "Date: Mon, 5 Jan 2026 10:00:00 +0000\n\nThe lamp is lit.\n\n-- \nAnn\n",
        "days/general/2026-01-05.json": '[{"type": "message", "user": "U1", "text": "lit &amp; warm", "ts": "1767607200.000100", '
        '"user_profile": {"display_name": "Ann"}}]',
        "calls/one.vtt": "WEBVTT\n\n00:00.000 --> 00:02.000\n<v Ann>The lamp is lit.\n\n00:03.000 --> 00:04.000\n<v Bob>Good.\n",
        "note.md": "# Lamps\n\nThey are lit at dusk.\n",
    }
    for name, text in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))
    command = [
        "--policy",
        str(processing.path),
        "ingest",
        str(tmp_path / "in"),
        "--scope",
        "alice",
        "--sensitivity",
        "high",
    ]
    told = CliRunner().invoke(app, command)
    assert (told.exit_code, "5 new sources" in told.stdout, "talk.jsonl: line 2" in told.stderr) == (3, True, True)
    found = {each["source_type"]: each for each in parts(client, "alice")}
    assert set(found) == {"conversation", "email", "slack-channel", "transcript", "text-note"}
    assert found["email"]["content"] == "# Lamp\n[2026-01-05 10:00] Ann: The lamp is lit."
    assert found["text-note"]["sensitivity"] == "high"
    renamed = (tmp_path / "in" / "talk.jsonl").rename(tmp_path / "in" / "other.jsonl")
    again = CliRunner().invoke(app, [*command[:3], str(renamed), "--scope", "alice", "--json"])
    said = json.loads(again.stdout)
    assert (said["sources"], said["unchanged"], said["known"], said["faulty"]) == (0, 1, 2, 1)
    assert work(client) == 5
    shown = CliRunner().invoke(app, [*command[:2], "sources", "show", found["email"]["key"]])
    assert "summary: # Lamp" in shown.stdout
    for wrong in (["--zone", "Moon"], ["--sensitivity", "odd"], ["--format", "pdf"]):
        assert isinstance(CliRunner().invoke(app, [*command[:3], str(renamed), *wrong]).exception, UsageError)


def test_a_teams_source_is_each_users_own_who_looks(client: Jochi) -> None:
    messages = [said(n) for n in range(45)]
    [key] = client.ingest(talk(messages[:30], id="standup", title="Standup"), scope="team", now=NOW).keys
    first = client.take_source(key, "alice", now=NOW)
    assert (first.messages, first.known, first.changed) == (30, 0, ())
    assert [each["content"] for each in parts(client, "alice")] == [each["content"] for each in parts(client, "team")]
    assert {each["copy_of"] for each in parts(client, "alice")} == {key}
    client.ingest(talk(messages, id="standup"), scope="team", now=NOW)
    again = client.take_source(key, "alice", now=NOW)
    assert (again.key, again.messages, again.known) == (first.key, 15, 30)
    assert client.take_source(key, "alice", now=NOW).messages == 0
    assert [each["content"] for each in parts(client, "alice")] == [each["content"] for each in parts(client, "team")]
    # Of 50 users two look: what there is, is theirs alone.
    client.take_source(key, "bob", now=NOW)
    rows = run(client, "MATCH (m:Curated:Source) RETURN m.scope AS scope, count(m) AS n ORDER BY scope")
    assert [row["scope"] for row in rows] == ["alice", "bob", "team"]
    assert work(client) == 3 * rows[0]["n"]
    crossing = "MATCH (a:Curated)-[r]->(b:Curated) WHERE a.scope <> b.scope RETURN count(r) AS n"
    assert run(client, crossing) == [{"n": 0}]
    run(client, "MATCH (m:Source {scope: 'alice'}) WHERE m.part = 1 SET m.message_ids = m.message_ids[1..]")
    assert len(client.take_source(key, "alice", now=NOW).changed) == 1
    for wrong in (("team/none", "alice"), (key, "team"), (key, "a/b")):
        with pytest.raises(JochiError):
            client.take_source(*wrong, now=NOW)


def test_an_attached_text_is_marked_and_counted(
    client: Jochi, server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands behind its message, under the name of who attached it, and is no edit of what they said at that moment."""
    words = said(0, "Read this.", id="m0")
    report = Message("m0/attachment-1", words.at, words.sender, "I like granite.\nI live at the quarry.", "{}", True)
    plain = [said(1), said(2), replace(report, id=None, at=said(2).at)]
    done = client.ingest([*talk([words, report], id="a"), *talk(plain)], now=NOW)
    assert (done.messages, done.edited) == (5, 0)
    again = client.ingest([*talk([words, report], id="a"), *talk(plain)], now=NOW)
    assert (again.messages, again.edited, again.known) == (0, 0, 5)
    state = client.source(done.keys[0])
    assert state is not None
    assert (state.messages, state.attachments, state.participants) == (2, 1, ("Ann",))
    edit = client.ingest(talk([words, replace(report, text="I like slate.", raw="[]")], id="a"), now=NOW)
    assert edit.edited == 1
    other = edited(plain, 1, "Read that.")
    assert client.ingest(talk(other), now=NOW).edited == 1
    state = client.source(done.keys[0])
    assert state is not None
    assert (state.messages, state.attachments) == (2, 1)
    [text] = [each["content"] for each in parts(client) if each["key"] == done.keys[0]]
    assert text.splitlines() == [
        "[2026-06-15 12:00] Ann: Read this.",
        "[2026-06-15 12:00] Ann (attachment): I like slate.",
    ]
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))
    shown = CliRunner().invoke(app, ["sources", "show", done.keys[0]])
    assert "of these attachments: 1" in shown.stdout


def test_a_dry_run_says_what_a_run_does_and_writes_nothing(
    client: Jochi, server: TestServer, processing: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def line(message: Message, **more: str) -> str:
        assert message.at is not None
        return json.dumps({"from": message.sender, "text": message.text, "at": message.at.isoformat(), **more})

    def export(name: str, messages: Sequence[Message], **more: str) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(line(each, **more) for each in messages))

    folder = tmp_path / "in"
    long = [said(n) for n in range(60)]  # several batches
    export("known.jsonl", [said(n) for n in range(100, 104)])
    export("thread.jsonl", [said(200), said(201)], conversation_id="thread")
    client.ingest(folder, now=NOW)
    export("known.jsonl", edited([said(n) for n in range(100, 106)], 1, "Nobody painted."))
    export("long.jsonl", long)
    export("again/long.jsonl", [*long, said(60)])
    for name in ("short.jsonl", "short-copy.jsonl"):  # of one batch
        export(name, [said(400)])
    export("begins-alike.jsonl", [*long[:3], said(70), said(71)])
    export("twice.jsonl", long[:2], id="one")
    (folder / "bad.jsonl").write_text(f"{line(said(300))}\nno json\n{line(said(301))}".replace("\\n", "\n"))
    (folder / "tool.py").write_text("print('Ann')")
    (folder / "note.md").write_text("# Stairs\n\nThey are blue.\n")
    before = run(client, "MATCH (n) RETURN count(n) AS n, max(n.updated_at) AS at")
    told = client.ingest(folder, now=NOW, dry_run=True)
    assert run(client, "MATCH (n) RETURN count(n) AS n, max(n.updated_at) AS at") == before
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))
    command = ["--policy", str(processing.path), "ingest", str(folder), "--dry-run"]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 3
    for words in (
        "nothing is written",
        "Stairs",
        f"left out, source code (1): {folder / 'tool.py'}",
        "files were read",
    ):
        assert words in shown.stdout, shown.stdout
    as_json = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert as_json["omitted_files"] == {"source code": {"n": 1, "paths": [str(folder / "tool.py")]}}
    assert run(client, "MATCH (n) RETURN count(n) AS n, max(n.updated_at) AS at") == before
    done = client.ingest(folder, now=NOW)
    assert (told.dry_run, told.run, done.dry_run, bool(done.run), done.preview) == (True, None, False, True, [])
    same = (
        "sources",
        "continued",
        "unchanged",
        "messages",
        "edited",
        "known",
        "faulty",
        "faults",
        "omissions",
        "omitted_files",
        "files",
    )
    assert {name: getattr(told, name) for name in same} == {name: getattr(done, name) for name in same}
    assert (done.edited, done.unchanged, done.continued, done.files_read) == (1, 1, 1, 10)
    assert set(told.keys) == set(done.keys)
    assert [
        sum(each) for each in zip(*((one.messages, one.edited, one.known) for one in told.preview), strict=True)
    ] == [
        *(told.messages, told.edited, told.known - 1),
    ]
    assert {one.title for one in told.preview} >= {"Stairs"}
    assert {(Path(one.path).name, one.format, one.faults) for one in told.files} >= {
        ("note.md", "markdown", 0),
        ("bad.jsonl", "conversation", 1),
    }
