"""The circuit breaker: of a kind in a scope no more than a tenth in a rolling day and a twentieth in a run, but at least a hundred.

What it stops stands still until somebody approves (DESIGN §8; docs/reference/plans-and-approval.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest
from tests.conftest import say_go
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.curate.plan import PlanQuota
from jochi.database.database import in_one_map
from jochi.errors import Refused, UsageError
from jochi.jobs.runner import Run, replay, run_job
from jochi.jobs.stops import Stop
from jochi.operate.doctor import examine
from jochi.operate.status import overview
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 30, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def applied(jochi: Jochi) -> Iterator[Jochi]:
    """Somebody has said go."""
    say_go(jochi)
    yield jochi
    set_batch_size(jochi, 100)


def set_batch_size(client: Jochi, size: int) -> None:
    client.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = $size", {"size": size})


def notifications(n: int, *, scope: str = "default", first: int = 0, read: bool = True) -> list[Memory]:
    properties = {"read": read, "created_at": NOW - 8 * DAY}
    return [Memory(f"n{first + i:05d}", ("Notification",), properties, scope=scope) for i in range(n)]


def sessions(n: int) -> list[Memory]:
    properties = {"active": False, "created_at": NOW - 8 * DAY}
    return [Memory(f"s{i:05d}", ("SessionContext",), properties) for i in range(n)]


def curate(client: Jochi, now: datetime = NOW) -> list[Run]:
    runs = run_job(client.engine, "curate_due", now=now, drain=True)
    assert [
        run.error for run in runs if run.error
    ] == []  # a batch that failed makes two runs of one: say which error it was
    return runs


def stopped(client: Jochi) -> str:
    """The run for which curate_due stands still."""
    (run,) = (job.stopped_run for job in client.jobs() if job.name == "curate_due")
    assert run is not None
    return run


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
    assert waiting.properties["next_due"] == NOW  # it stays due: a plan counts it
    (summary,) = applied.runs(runs[0].id)
    assert summary.stops == (Stop("default", "Notification", "day", 100, 100, 1, 24),)
    assert (summary.approved_at, summary.approved_by) == (None, None)


def test_the_job_stands_still_and_status_jobs_and_doctor_say_why_and_what_to_do(applied: Jochi) -> None:
    graph.write(applied.database, notifications(101) + notifications(5, scope="b", first=500), due=NOW)
    (run,) = curate(applied)
    with pytest.raises(Refused, match=f"stopped the run {run.id}: Notification in scope default") as refused:
        curate(applied, NOW + 40 * DAY)
    assert f"`jochi approve {run.id}`" in str(refused.value)
    (wait,) = overview(applied, tiers=False).waiting
    assert (wait.verb, wait.jobs, wait.since) == (f"approve {run.id}", ["curate_due"], NOW)
    assert wait.why == (
        "Notification in scope default: 100 went within 24 hours, the limit is 100; 1 more of its last batch wait"
    )
    (said,) = (check for check in examine(applied, probe=False).checks if check.name == "breaker")
    assert said.level.value == "fail"
    assert f"`jochi approve {run.id}`" in said.fix
    assert wait.why in said.found
    assert {job.name: job.waits_for for job in applied.jobs() if job.waits_for} == {"curate_due": f"approve {run.id}"}
    # Other jobs go on, destructive ones too.
    assert applied.run("sweep_orphans")[-1].status == "ok"
    applied.approve_run(run.id)
    (said,) = (check for check in examine(applied, probe=False).checks if check.name == "breaker")
    assert said.level.value == "ok"
    assert overview(applied, tiers=False).waiting == []


def test_the_pump_does_not_start_it_either(applied: Jochi) -> None:
    graph.write(applied.database, notifications(101), due=NOW)
    (run,) = curate(applied)
    now = datetime.now(timezone.utc)

    def claim() -> str | None:
        asked = {"clock": now, "due_by": now + DAY, "now": now, "pump": applied.engine.pump, "job": "curate_due"}
        job: str | None = applied.engine.call("scheduler/claim", {**asked, "except": [], "runner": "pump"})["job"]
        return job

    assert claim() is None
    applied.approve_run(run.id)
    assert claim() == "curate_due"


def test_an_approval_lets_through_what_was_asked_for_and_no_more(applied: Jochi) -> None:
    late = notifications(40, scope="b") + sessions(30)
    graph.write(applied.database, notifications(150) + late, due=NOW)
    first = curate(applied)[-1]
    approved = applied.approve_run(first.id, now=NOW)
    assert (approved.run, approved.job, approved.lifts) == (
        first.id,
        "curate_due",
        [PlanQuota("default", "Notification", 50)],
    )
    (summary,) = applied.runs(first.id)
    assert summary.approved_at == NOW
    assert summary.approved_by
    # 20 more come due after it, and another scope comes to its own limit.
    graph.write(applied.database, notifications(20, first=200), due=NOW)
    graph.write(applied.database, notifications(61, scope="b", first=300), due=NOW)
    second = curate(applied, NOW + timedelta(minutes=1))[-1]
    assert second.status == "breaker"
    assert second.id != first.id
    curated = gone(applied), gone(applied, "b")
    assert curated[0] <= 150 + 30  # 30 sessions
    assert curated[1] <= 100
    while job_stands(applied):
        left = applied.runs(stopped(applied))[0].stops
        assert all(stop.limit == 100 for stop in left)
        applied.approve_run(stopped(applied), now=NOW + timedelta(minutes=1))
        curate(applied, NOW + timedelta(minutes=1))
    assert (gone(applied), gone(applied, "b")) == (200, 101)


def job_stands(client: Jochi) -> bool:
    return any(job.stopped_run for job in client.jobs())


def test_an_approval_can_be_asked_for_in_vain(applied: Jochi) -> None:
    graph.write(applied.database, notifications(101), due=NOW)
    with pytest.raises(UsageError, match="there is no run 'curate_due/x'"):
        applied.approve_run("curate_due/x")
    well = applied.run("requeue")[-1]
    with pytest.raises(UsageError, match="didn't stop"):
        applied.approve_run(well.id)
    (run,) = curate(applied)
    assert applied.approve() is None, "it opens the guard against gaps of the clock, and nothing else"
    assert stopped(applied) == run.id
    applied.approve_run(run.id, now=NOW)
    with pytest.raises(UsageError, match="approved already"):
        applied.approve_run(run.id, now=NOW)
    assert curate(applied)[-1].status == "ok"
    assert gone(applied) == 101


def test_the_run_that_waits_stays_in_the_history(applied: Jochi) -> None:
    graph.write(applied.database, notifications(101), due=NOW)
    (run,) = curate(applied)
    applied.database.run("MATCH (a:CurationAudit {run: $run}) DETACH DELETE a", {"run": run.id})
    later = datetime.now(timezone.utc) + 60 * DAY
    applied.run("prune_runs", now=later, drain=True)
    assert applied.runs(run.id)
    applied.approve_run(run.id)
    applied.run("prune_runs", now=later, drain=True)
    assert not applied.runs(run.id)


def test_of_two_thousand_a_twentieth_goes_in_a_run_and_a_tenth_in_a_day(applied: Jochi) -> None:
    set_batch_size(applied, 40)  # so that each run has several
    # The others only count: where all are due, it is the store's free places that say which come first.
    graph.write(applied.database, notifications(2400, first=600, read=False), due=NOW + DAY)
    graph.write(applied.database, notifications(600), due=NOW)
    stops = []
    for left in (450, 300):
        (run,) = curate(applied)
        stops += applied.runs(run.id)[0].stops
        assert gone(applied) == 600 - left
        # Without a lift: as if nobody had counted anything.
        asked = {"now": NOW, "run": run.id, "by": "a test", "lifts": [], "pump": None}
        assert applied.engine.call("curate/approve", asked)["approved"]
    assert [(s.window, s.counted, s.limit) for s in stops] == [("run", 150, 150), ("day", 300, 300)]
    (run,) = curate(applied)
    assert gone(applied) == 300
    assert [(s.window, s.counted) for s in applied.runs(run.id)[0].stops] == [("day", 300)]


def test_just_a_twentieth_is_no_stop(applied: Jochi) -> None:
    graph.write(applied.database, notifications(150) + notifications(2850, first=150, read=False), due=NOW)
    assert {run.status for run in curate(applied)} == {"ok"}
    assert gone(applied) == 150


def test_the_window_rolls_for_those_who_approve(applied: Jochi) -> None:
    graph.write(applied.database, notifications(250), due=NOW)
    for after, total in (
        (timedelta(0), 100),
        (HOUR, 100),
        (DAY - timedelta(minutes=1), 100),
        (DAY + HOUR, 200),
        (2 * DAY + 2 * HOUR, 250),
    ):
        run = curate(applied, NOW + after)[-1]
        assert (after, gone(applied)) == (after, total)
        assert (run.status == "breaker") == (total < 250)
        if run.status == "breaker":
            asked = {"now": NOW + after, "run": run.id, "by": "a test", "lifts": [], "pump": None}
            assert applied.engine.call("curate/approve", asked)["approved"]


def test_kinds_and_scopes_are_counted_apart(applied: Jochi) -> None:
    memories = notifications(80) + sessions(80) + notifications(80, scope="b")
    graph.write(applied.database, memories, due=NOW)
    assert {run.status for run in curate(applied)} == {"ok"}
    assert (gone(applied), gone(applied, "b")) == (160, 80)


def test_what_is_stopped_does_not_stop_others_of_the_same_batch(applied: Jochi) -> None:
    set_batch_size(applied, 1000)
    graph.write(applied.database, notifications(130) + sessions(50) + notifications(20, scope="b"), due=NOW)
    assert curate(applied)[-1].status == "breaker"
    assert (gone(applied), gone(applied, "b")) == (150, 20)


def test_an_applied_plan_lifts_it_for_what_it_counted_and_no_more(applied: Jochi) -> None:
    """Also where the lift is used up over several batches."""
    set_batch_size(applied, 20)
    graph.write(applied.database, notifications(150), due=NOW)
    run = curate(applied)[-1]
    assert run.status == "breaker"
    soon = NOW + HOUR + timedelta(seconds=1)
    plan = applied.plan(soon)
    assert plan.looked_at == 50
    assert plan.quotas == [PlanQuota("default", "Notification", 50)]
    applied.apply(plan)
    assert applied.runs(run.id)[0].approved_by
    graph.write(applied.database, notifications(30, first=150), due=NOW)
    assert curate(applied, soon)[-1].status == "breaker"
    assert gone(applied) == 150
    with pytest.raises(Refused, match="stands still"):
        curate(applied, soon + HOUR)
    assert gone(applied) == 150


def test_a_plan_that_does_not_count_what_stopped_it_lets_nothing_go_on(applied: Jochi) -> None:
    graph.write(applied.database, notifications(120), due=NOW)
    run = curate(applied)[-1]
    applied.apply(applied.plan(NOW - 10 * DAY))  # counts nothing: none is due at that time
    assert stopped(applied) == run.id
    graph.write(applied.database, sessions(3), due=NOW)
    applied.apply(applied.plan(NOW))  # counts these, too
    assert not job_stands(applied)


def test_a_lift_is_for_what_was_due_then(applied: Jochi) -> None:
    graph.write(applied.database, notifications(150), due=NOW)
    curate(applied)
    applied.apply(applied.plan(NOW))
    # The fifty that it counted are gone before they were worked, and thirty come due an hour later.
    applied.database.run("MATCH (m:Curated) DETACH DELETE m")
    properties = {"read": True, "created_at": NOW - 7 * DAY + HOUR}
    graph.write(applied.database, [Memory(f"l{i}", ("Notification",), properties) for i in range(30)], due=NOW)
    assert curate(applied, NOW + 2 * HOUR)[-1].status == "breaker"
    assert gone(applied) == 100


def test_another_policy_lets_the_job_go_on_and_the_day_is_still_full(
    applied: Jochi, install_once: Callable[[LoadedPolicy], Jochi], test_policy: LoadedPolicy
) -> None:
    graph.write(applied.database, notifications(150), due=NOW)
    run = curate(applied)[-1]
    applied.install(arm=False)  # the same policy: it changes nothing
    assert stopped(applied) == run.id
    changed = test_policy.policy.model_copy(
        update={"limits": test_policy.policy.limits.model_copy(update={"plan_samples": 4})}
    )
    other = LoadedPolicy(changed, test_policy.path, "f" * 64)
    try:
        client = Jochi(applied.database.driver, applied.database.name, policy=other)
        client.install(arm=False)
        assert not job_stands(client)
        (summary,) = client.runs(run.id)
        assert summary.approved_by == other.label
        client.database.run("MATCH (p:JochiPump) SET p.applied_at = $now", {"now": NOW})
        assert curate(client)[-1].status == "breaker"  # the day's counts are what they were
        assert gone(client) == 100
    finally:
        Jochi(applied.database.driver, applied.database.name, policy=test_policy).install(arm=False)


def test_a_replay_has_nobody_to_ask_and_goes_on_by_itself(applied: Jochi) -> None:
    graph.write(applied.database, notifications(150), due=NOW)
    steps = replay(applied.engine, {"curate_due": HOUR}, start=NOW, end=NOW + 2 * HOUR)
    assert (sum(step.changed for step in steps), gone(applied)) == (100, 100)
    assert not job_stands(applied)
    (waiting, *_) = (s for s in graph.state(applied.database).values() if s.live)
    assert waiting.properties["next_due"] == NOW + 3 * HOUR


def test_two_runs_at_once_count_together(applied: Jochi) -> None:
    """Two jobs that prune may work at one time: neither sees room that the other has taken."""
    graph.write(applied.database, notifications(160), due=NOW)
    act, keys = applied.engine.text("curate/curate_due", "act"), sorted(m.key for m in notifications(160))

    def work(n: int) -> int:
        half = {
            "now": NOW,
            "keys": keys[n * 80 : n * 80 + 80],
            "run": f"half/{n}",
            "policy": "tests",
            "job": {"token": n},
        }
        changed: int = applied.database.run(act, in_one_map(half))[0]["changed"]
        return changed

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(work, range(2))) == 100
    assert gone(applied) == 100
