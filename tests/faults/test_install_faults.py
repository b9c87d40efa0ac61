"""What can go wrong with install, upgrade and uninstall: each with a clear word, and a rerun that completes (DESIGN §5, §6)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import pytest
from tests.faults.support import INSTALL, UNINSTALL, job_of, keys, pump_of, remember, within
from tests.own_server import module_server

from jochi import Jochi
from jochi.database.database import Database
from jochi.database.server_facts import ServerFacts, read_facts
from jochi.database.statements import procedures_folder, schema_folder
from jochi.errors import ConnectionFailed, JochiError, Refused
from jochi.install.install import install
from jochi.install.uninstall import uninstall
from jochi.localserver import LocalServer
from jochi.policy import LoadedPolicy

SHIPPED = len(list(schema_folder().glob("V*.cypher")))
"""Migrations that Jochi ships."""

pytestmark = pytest.mark.server


# --- on the shared server -------------------------------------------------------------------------------------------


def test_a_server_older_than_5_26_is_refused_and_nothing_is_written(
    database: Database, test_policy: LoadedPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def old(db: Database) -> ServerFacts:
        return replace(read_facts(db), version="5.25.1")

    monkeypatch.setattr(INSTALL, "read_facts", old)
    with pytest.raises(Refused, match=r"5\.25\.1 is too old: Jochi needs 5\.26"):
        install(database, test_policy)
    assert database.run("MATCH (n) RETURN count(n) AS n") == [{"n": 0}]


@pytest.mark.usefixtures("explained")
@pytest.mark.parametrize("which", ["driver", "doit"])
def test_a_template_that_does_not_compile_changes_nothing_and_the_old_version_runs_on(
    engine: Jochi, arm: Callable[[], None], alone: Callable[[str], None], tmp_path: Path, which: str
) -> None:
    alone("curate_due")
    templates = tmp_path / "procedures"
    shutil.copytree(procedures_folder(), templates)
    broken = templates / "curate/curate_due.cypher.j2"
    # doIt makes a variable of the parameter: another of its name compiles for a driver and fails inside the database.
    old, new = {
        "driver": ("WITH m ORDER BY m.next_due LIMIT", "WITH m ODER BY m.next_due LIMIT"),
        "doit": ("// ==== select ====\n", "// ==== select ====\nCALL () { RETURN 1 AS in }\n"),
    }[which]
    text = broken.read_text(encoding="utf-8")
    assert old in text
    broken.write_text(text.replace(old, new), encoding="utf-8")
    (templates / "scheduler/tick.cypher.j2").write_text("// Kind: engine\nRETURN 1 AS guard\n", encoding="utf-8")
    engine.apply()
    arm()
    before = engine.engine.procedures()
    with pytest.raises(JochiError, match=r"procedure curate/curate_due.* the section select doesn't compile") as caught:
        install(engine.database, engine.policy, templates=templates)
    assert "nothing was stored" in str(caught.value)
    after = engine.engine.procedures()
    assert {name: p.sha256 for name, p in after.items()} == {name: p.sha256 for name, p in before.items()}
    assert pump_of(engine).get("installing_until") is None
    assert set(engine.armed()) == {engine.engine.pump, engine.engine.watch}
    dead = set(remember(engine.database, 3))
    within(15, lambda: keys(engine.database, "Tombstone") == dead, "the old version runs")


def test_an_open_run_is_waited_for_and_a_stuck_one_refused(engine: Jochi) -> None:
    engine.apply()
    clock = pump_of(engine)["last_tick"]
    engine.database.run(
        "MATCH (j:JochiJob {name: 'curate_due'}) SET j.run_open = true, j.lease_until = datetime.realtime() + duration('PT30S')"
    )
    with pytest.raises(Refused, match="still running after 0 s: curate_due"):
        install(engine.database, engine.policy, arm=False, wait_seconds=0)
    assert pump_of(engine).get("installing_until") is None, "the pump goes on"
    with pytest.raises(Refused, match="still running after 0 s: curate_due"):
        uninstall(engine.database, wait_seconds=0)
    assert clock is not None
    engine.database.run(
        "MATCH (j:JochiJob {name: 'curate_due'}) SET j.lease_until = datetime.realtime() + duration('PT1S')"
    )
    assert install(engine.database, engine.policy, arm=False, wait_seconds=30).verdict_changed is False
    assert pump_of(engine)["enabled"] is True, "an uninstall that was refused doesn't keep it stopped"


INSTALLER = """
import os, sys
import neo4j
from importlib import import_module
from pathlib import Path
from jochi import Jochi
from jochi.errors import JochiError
from jochi.policy import load_policy

