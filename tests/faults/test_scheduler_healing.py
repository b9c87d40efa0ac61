"""The pump and the watch bring each other back; schema commands and stray pumps don't disturb them (DESIGN §5)."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from neo4j.exceptions import TransientError
from tests.faults.support import INSTALL, expect_whole, job_of, keys, pump_of, remember, set_job, within

from jochi import Jochi, clock
from jochi.errors import ConnectionFailed
from jochi.jobs.arming import job_faults
from jochi.operate.check import Level
from jochi.operate.status import overview
from jochi_workers.job_armer import JobArmer
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

PUMP, WATCH = "jochi.pump.neo4j", "jochi.watch.neo4j"


def generation(jochi: Jochi, name: str) -> int:
    """How often this one was armed."""
    text = "MATCH (p:JochiPump {name: $n}) RETURN coalesce(p.generation, 0) AS n"
    return int(jochi.database.run(text, {"n": name}, write=False)[0]["n"])


def cancel(jochi: Jochi, *names: str) -> None:
    """Takes jobs off the list; again where a tick in flight had just armed one anew."""
    text = "UNWIND $names AS n CALL apoc.periodic.cancel(n) YIELD name RETURN count(*)"
    jochi.database.autocommit(text, {"names": list(names)})


def disarm(jochi: Jochi) -> None:
    """Neither is armed, though both should be. A tick in flight would arm what is cancelled beside it: until the last has ended
    nothing is to be armed."""
    jochi.database.run("MATCH (p:JochiPump) SET p.armed = false")
    cancel(jochi, PUMP, WATCH)
    within(10, lambda: not ticks(jochi, ""), "the last tick has ended")
    jochi.database.run("MATCH (p:JochiPump) SET p.armed = true")
    assert jochi.armed() == []


def prunes(jochi: Jochi, name: str) -> None:
    """The database still works by itself: what is due now goes."""
    (key,) = remember(jochi.database, 1, name=name)
    within(20, lambda: key in keys(jochi.database, "Tombstone"), f"{key} is pruned")


def test_a_cancelled_pump_comes_back(engine: Jochi, arm: Callable[[], None]) -> None:
    engine.apply()
    arm()
    prunes(engine, "before")
    before = generation(engine, PUMP)
    cancel(engine, PUMP)
    within(10, lambda: PUMP in engine.armed() and generation(engine, PUMP) > before, "the watch arms the pump")
    prunes(engine, "after")


def test_a_cancelled_watch_comes_back(engine: Jochi, arm: Callable[[], None]) -> None:
    arm()
    before = generation(engine, WATCH)
    cancel(engine, WATCH)
    within(10, lambda: WATCH in engine.armed() and generation(engine, WATCH) > before, "the pump arms the watch")


def test_what_an_install_leaves_that_is_cut_off_before_it_arms_is_armed_by_the_watch(
    engine: Jochi, arm: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    arm()
    within(20, lambda: not job_faults(engine.engine), "both work")

    def cut(*_given: object, **_named: object) -> None:
        raise ConnectionFailed("cut off")

    monkeypatch.setattr(INSTALL, "ensure_jobs", cut)
    with pytest.raises(ConnectionFailed):
        engine.install()
    before = generation(engine, PUMP)
    engine.database.run("MATCH (p:JochiPump) REMOVE p.installing_until")  # its minutes are over
    within(60, lambda: generation(engine, PUMP) > before, "the watch arms the pump")


CANCEL = "UNWIND keys($rates) AS name CALL apoc.periodic.cancel(name) YIELD name AS n RETURN count(*)"
TAKE = "UNWIND keys($rates) AS name CALL apoc.periodic.repeat(name, 'RETURN 1', $rates[name]) YIELD name AS n RETURN count(*)"
SLEEP = "UNWIND range(1, 16) AS i CALL apoc.periodic.submit('sleeper' + i, 'CALL apoc.util.sleep(8000)') YIELD name RETURN count(*)"


@pytest.mark.parametrize(
    ("act", "rates", "says"),
    [
        (CANCEL, {PUMP: 1, WATCH: 2}, "is not on the server's list"),
        (TAKE, {PUMP: 7, WATCH: 7}, "is another's job: it runs every 7 s"),
        (TAKE, {PUMP: 1, WATCH: 2}, "another's job has its name, or the threads"),
        (SLEEP, {}, "the threads of APOC's scheduler are busy"),
    ],
    ids=["cancelled", "taken at another rate", "taken at the same rate", "no thread is free"],
)
def test_what_others_do_to_the_jobs_is_said_and_a_worker_arms_them(
    engine: Jochi, arm: Callable[[], None], act: str, rates: dict[str, int], says: str
) -> None:
    """Both at once, so that neither brings the other back."""
    arm()
    within(20, lambda: not job_faults(engine.engine), "both work")
    if rates:
        disarm(engine)
    before = {name: generation(engine, name) for name in rates}
    engine.database.autocommit(act, {"rates": rates})
    seen = within(10, lambda: told_of(engine, says, max(1, len(rates))), "it is seen")
    told = overview(engine, tiers=False).pump
    assert told is not None
    assert (told.level, says in told.found) == (Level.FAIL, True)
    arming = JobArmer(engine.engine, timedelta(seconds=1))
    Worker(engine.engine, [], files=[arming]).run(once=True)
    assert "armed again as" in (arming.note or "")
    assert all(generation(engine, name) > before[name] for name in rates), seen
    within(40, lambda: not job_faults(engine.engine), "both work again")


def told_of(jochi: Jochi, says: str, least: int) -> list[str]:
    """What is wrong with the jobs, if it is said of ``least`` of them."""
    found = [str(each) for each in job_faults(jochi.engine) if says in each.why]
    return found if len(found) >= least else []


def test_the_pump_takes_the_watchs_name_back(engine: Jochi, arm: Callable[[], None]) -> None:
    arm()
    within(20, lambda: not job_faults(engine.engine), "both work")
    before = generation(engine, WATCH)
    engine.database.autocommit(TAKE, {"rates": {WATCH: 2}})
    within(30, lambda: generation(engine, WATCH) > before, "the pump arms the watch")
    within(20, lambda: not job_faults(engine.engine), "both work again")


def test_with_both_cancelled_any_client_arms_them_again(engine: Jochi, arm: Callable[[], None]) -> None:
    engine.apply()
    arm()
    disarm(engine)
    assert engine.ensure_jobs() == [PUMP, WATCH]
    assert engine.ensure_jobs() == []
    prunes(engine, "after")


def test_a_paused_or_held_pump_is_not_taken_for_a_dead_one(engine: Jochi, arm: Callable[[], None]) -> None:
    arm()
    generation = pump_of(engine)["generation"]
    engine.database.run("MATCH (p:JochiPump {name: $n}) SET p.enabled = false", {"n": PUMP})
    first = pump_of(engine)["last_tick"]
    within(10, lambda: pump_of(engine)["last_tick"] > first, "it ticks on")
    assert pump_of(engine)["generation"] == generation


def test_what_is_not_to_be_armed_is_not_armed(engine: Jochi) -> None:
    assert pump_of(engine)["armed"] is False
    assert engine.ensure_jobs() == []
    assert engine.armed() == []


def test_a_terminated_tick_ends_the_pump_and_the_watch_brings_it_back(engine: Jochi, arm: Callable[[], None]) -> None:
    everything = remember(engine.database, 50)
    engine.apply()
    with engine.database.driver.session() as session:
        agent = session.begin_transaction()
        agent.run("MATCH (m:Curated {key: $key}) SET m.seen = true", {"key": everything[9]}).consume()
        arm()
        pump = within(15, lambda: ticks(engine, "Blocked by"), "the pump waits for the agent")
        generation = pump_of(engine)["generation"]
        engine.database.autocommit("TERMINATE TRANSACTIONS $ids", {"ids": pump})
        within(20, lambda: pump_of(engine)["generation"] > generation, "the watch arms it again")
        agent.rollback()
    # The lease of the run that was cut is honoured (20 s here); the test doesn't wait for it.
    set_job(engine, "curate_due", lease_until=None)
    within(30, lambda: keys(engine.database, "Tombstone") == set(everything), "the work goes on")
    within(10, lambda: not job_of(engine, "curate_due")["run_open"])
    status = [run["status"] for run in engine.history("curate_due", limit=50)]
    assert "running" not in status
    assert status.count("crashed") == job_of(engine, "curate_due").get("crashes", 0) <= 1
    expect_whole(engine.database)


def ticks(jochi: Jochi, status: str) -> list[str]:
    """The outer transactions of ticks, while one of their batches has ``status``."""
    rows = jochi.database.run(
        "SHOW TRANSACTIONS YIELD transactionId, status, currentQuery, outerTransactionId "
        "RETURN transactionId AS id, status, currentQuery AS query, outerTransactionId AS outer"
    )
    if not any(row["status"].startswith(status) for row in rows):
        return []
    return [row["id"] for row in rows if "// jochi scheduler/" in (row["query"] or "") and not row["outer"]]


def test_of_two_pumps_at_once_the_older_one_does_nothing(
    engine: Jochi, arm: Callable[[], None], alone: Callable[[str], None]
) -> None:
    """Two who arm at once can leave a repeat job that is not on APOC's list any more and runs for ever."""
    engine.apply()
    alone("curate_due")
    arm()
    disarm(engine)
    within(10, lambda: not any(job.running for job in engine.jobs()), "no run is in progress")
    stray = {**pump_of(engine), "pin": None}
    engine.database.run("MATCH (p:JochiPump {name: $n}) SET p.generation = p.generation + 1", {"n": PUMP})
    remember(engine.database, 5)
    set_job(engine, "curate_due", next_start=stray["last_tick"])
    before = pump_of(engine)["last_tick"]
    assert engine.database.autocommit(stray["body"], stray) == [{"ran": 0}]
    assert len(keys(engine.database, "Curated")) == 5
    assert pump_of(engine)["last_tick"] == before
    current = {**pump_of(engine), "pin": None}
    assert engine.database.autocommit(current["body"], current) == [{"ran": 1}]
    assert keys(engine.database, "Curated") == set()


