"""Install again, with an edited procedure, with another policy; uninstall (DESIGN §5, §6, §8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from tests.conftest import TestServer
from tests.faults.support import INSTALL, job_of, keys, pump_of, remember, set_job, write_policy
from tests.golden.installed import expect_installed
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.compile.registry import Status
from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.errors import Refused
from jochi.heartbeat import NewTask
from jochi.install.install import as_doit_runs_it, install, prune_procedures, status_of_procedures
from jochi.jobs.rearm import rearm_key, rearm_line
from jochi.jobs.results import Switch
from jochi.policy import LoadedPolicy, load_policy
from jochi.version import __version__, minor_of

IN_A_YEAR = datetime.now(timezone.utc) + timedelta(days=365)
TEST_POLICY = Path(__file__).parents[1] / "policy.toml"
SHIPPED_FILES = list(schema_folder().glob("V*.cypher"))
SHIPPED = len(SHIPPED_FILES)
"""Migrations that Jochi ships."""

pytestmark = pytest.mark.server


@pytest.fixture
def client(database: Database, test_policy: LoadedPolicy) -> Jochi:
    """Freshly installed on an empty database, not armed."""
    made = Jochi(database.driver, policy=test_policy)
    made.install(arm=False)
    return made


def others(client: Jochi) -> dict[str, Status]:
    """Procedures that aren't just as they should be."""
    rows = status_of_procedures(client.database, client.policy)
    return {row.name: row.status for row in rows if row.status is not Status.INSTALLED}