import_module("jochi.install.install").explain_all = lambda *_: None
auth = (os.environ["TEST_USER"], os.environ["TEST_PASSWORD"])
with neo4j.GraphDatabase.driver(os.environ["TEST_URI"], auth=auth) as driver:
    try:
        result = Jochi(driver, policy=load_policy(Path(os.environ["TEST_POLICY"]))).install()
    except JochiError as error:
        print(error)
        sys.exit(error.exit_code)
print(len(result.migrations_applied))
"""


def test_two_installs_at_once_both_end_well(database: Database, empty_server: Any, test_policy: LoadedPolicy) -> None:
    environment = {
        **os.environ,
        "TEST_URI": empty_server.uri,
        "TEST_USER": empty_server.user,
        "TEST_PASSWORD": empty_server.password,
        "TEST_POLICY": str(test_policy.path),
    }
    both = [
        subprocess.Popen(
            [sys.executable, "-c", INSTALLER],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    ended = [process.communicate(timeout=400) for process in both]
    assert [process.returncode for process in both] == [0, 0], ended
    assert sorted(int(out) for out, _ in ended) == [0, SHIPPED]
    client = Jochi(database.driver)
    assert set(client.armed()) == {client.engine.pump, client.engine.watch}
    assert database.run("MATCH (p:JochiPump) RETURN count(p) AS n") == [{"n": 2}]
    assert database.run("MATCH (p:JochiPolicy) WHERE p.current RETURN count(p) AS n") == [{"n": 1}]
    # Whoever armed last: the pump that is on the list is the one that works.
    client.apply()
    dead = set(remember(database, 3))
    within(20, lambda: keys(database, "Tombstone") == dead, "the database works by itself")


def test_an_uninstall_that_was_stopped_is_finished_by_the_next(
    database: Database, test_policy: LoadedPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Jochi(database.driver, policy=test_policy)
    client.install(arm=False)
    everything = set(remember(database, 30))
    client.apply()
    client.run("curate_due", drain=True)
    assert keys(database, "Tombstone") == everything
    monkeypatch.setattr(UNINSTALL, "PAGE", 7)

    class Killed(BaseException):
        pass

    for stop_at in (
        "taking merges back",
        "releasing the memories",
        "removing the engine's own nodes",
        "dropping",
    ):

        def stop(message: str, at: str = stop_at) -> None:
            if message.startswith(at):
                raise Killed

        with pytest.raises(Killed):
            uninstall(database, on_progress=stop)
    uninstall(database)
    expect_nothing_left(database)
    assert keys(database, "Notification") == everything
    assert len(client.install(arm=False).migrations_applied) == SHIPPED


OURS = (
    "next_due", "last_curated_at", "curation_action", "curation_rails", "curation_failures", "quarantined_until", "hold_until",
    "tombstone",
    "deleted_at", "tombstone_labels", "purge_started_at", "curation_lock",
)  # fmt: skip


def expect_nothing_left(database: Database) -> None:
    labels = {label for row in database.run("MATCH (n) RETURN DISTINCT labels(n) AS l") for label in row["l"]}
    assert {label for label in labels if label.startswith(("Jochi", "Curat", "Tombstone", "__Neo4jMigration"))} == set()
    names = {name for row in database.run("MATCH (n) UNWIND keys(n) AS k RETURN DISTINCT k") for name in [row["k"]]}
    assert names & set(OURS) == set()
    assert database.run("SHOW CONSTRAINTS YIELD name") == []
    assert database.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name") == []


# --- on a server of its own: settings, and a death in the middle -------------------------------------------------------


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    with module_server(request, "install") as made:
        yield made


@pytest.fixture
def started(local: LocalServer) -> Iterator[Callable[..., Database]]:
    """Starts the server anew with settings; the data stays."""
    drivers: list[neo4j.Driver] = []

    def start(**settings: str) -> Database:
        local.stop()
        running = local.start(settings={key.replace("__", "."): value for key, value in settings.items()})
        auth = (running.user, running.password.get_secret_value())
        driver = neo4j.GraphDatabase.driver(running.uri, auth=auth, max_transaction_retry_time=3, connection_timeout=3)
        drivers.append(driver)
        return Database(driver)

    yield start
    for driver in drivers:
        driver.close()


def test_the_server_dies_in_the_middle_and_a_rerun_completes(
    local: LocalServer, started: Callable[..., Database], test_policy: LoadedPolicy
) -> None:
    for at in ("applying migrations", "storing", "arming"):
        database = started()

        def kill(message: str, at: str = at) -> None:
            if message.startswith(at):
                local.kill()

        with pytest.raises(ConnectionFailed) as caught:
            install(database, test_policy, on_progress=kill)
        assert "is it running?" in str(caught.value) or "run the same command again" in str(caught.value)
    database = started()
    result = install(database, test_policy)
    assert result.obstacle is None
    client = Jochi(database.driver)
    assert set(client.armed()) == {client.engine.pump, client.engine.watch}
    assert job_of(client, "curate_due")["enabled"]


def test_a_read_only_database_is_refused(started: Callable[..., Database], test_policy: LoadedPolicy) -> None:
    database = started(server__databases__read_only="neo4j")
    with pytest.raises(Refused, match="the database is read-only") as caught:
        install(database, test_policy)
    assert "default_to_read_only=false" in str(caught.value)


def test_without_apoc_nothing_is_armed_and_run_curates(
    local: LocalServer, started: Callable[..., Database], test_policy: LoadedPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jochi.localserver import jars

    provide = jars.provide
    monkeypatch.setattr(jars, "provide", lambda *a, **k: without_apoc(provide(*a, **k)))
    database = started()
    expect_runs_from_outside(database, test_policy, "APOC Core is not installed")
    with pytest.raises(Refused, match="no APOC procedures"):
        Jochi(database.driver).ensure_jobs()
    assert Jochi(database.driver).armed() == []
    uninstall(database)
    expect_nothing_left(database)


def without_apoc(distribution: Any) -> Any:
    kept = tuple(jar for jar in distribution.class_path if "apoc" not in Path(jar).name)
    return replace(distribution, class_path=kept, apoc=None)


@pytest.mark.parametrize("missing", ["apoc.periodic.repeat", "apoc.periodic.cancel", "apoc.cypher.run"])
def test_a_procedure_that_the_allow_list_refuses_is_named(
    started: Callable[..., Database], test_policy: LoadedPolicy, missing: str
) -> None:
    needed = ["apoc.cypher.doIt", "apoc.cypher.run", "apoc.convert.fromJsonMap", "apoc.util.*"]
    needed += ["apoc.periodic.list", "apoc.periodic.repeat", "apoc.periodic.cancel"]
    allowed = ",".join(name for name in needed if name != missing)
    database = started(dbms__security__procedures__allowlist=allowed)
    expect_runs_from_outside(database, test_policy, f"doesn't let this user call {missing}")


def expect_runs_from_outside(database: Database, policy: LoadedPolicy, obstacle: str) -> None:
    result = install(database, policy)
    assert obstacle in (result.obstacle or "")
    assert result.armed == []
    client = Jochi(database.driver)
    database.run("MATCH (n) WHERE n:Curated OR n:Tombstone OR n:CurationAudit OR n:JochiQuota DETACH DELETE n")
    dead = set(remember(database, 150))
    kept = set(remember(database, 5, name="unread", unread=True))
    client.apply()
    assert {run.status for run in client.run("curate_due", drain=True)} == {
        "ok"
    }  # one, or two where the server was slow
    assert keys(database, "Tombstone") == dead
    assert keys(database, "Curated") == kept
