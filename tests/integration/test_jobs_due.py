"""`Jochi.run_due`: every job that is due, once, as the pump would choose it, and from outside."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from threading import Barrier

import pytest
from tests.faults.support import claim, set_job, write_inputs

from jochi import Jochi
from jochi.jobs.results import Switch

pytestmark = pytest.mark.server

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
FAR = datetime(2100, 1, 1, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)


@pytest.fixture
def client(applied: Jochi) -> Jochi:
    """Every job has something to do, and none is due for years."""
    write_inputs(applied)
    applied.database.run("MATCH (j:JochiJob) SET j.next_start = $far", {"far": FAR})
    return applied


def make_due(client: Jochi, *names: str, at: datetime = NOON) -> None:
    for name in names or client.policy.policy.jobs:
        set_job(client, name, next_start=at)


def runs(client: Jochi) -> Counter[str]:
    """How often each job ran."""
    rows = client.database.run("MATCH (r:JochiJobRun) WHERE r.job IS NOT NULL RETURN r.job AS job", write=False)
    return Counter(row["job"] for row in rows)


def test_what_is_due_runs_and_nothing_else(client: Jochi) -> None:
    make_due(client, "hygiene")
    make_due(client, "prune_runs", at=NOON + SECOND)
    assert client.run_due(now=NOON - SECOND) == []
    (one,) = client.run_due(now=NOON)
    assert (one.job, one.outcome, one.run and one.run.status) == ("hygiene", "ok", "ok")
    assert client.database.run("MATCH (r:JochiJobRun {job: 'hygiene'}) RETURN r.now = $noon AS is", {"noon": NOON}) == [
        {"is": True}
    ]
    assert [one.job for one in client.run_due(now=NOON + SECOND)] == ["prune_runs"]
    assert client.run_due() == []


def test_in_the_order_of_the_pump_each_once_whatever_is_due_again(client: Jochi) -> None:
    """In two days each of these is due again as soon as it is over. The deadline is an interval after the start, at most five
    minutes; then the priority counts."""
    make_due(client, "prune_runs", "fold_accesses", "schedule_edges")
    heard: list[str] = []
    found = client.run_due(now=datetime.now(timezone.utc) + timedelta(days=2), on_job=lambda one: heard.append(one.job))
    assert heard == [one.job for one in found] == ["fold_accesses", "prune_runs", "schedule_edges"]
    assert {one.outcome for one in found} == {"ok"}


def test_what_waits_or_fails_keeps_none_of_the_others(client: Jochi) -> None:
    broken, paused, stopped, held, well = "fold_accesses", "hygiene", "sweep_orphans", "expire_audit", "prune_runs"
    make_due(client, broken, paused, stopped, held, well, "curate_due")
    set_job(client, broken, procedure="no/such")
    client.pause(Switch("job", paused))
    set_job(client, stopped, stopped_run="sweep_orphans/1")
    client.database.run("MATCH (p:JochiPump {name: $n}) SET p.guard = 'the clock went back'", {"n": client.engine.pump})
    set_job(client, "purge_tombstones", enabled=False, next_start=NOON)
    assert claim(client, datetime.now(timezone.utc), held)["job"] == held

    found = {one.job: one for one in client.run_due()}
    assert {job: one.outcome for job, one in found.items()} == {
        **{broken: "failed", paused: "waits", stopped: "waits", held: "waits", "curate_due": "waits", well: "ok"},
    }
    assert {job for job, one in found.items() if not one.went_well} == {broken}
    assert [str(found[job].why).split(f"{job} ")[-1] for job in (paused, held, "curate_due")] == [
        f"is paused by {client.jobs()[[j.name for j in client.jobs()].index(paused)].paused_by}",
        "is running now (pump)",
        "waits: the gap guard is closed",
    ]
    assert "stopped the run sweep_orphans/1" in str(found[stopped].why)
    assert found[broken].why == "there is no procedure no/such"
    assert runs(client) == Counter([broken, held, well])


def test_what_has_nothing_to_do_is_left_out(applied: Jochi) -> None:
    make_due(applied)
    idle = {job.name for job in applied.jobs() if job.idle}
    assert idle
    assert idle & {one.job for one in applied.run_due()} == set()


def test_two_at_once_do_no_job_twice(client: Jochi) -> None:
    make_due(client)
    other = Jochi(client.database.driver, client.database.name, policy=client.policy)
    together = Barrier(2)

    def run(one: Jochi) -> list[str]:
        together.wait()
        return [due.job for due in one.run_due() if due.run is not None]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, (client, other))
    assert Counter(first + second) == Counter(list(runs(client))) == runs(client)
    assert [job.name for job in client.jobs() if job.next_start == NOON and not job.idle] == []
