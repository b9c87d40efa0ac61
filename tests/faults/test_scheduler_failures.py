"""A job that throws, doesn't parse, returns nothing or takes too long; a memory that poisons a batch (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.faults.support import job_of, keys, poison, remember, set_job, within

from jochi import Jochi

pytestmark = pytest.mark.server

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
ONE_KEY = "RETURN ['a'] AS keys"
DONE = "RETURN size($in.keys) AS changed, false AS stop, [] AS tally"
BROKEN = {
    "the act throws": (
        ONE_KEY,
        "RETURN 1 / (size($in.keys) - size($in.keys)) AS changed, false AS stop, [] AS tally",
        "/ by zero",
    ),
    "the select throws": ("RETURN [toInteger($in.limit) / ($in.limit - $in.limit)] AS keys", DONE, "/ by zero"),
    "the act doesn't parse": (ONE_KEY, "MATCH oops", "Invalid input"),
    "the select doesn't parse": ("SELECT 1", DONE, "Invalid input"),
    "the act returns no row": (ONE_KEY, "MATCH (n:Nothing) RETURN n", "returned no row"),
    "the select returns no row": ("MATCH (n:Nothing) RETURN n", DONE, "returned no row"),
    "the act returns no count": (ONE_KEY, "RETURN true AS fine", "returned no row with changed"),
    "the select is missing": (None, DONE, "there is no procedure"),
}


def add_job(jochi: Jochi, select: str | None, act: str, **values: Any) -> None:
    """A job `test_job` of a procedure that somebody has broken."""
    jochi.database.run(
        "CREATE (:JochiProcedure {name: 'test/job', kind: 'job', select: $select, act: $act}) "
        "CREATE (j:JochiJob {name: 'test_job', procedure: 'test/job', every_s: 1, every: duration('PT1S'), "
        "budget_ms: 5000, token: 0, "
        "batch_size: 1, max_batches: 3, priority: 1, destructive: false, enabled: true, "
        "next_start: datetime.realtime()}) SET j += $values",
        {"select": select, "act": act, "values": values},
    )


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_job_fails_is_recorded_and_backs_off_from_outside(engine: Jochi, how: str) -> None:
    select, act, error = BROKEN[how]
    add_job(
        engine, select, act, isolated_in_a_row=3
    )  # as after three memories put aside: from here on the job is to blame
    (run,) = engine.run("test_job", drain=True)
    assert (run.status, run.batches, run.changed) == ("failed", 0, 0)
    assert error in (run.error or "")
    job = job_of(engine, "test_job")
    assert (job["failures"], job["run_open"], job.get("lease_until")) == (1, False, None)
    pause = job["next_start"].to_native() - job["last_finished_at"].to_native()
    assert timedelta(seconds=1.75) <= pause <= timedelta(seconds=2.25)


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_job_fails_and_backs_off_in_the_database_and_the_others_go_on(
    engine: Jochi, arm: Callable[[], None], how: str
) -> None:
    select, act, error = BROKEN[how]
    add_job(engine, select, act, isolated_in_a_row=3)
    engine.apply()
    dead = set(remember(engine.database, 5))
    arm()
    within(20, lambda: job_of(engine, "test_job").get("last_status") == "failed", "the failed run is closed")
    assert job_of(engine, "test_job")["failures"] >= 1
    (first, *_) = engine.history("test_job")[::-1]
    assert (first["status"], first["failed_batches"]) == ("failed", 1)
    assert error in first["error"]
    within(20, lambda: keys(engine.database, "Tombstone") == dead, "the other job works")
    assert set(engine.armed()) == {engine.engine.pump, engine.engine.watch}


def test_backoff_doubles_with_jitter_to_the_maximum_and_ends_with_a_success(engine: Jochi) -> None:
    add_job(engine, "RETURN [1 / ($in.limit - $in.limit)] AS keys", DONE, isolated_in_a_row=1000)
    pauses = []
    for _ in range(6):
        engine.run("test_job")
        job = job_of(engine, "test_job")
        pauses.append((job["next_start"].to_native() - job["last_finished_at"].to_native()).total_seconds())
    # tests/policy.toml: 2 s doubling to 8 s. The select of this job throws: no memory can be put aside for it.
    for pause, middle in zip(pauses, (2, 4, 8, 8, 8, 8), strict=True):
        assert middle * 0.875 <= pause <= middle * 1.125, pauses
    assert len({round(pause / middle, 6) for pause, middle in zip(pauses, (2, 4, 8, 8, 8, 8), strict=True)}) > 1
    assert job_of(engine, "test_job")["failures"] == 6

    engine.database.run("MATCH (x:JochiProcedure {name: 'test/job'}) SET x.select = $text", {"text": ONE_KEY})
    (run,) = engine.run("test_job")
    assert run.status == "ok"
    job = job_of(engine, "test_job")
    assert (job["failures"], job["isolated_in_a_row"]) == (0, 0)


def test_a_job_that_fails_on_every_memory_puts_ever_more_aside_but_backs_off_in_between(engine: Jochi) -> None:
    remember(engine.database, 40)
    add_job(
        engine,
        "MATCH (m:Curated) WHERE m.next_due <= $in.now AND NOT m.key IN $in.skip "
        "WITH m ORDER BY m.next_due LIMIT $in.limit RETURN collect(m.key) AS keys",
        BROKEN["the act throws"][1],
    )
    bursts = []
    for _ in range(3):
        runs = engine.run("test_job", drain=True)
        bursts.append(sum(len(run.quarantined) for run in runs))
    assert bursts == [3, 6, 12]
    assert job_of(engine, "test_job")["failures"] == 3
    assert len(keys(engine.database, "Curated", "m.quarantined_until IS NOT NULL")) == 21


def test_a_run_ends_when_its_budget_is_spent_and_goes_on_at_once(engine: Jochi) -> None:
    add_job(engine, ONE_KEY, DONE, budget_ms=0, max_batches=10)
    (run,) = engine.run("test_job")
    assert (run.status, run.batches) == ("ok", 1)  # the first batch is always let through
    job = job_of(engine, "test_job")
    assert job["next_start"] <= job["last_finished_at"]
    assert engine.history("test_job")[0]["over_budget"]
    set_job(engine, "test_job", budget_ms=60_000)
    (run,) = engine.run("test_job")
    assert run.batches == 10
    assert "over_budget" not in engine.history("test_job")[0]


@pytest.mark.parametrize(("batches", "last_start_ms"), [(1, 499), (3, 749), (9, 899)])
def test_a_batch_that_would_not_fit_into_the_budget_is_left_to_the_next_run(
    engine: Jochi, batches: int, last_start_ms: int
) -> None:
    add_job(engine, ONE_KEY, DONE, budget_ms=1000)
    clock = datetime(2026, 1, 1, tzinfo=timezone.utc)
    engine.database.run(
        "MATCH (j:JochiJob {name: 'test_job'}) SET j.token = 1, j.run_open = true, j.drained = false, j.started_at = $clock "
        "CREATE (:JochiJobRun {id: 'test_job/1', batches: $batches})",
        {"clock": clock, "batches": batches},
    )

    def goes(after_ms: int) -> bool:
        row = engine.engine.call(
            "scheduler/begin",
            {
                "clock": clock + timedelta(milliseconds=after_ms),
                "pump": engine.engine.pump,
                "job": "test_job",
                "token": 1,
                "run": "test_job/1",
            },
        )
        return bool(row["go"])

    assert [goes(last_start_ms), goes(last_start_ms + 1), goes(2000)] == [True, False, False]


def test_one_poison_memory_among_hundreds_is_put_aside_and_nothing_else(
    engine: Jochi, arm: Callable[[], None], alone: Callable[[str], None]
) -> None:
    alone("curate_due")
    everything = remember(engine.database, 300)
    kept = set(remember(engine.database, 20, name="unread", unread=True))
    engine.apply()
    bad = everything[150]
    poison(engine.database, bad)
    arm()
    within(90, lambda: keys(engine.database, "Tombstone") == {*everything} - {bad}, "all but the bad one are pruned")
    assert keys(engine.database, "Curated") == {bad} | kept
    assert keys(engine.database, "Curated", "m.quarantined_until IS NOT NULL") == {bad}
    aside = [run["quarantined"] for run in engine.history("curate_due", limit=100) if run.get("quarantined")]
    assert aside == [[bad]]
    job = job_of(engine, "curate_due")
    assert (job["failures"], job.get("crashes", 0), job["isolated_in_a_row"]) == (0, 0, 0)


def test_five_poison_memories_in_a_row_do_not_stop_a_drain_for_good(engine: Jochi) -> None:
    everything = remember(engine.database, 30)
    engine.apply()
    for key in everything[:5]:
        poison(engine.database, key)
    first = engine.run("curate_due", drain=True)
    assert first[-1].status == "failed"
    assert job_of(engine, "curate_due")["failures"] == 1
    engine.run("curate_due", drain=True)
    assert keys(engine.database, "Curated") == set(everything[:5])
    assert job_of(engine, "curate_due")["failures"] == 0


def mark(engine: Jochi, key: str) -> int:
    held = {"job": None, "token": None, "run": None, "keys": [], "refused": False}
    marked: int = engine.engine.call("scheduler/put_aside", {"clock": NOON, "now": NOON, "mark": key, **held})["marked"]
    return marked


def test_quarantine_doubles_from_its_least_to_its_most(engine: Jochi) -> None:
    (key,) = remember(engine.database, 1)
    pauses = []
    for _ in range(10):
        assert mark(engine, key) == 1
        row = engine.database.run(
            "MATCH (m:Curated {key: $key}) RETURN m.quarantined_until AS until, m.next_due AS due", {"key": key}
        )[0]
        assert row["until"] == row["due"]
        pauses.append(row["until"].to_native() - NOON)
    assert pauses == [min(timedelta(hours=2**i), timedelta(days=7)) for i in range(10)]
    assert mark(engine, "default/nobody") == 0
    engine.database.run("MATCH (m:Curated {key: $key}) SET m.curation_failures = 'many'", {"key": key})
    mark(engine, key)
    assert engine.database.run("MATCH (m:Curated {key: $key}) RETURN m.curation_failures AS n", {"key": key}) == [
        {"n": 1}
    ]


def test_a_poison_tombstone_does_not_stop_the_purge(engine: Jochi) -> None:
    everything = remember(engine.database, 12)
    engine.apply()
    engine.run("curate_due", drain=True)
    engine.database.run("MATCH (t:Tombstone) SET t.deleted_at = datetime.realtime() - duration({days: 31})")
    bad = everything[4]
    poison(engine.database, bad)  # a rail holds it by now, and it can't come back
    engine.run("purge_tombstones", drain=True)
    assert keys(engine.database, "Tombstone") == {bad}
    assert keys(engine.database, "Tombstone", "m.curation_failures = 1") == {bad}
