"""`jochi status` on a real server: every part of it, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import typer
from tests.conftest import say_go
from tests.faults.support import write_inputs
from typer.testing import CliRunner, Result

from jochi import Jochi, clock
from jochi.cli import status as command
from jochi.database.database import Database, in_one_map
from jochi.database.statements import schema_folder
from jochi.errors import Refused
from jochi.jobs.results import Switch
from jochi.operate.report import parse_span, read_report
from jochi.operate.status import overview

pytestmark = pytest.mark.server


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command on a client; the connection options are another test's matter."""

    def invoke(client: Jochi, *arguments: str) -> Result:
        @contextmanager
        def connected(_context: object) -> Iterator[Jochi]:
            yield client

        monkeypatch.setattr(command, "jochi", connected)
        app = typer.Typer()
        app.command()(command.status)
        return CliRunner().invoke(app, list(arguments))

    return invoke


def create(client: Jochi, label: str, **properties: object) -> None:
    """One node."""
    client.database.run(f"CREATE (n:{label}) SET n = $properties", {"properties": properties})


def operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(operator, details) of a plan and all its children."""
    yield plan["operatorType"].split("@")[0], plan["args"].get("Details", "")
    for child in plan.get("children", []):
        yield from operators(child)


def test_where_nothing_is_installed(run: Callable[..., Result], database: Database) -> None:
    result = run(Jochi(database.driver, database.name))
    assert result.exit_code == 0, result.output
    assert "jochi is not installed" in result.stdout
    assert f"{len(list(schema_folder().glob('V*.cypher')))} pending" in result.stdout
    plain = json.loads(run(Jochi(database.driver, database.name), "--json").stdout)
    assert (plain["installed"], plain["versions"]["installed"], plain["engine"]) == (False, None, None)
    with pytest.raises(Refused, match="not installed"):
        read_report(
            Jochi(database.driver, database.name), parse_span("30d", None, now=clock.now(), zone=ZoneInfo("UTC"))
        )


def test_versions_chain_and_procedures(jochi: Jochi) -> None:
    found = overview(jochi)
    assert found.notes == []
    assert found.versions.installed == found.versions.jochi
    assert found.versions.policy is not None
    assert found.versions.policy.startswith("tests@")
    assert found.migrations is not None
    assert (found.migrations.outcome, found.migrations.pending) == ("VALID", 0)
    assert found.procedures == {"INSTALLED": len(jochi.engine.procedures())}
    assert [job.name for job in found.jobs] == sorted(jochi.policy.policy.jobs)


def test_what_waits_for_a_person(jochi: Jochi) -> None:
    assert [(entry.verb, entry.jobs) for entry in overview(jochi).waiting] == [
        ("apply", ["curate_due", "decay_edges", "merge_duplicates", "purge_tombstones", "sweep_orphans"])
    ]
    say_go(jochi)
    assert overview(jochi).waiting == []
    jochi.database.run("MATCH (p:JochiPump) SET p.guard = 'this store is a copy', p.guard_at = datetime.realtime()")
    (entry,) = overview(jochi).waiting
    assert (entry.verb, entry.why) == ("approve", "this store is a copy")
    assert entry.since is not None
    jochi.approve()
    assert overview(jochi).waiting == []


def test_kill_switches(jochi: Jochi) -> None:
    assert overview(jochi).paused == []
    for switch in (Switch("all"), Switch("kind", "Task"), Switch("scope", "u1"), Switch("job", "requeue")):
        jochi.pause(switch)
    paused = overview(jochi).paused
    assert [(entry.what, entry.name) for entry in paused] == [
        ("all", ""),
        ("kind", "Task"),
        ("scope", "u1"),
        ("job", "requeue"),
    ]
    assert all(entry.by and entry.since for entry in paused)
    for switch in (Switch("all"), Switch("kind", "Task"), Switch("scope", "u1"), Switch("job", "requeue")):
        assert jochi.resume(switch)
    assert overview(jochi).paused == []


def test_backlog_tombstones_and_the_breaker(jochi: Jochi) -> None:
    now = clock.now()
    create(jochi, "Curated", key="u1/a", next_due=now - timedelta(hours=3))
    create(jochi, "Curated", key="u1/b", next_due=now + timedelta(hours=3))
    create(jochi, "Tombstone", key="u1/c", tombstone=True, deleted_at=now - timedelta(days=31))
    create(jochi, "Tombstone", key="u1/d", tombstone=True, deleted_at=now - timedelta(days=1))
    create(jochi, "JochiQuota", key="u1/Task", scope="u1", kind="Task", tripped_at=now)
    create(jochi, "JochiQuota", key="u1/Note", scope="u1", kind="Note")
    found = overview(jochi)
    assert found.engine is not None
    assert (found.engine.due, found.engine.oldest_due) == (1, now - timedelta(hours=3))
    assert (found.engine.tombstones, found.engine.tombstones_due) == (2, 1)
    assert [(entry.scope, entry.kind, entry.since) for entry in found.tripped] == [("u1", "Task", now)]


def put_aside(client: Jochi, key: str, number: int, *, until: timedelta, label: str = "Curated") -> None:
    """A memory as scheduler/put_aside leaves it, and the run that put it aside."""
    now = clock.now()
    create(client, label, key=key, quarantined_until=now + until, curation_failures=2)
    create(
        client,
        "JochiJobRun",
        id=f"curate_due/{number}",
        job="curate_due",
        started_at=now - timedelta(minutes=number),
        quarantined=[key],
        error=f"error {number}",
    )


def test_quarantined_memories(jochi: Jochi) -> None:
    put_aside(jochi, "u1/over", 1, until=-timedelta(seconds=1))
    put_aside(jochi, "u1/live", 3, until=timedelta(hours=1))
    put_aside(jochi, "u1/dead", 2, until=timedelta(hours=1), label="Tombstone")
    found = overview(jochi).quarantined
    assert [(entry.key, entry.tombstone, entry.error, entry.failures) for entry in found] == [
        ("u1/dead", True, "error 2", 2),
        ("u1/live", False, "error 3", 2),
    ]
    row = jochi.engine.call("report/status", {"now": clock.now(), "pump": jochi.engine.pump, "most": 2}, write=False)
    assert [entry["key"] for entry in row["quarantined"]] == ["u1/dead"]


def test_no_part_but_the_tiers_scans_memories(jochi: Jochi) -> None:
    given = in_one_map({"now": clock.now(), "most": 1, "pump": jochi.engine.pump})
    with jochi.database.driver.session(database=jochi.database.name) as session:
        plan = session.run("EXPLAIN " + jochi.engine.text("report/status"), given).consume().plan
    assert plan is not None
    scans = [details for operator, details in operators(plan) if operator in ("AllNodesScan", "NodeByLabelScan")]
    assert [details for details in scans if "Curated" in details or "Tombstone" in details or ":" not in details] == []


def test_tiers_against_their_budgets(jochi: Jochi) -> None:
    budget = jochi.policy.policy.tiers.HOT
    create(jochi, "Curated", key="u1/a", scope="u1", tier="HOT", token_count=budget)
    create(jochi, "Curated", key="u2/a", scope="u2", tier="HOT", token_count=budget)
    create(jochi, "Curated", key="u2/b", scope="u2", tier="HOT", token_count=1)
    create(jochi, "Curated", key="u2/c", scope="u2", tier="HOT", token_count="many")
    create(jochi, "Curated", key="u2/d", scope="u2", tier="ARCHIVE", token_count=9_999_999)
    create(jochi, "Curated", key="u2/e")
    tiers = overview(jochi).tiers
    assert tiers is not None
    assert [row.tier for row in tiers] == ["HOT", "ARCHIVE", ""]
    hot, archive, none = tiers
    assert (hot.budget, hot.n, hot.tokens, hot.uncounted) == (budget, 4, 2 * budget + 1, 1)
    assert (hot.scopes, hot.over, hot.most) == (2, 1, budget + 1)
    assert (archive.budget, archive.over) == (None, 0)
    assert (none.n, none.tokens, none.uncounted) == (1, 0, 1)
    assert overview(jochi, tiers=False).tiers is None


def test_the_pump(jochi: Jochi) -> None:
    def says() -> str:
        found = overview(jochi, tiers=False).pump
        assert found is not None
        return found.found

    assert "not armed" in says()
    jochi.database.run("MATCH (p:JochiPump) SET p.armed = true")
    assert "not on the server's list" in says()
    jochi.ensure_jobs()
    assert says().startswith("pump and watch are armed; the last tick was")


def test_a_failing_job_is_shown_with_its_error(run: Callable[..., Result], jochi: Jochi) -> None:
    jochi.database.run(
        "MATCH (j:JochiJob {name: 'requeue'}) SET j.failures = 2, j.token = coalesce(j.token, 0) + 1 "
        "CREATE (:JochiJobRun {id: 'requeue/' + j.token, job: 'requeue', started_at: datetime(), error: 'out of [luck]'})"
    )
    assert "requeue failed 2 times in a row: out of [luck]" in run(jochi).stdout


SCREEN = (24, 100)
"""Lines and columns."""


def lines(text: str) -> int:
    """How many lines of a screen ``text`` takes."""
    return sum(max(1, -(-len(line) // SCREEN[1])) for line in text.splitlines())


def test_a_fresh_installation_is_said_in_a_few_lines(run: Callable[..., Result], jochi: Jochi) -> None:
    text = run(jochi).stdout
    assert lines(text) <= 16, text
    assert "1 thing waits for you: `jochi inbox`" in text
    assert "jobs: 1 live, 33 idle" in text
    assert "flush_buffers" not in text


def test_a_normal_installation_fits_on_one_screen(run: Callable[..., Result], jochi: Jochi) -> None:
    write_inputs(jochi)
    for number in range(10):
        put_aside(jochi, f"u1/sick{number}", number, until=timedelta(hours=1))
        create(jochi, "JochiQuota", key=f"u{number}/Task", scope=f"u{number}", kind="Task", tripped_at=clock.now())
        run_of = {"id": f"hygiene/{number}", "job": "hygiene", "changed": number, "status": "ok"}
        create(jochi, "JochiJobRun", **run_of, started_at=clock.now() - timedelta(minutes=number))
        jochi.pause(Switch("scope", f"u{number}"))
    jochi.database.run("MATCH (j:JochiJob) WHERE j.name < 'd' SET j.failures = 2")
    text = run(jochi).stdout
    assert lines(text) <= SCREEN[0], text
    for said in (
        "21 things wait for you: `jochi inbox`",
        "backlog: ",
        "for workers: ",
        "hygiene/1: 1 changed",
        "hygiene/4: 4 changed",
    ):
        assert said in text, said
    for said in ("hygiene/0", "hygiene/5", "sick1"):
        assert said not in text, said
    assert len(json.loads(run(jochi, "--json").stdout)["jobs"]) == len(jochi.policy.policy.jobs)


def test_all_shows_everything(run: Callable[..., Result], jochi: Jochi) -> None:
    put_aside(jochi, "u1/sick", 1, until=timedelta(hours=1))
    create(jochi, "Curated", key="u1/a", scope="u1", tier="HOT", token_count=5, next_due=clock.now())
    create(jochi, "JochiQuota", key="u1/Task", scope="u1", kind="Task", tripped_at=clock.now())
    jochi.pause(Switch("scope", "u1"))
    result = run(jochi, "--all")
    assert result.exit_code == 0, result.output
    for text in (
        "migrations: VALID",
        "INSTALLED",
        "3 things wait for you: `jochi inbox`",
        "backlog: 1 memory is due",
        "tombstones: 0",
        "curate_due",
        "Put aside after a failure: 1",
        "u1/sick",
        "budgets are tokens per scope",
    ):
        assert text in result.stdout, text
    assert "budgets are tokens per scope" not in run(jochi, "--all", "--no-tiers").stdout
    plain = json.loads(run(jochi, "--json").stdout)
    assert (plain["engine"]["due"], plain["tiers"][0]["tokens"], plain["quarantined"][0]["key"]) == (1, 5, "u1/sick")


def test_a_broken_part_does_not_hide_the_others(run: Callable[..., Result], jochi: Jochi) -> None:
    broken = (
        "MATCH (x:JochiProcedure {name: 'report/tiers'}) SET x.was = x.body, x.body = 'RETURN nonsense('",
        "MATCH (x:JochiProcedure {name: 'report/unseen'}) SET x.name = 'report/gone'",
    )
    mended = (
        "MATCH (x:JochiProcedure {name: 'report/tiers'}) SET x.body = x.was REMOVE x.was",
        "MATCH (x:JochiProcedure {name: 'report/gone'}) SET x.name = 'report/unseen'",
    )
    for statement in broken:
        jochi.database.run(statement)
    try:
        jochi.engine.refresh()
        result = run(jochi, "--all")
    finally:
        for statement in mended:
            jochi.database.run(statement)
    assert result.exit_code == 0, result.output
    for text in ("not readable: tiers:", "not readable: accesses:", "report/tiers is MODIFIED", "backlog: 0"):
        assert text in result.stdout, text
