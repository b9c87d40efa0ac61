"""`jochi doctor` on a real server: break one thing, and the doctor names it with a fix that works."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import neo4j
import pytest
import typer
from tests.conftest import say_go
from typer.testing import CliRunner, Result

from jochi import Jochi, clock
from jochi.cli import doctor as command
from jochi.database.database import Database
from jochi.errors import ConnectionFailed
from jochi.jobs.rearm import rearm_line
from jochi.operate.check import Level
from jochi.operate.doctor import Diagnosis, examine
from jochi.schema import migrations

pytestmark = pytest.mark.server

OK, WARN, FAIL, UNKNOWN = Level.OK, Level.WARN, Level.FAIL, Level.UNKNOWN


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command on a client; the connection options are another test's matter."""

    def invoke(client: Jochi, *arguments: str) -> Result:
        @contextmanager
        def connected(_context: object) -> Iterator[Jochi]:
            yield client

        monkeypatch.setattr(command, "jochi", connected)
        app = typer.Typer()
        app.command()(command.doctor)
        return CliRunner().invoke(app, ["--no-probe", *arguments])

    return invoke


def look(client: Jochi, **options: int) -> Diagnosis:
    """Without the experiment, which takes a second."""
    return examine(client, probe=False, **options)


@contextmanager
def broken(client: Jochi, how: str, mend: str) -> Iterator[None]:
    """Breaks something that install made, and mends it for the tests that come after."""
    parameters = {"pump": client.engine.pump}
    client.database.run(how, parameters)
    try:
        yield
    finally:
        client.database.run(mend, parameters)


def memory(client: Jochi, **properties: object) -> None:
    """One memory with just these properties."""
    client.database.run("CREATE (m:Curated:MemoryEntry) SET m = $properties", {"properties": properties})


def arm(client: Jochi) -> None:
    """Arms pump and watch, which the fixture leaves alone."""
    client.database.run("MATCH (p:JochiPump) SET p.armed = true")
    client.ensure_jobs()


def test_before_an_install_it_is_the_preflight(database: Database) -> None:
    found = examine(Jochi(database.driver, database.name))
    assert not found.installed
    assert found.failed == []
    assert (found["installed"].level, found["installed"].fix) == (WARN, "run `jochi install`")
    for name in ("server", "database", "rights", "apoc", "procedures callable", "lock time-out", "language", "clock"):
        assert found[name].level is OK, found[name]
    assert found["threads"].level is OK, found["threads"]
    assert rearm_line() in (found["restart"].fix or "")
    assert database.run("MATCH (n) RETURN count(n) AS n", write=False) == [{"n": 0}]


def test_an_installed_engine_that_is_well(jochi: Jochi) -> None:
    arm(jochi)
    say_go(jochi)
    found = examine(jochi)
    unwell = [check for check in found.checks if check.level is not OK and check.name != "restart"]
    assert unwell == []
    told = found["constraints of apps"].found
    assert "tests_one_ref: unique ref on TESTS_CITES: " in told
    assert "tests_poison_notification: unique poison on Notification: " in told
    assert "TestsOnce" not in told
    assert "curated_key" not in told
    jochi.database.run("CREATE (:Curated:TestsOnce)")
    assert "TestsOnce" in look(jochi)["constraints of apps"].found
    assert len({check.name for check in found.checks}) == len(found.checks)


PROCEDURE = "MATCH (x:JochiProcedure {name: 'curate/%s'}) SET "
PUMP = "MATCH (p:JochiPump {name: $pump}) SET "
REQUEUE = "MATCH (j:JochiJob {name: 'requeue'}) SET "
BROKEN = (
    (
        PROCEDURE % "plan" + "x.was = x.body, x.body = x.body + ' // mine'",
        PROCEDURE % "plan" + "x.body = x.was REMOVE x.was",
    ),
    (PUMP + "p.was = p.claim, p.claim = 'RETURN 1'", PUMP + "p.claim = p.was REMOVE p.was"),
    (REQUEUE + "j.was = j.batch_size, j.batch_size = 7", REQUEUE + "j.batch_size = j.was REMOVE j.was"),
)


