"""Real processes: two installers at once, one killed between applying and recording, locks of the living and the dead.

Needs the fixtures `database` and `empty_server` (attributes uri, user, password; password None: authentication off).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.schema import migrations
from jochi.schema.migrations import Locked, Step
from jochi.schema.migrations.files import read_folder
from jochi.schema.migrations.holder import describe_this_process
from jochi.schema.migrations.lock import held, read_lock
from jochi.schema.migrations.results import ApplyOutcome

pytestmark = pytest.mark.server

# An installer: prints its result, kills itself at one step, or stops there until its standard input closes.
INSTALLER = """
import os, signal, sys
import neo4j
from jochi.schema import migrations
from jochi.database.database import Database
from jochi.errors import JochiError

def on_progress(progress):
    here = f"{progress.step.value} {progress.source}"
    if here == os.environ.get("KILL_AT"):
        os.kill(os.getpid(), signal.SIGKILL)
    if here == os.environ.get("HOLD_AT"):
        print("holding", flush=True)
        sys.stdin.read()

password = os.environ.get("TEST_PASSWORD")
auth = (os.environ["TEST_USER"], password) if password else None
with neo4j.GraphDatabase.driver(os.environ["TEST_URI"], auth=auth) as driver:
    try:
        verb = migrations.repair if os.environ.get("VERB") == "repair" else migrations.apply
        result = verb(
            Database(driver, os.environ["TEST_DATABASE"]),
            wait_for_lock_seconds=float(os.environ["WAIT"]),
            on_progress=on_progress,
        )
    except JochiError as error:
        print(error)
        sys.exit(error.exit_code)