@pytest.mark.slow
def test_the_line_of_a_pin_is_in_the_json_too(
    client: Jochi, empty_server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOCHI_URI", empty_server.uri)
    monkeypatch.setenv("JOCHI_USER", empty_server.user)
    monkeypatch.setenv("JOCHI_PASSWORD", empty_server.password)
    monkeypatch.delenv("JOCHI_PASSWORD_FILE", raising=False)

    def told(*words: str) -> str | None:
        done = CliRunner().invoke(app, ["install", "--no-arm", "--json", *words])
        assert done.exit_code == 0, done.output
        line: str | None = json.loads(done.stdout)["pin_line"]
        return line

    assert told() is None
    line = told("--pin")
    assert line == client.install(arm=False).pin_line, "it stays pinned"
    assert line is not None
    assert line.startswith(f"{rearm_key()}=")
    assert line != f"{rearm_key()}={rearm_line()}"
    assert told() == line
    shown = CliRunner().invoke(app, ["install", "--no-arm"])
    assert line in shown.stdout.splitlines(), "not broken into several"
    assert told("--no-pin") is None


@pytest.mark.exhaustive
def test_a_second_install_renews_and_plans_nothing(
    database: Database, test_policy: LoadedPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[int] = []
    monkeypatch.setattr(INSTALL, "explain_all", lambda _database, procedures, *_: planned.append(len(procedures)))
    before = Jochi(database.driver, policy=test_policy).preview_install()
    assert (before.installed, before.migrations) == (None, tuple(sorted(file.name for file in SHIPPED_FILES)))
    assert database.run("MATCH (n) RETURN count(n) AS n") == [{"n": 0}]
    first = install(database, test_policy, arm=False)
    assert before.procedures.new == tuple(row.name for row in first.procedures)
    assert before.jobs.new == tuple(sorted(test_policy.policy.jobs))
    assert list(before.indexes) == first.indexes
    expect_installed(database)
    assert planned == [len(first.procedures)]
    assert {row.status for row in first.procedures} == {Status.MISSING}
    assert (len(first.migrations_applied), first.needs_apply, first.verdict_changed) == (SHIPPED, True, False)
    client = Jochi(database.driver)
    client.apply()
    job = job_of(client, "curate_due")
    second = install(database, test_policy, arm=False)
    assert planned[1:] == [0]
    assert {row.status for row in second.procedures} == {Status.INSTALLED}
    assert (second.migrations_applied, second.needs_apply, second.verdict_changed) == ([], False, False)
    assert job_of(client, "curate_due") == job
    assert pump_of(client)["applied_at"] is not None
    assert not client.preview_install().changes
    # An engine of the next minor version is left alone; one of the same minor version isn't.
    major, minor = minor_of(__version__)
    for version, refused in ((f"{major}.{minor + 1}.0", True), (f"{major}.{minor}.99", False)):
        database.run("MATCH (p:JochiPump) SET p.version = $version", {"version": version})
        newer = Jochi(database.driver)
        for verb in (newer.preview_install, lambda newer=newer: newer.install(arm=False)):
            with pytest.raises(Refused, match=r"use jochi .* or restore the backup") if refused else nullcontext():
                verb()


@pytest.mark.slow
def test_a_first_install_that_was_stopped_while_it_checked_goes_on(
    database: Database, test_policy: LoadedPolicy, monkeypatch: pytest.MonkeyPatch, without_explain: Callable[..., None]
) -> None:
    """On a version that nobody tried: all is stored, nothing is armed, and what has passed isn't asked again."""
    asked: list[str] = []
    told: list[str] = []

    def explain(_database: Database, name: str, *_: str) -> None:
        if len(asked) >= stop_at:
            raise KeyboardInterrupt
        asked.append(name)

    monkeypatch.setattr(INSTALL, "explain_all", without_explain)
    monkeypatch.setattr(INSTALL, "_explain", explain)
    monkeypatch.setattr(INSTALL, "_AT_ONCE", 1)
    monkeypatch.setattr(INSTALL, "known_to_compile", lambda _facts: frozenset())
    stop_at = 100
    with pytest.raises(KeyboardInterrupt):
        install(database, test_policy, on_progress=told.append)
    client = Jochi(database.driver)
    assert others(client) == {}
    assert pump_of(client)["armed"] is False
    assert client.armed() == []
    passed = {each.name for each in client.engine.procedures().values() if each.checked_on is not None}
    assert 60 < len(passed) < 100
    assert any(line.startswith("checking every statement on this server: ") for line in told)
    asked.clear()
    stop_at = 1000
    install(database, test_policy, arm=False)
    assert not passed & {*asked}
    assert passed | {*asked} >= {name for name in client.engine.procedures() if not name.startswith("scheduler/")}
    assert all(each.checked_on for each in Jochi(database.driver).engine.procedures().values())


@pytest.mark.slow
def test_an_edited_procedure_is_modified_and_install_puts_it_right(client: Jochi) -> None:
    client.database.run("MATCH (x:JochiProcedure {name: 'curate/curate_due'}) SET x.act = x.act + '// mine'")
    client.database.run("MATCH (x:JochiProcedure {name: 'curate/plan'}) DELETE x")
    client.database.run("CREATE (:JochiProcedure {name: 'old/one', body: 'RETURN 1', sha256: 'x'})")
    assert others(client) == {
        "curate/curate_due": Status.MODIFIED,
        "curate/plan": Status.MISSING,
        "old/one": Status.PRUNE,
    }
    row = next(r for r in status_of_procedures(client.database, client.policy) if r.name == "curate/curate_due")
    assert row.installed is not None
    assert row.wanted is not None
    assert row.installed.text == row.wanted.text + "// mine"
    client.install(arm=False)
    assert others(client) == {"old/one": Status.PRUNE}
    assert prune_procedures(client.database, client.policy) == ["old/one"]
    assert others(client) == {}


@pytest.mark.slow
def test_an_upgrade_keeps_what_people_and_jobs_did_and_removes_what_the_policy_dropped(
    client: Jochi, tmp_path: Path
) -> None:
    client.pause(Switch("job", "purge_tombstones"))
    client.run("prune_runs")
    token = job_of(client, "prune_runs")["token"]
    extra = (
        '[jobs.more]\nprocedure = "jobs/prune_runs"\nevery = "1h"\nbudget = "1s"\n'
        "batch_size = 1\nmax_batches = 1\ndestructive = false\n"
    )
    policy = write_policy(tmp_path, extra + '[jobs.more.parameters]\nold = 1\nboth = "a"\n', "first")
    Jochi(client.database.driver, policy=policy).install(arm=False)
    assert {"p_old": 1, "p_both": "a"}.items() <= job_of(client, "more").items()
    assert job_of(client, "purge_tombstones")["paused_at"] is not None
    assert job_of(client, "prune_runs")["token"] == token

    set_job(client, "more", failures=9, next_start=job_of(client, "more")["next_start"], token=7)
    policy = write_policy(tmp_path, extra.replace("1h", "2h") + "[jobs.more.parameters]\nboth = 2\n", "second")
    Jochi(client.database.driver, policy=policy).install(arm=False)
    stored = job_of(client, "more")
    assert "p_old" not in stored
    assert (stored["p_both"], stored["every_s"], stored["token"], stored["failures"]) == (2, 7200, 7, 9)

    more = Jochi(client.database.driver)
    assert more.run("more")[0].id == "more/8"
    client.install(arm=False)
    assert {job.name for job in client.jobs()} == set(client.policy.policy.jobs)
    assert job_of(client, "purge_tombstones")["paused_at"] is not None
    assert client.resume(Switch("job", "purge_tombstones"))
    # A job that comes back after it was gone: its old runs are still there, and ids are unique.
    Jochi(client.database.driver, policy=policy).install(arm=False)
    assert more.run("more")[0].id == "more/9"


@pytest.mark.slow
def test_a_policy_that_judges_otherwise_closes_the_gate_and_requeues_everything_once(
    client: Jochi, tmp_path: Path
) -> None:
    kept = remember(client.database, 45, unread=True)
    client.apply()
    client.run("curate_due", drain=True)
    assert len(keys(client.database, "Curated", "m.next_due > datetime.realtime()")) == 45

    slower = tmp_path / "slower.toml"
    slower.write_text(
        TEST_POLICY.read_text(encoding="utf-8").replace('every = "1s"', 'every = "7min"'), encoding="utf-8"
    )
    same = Jochi(client.database.driver, policy=load_policy(slower)).install(arm=False)
    assert (same.verdict_changed, same.needs_apply) == (False, False)

    stricter = write_policy(
        tmp_path, '[jobs.requeue]\nbatch_size = 10\nmax_batches = 2\n[rails]\ngrace = "48h"\n', "stricter"
    )
    changed = Jochi(client.database.driver, policy=stricter)
    result = changed.install(arm=False)
    assert (result.verdict_changed, result.needs_apply) == (True, True)
    with pytest.raises(Refused, match="nobody has said go"):
        changed.run("curate_due")
    runs = changed.run("requeue", drain=True)
    assert sum(run.selected for run in runs) == 45
    assert sum(run.changed for run in runs) == 45
    assert keys(client.database, "Curated", "m.next_due <= datetime.realtime()") == set(kept)
    (again,) = changed.run("requeue", drain=True)
    assert (again.selected, again.changed) == (0, 0)
    assert job_of(client, "requeue").get("cursor") is None
    changed.apply()
    assert changed.run("curate_due")[0].status == "ok"


@pytest.mark.exhaustive
def test_uninstall_leaves_nothing_and_brings_everything_back(client: Jochi) -> None:
    dead, kept = set(remember(client.database, 12)), set(remember(client.database, 4, name="unread", unread=True))
    client.database.run("CREATE (:Tombstone {name: 'of another application'}), (:Person {id: 'p1'})")
    client.apply()
    client.run("curate_due", drain=True)
    client.pause(Switch("kind", "Task"))
    client.heartbeat.add(NewTask("h", "do it", "every 1s"), scope="default")
    client.heartbeat.failed("h", client.heartbeat.due("x", now=IN_A_YEAR)[0].token, "boom")
    client.heartbeat.due("x", now=IN_A_YEAR + timedelta(days=1))
    client.database.run("CREATE (:HeartbeatTaskRegistry {id: 'of another application'})")
    text = "MATCH (m:Notification) WITH m ORDER BY m.key RETURN collect(m {.key, .content, .read, .created_at, .tier}) AS m"
    assert keys(client.database, "Notification") == kept
    result = client.uninstall()
    assert (result.restored, result.unenrolled) == (12, 6)
    assert keys(client.database, "Notification") == dead | kept
    of_tasks = (
        "MATCH (t:HeartbeatTask|HeartbeatTaskRegistry) WITH t, t {.*} AS p "
        "REMOVE t:HeartbeatTask:HeartbeatTaskRegistry SET t = {} RETURN p"
    )
    registry, task = sorted((row["p"] for row in client.database.run(of_tasks)), key=len)
    assert registry == {"id": "of another application"}
    assert task.keys() - {"content", "created_at", "id", "key", "scope", "tier", "revision", "updated_at"} == {
        *("task_name", "schedule", "time_zone", "is_active", "ttl_policy"),
        *(
            "execution_count",
            "error_count",
            "last_executed",
            "last_error",
            "content_hash",
            "token_count",
            "token_counter",
        ),
    }
    assert client.database.run(text)[0]["m"][0]["content"] == "text 1"
    labels = client.database.run("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l ORDER BY l")
    assert [row["l"] for row in labels] == ["Notification", "Person", "Tombstone"]
    properties = client.database.run("MATCH (n) UNWIND keys(n) AS k RETURN DISTINCT k ORDER BY k")
    expected = ["content", "created_at", "id", "key", "name", "priority", "read", "scope", "tier"]
    assert [row["k"] for row in properties] == expected
    assert client.database.run("SHOW CONSTRAINTS YIELD name") == []
    assert client.database.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name") == []
    assert client.uninstall().deleted == 0
    assert len(client.install(arm=False).migrations_applied) == SHIPPED


@pytest.mark.slow
def test_install_without_arming_takes_an_armed_engine_off_the_list(client: Jochi) -> None:
    assert client.install().armed == [client.engine.pump, client.engine.watch]
    client.install(arm=False)
    assert client.armed() == []
    assert client.ensure_jobs() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RETURN 1", "RETURN 1"),
        ("RETURN $a + $b_2 + $a", "WITH $a AS a, $b_2 AS b_2\nRETURN $a + $b_2 + $a"),
        ("RETURN $in.now + $in.key", "WITH $in AS in\nRETURN $in.now + $in.key"),
    ],
)
def test_as_doit_runs_it(text: str, expected: str) -> None:
    assert as_doit_runs_it(text) == expected
