"""Turns of conversations: buffered, learned from, put into boxes and traces (seed 003, Write Path; docs/reference/observing.md)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from tests.exit_criteria.observing import InTheirTime
from tests.oracle.observing import Boxes, Buffers
from typer.testing import CliRunner

from jochi import Jochi, Turn
from jochi.cli.app import app
from jochi.errors import Refused, UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi.write.observing import Observer
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.extract.names import words
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.derive.learn import Fact, LearningOutput
from jochi_workers.handler import Row
from jochi_workers.models import Reply
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)
LEARN = derivation("learn")
CHATS = Path(__file__).parents[1] / "memory_files" / "chats"
PLAIN, HIGH = "The bus was green today", "I prefer tea"


class Told(OfflineMaker):
    """Learns of each batch what it is told to: by a word of the text, facts and topics."""

    def __init__(self, learned: Callable[[str], LearningOutput]) -> None:
        super().__init__(LEARN, Estimate())
        self.learned = learned

    def make(self, row: Row) -> Reply[Any]:
        return Reply(self.learned(row["inputs"][0]["content"]), 0, 0)


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    return jochi


def hand_on(client: Jochi, now: datetime | None = None) -> None:
    """As the database does by itself every ten seconds."""
    run_job(client.engine, "flush_buffers", now=now or datetime.now(timezone.utc), drain=True)


def work(client: Jochi, learned: Callable[[str], LearningOutput] | None = None) -> int:
    hand_on(client)
    maker = Told(learned) if learned else OfflineMaker(LEARN, Estimate())
    worker = Worker(client.engine, [PrepareHandler(Estimate()), DeriveHandler(LEARN, maker, Estimate())])
    worker.run(once=True)
    assert not worker.progress["learn"].failed, worker.progress["learn"].reasons
    return worker.progress["learn"].done


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, {"now": NOW, **given})]


def batches(client: Jochi) -> list[tuple[str, str, list[str]]]:
    """Of each batch its session, why it was flushed, and the ids of its turns, in the order of time."""
    rows = run(
        client,
        "MATCH (m:Curated:TurnBatch) RETURN m.session AS s, m.flush_reason AS r, m.message_ids AS t ORDER BY m.created_at, m.key",
    )
    return [(row["s"], row["r"], row["t"]) for row in rows]


def observe(client: Jochi, text: str, seconds: float = 0, **turn: Any) -> Any:
    """A turn that is said and observed so many seconds after `NOW`."""
    at = NOW + seconds * SECOND
    return client.observe(Turn(text, **{"at": at, **turn}), now=at)


def test_what_somebody_says_they_will_do_is_an_active_task_until_it_is_long_over(client: Jochi) -> None:
    """At the end of its day, in the zone in which it was said, it is due; what was over for long when it was learned is none."""
    zone = timezone(timedelta(hours=5))
    now = datetime.now(zone)
    said = [
        (now, "I'll send the contract tomorrow."),
        (now, "TODO: renew the domain"),
        (now, "Maybe I'll paint the fence tomorrow."),
        (now - 20 * DAY, "I'll call the dentist tomorrow."),
    ]
    for at, text in said:
        client.observe(Turn(text, session="s", at=at, speaker="Ann"), now=now)
    client.flush(scope="default", now=now)
    work(client)
    rows = run(
        client,
        "MATCH (m:Curated:Task) OPTIONAL MATCH (m)-[:DERIVED_FROM]->(b:TurnBatch) "
        "RETURN m.content AS text, m.status AS status, m.due_at AS due, m.expires_at AS ends, m.derived_by AS by, count(b) AS n "
        "ORDER BY text",
    )
    tomorrow = (now + DAY).date()
    due = datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=zone) + DAY
    assert [(row["text"], row["due"]) for row in rows] == [
        (f"Ann: I'll send the contract tomorrow. ({tomorrow})", due),
        ("Ann: TODO: renew the domain", None),
    ]
    assert {(row["status"], row["by"], row["n"]) for row in rows} == {("pending", "learn", 1)}
    assert [row["ends"] for row in rows] == [due + 14 * DAY, now + 30 * DAY]
    for at, tasks in ((due, 2), (due + 14 * DAY, 1), (now + 30 * DAY, 0)):
        assert sum(entry.section == "tasks" for entry in client.context(at=at).entries) == tasks


@pytest.mark.parametrize("name", ["work_en", "familie_de"])
def test_a_task_stands_for_what_is_said_in_the_same_words(client: Jochi, name: str) -> None:
    """In MEMORY.md and in recall; where it was given up, or has expired, the fact stands again."""
    said = [json.loads(line) for line in (CHATS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    turns = [Turn(one["content"], name, name, one["name"], datetime.fromisoformat(one["at"])) for one in said]
    worker = InTheirTime(client.engine, [PrepareHandler(), DeriveHandler(LEARN, OfflineMaker(LEARN, Estimate()))])
    for _, month in groupby(turns, key=lambda turn: turn.at and turn.at.month):
        for turn in month:
            client.observe(turn, now=turn.at)
        assert turn.at is not None
        client.flush(name, scope=name, now=turn.at)
        hand_on(client, turn.at)
        worker.at = turn.at + MINUTE
        worker.run(once=True)
    now = worker.at

    def shown(at: datetime) -> dict[str, set[str]]:
        entries = client.context(name, max_tokens=50_000, at=at).entries
        return {entry.key: set(words(entry.text)) for entry in entries}

    def doubled(at: datetime) -> list[str]:
        texts = shown(at)
        tasks = [text for key, text in texts.items() if key.startswith(f"{name}/task-")]
        facts = [key for key in texts if key.startswith(f"{name}/fact-")]
        return [key for key in facts if any(texts[key] <= task for task in tasks)]

    assert doubled(now) == []
    pairs = run(
        client,
        "MATCH (t:Task)-[:EVIDENCE]->(f:Fact) WHERE t.expires_at > $at RETURN t.key AS task, f.key AS fact, f.content AS text",
        at=now,
    )
    assert pairs
    for pair in pairs:
        hits = [hit.key for hit in client.recall(pair["text"], scope=name, k=5)]
        assert (pair["task"] in hits, pair["fact"] in hits) == (True, False)
    for status, stands in (("Erledigt", False), ("canceled", True), ("moon", False)):
        run(client, "MATCH (t:Curated:Task) SET t.status = $status", status=status)
        keys = shown(now).keys()
        assert [pair["fact"] in keys for pair in pairs] == [stands] * len(pairs), status
    long_over = max(row["at"] for row in run(client, "MATCH (t:Curated:Task) RETURN t.expires_at AS at"))
    assert {pair["fact"] for pair in pairs} <= shown(long_over).keys()


def test_of_a_chat_only_what_shows_private_data_is_sensitive(client: Jochi) -> None:
    for text in (
        "The Wi-Fi password is blue!whale7",
        "TODO: pay DE89 3704 0044 0532 0130 00",
        "TODO: renew the domain",
        "I live in Riga",
    ):
        client.observe(Turn(text, session="s", at=NOW, speaker="Ann"), now=NOW)
    client.flush(scope="default", now=NOW)
    work(client)
    rows = run(
        client,
        "MATCH (m:Curated) WHERE m:Fact OR m:Task RETURN m.content AS text, m.private_kinds AS kinds, m.access_tier AS tier",
    )
    assert {(row["kinds"] is not None, row["tier"]) for row in rows} == {(True, None), (False, None)}
    assert {kind for row in rows for kind in row["kinds"] or ()} == {"IBAN", "password"}
    assert {row["kinds"] is not None for row in rows if "whale7" in row["text"] or "DE89" in row["text"]} == {True}
    shown = " ".join(entry.text for entry in client.context(at=NOW).entries if not entry.sensitive)
    assert ("whale7" in shown, "DE89" in shown, "renew the domain" in shown) == (False, False, True)


@pytest.mark.parametrize(
    ("text", "outcome"), [("Green busses were late there", "learning"), ("Green busses left early again", "buffered")]
)
def test_what_is_new_in_its_buffer_is_high_where_that_is_asked_for(client: Jochi, text: str, outcome: str) -> None:
    """Of five words three are new, or two; asked for are six tenths. The first turn of a buffer surprises nobody."""
    observer = Observer(client.engine, client.policy.policy.observe.model_copy(update={"surprise": 0.6}))
    told = [observer.observe(Turn(each), now=NOW).outcome for each in ("Those green busses left today", text)]
    assert told == ["buffered", outcome]
    assert client.observe(Turn(text, session="without"), now=NOW).outcome == "buffered"


@pytest.mark.parametrize("seed", range(2))
def test_what_is_buffered_and_when_it_is_learned_from_is_the_oracles(client: Jochi, seed: int) -> None:
    """Turns twice, late and out of order, of several sessions, with jobs between, on and beside each threshold."""
    dice, oracle, now = random.Random(seed), Buffers(), NOW
    said: list[tuple[str, str, str, datetime]] = []
    for n in range(70):
        now += dice.choice([0, 1, 4, 5, 9, 10, 11, 60, 299, 300, 899, 900]) * SECOND
        if dice.random() < 0.15 and said:
            text, session, id, at = dice.choice(said)  # once more
        else:
            text, session, id = dice.choice([PLAIN, PLAIN, PLAIN, HIGH]), dice.choice("ab"), f"t{n}"
            at = now - dice.choice([0, 0, 1, 700]) * SECOND
            said.append((text, session, id, at))
        client.observe(Turn(text, session=session, id=id, at=at), now=now)
        oracle.observe(session, id, at, text == HIGH, now)
        if dice.random() < 0.1:
            now += dice.choice([0, 1, 9, 10, 899, 900]) * SECOND
            hand_on(client, now)
            oracle.job(now)
    hand_on(client, now)
    oracle.job(now)
    assert sorted(batches(client)) == sorted(oracle.flushed)
    assert len({reason for _, reason, _ in oracle.flushed}) > 1
    # What is buffered still: nothing is lost.
    left = run(client, "MATCH (t:JochiTurn) WHERE t.buffer IS NOT NULL RETURN t.buffer AS b, collect(t.turn) AS t")
    assert {row["b"].split("/", 2)[2]: sorted(row["t"]) for row in left} == {
        f"default/{session}": sorted(id for _, _, id in each.turns) for session, each in oracle.open.items()
    }


def test_a_flood_of_high_turns_and_one_session_too_many(client: Jochi) -> None:
    oracle = Buffers()
    for n in range(60):
        now = NOW + n * SECOND
        client.observe(Turn(HIGH, session="flood", id=str(n), at=now), now=now)
        oracle.observe("flood", str(n), now, True, now)
    hand_on(client, now)
    oracle.job(now)
    assert sorted(batches(client)) == sorted(oracle.flushed)
    assert len(oracle.flushed) <= 1 + 60 / 5
    client.flush("flood", now=NOW)
    for n in range(200):
        client.observe(Turn(PLAIN, session=f"s{n:03}"), now=NOW + n * SECOND)
    hand_on(client, NOW + 299 * SECOND)
    assert not [each for each in batches(client) if each[1] == "gave way"]
    told = client.observe(Turn(PLAIN, session="one more"), now=NOW + 300 * SECOND)
    hand_on(client, NOW + 300 * SECOND)
    assert (told.outcome, told.gave_way) == ("buffered", "default/s000")
    assert [each[0] for each in batches(client) if each[1] == "gave way"] == ["s000"]
    [row] = run(client, "MATCH (b:JochiBuffer) WHERE b.opened_at IS NOT NULL RETURN count(b) AS n")
    assert row["n"] == 200


def test_two_writers_on_one_session_and_every_turn_twice(client: Jochi) -> None:
    def write(writer: int) -> list[str]:
        return [
            client.observe(Turn(PLAIN, id=f"{n}", at=NOW + n * SECOND), now=NOW + n * SECOND).outcome for n in range(30)
        ]

    with ThreadPoolExecutor(2) as pool:
        outcomes = [each for part in pool.map(write, range(2)) for each in part]
    assert outcomes.count("known") == 30
    client.flush(now=NOW + MINUTE)
    # The order comes before the job: it hands on what was closed as well, and the last of it ends the session's box.
    handed = run(client, "MATCH (m:TurnBatch) RETURN m.key AS key, m.seal_reason AS ends ORDER BY m.key")
    assert [row["ends"] for row in handed] == [None] * 5 + ["flush"]
    assert run(client, "MATCH (b:JochiBuffer) RETURN b.recent AS keys") == [{"keys": [row["key"] for row in handed]}]
    turns = [turn for _, _, batch in batches(client) for turn in batch]
    assert sorted(turns, key=int) == [str(n) for n in range(30)]
    # That they were seen is let go in the end, and so is the buffer.
    hand_on(client, NOW + 8 * DAY)
    assert run(client, "MATCH (n:JochiTurn|JochiBuffer) RETURN count(n) AS n") == [{"n": 0}]


def test_what_is_no_turn_is_said(client: Jochi) -> None:
    for turn, what in (
        (Turn(" "), "text"),
        (Turn("x" * 100_001), "text"),
        (Turn("half \ud800"), "surrogate"),
        (Turn("x", session=""), "session"),
        (Turn("x", session="s" * 501), "session"),
        (Turn("x", id=""), "id"),
        (Turn("x", at=datetime(2026, 1, 1)), "zone"),  # noqa: DTZ001
        (Turn("x", scope="a/b"), "scope"),
    ):
        with pytest.raises(UsageError, match=what):
            client.observe(turn)


def facts(client: Jochi) -> dict[str, dict[str, Any]]:
    """By their text, without pruned ones."""
    rows = run(client, "MATCH (f:Curated:Fact) RETURN f {.*} AS f")
    return {row["f"]["content"]: row["f"] for row in rows}


def test_facts_with_what_is_known_of_them(client: Jochi) -> None:
    observe(client, "I live in Oslo. Really?", speaker="Ann", id="one")
    observe(client, "We decided to use Postgres from now on.", 20, speaker="Bob", id="two")
    observe(client, "I live in Bergen.", 40, speaker="Ann", id="three")
    assert work(client) == 3
    run_job(client.engine, "settle_slots", now=datetime.now(timezone.utc), drain=True)
    found = facts(client)
    assert {
        text: (f["category"], f["memory_kind"], f["confidence_tier"], f.get("status"), f["message_ids"])
        for text, f in found.items()
    } == {
        "Ann: I live in Oslo.": ("fact", "episode", "explicit", "superseded", ["one"]),
        "Bob: We decided to use Postgres from now on.": ("decision", "note", "explicit", None, ["two"]),
        "Ann: I live in Bergen.": ("fact", "episode", "explicit", "active", ["three"]),
    }
    assert [each.value for each in client.history_of("default", "ann", "home")] == ["Oslo", "Bergen"]
    # The words themselves, what it was learned from, and who made it.
    [row] = run(
        client,
        "MATCH (f:Fact)-[:QUOTES]->(a:Artifact), (f)-[d:DERIVED_FROM]->(b:TurnBatch)<-[:DERIVED_FROM]-(a) "
        "RETURN a.content AS said, f.derived_model AS by, d.content_hash = b.content_hash AS same, b.signal AS signal",
    )
    assert row == {
        "said": "Bob: We decided to use Postgres from now on.",
        "by": "offline",
        "same": True,
        "signal": "high",
    }
    # What lies beneath the fact isn't shown beside it.
    assert [hit.kind for hit in client.recall("Postgres")] == ["Fact"]
    # Nothing is asked twice.
    assert work(client) == 0


def test_what_is_forgotten_goes_from_the_buffer_and_is_not_observed_again(
    client: Jochi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    observe(client, "The bus of Quentin was green", id="1")
    assert observe(client, "I prefer Quentin's bus", session="closed", id="1").outcome == "learning"
    client.forget(Request(phrase="Quentin", scope="default"), verify=True)
    assert run(client, "MATCH (t:JochiTurn) RETURN count(t) AS n") == [{"n": 0}]
    with pytest.raises(Refused, match="forgotten"):
        observe(client, "Quentin again", id="2")
    hand_on(client, NOW)
    assert run(client, "MATCH (b:JochiBuffer) WHERE b.of IS NOT NULL RETURN b.key AS k") == []
    assert client.flush() == []
    assert observe(client, PLAIN, id="3").outcome == "buffered"


SAID = ["C", "C++", "C#", "я люблю чай", "我喜欢茶", "私はお茶が好き", "🎉🎉🎉", "🍵🍵🍵"]


def test_texts_that_only_signs_or_scripts_tell_apart_are_facts_of_their_own_and_the_same_is_one(client: Jochi) -> None:
    """Peers A3: the known bug of an ASCII-only normal form."""

    def learned(_text: str) -> LearningOutput:
        return LearningOutput(facts=tuple(Fact(text=each, confidence=0.8, turn=1) for each in SAID))

    loose = replace(LEARN, faults=lambda *_: ())
    for n in range(2):
        observe(client, f"{HIGH} {' '.join(SAID)}", 60 * n, id=str(n))
        hand_on(client)
        worker = Worker(client.engine, [PrepareHandler(Estimate()), DeriveHandler(loose, Told(learned), Estimate())])
        worker.run(once=True)
        assert worker.progress["learn"].done == 1
    assert sorted(facts(client)) == sorted(SAID)


def test_a_crash_between_what_is_learned_and_what_is_stored_leaves_nothing(
    client: Jochi, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe(client, "I live in Oslo.", speaker="Ann")
    real = client.engine.call_in

    def crash(tx: Any, text: str, parameters: Any) -> Any:
        if text == client.engine.text("derive/learn/store"):
            raise ConnectionResetError
        return real(tx, text, parameters)

    with monkeypatch.context() as patch:
        patch.setattr(client.engine, "call_in", crash)
        with pytest.raises(ConnectionResetError):
            work(client)
    assert facts(client) == {}
    run(client, "MATCH (w:JochiWork) SET w.due = datetime() - duration('PT1S') RETURN 1")  # its lease runs out
    assert work(client) == 1
    assert list(facts(client)) == ["Ann: I live in Oslo."]


def test_what_contradicts_what_is_known(client: Jochi) -> None:
    """Of two notes the newer stands; of an event and another thing nobody can tell."""

    def told(text: str, category: Any) -> LearningOutput:
        return LearningOutput(facts=(Fact(text=text, category=category, confidence=0.8, turn=1),))

    pairs = [
        ("Ann prefers window seats on long trains", "Ann prefers aisle seats on long trains", "preference"),
        ("Bob ran 5 miles on the old bridge", "Bob ran 8 miles on the old bridge", "moment"),
        ("Eve plays the violin in a small band", "Eve cooks soup on the stove at home", "preference"),
    ]
    for n, (before, after, category) in enumerate(pairs):
        for later, text in enumerate((before, after)):
            observe(client, f"{HIGH}: {text}", 100 * n + 20 * later, session=f"{n}")
            client.database.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
            work(client, lambda _, text=text, category=category: told(text, category))
    found = facts(client)
    states = {text: (f["state"], f["verification_state"]) for text, f in found.items()}
    assert [states[text] for pair in pairs for text in pair[:2]] == [
        *(("superseded", "unverified"), ("candidate", "unverified")),
        *(("candidate", "disputed"), ("candidate", "disputed")),
        *(("candidate", "unverified"), ("candidate", "unverified")),
    ]
    # One, or two: workers go by the clock, and a cycle may have ended meanwhile.
    for each in client.runs(limit=50):
        if each.job == "learn":
            client.undo(each.id)
    assert facts(client) == {}
    assert run(client, "MATCH (b:Curated:MemoryBox) RETURN b.key AS k") == []


@pytest.mark.parametrize("seed", [1878, 2418])
def test_boxes_and_traces_are_the_oracles(client: Jochi, seed: int) -> None:
    """Two that come upon each threshold but that of the overlap of topics, which their few words don't reach exactly."""
    dice, oracle, said = random.Random(seed), Boxes(), NOW
    words = [[f"{kind}{n}" for n in range(9)] for kind in ("river", "engine", "violin")]
    about: dict[str, tuple[list[str], int]] = {}
    made = replace(
        LEARN,
        faults=lambda *_: (),
        made=lambda row, output, counter: {**LEARN.made(row, output, counter), "topics": about[row["turns"][0]][0]},  # type: ignore[misc]
    )
    for n in range(12):
        said += dice.choice([1, 60, 1799, 1800, 3 * 86_400, 8 * 86_400]) * SECOND
        topics = dice.sample(dice.choice(words), dice.randint(3, 9)) if dice.random() < 0.9 else []
        about[f"t{n}"] = topics, dice.choice([1, 10, 20])
        keys = [f"{n} and {each} are two" for each in range(about[f"t{n}"][1])]
        client.observe(Turn(HIGH, id=f"t{n}", at=said), now=NOW + n * MINUTE)
        hand_on(client, NOW + n * MINUTE)

        def learned(_text: str, keys: list[str] = keys) -> LearningOutput:
            return LearningOutput(facts=tuple(Fact(text=each, confidence=0.8, turn=1) for each in keys))

        Worker(client.engine, [PrepareHandler(Estimate()), DeriveHandler(made, Told(learned), Estimate())]).run(
            once=True
        )
        oracle.add(topics, keys, said, said)
    client.flush()
    hand_on(client, datetime.now(timezone.utc) + DAY)
    oracle.end("forced")
    rows = run(
        client,
        "MATCH (b:Curated:MemoryBox)-[:IN_TRACE]->(t:Curated:Trace) WHERE b.trace_id = t.id OPTIONAL MATCH (f:Fact)-[:IN_BOX]->(b) "
        "WITH b, t, count(f) AS n ORDER BY b.sealed_at, b.key RETURN b {.*, n: n, trace: t.id, box_count: t.box_count} AS b",
    )
    found = [row["b"] for row in rows]
    traces = list(dict.fromkeys(each["trace"] for each in found))
    assert [
        (b["topics"], b["memory_count"], b["n"], b["seal_reason"], b["sealed_at"], traces.index(b["trace"]) + 1)
        for b in found
    ] == [(b.topics, len(b.memories), len(b.memories), b.reason, b.sealed, b.trace) for b in oracle.all]
    first = client.box_contents(found[0]["key"])
    assert sorted(each.content or "" for each in first.memories) == sorted(oracle.all[0].memories)
    trace = client.box_contents(f"default/{traces[0]}")
    assert [box.key for box in trace.boxes] == [each["key"] for each in found if each["trace"] == traces[0]]


