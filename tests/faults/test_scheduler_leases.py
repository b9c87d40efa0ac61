"""One runner at a time: claims, leases, fencing tokens, crashes, kill switches between batches (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from threading import Barrier
from typing import Any

import pytest
from tests.faults.support import claim, expect_whole, job_of, keys, remember, set_job, within

from jochi import Jochi
from jochi.errors import Refused, UsageError
from jochi.jobs.results import Switch

pytestmark = pytest.mark.server

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
LEASE = timedelta(seconds=20)  # tests/policy.toml


def begin(jochi: Jochi, clock: datetime, held: dict[str, Any]) -> bool:
    """Whether the holder of a claim may run a batch."""
    named = {name: held[name] for name in ("job", "token", "run")}
    return bool(jochi.engine.call("scheduler/begin", {"clock": clock, "pump": jochi.engine.pump, **named})["go"])


def close(jochi: Jochi, clock: datetime, held: dict[str, Any]) -> str | None:
    named = {name: held[name] for name in ("job", "token", "run")}
    status: str | None = jochi.engine.call("scheduler/close", {"clock": clock, **named})["status"]
    return status


def account(jochi: Jochi, held: dict[str, Any], selected: int, limit: int) -> None:
    jochi.engine.call(
        "scheduler/account",
        {
            "job": held["job"],
            "run": held["run"],
            "limit": limit,
            "selected": selected,
            "changed": 0,
            "stop": False,
            "more": False,
            "tally": [],
            "clock": NOON,
            "took_ms": 0,
        },
    )


@pytest.fixture
def go(engine: Jochi) -> Jochi:
    """Applied; every job is due from NOON on."""
    engine.apply()
    engine.database.run("MATCH (j:JochiJob) SET j.next_start = $noon", {"noon": NOON})
    return engine


def test_a_lease_keeps_others_out_until_it_ends(go: Jochi) -> None:
    first = claim(go, NOON)
    assert first["job"] == "curate_due"
    assert claim(go, NOON + LEASE - SECOND)["job"] is None
    second = claim(go, NOON + LEASE + SECOND)
    assert (second["job"], second["token"]) == ("curate_due", first["token"] + 1)


def test_each_batch_renews_the_lease(go: Jochi) -> None:
    held = claim(go, NOON)
    assert begin(go, NOON + LEASE - SECOND, held)
    assert claim(go, NOON + LEASE + SECOND)["job"] is None
    assert claim(go, NOON + 2 * LEASE)["job"] == "curate_due"


def test_a_stale_token_can_neither_work_nor_close_nor_fail_nor_put_aside(go: Jochi) -> None:
    stale = claim(go, NOON)
    fresh = claim(go, NOON + LEASE + SECOND)
    at = NOON + LEASE + 2 * SECOND
    before = job_of(go, "curate_due")
    named = {name: stale[name] for name in ("job", "token", "run")}
    assert begin(go, at, fresh)
    assert not begin(go, at, stale)
    assert close(go, at, stale) is None
    assert go.engine.call("scheduler/fail", {"clock": at, "error": "late", **named})["isolate"] is False
    aside = {"clock": at, "now": at, "keys": ["default/m1"], "mark": None, "refused": False, **named}
    assert go.engine.call("scheduler/put_aside", aside)["key"] is None
    after = job_of(go, "curate_due")
    assert {**after, "lease_until": 0} == {**before, "lease_until": 0}
    assert close(go, at, fresh) == "ok"


def test_a_run_left_open_counts_as_one_crash_and_is_closed(go: Jochi) -> None:
    cut = claim(go, NOON)
    later = claim(go, NOON + LEASE + SECOND)
    assert close(go, NOON + LEASE + 2 * SECOND, later) == "ok"
    set_job(go, "curate_due", next_start=NOON)
    third = claim(go, NOON + 3 * LEASE)
    status = {run["id"]: run["status"] for run in go.history("curate_due")}
    assert status == {cut["run"]: "crashed", later["run"]: "ok", third["run"]: "running"}
    assert job_of(go, "curate_due")["crashes"] == 1


def test_the_lease_of_a_pump_that_died_with_its_server_does_not_block(go: Jochi) -> None:
    claim(go, NOON)
    go.database.run("MATCH (p:JochiPump) SET p.server_started_at = $at", {"at": NOON + SECOND})
    assert claim(go, NOON + 2 * SECOND)["job"] == "curate_due"
    # A client may well have survived the server's restart: its lease is waited for.
    set_job(go, "curate_due", lease_until=None, next_start=NOON)
    claim(go, NOON, runner="client")
    assert claim(go, NOON + 2 * SECOND)["job"] is None
    go.database.run("MATCH (p:JochiPump) REMOVE p.server_started_at")


def test_a_second_claimer_that_waited_for_the_first_does_not_run_the_job_again(go: Jochi) -> None:
    """Claims race for the same job; the one that gets the lock second looks again, and finds the job done."""
    held = claim(go, NOON)
    with go.database.driver.session() as session, ThreadPoolExecutor(1) as pool:
        transaction = session.begin_transaction()
        set_job_text = (
            "MATCH (j:JochiJob {name: 'curate_due'}) SET j.lease_until = null, j.run_open = false, j.next_start = $next"
        )
        # Another claimer reads the committed state (due, lease over) and waits for this lock.
        transaction.run("MATCH (j:JochiJob {name: 'curate_due'}) REMOVE j.claim_lock").consume()
        late = pool.submit(claim, go, NOON + LEASE + SECOND)
        within(5, lambda: blocked(go), "the claimer waits")
        transaction.run(set_job_text, {"next": NOON + timedelta(hours=1)}).consume()
        transaction.commit()
        assert late.result(20)["job"] is None
    assert held["job"] == "curate_due"


def blocked(jochi: Jochi) -> bool:
    return bool(jochi.database.run("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"))


def test_two_clients_at_once_one_works_and_the_other_leaves_with_a_word(engine: Jochi) -> None:
    dead = remember(engine.database, 600)
    engine.apply()
    set_job(engine, "curate_due", batch_size=20)
    start = Barrier(2)

    def run(_: int) -> str:
        start.wait()
        client = Jochi(engine.database.driver, policy=engine.policy)
        try:
            return client.run("curate_due")[0].status
        except Refused as refused:
            return "running" if "is running now (client)" in str(refused) else str(refused)

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(run, range(2))) == ["ok", "running"]
    engine.run("curate_due", drain=True)
    assert keys(engine.database, "Tombstone") == set(dead)
    expect_whole(engine.database)


def test_pump_and_client_at_once_do_everything_once(engine: Jochi, arm: Callable[[], None]) -> None:
    dead = set(remember(engine.database, 1500))
    engine.apply()
    set_job(engine, "curate_due", batch_size=50, max_batches=3)
    arm()
    client = Jochi(engine.database.driver, policy=engine.policy)
    mine = 0
    within(15, lambda: engine.history("curate_due"), "the pump begins")
    while keys(engine.database, "Curated"):
        try:
            mine += client.run("curate_due")[0].changed
        except Refused:
            continue
    within(10, lambda: not job_of(engine, "curate_due")["run_open"])
    assert keys(engine.database, "Tombstone") == dead
    runners = {"pump": 0, "client": 0}
    for run in engine.history("curate_due", limit=200):
        runners[run["runner"]] += run["changed"]
    assert sum(runners.values()) == 1500
    assert runners["client"] == mine
    assert runners["pump"] > 0
    assert job_of(engine, "curate_due").get("crashes", 0) == 0
    expect_whole(engine.database)


@pytest.mark.parametrize("how", ["job", "all", "guard", "apply", "install", "policy"])
def test_a_kill_switch_works_between_two_batches(go: Jochi, how: str) -> None:
    held = claim(go, NOON)
    assert begin(go, NOON, held)
    account(go, held, 5, 5)
    if how in {"job", "all"}:
        go.pause(Switch("job", "curate_due") if how == "job" else Switch("all"))
    change = {
        "guard": "MATCH (p:JochiPump) SET p.guard = 'closed'",
        "apply": "MATCH (p:JochiPump) SET p.applied_at = null",
        "install": "MATCH (p:JochiPump) SET p.installing_until = datetime('2030-01-01T00:00:00Z')",
        "policy": "MATCH (j:JochiJob {name: 'curate_due'}) SET j.enabled = false",
    }.get(how, "RETURN 1")
    go.database.run(change)
    assert not begin(go, NOON, held)
    go.database.run("MATCH (p:JochiPump) SET p.installing_until = null")
    if how in {"job", "all"}:
        go.resume(Switch("job", "curate_due") if how == "job" else Switch("all"))
        assert begin(go, NOON, held)


@pytest.mark.parametrize("how", ["job", "all"])
def test_a_paused_job_is_not_claimed_and_says_so(go: Jochi, how: str) -> None:
    switch = Switch("job", "curate_due") if how == "job" else Switch("all")
    go.pause(switch)
    with pytest.raises(Refused, match="paused"):
        go.run("curate_due")
    if how == "job":
        assert go.run("prune_runs")[0].status == "ok"
    assert go.resume(switch)
    assert go.run("curate_due")[0].status == "ok"
    assert not go.resume(switch)


def test_a_job_that_does_not_exist_is_a_usage_error(engine: Jochi) -> None:
    with pytest.raises(UsageError, match="curate_due"):
        engine.run("curate_duh")
    with pytest.raises(UsageError, match="there is no job"):
        engine.pause(Switch("job", "curate_duh"))


def test_a_client_without_the_right_time_does_not_take_the_lease_of_another(
    engine: Jochi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leases are compared with the server's clock; a client's own may be an hour ahead."""
    from jochi import clock

    engine.apply()
    held = claim(engine, datetime.now(timezone.utc))
    monkeypatch.setattr(clock, "now", lambda: datetime.now(timezone.utc) + timedelta(hours=1))
    with pytest.raises(Refused, match="running now"):
        engine.run("curate_due")
    assert engine.status().pump is not None
    assert job_of(engine, "curate_due")["token"] == held["token"]
    assert engine.status().pump["guard"] is None  # type: ignore[index]


def test_a_memory_in_the_skip_list_is_passed_over_until_its_time_is_up(go: Jochi) -> None:
    dead = set(remember(go.database, 8))
    go.apply()
    skipped = "default/m3"
    until = datetime.now(timezone.utc) + timedelta(minutes=5)
    set_job(go, "curate_due", skip=[skipped], skip_until=until)
    go.run("curate_due", drain=True)
    assert keys(go.database, "Tombstone") == dead - {skipped}
    set_job(go, "curate_due", skip_until=datetime.now(timezone.utc) - SECOND)
    go.run("curate_due", drain=True)
    assert keys(go.database, "Tombstone") == dead
    assert job_of(go, "curate_due")["skip"] == []