def test_two_clients_that_arm_at_once_arm_once(engine: Jochi) -> None:
    for _ in range(3):
        disarm(engine)
        engine.database.run("MATCH (p:JochiPump) SET p.rearmed_at = null, p.generation = 100")
        with ThreadPoolExecutor(2) as pool:
            armed = list(pool.map(lambda _: Jochi(engine.database.driver).ensure_jobs(), range(2)))
        assert sorted(name for names in armed for name in names) == [PUMP, WATCH]
        assert pump_of(engine)["generation"] == 101


def arm_by_itself(jochi: Jochi) -> list[str]:
    """What the pump and the watch do: they arm what is gone or makes no progress, and look at nothing else."""
    text = jochi.engine.text("scheduler/arm")
    names = {"pump": PUMP, "watch": WATCH, "pin": None, "ticked": None}
    rows = jochi.database.autocommit(text, jochi.engine.given(text, {"clock": clock.now(), **names}))
    return sorted(rows[0]["armed"])


def test_a_pump_without_progress_is_armed_again_but_not_over_and_over(engine: Jochi) -> None:
    """It is on the list, but its ticks leave no mark (tests/policy.toml: 10 s)."""
    engine.database.run(
        "MATCH (p:JochiPump) SET p.armed = true, p.rearmed_at = null, p.last_tick = datetime.realtime()"
    )
    idle = "UNWIND $names AS n CALL apoc.periodic.repeat(n, 'RETURN 1', 60) YIELD name RETURN count(*)"
    engine.database.autocommit(idle, {"names": [PUMP, WATCH]})
    assert arm_by_itself(engine) == []
    engine.database.run(
        "MATCH (p:JochiPump {name: $n}) SET p.last_tick = datetime.realtime() - duration('PT11S')", {"n": PUMP}
    )
    # Its first tick waits for this lock, so that no mark of life comes in between.
    with engine.database.driver.session() as session, session.begin_transaction() as transaction:
        assert arm_by_itself(engine) == [PUMP]
        transaction.run("MATCH (p:JochiPump {name: $n}) SET p.seen = true", {"n": PUMP}).consume()
        transaction.rollback()
    engine.database.run(
        "MATCH (p:JochiPump {name: $n}) SET p.last_tick = datetime.realtime() - duration('PT11S')", {"n": PUMP}
    )
    assert arm_by_itself(engine) == []


