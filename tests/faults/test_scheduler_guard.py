"""The gap guard: the clock set back, a gap of a month, a store that is a copy (DESIGN §5). Time is a parameter here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest
from tests.faults.support import claim, job_of, keys, pump_of, remember, set_job, within

from jochi import Jochi
from jochi.database.statements import statement
from jochi.errors import Refused

pytestmark = pytest.mark.server


def tick(jochi: Jochi, clock: datetime) -> str | None:
    guard: str | None = jochi.engine.call("scheduler/tick", {"clock": clock, "pump": jochi.engine.pump})["guard"]
    return guard


def now() -> datetime:
    return datetime.now(timezone.utc)


def set_pump(jochi: Jochi, **values: object) -> None:
    jochi.database.run("MATCH (p:JochiPump) SET p += $values", {"values": values})


@pytest.mark.parametrize(
    ("step", "closes"),
    [
        (timedelta(seconds=-59), None),
        (timedelta(seconds=-61), "the clock went back"),
        (timedelta(days=-31), "the clock went back"),
        (timedelta(days=6, hours=23), None),
        (timedelta(days=7, seconds=1), "no tick between"),
        (timedelta(days=31), "no tick between"),
    ],
)
def test_what_closes_the_guard(engine: Jochi, step: timedelta, closes: str | None) -> None:
    start = now()
    set_pump(engine, last_tick=start)
    said = tick(engine, start + step)
    assert said is None if closes is None else (said or "").startswith(closes)
    assert tick(engine, start + step) == said  # once closed it stays so, and the next tick closes nothing by itself
    assert tick(engine, start + step + timedelta(seconds=5)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("store_id", "this store is a copy of another database"),
        ("server_id", "this store is a copy from another server"),
    ],
)
def test_a_copy_of_another_store_closes_the_guard(engine: Jochi, name: str, said: str) -> None:
    own = pump_of(engine)[name]
    assert tick(engine, now()) is None
    set_pump(engine, **{name: "somewhere else"})
    try:
        assert tick(engine, now()) == said
        engine.approve()
        assert tick(engine, now()) is None
        assert pump_of(engine)[name] == own
    finally:
        set_pump(engine, **{name: own})


@pytest.mark.parametrize(
    ("armed", "off", "closes"),
    [(True, timedelta(hours=3), True), (True, timedelta(hours=1), False), (False, timedelta(hours=3), False)],
)
def test_a_start_long_after_the_last_tick_closes_the_guard(
    engine: Jochi, armed: bool, off: timedelta, closes: bool
) -> None:
    """A store that was restored on its own server looks so. Who is driven from outside has ticks as seldom as he likes."""
    started = engine.database.run(statement("server/started_at"), write=False)[0]["started_at"].to_native()
    set_pump(engine, armed=armed, last_tick=started - off)
    guard = tick(engine, now())
    assert (guard is not None and "restored from a backup" in guard) is closes


def test_behind_the_guard_destructive_jobs_wait_and_the_others_go_on(engine: Jochi, arm: Callable[[], None]) -> None:
    dead = set(remember(engine.database, 10))
    engine.apply()
    arm()
    set_pump(engine, last_tick=now() - timedelta(days=30))
    set_job(engine, "requeue", cursor="")
    # The pump itself notices; requeue isn't destructive and works on.
    within(15, lambda: engine.status().pump["guard"], "the guard closes")  # type: ignore[index]
    within(15, lambda: (engine.history("requeue") or [{}])[0].get("status") == "ok", "other jobs go on")
    remember(engine.database, 1, name="late")
    closed_at = pump_of(engine)["guard_at"]
    late = [run for run in engine.history("curate_due") if run["started_at"] > closed_at]
    assert late == []
    waits = {job.name: job.waits_for for job in engine.jobs()}
    assert {name for name, what in waits.items() if what == "approve"} == {
        "curate_due",
        "decay_edges",
        "merge_duplicates",
        "purge_tombstones",
        "sweep_orphans",
    }
    assert {what for what in waits.values() if what != "approve"} == {None}
    with pytest.raises(Refused, match="guard"):
        engine.run("curate_due")

    said = engine.approve()
    assert said is not None
    assert said.startswith("no tick between")
    assert engine.approve() is None
    within(15, lambda: keys(engine.database, "Tombstone") == dead | {"default/late1"}, "pruning goes on")


def test_without_a_pump_a_run_from_outside_meets_the_same_guard(engine: Jochi) -> None:
    remember(engine.database, 3)
    engine.apply()
    set_pump(engine, last_tick=now() - timedelta(days=8))
    with pytest.raises(Refused, match="guard"):
        engine.run("curate_due")
    assert engine.run("requeue")[0].status == "ok"
    engine.approve()
    assert engine.run("curate_due")[0].changed == 3


def test_after_the_clock_went_back_no_job_waits_for_the_time_it_once_showed(engine: Jochi) -> None:
    """A month ahead by mistake, jobs ran there; then the clock is put right."""
    ahead = now() + timedelta(days=30)
    names = [job.name for job in engine.jobs()]
    set_pump(engine, last_tick=ahead, installing_until=ahead + timedelta(minutes=1), rearmed_at=ahead)
    for name in names:
        set_job(
            engine,
            name,
            next_start=ahead + timedelta(minutes=1),
            lease_until=ahead,
            skip=["default/x"],
            skip_until=ahead,
        )
    right = now()
    assert (tick(engine, right) or "").startswith("the clock went back")
    for name in names:
        job = job_of(engine, name)
        # A job with a slot waits for the next one, a week at most.
        assert job["next_start"] <= (right if job.get("slot_days") is None else right + timedelta(days=7))
        assert job["lease_until"] == right + timedelta(seconds=20)
        assert job["skip_until"] <= right
    pump = pump_of(engine)
    assert pump.get("installing_until") is None
    assert pump.get("rearmed_at") is None
    later = right + timedelta(seconds=21)
    set_pump(engine, last_tick=later)
    # Of those that the guard doesn't hold, the one with the earliest deadline: all are due since one moment.
    jobs, most = engine.policy.policy.jobs, timedelta(minutes=5)
    free = [name for name, job in jobs.items() if not job.destructive and job.every is not None]
    assert claim(engine, later, job=None)["job"] == min(
        free, key=lambda name: (min(jobs[name].every or most, most) + timedelta(seconds=10) * jobs[name].priority, name)
    )


def test_an_idle_pump_writes_seldom(engine: Jochi) -> None:
    start = now()
    set_pump(engine, last_tick=start)
    tick(engine, start + timedelta(milliseconds=900))
    assert pump_of(engine)["last_tick"] == start
    tick(engine, start + timedelta(milliseconds=1100))  # tests/policy.toml: tick_mark 1 s
    assert pump_of(engine)["last_tick"] > start