def test_what_was_changed_behind_its_back_is_named(jochi: Jochi) -> None:
    changed = ("procedures", "pump texts", "jobs", "failures")
    well = look(jochi)
    assert {well[name].level for name in changed} == {OK}
    jochi.database.run(
        "MATCH (j:JochiJob {name: 'requeue'}) SET j.failures = 3, j.token = coalesce(j.token, 0) + 1 "
        "CREATE (:JochiJobRun {id: 'requeue/' + j.token, job: 'requeue', started_at: datetime(), error: 'out of luck'})"
    )
    with ExitStack() as stack:
        for how, mend in BROKEN:
            stack.enter_context(broken(jochi, how, mend))
        found = look(jochi)
    assert {found[name].level for name in changed} == {FAIL}
    for name, says in (
        ("procedures", "MODIFIED in the database: curate/plan"),
        ("pump texts", f"{jochi.engine.pump}.claim"),
        ("jobs", "requeue.batch_size is 7"),
        ("failures", "out of luck"),
    ):
        assert says in found[name].found
    assert "jochi install" in (found["procedures"].fix or "")
    assert "history requeue" in (found["failures"].fix or "")
    rename = (PROCEDURE % "plan" + "x.name = 'curate/strange'", PROCEDURE % "strange" + "x.name = 'curate/plan'")
    with broken(jochi, *rename):
        check = look(jochi)["procedures"]
    assert (check.level, "MISSING: curate/plan" in check.found) == (FAIL, True)
    with broken(jochi, "CREATE (x:JochiProcedure {name: 'a/b'})", "MATCH (x:JochiProcedure {name: 'a/b'}) DELETE x"):
        check = look(jochi)["procedures"]
    assert (check.level, check.fix) == (WARN, "run `jochi engine procedures prune`")


def test_a_dropped_index_and_a_dropped_constraint(jochi: Jochi) -> None:
    assert look(jochi)["indexes"].level is OK
    jochi.database.autocommit("DROP INDEX curated_next_due")
    jochi.database.autocommit("DROP CONSTRAINT jochi_plan_id")
    check = look(jochi)["indexes"]
    for repair in (check.fix or "").rstrip(";").split("; "):
        jochi.database.autocommit(repair)
    jochi.database.autocommit("CALL db.awaitIndexes(60)")
    assert (check.level, check.found) == (FAIL, "gone: curated_next_due, jochi_plan_id")
    assert look(jochi)["indexes"].level is OK


def test_a_migration_that_is_not_recorded(jochi: Jochi) -> None:
    assert look(jochi)["migrations"].level is OK
    jochi.database.run("MATCH (m:__Neo4jMigration) WHERE NOT (m)-[:MIGRATED_TO]->() DETACH DELETE m")
    check = look(jochi)["migrations"]
    migrations.apply(jochi.database)
    assert (check.level, check.fix) == (FAIL, "run `jochi engine migrations apply`")
    assert look(jochi)["migrations"].level is OK


def test_a_cancelled_pump(jochi: Jochi) -> None:
    assert look(jochi)["pump"].level is WARN
    arm(jochi)
    assert look(jochi)["pump"].level is OK
    for _ in range(20):
        # A tick that was under way when its job was cancelled arms the other one again.
        for name in (jochi.engine.watch, jochi.engine.pump):
            jochi.database.autocommit("CALL apoc.periodic.cancel($name) YIELD name RETURN name", {"name": name})
        check = look(jochi)["pump"]
        if check.level is FAIL:
            break
    assert (check.level, (check.fix or "").startswith("run `jochi jobs arm`")) == (FAIL, True)
    jochi.ensure_jobs()
    assert look(jochi)["pump"].level is OK


def test_the_gate(jochi: Jochi) -> None:
    assert "jochi apply" in (look(jochi)["gate"].fix or "")
    say_go(jochi)
    assert look(jochi)["gate"].level is OK
    jochi.database.run("MATCH (p:JochiPump) SET p.guard = 'the clock went back'")
    check = look(jochi)["gate"]
    assert (check.level, "the clock went back" in check.found, "jochi approve" in (check.fix or "")) == (
        FAIL,
        True,
        True,
    )
    jochi.approve()
    assert look(jochi)["gate"].level is OK