INDEXES: dict[str, tuple[str, str]] = {
    "test_curated": ("Curated", "content"),
    "test_job": ("JochiJob", "procedure"),
    "test_run": ("JochiJobRun", "status"),
    "test_tombstone": ("Tombstone", "content"),
}


def _patiently(engine: Jochi, text: str) -> None:
    """A schema command; one that the lock time-out (5 s) ends while a batch is planned is given again, as people would."""
    for _ in range(4):
        try:
            engine.database.autocommit(text)
        except TransientError as error:
            if "LockAcquisitionTimeout" not in str(error.code):
                raise
        else:
            return
    raise AssertionError(f"still locked out: {text}")


def test_schema_commands_during_ticks_hang_nothing(engine: Jochi, arm: Callable[[], None]) -> None:
    everything = set(remember(engine.database, 200))
    engine.apply()
    set_job(engine, "curate_due", batch_size=40, max_batches=5)
    arm()
    slowest, commands = 0.0, 0
    # Each command makes all plans anew, seconds each; a busy machine has four times as long as an idle one (see `within`).
    deadline = time.monotonic() + 240
    while keys(engine.database, "Tombstone") != everything or commands < 40:
        assert time.monotonic() < deadline, f"{commands} commands, slowest {slowest:.2f} s"
        for name, (label, property_) in INDEXES.items():
            for text in (
                f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{label}) ON (n.{property_})",
                f"DROP INDEX {name} IF EXISTS",
            ):
                began = time.monotonic()
                _patiently(engine, text)
                slowest, commands = max(slowest, time.monotonic() - began), commands + 1
    assert slowest < 20
    within(10, lambda: not job_of(engine, "curate_due")["run_open"])
    failed: list[Any] = [
        run for run in engine.history("curate_due", limit=100) if run["status"] in {"failed", "crashed"}
    ]
    assert failed == []
    expect_whole(engine.database)
