"""`jochi worker` as a process of its own: killed, stopped, without its database, and side by side with others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import neo4j
import pytest
from tests.conftest import TestServer
from tests.faults.cable import Cable

from jochi import Jochi
from jochi.database.database import Database
from jochi.database.engine import Engine
from jochi.errors import ConnectionFailed, JochiError
from jochi.operate.work import status
from jochi.text.tokens import Estimate
from jochi_workers.handler import Outcome, Result, Row
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue
from jochi_workers.worker import Progress, Stop, Worker

# Holds each batch until its process is told to go on, which it never is.
STUCK = """
import sys, time
from jochi_workers import prepare
def handle(self, rows):
    print("holding", len(rows), flush=True)
    while not self._stopping():
        time.sleep(0.02)
    from jochi_workers.handler import Outcome
    return Outcome(returned=[row["key"] for row in rows])
prepare.PrepareHandler.handle = handle
from jochi.cli import main
sys.argv = ["jochi", "worker", "--batch", "50", *sys.argv[1:]]
main()
"""


@pytest.fixture
def environment(server: TestServer, tmp_path: Path) -> dict[str, str]:
    password = tmp_path / "password"
    password.write_text(server.password)
    mine = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD_FILE": str(password)}
    return {**os.environ, **mine}


def fill(database: Database, n: int) -> None:
    database.run(
        "UNWIND range(1, $n) AS i CREATE (:Curated:MemoryEntry {key: 's/m' + i, scope: 's', id: 'm' + i, "
        "content: 'secret ' + i % 60, created_at: $now, "
        " token_count: 2, token_counter: 'estimate:chars/4', prepare_due: $now - duration({minutes: 1})})",
        {"n": n, "now": datetime.now(timezone.utc)},
    )


def counts(database: Database) -> dict[str, int]:
    row = database.run(
        "MATCH (m:Curated) RETURN count(m.content_hash) AS hashed, "
        "count { MATCH (w:JochiWork) WHERE w.lease IS NOT NULL } AS leased, "
        "count(m.content_key) AS owners, count(m.duplicate_of) AS duplicates",
        write=False,
    )[0]
    return dict(row)


def stuck(environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", STUCK, *arguments]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("holding")
    return process


def test_killed_in_the_middle_of_a_batch(jochi: Jochi, environment: dict[str, str]) -> None:
    fill(jochi.database, 120)
    process = stuck(environment)
    process.kill()
    process.communicate()
    assert counts(jochi.database)["leased"] == 50
    Worker(jochi.engine, [PrepareHandler(Estimate())]).run(once=True)
    assert counts(jochi.database)["hashed"] == 70, "a dead worker's lease is nobody else's until it runs out"
    after_the_lease = datetime.now(timezone.utc) + jochi.policy.policy.work.lease
    late = Queue(jochi.engine, "prepare", clock=lambda: after_the_lease)
    batch = late.lease()
    assert len(batch.rows) == 50
    late.finish(batch, PrepareHandler(Estimate()).handle(batch.rows).done)
    assert counts(jochi.database) == {"hashed": 120, "leased": 0, "owners": 60, "duplicates": 60}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_a_signal_gives_its_lease_back(
    jochi: Jochi, environment: dict[str, str], how: signal.Signals
) -> None:
    fill(jochi.database, 120)
    process = stuck(environment)
    process.send_signal(how)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert counts(jochi.database)["leased"] == 0
    assert status(jochi.engine)["prepare"].waiting == 120
    assert "given back" in errors
    assert "secret" not in output + errors


@pytest.mark.parametrize(("how", "left"), [(signal.SIGTERM, 0), (signal.SIGKILL, 1)])
def test_it_shows_itself_while_it_works_and_is_missed_where_it_does_not_end_as_asked(
    jochi: Jochi, environment: dict[str, str], how: signal.Signals, left: int
) -> None:
    fill(jochi.database, 60)
    process = stuck(environment, "--metrics", "0")
    assert process.stderr is not None
    address = next(line for line in process.stderr if line.startswith("metrics: ")).split()[1]
    with urllib.request.urlopen(address.replace("/metrics", "/healthz"), timeout=10) as answer:
        assert answer.status == 200
    with urllib.request.urlopen(address, timeout=10) as answer:
        written = answer.read().decode()
    assert 'jochi_worker_items_total{derivation="prepare",outcome="done"} 0.0' in written
    seen = "MATCH (w:JochiWorker) RETURN w.id AS id, w.derivations AS derivations"
    [row] = jochi.database.run(seen, write=False)
    assert row["id"].endswith(f"/{process.pid}")
    assert "prepare" in row["derivations"]
    process.send_signal(how)
    process.communicate(timeout=60)
    assert len(jochi.database.run(seen, write=False)) == left
    assert "secret" not in written + str(row)


def test_two_processes_share_the_work(jochi: Jochi, environment: dict[str, str]) -> None:
    fill(jochi.database, 400)
    text = "import sys; from jochi.cli import main; sys.argv = ['jochi', *sys.argv[1:]]; main()"
    command = [sys.executable, "-c", text, "worker", "--once", "--batch", "20"]
    both = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert counts(jochi.database) == {"hashed": 400, "leased": 0, "owners": 60, "duplicates": 340}
    assert "secret" not in str(outputs)
    assert "outdated" not in str(outputs)


class Failing:
    """Fails one memory, can't be reached for the first batches, or makes a mistake of its own."""

    name: str = "prepare"
    exact = False

    def __init__(self, outcomes: Sequence[Any]) -> None:
        self._outcomes = list(outcomes)

    def handle(self, rows: Sequence[Row]) -> Outcome:
        outcome = self._outcomes.pop(0) if self._outcomes else PrepareHandler(Estimate()).handle(rows)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome(rows) if callable(outcome) else outcome