def test_the_mark_of_the_rearming_line(jochi: Jochi) -> None:
    jochi.database.run("MATCH (p:JochiPump) REMOVE p.server_started_at")
    assert look(jochi)["restart"].level is UNKNOWN
    age = "MATCH (p:JochiPump) SET p.was = p.installed_at, p.installed_at = p.installed_at - duration('P30D')"
    with broken(jochi, age, "MATCH (p:JochiPump) SET p.installed_at = p.was REMOVE p.was"):
        check = look(jochi)["restart"]
    assert (check.level, rearm_line() in (check.fix or "")) == (WARN, True)
    mark = "MATCH (p:JochiPump) SET p.server_started_at = datetime.realtime()"
    with broken(jochi, mark, "MATCH (p:JochiPump) REMOVE p.server_started_at"):
        check = look(jochi)["restart"]
    assert check.level is OK


def test_memories_without_a_place_in_the_queue_a_key_or_a_date(jochi: Jochi) -> None:
    now = clock.now()
    memory(jochi, key="default/a", scope="default", id="a", next_due=now, created_at=now)
    memory(jochi, key="default/b", created_at=now)
    memory(jochi, key="default/c", created_at=now, next_due="tomorrow")
    check = look(jochi)["memories"]
    assert check.level is FAIL
    assert "1 without next_due (such as default/b)" in check.found
    assert "1 whose next_due is not a zoned datetime (such as default/c)" in check.found
    assert "default/a" not in check.found
    assert "`jochi jobs run hygiene --drain`" in (check.fix or "")
    assert look(jochi, most_memories=2)["memories"].found.endswith("looked at 2 of 3")
    jochi.run("hygiene", drain=True)
    assert look(jochi)["memories"].level is OK
    memory(jochi, id="nokey", next_due=now, created_at=now)
    memory(jochi, key="default/undated", next_due=now)
    memory(jochi, key="default/local", next_due=now, created_at=neo4j.time.DateTime(2026, 1, 1))
    found = look(jochi)
    assert found["memories"].level is FAIL
    assert "1 without a key (such as nokey)" in found["memories"].found
    assert found["creation times"].level is WARN
    assert "1 without created_at (such as default/undated)" in found["creation times"].found
    assert "1 whose created_at is not a zoned datetime (such as default/local)" in found["creation times"].found


def test_a_policy_that_this_version_cannot_read(jochi: Jochi) -> None:
    edit = "MATCH (p:JochiPolicy) WHERE p.current SET p.was = p.text, p.text = '{}'"
    with broken(jochi, edit, "MATCH (p:JochiPolicy) WHERE p.current SET p.text = p.was REMOVE p.was"):
        found = look(Jochi(jochi.database.driver, jochi.database.name))
    assert (found["policy"].level, "--policy" in (found["policy"].fix or "")) == (FAIL, True)
    assert found["migrations"].level is OK


def test_the_command_says_it_and_ends_with_5(run: Callable[..., Result], jochi: Jochi) -> None:
    well = run(jochi)
    assert well.exit_code == 0, well.output
    assert "ok       server" in well.stdout
    jochi.database.run("MATCH (p:JochiPump) SET p.guard = 'the clock [went] back'")
    ill = run(jochi)
    assert ill.exit_code == 5
    assert "the clock [went] back" in ill.stdout
    assert "jochi approve" in ill.stdout
    as_json = run(jochi, "--json")
    assert as_json.exit_code == 5
    plain = json.loads(as_json.stdout)
    assert plain["failed"] == 1
    assert [check["name"] for check in plain["checks"] if check["level"] == "fail"] == ["gate"]


def test_no_server_is_no_diagnosis() -> None:
    nobody = neo4j.GraphDatabase.driver("bolt://127.0.0.1:1", connection_timeout=1, max_transaction_retry_time=0)
    with nobody as driver, pytest.raises(ConnectionFailed):
        look(Jochi(driver))
