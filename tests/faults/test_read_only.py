"""A server that may not write: its jobs fall silent, everybody says why, and workers go on when it may again (DESIGN §5).

Community has no cluster. A read-only server whose jobs are armed stands for a member that was the leader before.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import timedelta

import neo4j
import pytest
from tests.faults.support import keys, remember, within, write_policy
from tests.own_server import module_server

from jochi import Jochi
from jochi.errors import NotWritable
from jochi.jobs.rearm import rearm_key, rearm_line
from jochi.localserver import LocalServer
from jochi.operate.check import Level
from jochi.operate.doctor import examine
from jochi.operate.status import overview
from jochi_workers.job_armer import JobArmer
from jochi_workers.worker import Stop, Worker

pytestmark = [pytest.mark.server, pytest.mark.timeout(1_500)]  # the server starts three times

POLICY = """
[scheduler]
pump_every = "1s"
watch_every = "2s"
tick_mark = "1s"
[jobs.curate_due]
every = "1s"
"""

NO_LINE = {rearm_key(): ""}
"""So that only a client arms."""
READ_ONLY = {**NO_LINE, "server.databases.default_to_read_only": "true"}

REFUSED = 4
"""Writes at most, however long a run takes: each of the two jobs ends with the run in which the first one is refused. Of the pump
these are its tick, or what arms the watch and its claim; of the watch it is one; and one under way when its job left the list."""
ENTRY = re.compile(rb"^(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.MULTILINE)


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    with module_server(request, "read-only", settings=NO_LINE) as made:
        yield made


@pytest.fixture(scope="module")
def client(local: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jochi]:
    with local.running().driver() as driver:
        made = Jochi(driver, policy=write_policy(tmp_path_factory.mktemp("policy"), POLICY))
        made.install()
        made.apply()
        within(30, lambda: made.jobs(), "it works")
        yield made


def refusals(local: LocalServer) -> list[bytes]:
    """The entries of all logs of the server about a write that it refused, each with its stack trace."""
    logs = [log.read_bytes() for log in local.layout.logs.glob("*.log")]
    return [entry for log in logs for entry in ENTRY.split(log) if b"No write operations are allowed" in entry]


def arm_as_before(client: Jochi) -> None:
    """Puts both on APOC's list as they were, without a write."""
    text = rearm_line().replace("SET p.server_started_at = datetime.realtime() WITH p ", "")
    assert " SET " not in text
    assert client.database.autocommit(text) == [{"armed": 2}]


def test_it_falls_silent_says_why_and_a_worker_goes_on_when_it_may_write_again(
    client: Jochi, local: LocalServer
) -> None:
    local.stop()
    local.start(settings=READ_ONLY)
    assert client.armed() == [], "no line of apoc.conf arms"  # the driver finds out that its connections are gone, too
    before = len(refusals(local))
    arm_as_before(client)
    within(20, lambda: client.armed() == [], "pump and watch end themselves")
    refused = refusals(local)[before:]
    assert 1 <= len(refused) <= REFUSED

    found = overview(client, tiers=False)
    assert found.pump is not None
    assert (found.pump.level, "this server may not write" in found.pump.found) == (Level.FAIL, True)
    told = examine(client, probe=False)
    assert {check.name for check in told.failed} == {"database", "rights", "pump"}
    assert "this server may not write" in told["pump"].found
    with pytest.raises(NotWritable, match="this server may not write: the database is read-only"):
        client.ensure_jobs()
    with pytest.raises(NotWritable):
        client.apply()

    stop, notes = Stop(), list[str | None]()
    worker = Worker(
        client.engine,
        [],
        files=[JobArmer(client.engine, timedelta(seconds=1))],
        interval=0.2,
        stop=stop,
        on_progress=lambda progress: notes.append(progress["jobs"].note),
    )
    working = threading.Thread(target=worker.run)
    working.start()
    try:
        within(20, lambda: any("may not write" in (note or "") for note in notes), "the worker says what it waits for")
        local.stop()
        local.start(settings=NO_LINE)
        within(40, lambda: set(_armed(client)) == {client.engine.pump, client.engine.watch}, "the worker arms them")
    finally:
        stop.now()
        working.join()
    (key,) = remember(client.database, 1, name="after")
    within(30, lambda: key in keys(client.database, "Tombstone"), "it curates again")


def _armed(client: Jochi) -> list[str]:
    try:
        return client.armed()
    except (NotWritable, neo4j.exceptions.DriverError):
        return []


def test_the_watch_of_an_older_generation_does_nothing(client: Jochi) -> None:
    """What a former leader still runs when the new one has armed its own."""
    row = "MATCH (p:JochiPump {name: $n}) RETURN p {.*, pin: null} AS p"
    (found,) = client.database.run(row, {"n": client.engine.watch}, write=False)
    stale = {**found["p"], "generation": found["p"]["generation"] - 1}
    assert client.database.autocommit(stale["body"], stale) == [{"ran": 0}]
    assert client.database.autocommit(found["p"]["body"], found["p"]) == [{"ran": 1}]