print(result.model_dump_json())
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(database: Database, empty_server: Any) -> Iterator[Start]:
    """Starts an installer as a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def run(wait: float = 30, **environment: str) -> subprocess.Popen[str]:
        secrets = {} if empty_server.password is None else {"TEST_PASSWORD": empty_server.password}
        process = subprocess.Popen(
            [sys.executable, "-c", INSTALLER],
            env={
                **os.environ,
                **secrets,
                **environment,
                "TEST_URI": empty_server.uri,
                "TEST_USER": empty_server.user,
                "TEST_DATABASE": database.name,
                "WAIT": str(wait),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=90)
    assert "Traceback" not in err, err
    return process.returncode, out


def recorded(database: Database) -> list[str]:
    rows = database.run("MATCH ()-[:MIGRATED_TO]->(m:__Neo4jMigration) RETURN m.version AS v ORDER BY v")
    return [row["v"] for row in rows]


VERSIONS = [file.version for file in read_folder(schema_folder()).files]


def test_two_installers_at_once_apply_everything_once(start: Start, database: Database) -> None:
    results = [finish(process) for process in (start(), start(), start())]
    assert [code for code, _ in results] == [0, 0, 0], results
    applied = [entry["version"] for _, out in results for entry in json.loads(out)["applied"]]
    assert sorted(applied) == VERSIONS
    assert recorded(database) == VERSIONS
    assert migrations.validate(database).valid
    assert read_lock(database) is None


def test_the_second_installer_waits_for_the_first(start: Start, database: Database) -> None:
    first = start(HOLD_AT=f"DONE {source(1)}")
    assert first.stdout is not None
    assert first.stdout.readline() == "holding\n"
    seen: list[str] = []

    def on_progress(progress: migrations.Progress) -> None:
        if progress.step is Step.WAITING:
            seen.append(progress.message)
            assert first.stdin is not None
            first.stdin.close()

    result = migrations.apply(database, on_progress=on_progress)
    assert first.wait(timeout=60) == 0
    assert f"process {first.pid} " in seen[0]
    assert result.outcome is ApplyOutcome.NOTHING_TO_DO
    assert recorded(database) == VERSIONS


def test_a_second_installer_that_will_not_wait_leaves_with_a_clear_word(start: Start, database: Database) -> None:
    first = start(HOLD_AT=f"RUNNING {source(1)}")
    assert first.stdout is not None
    first.stdout.readline()
    code, out = finish(start(wait=0))
    assert code == 5
    assert f"process {first.pid} of " in out
    assert "that process is running" in out
    with pytest.raises(Locked, match="and that process is running"):
        migrations.apply(database, break_lock=True)
    held = migrations.listing(database).lock
    assert held is not None
    assert (held.pid, held.package) == (first.pid, "jochi")
    assert finish(first)[0] == 0
    assert recorded(database) == VERSIONS


def test_a_lock_given_back_while_it_is_read_is_free(database: Database) -> None:
    """The other one takes and gives back as fast as it can: some of the reads find the node and no properties any more."""
    done = threading.Event()

    def take_and_release() -> int:
        times = 0
        while not done.is_set():
            times += 1
            with held(database, now=lambda: datetime.now(timezone.utc), wait_seconds=0):
                pass
        return times

    with ThreadPoolExecutor(1) as other:
        times = other.submit(take_and_release)
        try:
            seen = {None if lock is None else lock.pid for lock in (read_lock(database) for _ in range(500))}
        finally:
            done.set()
        assert times.result() > 10
    assert seen == {None, os.getpid()}


def source(number: int) -> str:
    return read_folder(schema_folder()).files[number].source


@pytest.mark.parametrize("step", ["LOCKED None", "RUNNING {}", "DONE {}", "RECORDED {}"])
@pytest.mark.parametrize("number", [pytest.param(0, marks=pytest.mark.exhaustive), 2])
def test_the_run_after_a_killed_one_finishes(start: Start, database: Database, step: str, number: int) -> None:
    killed = start(KILL_AT=step.format(source(number)))
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    left = read_lock(database)
    assert left is not None
    done_before = recorded(database)

    result = migrations.apply(database, wait_for_lock_seconds=0)
    assert f"process {killed.pid} " in result.messages[0]
    assert "that process is gone" in result.messages[0]
    assert [done.version for done in result.applied] == [v for v in VERSIONS if v not in done_before]
    assert recorded(database) == VERSIONS
    assert migrations.validate(database).valid
    assert read_lock(database) is None


def test_killed_between_applying_and_recording_leaves_applied_and_unrecorded(start: Start, database: Database) -> None:
    start(KILL_AT=f"DONE {source(0)}").communicate(timeout=60)
    assert database.run("SHOW CONSTRAINTS YIELD name WHERE name = 'curated_key'") == [{"name": "curated_key"}]
    assert recorded(database) == []


def test_a_lock_of_another_machine_is_never_taken_over_unasked(database: Database) -> None:
    migrations.apply(database)
    database.run(
        "CREATE (l:__Neo4jMigrationsLock {id: 'x', name: 'John Doe', at: datetime('2026-01-02T03:04:05Z')}) "
        "SET l += $holder",
        {"holder": {**describe_this_process(), "host": "far-away", "user": "eve", "pid": 1, "pidSpace": "another"}},
    )
    with pytest.raises(Locked) as caught:
        migrations.apply(database, wait_for_lock_seconds=0)
    text = str(caught.value)
    assert "process 1 of eve on far-away since 2026-01-02T03:04:05+00:00" in text
    assert "jochi engine migrations apply --break-lock" in text
    assert read_lock(database) is not None
    result = migrations.apply(database, wait_for_lock_seconds=0, break_lock=True)
    assert "as ordered" in result.messages[0]
    assert read_lock(database) is None


def test_a_run_whose_lock_was_taken_away_records_nothing(database: Database, tmp_path: Path) -> None:
    def steal(progress: migrations.Progress) -> None:
        if progress.step is Step.DONE:
            database.run("MATCH (l:__Neo4jMigrationsLock) SET l.id = 'somebody else'")

    with pytest.raises(Locked, match="taken away"):
        migrations.apply(database, on_progress=steal)
    assert recorded(database) == []
    left = read_lock(database)
    assert left is not None
    assert left.id == "somebody else"


@pytest.mark.parametrize("step", ["LOCKED", "RUNNING", "RECORDED"])
def test_a_repair_killed_in_the_middle_is_done_wholly_or_not_at_all(
    start: Start, database: Database, step: str
) -> None:
    """RUNNING: everything is written and nothing committed."""

    def record() -> list[dict[str, Any]]:
        return database.run(
            "MATCH (m:__Neo4jMigration) OPTIONAL MATCH (p)-[r:MIGRATED_TO]->(m) RETURN m.version AS version, "
            "m.checksum AS checksum, collect([p.version, r.at]) AS before ORDER BY version, checksum"
        )

    migrations.apply(database)
    whole = record()
    database.run(
        "MATCH (a:__Neo4jMigration {version: '0001'}), (b:__Neo4jMigration {version: '0002'})-[r]->(c) "
        "CREATE (a)-[:MIGRATED_TO {at: datetime('2030-01-01T00:00Z')}]->(c), "
        "(d:__Neo4jMigration {version: '0000', package: 'jochi'})-[:MIGRATED_TO]->(a) SET b.checksum = '1'"
    )
    damaged = record()
    killed = start(VERB="repair", KILL_AT=f"{step} None")
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    # The server notices a moment later that nobody is there, and rolls back.
    result = migrations.repair(database, wait_for_lock_seconds=0)
    if step == "RECORDED":
        assert result.steps == ()
    else:
        assert len(result.steps) == 4
        assert result.messages
    assert damaged != record() == whole
    assert migrations.validate(database).valid
