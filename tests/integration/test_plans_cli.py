"""`jochi plan …` and `jochi approve RUN` at the command line, against a real server (docs/reference/plans-and-approval.md)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import TestServer
from tests.oracle import Memory, graph
from typer.testing import CliRunner, Result

from jochi import Jochi, clock
from jochi.cli.app import app
from jochi.errors import JochiError

pytestmark = pytest.mark.server


@pytest.fixture
def run(server: TestServer) -> Callable[..., Result]:
    environment = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD": server.password}
    return lambda *words, **more: CliRunner().invoke(app, list(words), env=environment, **more)


def code(result: Result) -> int:
    """What `main` ends with."""
    return result.exception.exit_code if isinstance(result.exception, JochiError) else result.exit_code


def remember(client: Jochi, n: int) -> None:
    now = clock.now()
    old = {"read": True, "created_at": now - timedelta(days=40)}
    graph.write(client.database, [Memory(f"n{i:03d}", ("Notification",), old) for i in range(n)], due=now)


def as_json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_plan_from_saving_to_applying(jochi: Jochi, run: Callable[..., Result]) -> None:
    remember(jochi, 6)
    printed = run("plan")
    assert printed.exit_code == 0, printed.output
    assert "6 would be pruned" in printed.stdout
    assert "kept as" not in printed.stdout
    assert run("plan", "ls").stdout.count("plan-") == 0

    kept = run("plan", "--save")
    assert kept.exit_code == 0, kept.output
    (plan,) = (p["id"] for p in as_json(run("plan", "ls", "--json")))
    assert f"kept as {plan}: 6 memories" in kept.stdout
    assert f"jochi plan apply {plan}" in kept.stdout
    assert plan in run("plan", "ls").stdout

    shown = run("plan", "show", plan, "-n", "2")
    assert "notification.read" in shown.stdout
    assert "default/n001" in shown.stdout
    assert "2 of 6 memories" in shown.stdout
    assert [m["key"] for m in as_json(run("plan", "show", plan, "-n", "2", "--skip", "4", "--json"))["memories"]] == [
        "default/n004",
        "default/n005",
    ]
    left_out = run("plan", "exclude", plan, "n001", "default/n002")
    assert left_out.stdout.count("left out, and held") == 2
    missed = run("plan", "exclude", plan, "other")
    assert code(missed) == 3
    assert "doesn't name it" in missed.stdout

    jochi.database.run("MATCH (m:Curated {key: 'default/n003'}) SET m.pinned = true")
    asked = run("plan", "apply", plan, input="n\n")
    assert code(asked) == 5
    assert not graph.pruned(jochi.database)
    done = run("plan", "apply", plan, "--yes")
    assert code(done) == 3, done.output  # one drifted
    assert "applied 3, excluded 2, protected 1" in done.stdout
    assert "pinned" in done.stdout
    assert set(graph.pruned(jochi.database)) == {"default/n000", "default/n004", "default/n005"}
    again = run("plan", "apply", plan, "--yes")
    assert code(again) == 5
    drift = as_json(run("plan", "show", plan, "--drift", "--json"))
    assert [(m["key"], m["outcome"], m["note"]) for m in drift["memories"]] == [("default/n003", "protected", "pinned")]
    assert "jochi undo plan/" in run("plan", "show", plan).stdout
    assert code(run("plan", "show", "plan-none")) == 2


@pytest.mark.exhaustive
def test_a_tripped_breaker_from_the_inbox_to_approval(jochi: Jochi, run: Callable[..., Result]) -> None:
    remember(jochi, 103)
    jochi.apply(jochi.plan(clock.now() - timedelta(days=300)))  # go, without a lift
    assert run("jobs", "run", "curate_due", "--drain").exit_code == 0
    (stopped,) = (job.stopped_run for job in jochi.jobs() if job.stopped_run)
    assert stopped is not None
    why = "Notification in scope default: 100 went within 24 hours, the limit is 100; 3 more of its last batch wait"
    inbox = run("inbox")
    assert f"jochi approve {stopped}" in inbox.stdout
    assert why in inbox.stdout
    assert f"waits for approve {stopped}" in " ".join(run("jobs", "ls").stdout.split())
    shown = run("runs", "show", stopped)
    assert f"stopped by the circuit breaker: {why}" in shown.stdout
    assert f"stands still until `jochi approve {stopped}`" in shown.stdout
    doctor = run("doctor", "--no-probe")
    assert doctor.exit_code == 5
    assert f"`jochi approve {stopped}`" in doctor.stdout
    refused = run("jobs", "run", "curate_due")
    assert code(refused) == 5
    assert code(run("approve", "curate_due/none")) == 2
    assert "the guard was open" in run("approve").stdout

    approved = run("approve", stopped)
    assert approved.exit_code == 0, approved.output
    assert "lifted for 3 of Notification in scope default" in approved.stdout
    assert f"approved: {stopped}; curate_due goes on" in approved.stdout
    assert "approved at " in run("runs", "show", stopped).stdout
    assert code(run("approve", stopped)) == 2
    assert run("jobs", "run", "curate_due").exit_code == 0
    assert len(graph.pruned(jochi.database)) == 103
