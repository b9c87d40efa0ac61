"""Which of the jobs that are due runs next: the one with the earliest deadline (docs/reference/jobs-and-runs.md)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import pairwise

import pytest
from tests.faults.support import claim, set_job, write_inputs

from jochi import Jochi

pytestmark = pytest.mark.server

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
MOST = timedelta(minutes=5)


@pytest.fixture
def client(applied: Jochi) -> Jochi:
    """Every job is due from NOON on, as after an install, and has something to do."""
    write_inputs(applied)
    applied.database.run("MATCH (j:JochiJob) SET j.next_start = $noon", {"noon": NOON})
    return applied


def starts(client: Jochi, first: timedelta, turn: timedelta, until: timedelta) -> dict[str, list[timedelta]]:
    """When each job started, after NOON. Its first run takes ``first``, the others ``turn``, and none leaves work for the next."""
    found: dict[str, list[timedelta]] = {name: [] for name in client.policy.policy.jobs}
    at = NOON
    while at < NOON + until:
        held = claim(client, at, job=None)
        if held["job"] is None:
            at += SECOND
            continue
        began = at - NOON
        at += turn if found[held["job"]] else first
        found[held["job"]].append(began)
        set_job(client, held["job"], drained=True)
        client.engine.call("scheduler/close", {"clock": at, **{name: held[name] for name in ("job", "token", "run")}})
    return found


def test_the_deadline_is_an_interval_after_the_start_and_priority_puts_it_off(client: Jochi) -> None:
    jobs = client.policy.policy.jobs
    began = dict.fromkeys(jobs, NOON)
    # A second before the first of the others, which runs every second with priority 1; and after what runs every ten.
    began["prune_runs"] = NOON - MOST - timedelta(seconds=10 * (jobs["prune_runs"].priority - 1))
    began["hygiene"] = began["prune_runs"] + 21 * SECOND
    for name in ("prune_runs", "hygiene"):
        set_job(client, name, next_start=began[name])

    def deadline(name: str) -> tuple[datetime, str]:
        job = jobs[name]
        return began[name] + min(job.every or MOST, MOST) + timedelta(seconds=10 * job.priority), name

    order = [claim(client, NOON, job=None)["job"] for _ in jobs]
    assert order == sorted(jobs, key=deadline)
    assert order[0] == "prune_runs"
    assert order.index("hygiene") > order.index("settle_slots")
    assert claim(client, NOON, job=None)["job"] is None


def test_what_runs_often_keeps_its_pace_while_all_others_take_their_first_turn(client: Jochi) -> None:
    set_job(client, "curate_due", every_s=300, every=5 * MINUTE)  # as shipped; every second in the policy of the tests
    found = starts(client, 3 * SECOND, SECOND, 4 * MINUTE)
    assert [name for name, at in found.items() if not at] == []
    jobs = client.policy.policy.jobs
    often = [name for name in jobs if jobs[name].every == 10 * SECOND]
    assert len(often) >= 3
    late = {name: max(after - before for before, after in pairwise(found[name])) for name in often}
    assert max(late.values()) <= 10 * SECOND + 3 * SECOND + len(often) * SECOND, late


def test_where_there_is_more_to_do_than_time_each_job_has_its_turn(client: Jochi) -> None:
    """Runs of ten seconds: what is to run every ten seconds could fill all of the time."""
    found = starts(client, 10 * SECOND, 10 * SECOND, 20 * MINUTE)
    assert [name for name, at in found.items() if not at] == []