def test_what_a_handler_leaves_out_is_given_back(jochi: Jochi) -> None:
    fill(jochi.database, 10)
    down = Outcome(stopped_by=JochiError("the provider is down"), pause=timedelta(seconds=30))
    worker = Worker(jochi.engine, [Failing([down])])
    with pytest.raises(JochiError, match="the provider is down"):
        worker.run(once=True)
    assert status(jochi.engine)["prepare"].waiting == 10
    assert counts(jochi.database)["leased"] == 0


def test_a_pause_is_kept_and_the_worker_goes_on(jochi: Jochi) -> None:
    fill(jochi.database, 10)
    down = Outcome(stopped_by=JochiError("the provider is down"), pause=timedelta(seconds=0.05))
    stop = Stop()
    notes = []

    def on_progress(progress: Any) -> None:
        notes.append(progress["prepare"].note)
        if progress["prepare"].done == 10:
            stop.now()

    Worker(jochi.engine, [Failing([down])], stop=stop, on_progress=on_progress, interval=0.05).run()
    assert notes[0] == "the provider is down"
    assert counts(jochi.database)["hashed"] == 10


def test_a_handlers_own_mistake_counts_as_failures_and_tells_no_content(
    jochi: Jochi, caplog: pytest.LogCaptureFixture
) -> None:
    fill(jochi.database, 3)
    worker = Worker(jochi.engine, [Failing([ValueError("secret 1")])])
    worker.run(once=True)
    assert worker.progress["prepare"].failed == 3
    rows = jochi.database.run("MATCH (w:JochiWork) RETURN collect(DISTINCT w.error) AS errors", write=False)
    assert rows[0]["errors"] == ["ValueError"]
    assert "secret" not in caplog.text


def test_what_the_database_cannot_store_costs_no_other(jochi: Jochi, caplog: pytest.LogCaptureFixture) -> None:
    fill(jochi.database, 5)

    def unsendable(rows: Sequence[Row]) -> Outcome:
        outcome = PrepareHandler(Estimate()).handle(rows)
        for result in outcome.done[1:3]:
            values = {**result.values, "token_count": {"secret": 1} if result is outcome.done[1] else 2**64}
            outcome.done[outcome.done.index(result)] = Result(result.key, values)
        return outcome

    worker = Worker(jochi.engine, [Failing([unsendable])])
    worker.run(once=True)
    progress = worker.progress["prepare"]
    assert (progress.done, progress.failed) == (3, 2)
    assert counts(jochi.database) == {**counts(jochi.database), "hashed": 3, "leased": 0}
    rows = jochi.database.run("MATCH (w:JochiWork) WHERE w.error IS NOT NULL RETURN w.error AS error ORDER BY error")
    assert [row["error"] for row in rows] == ["Neo.ClientError.Statement.TypeError", "UsageError"]
    assert "secret" not in caplog.text


def test_the_database_goes_away_and_comes_back(jochi: Jochi, server: TestServer) -> None:
    """The cable is cut while a batch is in hand: its results are stored once it is whole again, and nothing is lost."""
    fill(jochi.database, 40)
    host, port = server.uri.removeprefix("bolt://").split(":")
    cable = Cable(host, int(port))
    mended: list[Cable] = []
    driver = neo4j.GraphDatabase.driver(
        f"bolt://127.0.0.1:{cable.port}",
        auth=(server.user, server.password),
        max_transaction_retry_time=0.2,
        notifications_min_severity="OFF",
    )

    def cut(rows: Sequence[Row]) -> Outcome:
        cable.cut()
        return PrepareHandler(Estimate()).handle(rows)

    notes: list[str | None] = []
    with driver:
        engine = Engine(Database(driver))

        def on_progress(progress: Mapping[str, Progress]) -> None:
            note = progress["prepare"].note
            notes.append(note)
            if note and not mended:
                mended.append(Cable(host, int(port), listen_on=cable.port))

        Worker(engine, [Failing([cut])], batch=20, on_progress=on_progress).run(once=True)
    mended[0].cut()
    assert any(note and "waiting for the database" in note for note in notes)
    assert notes[-1] is None
    assert counts(jochi.database)["hashed"] == 40


def test_a_stop_while_the_database_is_away(jochi: Jochi) -> None:
    stop = Stop()

    class Away:
        def __getattr__(self, _name: str) -> Any:
            stop.now()
            raise ConnectionFailed("no answer")

    fill(jochi.database, 1)
    worker = Worker(jochi.engine, [PrepareHandler(Estimate())], stop=stop)
    worker._queues["prepare"] = Away()  # type: ignore[assignment]
    worker.run()
    assert counts(jochi.database)["hashed"] == 0
