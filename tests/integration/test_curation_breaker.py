"""The circuit breaker: in a rolling day no more than a tenth of a kind in a scope, and at least a hundred (DESIGN §8)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.operate.plan import PlanQuota
from jochi.scheduler.runner import Run, run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 30, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def applied(jochi: Jochi) -> Jochi:
    jochi.apply()
    return jochi


def notifications(n: int, *, scope: str = "default", first: int = 0, read: bool = True) -> list[Memory]:
    properties = {"read": read, "created_at": NOW - 8 * DAY}
    return [Memory(f"n{first + i:05d}", ("Notification",), properties, scope=scope) for i in range(n)]


def sessions(n: int) -> list[Memory]:
    properties = {"active": False, "created_at": NOW - 8 * DAY}
    return [Memory(f"s{i:05d}", ("SessionContext",), properties) for i in range(n)]


def curate(client: Jochi, now: datetime = NOW) -> list[Run]:
    return run_job(client.engine, "curate_due", now=now, drain=True)


def gone(client: Jochi, scope: str = "default") -> int:
    return sum(key.startswith(f"{scope}/") for key in graph.pruned(client.database))


def test_a_hundred_pass(applied: Jochi) -> None:
    graph.write(applied.database, notifications(100), due=NOW)
    assert {run.status for run in curate(applied)} == {"ok"}
    assert gone(applied) == 100
    assert applied.status().tripped == []


def test_the_next_one_waits_and_the_run_stops_and_says_so(applied: Jochi) -> None:
    graph.write(applied.database, notifications(101), due=NOW)
    runs = curate(applied)
    assert [run.status for run in runs] == ["breaker"]
    assert (gone(applied), runs[0].tally["breaker"]) == (100, 1)
    assert [(entry["scope"], entry["kind"]) for entry in applied.status().tripped] == [("default", "Notification")]
    (waiting,) = (s for s in graph.state(applied.database).values() if s.live)
    assert waiting.properties["curation_action"] == "BREAKER"
    assert waiting.properties["next_due"] == NOW + HOUR


def test_a_tenth_of_two_thousand_passes(applied: Jochi) -> None:
    graph.write(applied.database, notifications(300) + notifications(1700, first=300, read=False), due=NOW)
    while curate(applied)[-1].status == "breaker":
        pass
    assert gone(applied) == 200


@pytest.mark.parametrize("batch_size", [30, 1000])
def test_the_size_of_a_batch_does_not_matter(applied: Jochi, batch_size: int) -> None:
    applied.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = $size", {"size": batch_size})
    try:
        graph.write(applied.database, notifications(150), due=NOW)
        while curate(applied)[-1].status == "breaker":
            pass
    finally:
        applied.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = 100")
    assert gone(applied) == 100


def test_the_window_rolls(applied: Jochi) -> None:
    graph.write(applied.database, notifications(250), due=NOW)
    for after, total in (
        (timedelta(0), 100),
        (HOUR, 100),
        (DAY - timedelta(minutes=1), 100),
        (DAY + HOUR, 200),
        (2 * DAY + 2 * HOUR, 250),
    ):
        curate(applied, NOW + after)
        assert (after, gone(applied)) == (after, total)


def test_kinds_and_scopes_are_counted_apart(applied: Jochi) -> None:
    memories = notifications(80) + sessions(80) + notifications(80, scope="b")
    graph.write(applied.database, memories, due=NOW)
    assert {run.status for run in curate(applied)} == {"ok"}
    assert (gone(applied), gone(applied, "b")) == (160, 80)


def test_what_is_stopped_does_not_stop_others_of_the_same_batch(applied: Jochi) -> None:
    applied.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = 1000")
    graph.write(applied.database, notifications(130) + sessions(50) + notifications(20, scope="b"), due=NOW)
    assert curate(applied)[-1].status == "breaker"
    applied.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = 100")
    assert (gone(applied), gone(applied, "b")) == (150, 20)


def test_an_applied_plan_lifts_it_for_what_it_counted_and_no_more(applied: Jochi) -> None:
    graph.write(applied.database, notifications(150), due=NOW)
    assert curate(applied)[-1].status == "breaker"
    soon = NOW + HOUR + timedelta(seconds=1)
    plan = applied.plan(soon)
    assert plan.looked_at == 50
    assert plan.quotas == [PlanQuota("default", "Notification", 50)]
    applied.apply(plan)
    graph.write(applied.database, notifications(30, first=150), due=NOW)
    assert curate(applied, soon)[-1].status == "breaker"
    assert gone(applied) == 150
    assert curate(applied, soon + HOUR)[-1].status == "breaker"
    assert gone(applied) == 150


def test_a_lift_is_for_what_was_due_then(applied: Jochi) -> None:
    graph.write(applied.database, notifications(120), due=NOW)
    applied.apply(applied.plan(NOW - 10 * DAY))  # counts nothing: none is due at that time
    curate(applied)
    assert gone(applied) == 100
