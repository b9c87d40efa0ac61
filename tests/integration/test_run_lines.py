"""`jochi runs tail` and the lines of workers on a real server. Time is given, and nothing waits."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import pytest

from jochi import Jochi
from jochi.errors import ConnectionFailed
from jochi.operate import run_lines
from jochi.operate.run_lines import LineFormatter, Tail, follow
from jochi_workers.handler import Outcome, Result, Row
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

SECRET = "Zorblatt"


def run(jochi: Jochi, id: str, started: datetime, seconds: float | None = 0.0, job: str | None = None) -> None:
    """A run as the engine leaves it; ``seconds``: how long it took, None: it is open."""
    jochi.database.run(
        "MERGE (r:JochiJobRun {id: $id}) SET r += {job: $job, status: 'ok', batches: 1, selected: 1, changed: 1, "
        "failed_batches: 0, started_at: $started, finished_at: $finished, error: $secret}",
        {
            "id": id,
            "job": job or id.split("/", maxsplit=1)[0],
            "started": started,
            "finished": None if seconds is None else started + timedelta(seconds=seconds),
            "secret": SECRET,
        },
    )


def test_each_run_is_shown_once_in_the_order_of_ending(jochi: Jochi, now: datetime) -> None:
    second, minute = timedelta(seconds=1), timedelta(minutes=1)
    tail = Tail(jochi)

    def shown(at: datetime) -> list[str]:
        return [line.run for line in tail.ended(now=at)]

    run(jochi, "requeue/1", now - 60 * minute)
    run(jochi, "requeue/2", now - 2 * minute)
    run(jochi, "curate_due/1", now - 3 * minute, 150.0)  # began before, ended after
    run(jochi, "hygiene/1", now - 40 * minute, None)  # open for longer than the looks overlap
    run(jochi, "compress/cycle", now - minute, 1.0, job="compress")  # a cycle that isn't over
    assert [line.run for line in tail.last(2, now=now)] == ["requeue/2", "curate_due/1"]
    assert shown(now) == []
    # What began later and ended earlier comes first; what has ended this moment waits for one that may have ended before it.
    run(jochi, "decay_edges/1", now, 20.0)
    run(jochi, "prune_runs/1", now + 5 * second, 5.0)
    run(jochi, "fold_accesses/1", now + 5 * second, 24.9)
    assert shown(now + 30 * second) == ["prune_runs/1", "decay_edges/1"]
    run(jochi, "requeue/3", now + 5 * second, 24.8)  # its transaction was slow
    jochi.database.run(
        "MATCH (r:JochiJobRun) WHERE r.id IN ['prune_runs/1', 'requeue/2'] DELETE r"
    )  # history is pruned
    assert shown(now + 31 * second) == ["requeue/3", "fold_accesses/1"]
    run(jochi, "hygiene/1", now - 40 * minute, 45 * 60.0)
    assert shown(now + 6 * minute) == ["hygiene/1"]
    assert shown(now + 30 * minute) == ["compress/cycle"]
    assert shown(now + 30 * minute) == []


def test_the_database_goes_away_and_comes_back(jochi: Jochi, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken connection itself is tests/faults/test_run_lines.py's."""
    said: list[str] = []
    looks = iter(["", "away", "away", "", ""])
    run(jochi, "requeue/1", now - timedelta(minutes=1))

    class Broken(Tail):
        def ended(self, *, now: datetime | None = None) -> list[run_lines.RunLine]:
            if next(looks) == "away":
                run(jochi, "requeue/2", datetime.now(now.tzinfo if now else None).astimezone() - timedelta(seconds=5))
                raise ConnectionFailed(f"no answer from bolt://neo4j:{SECRET}@host")
            return super().ended(now=now)

    monkeypatch.setattr(run_lines, "Tail", Broken)
    pauses = iter([True] * 5 + [False])
    lines = list(follow(jochi, last=5, pause=lambda: next(pauses), say=said.append))
    assert [line.run for line in lines] == ["requeue/1", "requeue/2"]
    assert said == ["waiting for the database (no connection)", "the database is back"]
    assert SECRET not in "".join(line.as_json() + line.as_text() for line in lines)


class Handler:
    """Works one queue by what the content says."""

    name = "prepare"
    exact = False

    def handle(self, rows: Sequence[Row]) -> Outcome:
        if any("throw" in row["content"] for row in rows):
            raise ValueError(f"can't read {rows[0]['content']}")
        done = [
            Result(
                row["key"],
                {"content_hash": "v2:" + "0" * 64, "token_count": 2, "token_counter": "t", "content": row["content"]},
            )
            for row in rows
            if "fail" not in row["content"]
        ]
        return Outcome(done=done, failed={row["key"]: SECRET for row in rows if "fail" in row["content"]})


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """What a log would get."""
    written: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(LineFormatter(as_json=True).format(record))

    logger, kept = logging.getLogger("jochi.worker"), Kept()
    with caplog.at_level(logging.INFO, "jochi.worker"):
        logger.addHandler(kept)
        yield written
        logger.removeHandler(kept)


def test_a_worker_says_what_each_batch_did_and_never_of_what(jochi: Jochi, now: datetime, lines: list[str]) -> None:
    jochi.database.run(
        "UNWIND $contents AS content CREATE (:Curated:MemoryEntry {key: $secret + '/' + content, scope: $secret, id: content, "
        "content: $secret + content, created_at: $now, prepare_due: $now - duration('PT1M')})",
        {"contents": ["a", "fail"], "secret": SECRET, "now": now},
    )
    Worker(jochi.engine, [Handler()]).run(once=True)  # type: ignore[list-item]
    batch, stop = map(json.loads, lines)
    assert batch["event"] == "batch"
    assert {name: batch[name] for name in ("derivation", "leased", "done", "failed", "put_aside")} == {
        "derivation": "prepare",
        "leased": 2,
        "done": 1,
        "failed": 1,
        "put_aside": 0,
    }
    assert batch["milliseconds"] >= 0
    assert (stop["event"], stop["reason"]) == ("stop", "done")
    jochi.database.run(
        "CREATE (:Curated:MemoryEntry {key: $secret + '/t', scope: $secret, id: 't', content: 'throw ' + $secret, "
        "created_at: $now, prepare_due: $now - duration('PT1M')})",
        {"secret": SECRET, "now": now},
    )
    lines.clear()
    Worker(jochi.engine, [Handler()]).run(once=True)  # type: ignore[list-item]
    assert [json.loads(line)["event"] for line in lines] == ["failed", "batch", "stop"]
    assert json.loads(lines[0])["error"] == "ValueError"
    assert SECRET not in "".join(lines)
