"""`jochi undo` and `jochi runs` as a person meets them: what is shown, done and refused, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from tests.conftest import TestServer
from tests.integration.test_undo import DAY, curate, idle, notice, put, task, told, whole
from typer.testing import CliRunner, Result

from jochi import Jochi, clock
from jochi.cli.app import app
from jochi.errors import JochiError

pytestmark = pytest.mark.server

Run = Callable[..., Result]


@pytest.fixture
def run(server: TestServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("JOCHI_URI", server.uri)
    monkeypatch.setenv("JOCHI_USER", server.user)
    monkeypatch.setenv("JOCHI_PASSWORD", server.password)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("JOCHI_PASSWORD_FILE", raising=False)
    return lambda *words, **more: CliRunner().invoke(app, list(words), **more)


def code(result: Result) -> int:
    """What the shell is told: `jochi.cli.main` makes an error's own code of it."""
    return result.exception.exit_code if isinstance(result.exception, JochiError) else result.exit_code


def error(result: Result) -> str:
    assert isinstance(result.exception, JochiError), result.output
    return str(result.exception)


@pytest.fixture
def curated(applied: Jochi, now: datetime) -> str:
    """The run of two prunes, an archival and a demotion."""
    put(applied, now, notice("n1", now), notice("n2", now), task("t", now), idle("i", now))
    return curate(applied, now)


def test_a_run_is_taken_back_and_its_undo_can_be(run: Run, applied: Jochi, now: datetime, curated: str) -> None:
    after = told(applied)
    done = run("undo", curated)
    assert code(done) == 0, done.output
    first, second = done.stdout.splitlines()
    assert first == f"undo of {curated}: undone 4"
    assert second.startswith("this undo is the run undo/")
    assert told(applied) != after
    again = run("undo", curated)
    assert code(again) == 0
    assert again.stdout.splitlines()[0] == f"undo of {curated}: nothing left to undo; 4 were undone before"
    redone = run("undo", second.removeprefix("this undo is the run "))
    assert code(redone) == 0, redone.output
    assert "undone 4" in redone.stdout
    thrice = run("undo", curated)
    assert code(thrice) == 0, thrice.output
    assert thrice.stdout.splitlines()[0] == f"undo of {curated}: undone 4"


def test_a_dry_run_names_each_row_and_writes_nothing(run: Run, applied: Jochi, curated: str) -> None:
    before = whole(applied)
    shown = run("undo", curated, "--dry-run")
    assert code(shown) == 0, shown.output
    lines = shown.stdout.splitlines()
    assert f"would be {curated}: undone 4" in lines
    assert "default/n1 (prune): goes back" in lines
    assert "default/t (archive): goes back" in lines
    assert not [line for line in lines if line.startswith("this undo is")]
    assert whole(applied) == before
    told_json = json.loads(run("undo", curated, "--dry-run", "--json").stdout)
    assert (told_json["dry_run"], told_json["run"], told_json["counts"]) == (True, None, {"undone": 4})
    assert len(told_json["rows"]) == 4


def test_what_changed_since_stays_is_named_and_goes_with_force(run: Run, applied: Jochi, curated: str) -> None:
    applied.database.run("MATCH (m:Curated {key: 'default/t'}) SET m.state = 'reopened'")
    would = run("undo", curated, "--dry-run")
    assert code(would) == 3
    assert "1 action would stay as it is" in error(would)
    done = run("undo", curated)
    assert code(done) == 3
    assert "1 action stays as it is" in error(done)
    rows = [line for line in done.stdout.splitlines() if line.startswith("default/")]
    assert rows == ["default/t (archive): goes back but for what changed since: state"]
    forced = run("undo", curated, "--force")
    assert code(forced) == 0, forced.output
    assert "undone 1; 3 were undone before" in forced.stdout


def test_since_takes_back_what_came_after_the_moment(run: Run, applied: Jochi, now: datetime, curated: str) -> None:
    at = (now + timedelta(seconds=1)).isoformat()
    nothing = run("undo", "--since", at)
    assert code(nothing) == 0, nothing.output
    assert "nothing left to undo" in nothing.stdout
    done = run("undo", "--since", now.isoformat())
    assert code(done) == 0, done.output
    assert "undone 4" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["curate_due/none"], "there is no run 'curate_due/none'"),
        (["curate_due/none", "--dry-run"], "there is no run 'curate_due/none'"),
        ([], "name a run, or a moment with --since"),
        (["x", "--since", "2026-01-01T00:00:00Z"], "name a run, or a moment with --since"),
        (["--since", "soon"], "soon"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, applied: Jochi, words: list[str], says: str) -> None:
    before = whole(applied)
    done = run("undo", *words)
    assert code(done) == 2
    assert says in error(done)
    assert whole(applied) == before


def test_somebody_else_is_at_it(run: Run, applied: Jochi, now: datetime, curated: str) -> None:
    asked = {"clock": clock.now(), "now": now, "run": "undo/a", "target": curated, "force": False, "by": "a"}
    applied.engine.call("undo/begin", asked)
    before = told(applied)
    refused = run("undo", curated)
    assert code(refused) == 5
    assert f"somebody else is undoing {curated} now" in error(refused)
    assert told(applied) == before
    # Looking needs no lease; and a lease that is over holds nobody off.
    assert code(run("undo", curated, "--dry-run")) == 0
    applied.database.run("MATCH (r:JochiJobRun {id: 'undo/a'}) SET r.lease_until = $at", {"at": clock.now() - DAY})
    done = run("undo", curated)
    assert code(done) == 0, done.output
    assert "this undo is the run undo/a" in done.stdout


def test_runs_are_listed_newest_first_and_shown(run: Run, applied: Jochi, curated: str) -> None:
    run("undo", curated)
    listed = run("runs", "ls")
    assert code(listed) == 0, listed.output
    rows = [
        [cell.strip() for cell in line.strip("│┃").split("│")] for line in listed.stdout.splitlines() if "│" in line
    ]
    assert [row[0].split("/")[0] for row in rows] == ["undo", "curate_due"]
    assert rows[0][5] == f"undid 4 of {curated}"
    assert "pruned 2" in rows[1][5]
    assert [one["id"] for one in json.loads(run("runs", "ls", "-n", "1", "--json").stdout)] == [rows[0][0]]
    shown = run("runs", "show", curated)
    assert code(shown) == 0, shown.output
    assert "looked at 4, changed 4, failed batches 0" in shown.stdout
    prunes = next(line for line in shown.stdout.splitlines() if "notification.read" in line)
    assert [cell.strip() for cell in prunes.strip("│┃").split("│")][:4] == ["prune", "notification.read", "2", "2"]
    of_undo = run("runs", "show", rows[0][0])
    assert f"undo of {curated}" in of_undo.stdout
    told_json = json.loads(run("runs", "show", curated, "--json").stdout)
    assert (told_json["id"], told_json["scanned"], told_json["counts"]["pruned"]) == (curated, 4, 2)


def test_there_is_no_such_run_to_show(run: Run, applied: Jochi) -> None:
    missing = run("runs", "show", "curate_due/none")
    assert code(missing) == 2
    assert "there is no run 'curate_due/none'" in error(missing)
    assert json.loads(run("runs", "ls", "--json").stdout) == []