def test_by_the_command_line(client: Jochi, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    cli = CliRunner()

    def call(*given: str, said: str | None = None) -> Any:
        return cli.invoke(app, [*given], input=said)

    assert "signal high, preference" in call("observe", HIGH, "--speaker", "Ann").output
    lines = [json.dumps({"text": PLAIN, "id": str(n)}) for n in range(3)]
    told = call("observe", "-", "--session", "s", "--flush", said="\n".join([*lines, lines[0], "{}", "x"]))
    assert told.exit_code == 3
    assert "4 turns: 3 buffered, 1 known" in told.output
    assert "1 buffer handed on" in told.output
    work(client)
    [row] = run(client, "MATCH (b:MemoryBox {session: 'default'}) RETURN b.key AS key")
    assert "Ann: I prefer tea" in call("recall", "--box", row["key"]).output
    for wrong in (["recall", "--trace", "default/none"], ["recall"], ["observe"]):
        assert isinstance(call(*wrong).exception, UsageError)


def test_what_was_leased_together_is_known_to_what_was_said_later(client: Jochi) -> None:
    """A worker that starts late takes several batches at once: the later one changes what the earlier one says."""
    for session, text in (
        ("monday", "The installation is on 14 March at nine."),
        ("tuesday", "The installation at nine was moved to 16 March."),
    ):
        observe(client, text, session=session, speaker="Lena")
        client.flush(session, now=NOW)
    assert work(client) == 2
    rows = run(client, "MATCH (n:Fact)-[:SUPERSEDES]->(o:Fact) RETURN n.content AS new, o.content AS old, o.state AS s")
    assert rows == [
        {
            "new": "Lena: The installation at nine was moved to 16 March.",
            "old": "Lena: The installation is on 14 March at nine.",
            "s": "superseded",
        }
    ]
