"""A job that can have nothing to do doesn't run, and is live at the next tick once it has (docs/reference/jobs-and-runs.md)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from tests.faults.support import INPUTS, claim, set_job

from jochi import Jochi
from jochi.operate.work import status
from jochi_workers.queue import Queue

pytestmark = pytest.mark.server

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
ALWAYS = {"choose_mode", "prune_runs"}
"""How busy applications are is looked at; that leaves runs, which are pruned."""


def tick(client: Jochi, at: datetime) -> set[str]:
    """What a pump would run at ``at``, each once."""
    found = set()
    while (held := claim(client, at, job=None))["job"] is not None:
        found.add(held["job"])
        set_job(client, held["job"], drained=True)
        client.engine.call("scheduler/close", {"clock": at, **{name: held[name] for name in ("job", "token", "run")}})
    return found


@pytest.fixture
def client(applied: Jochi) -> Jochi:
    """As a fresh install leaves it: every interval is due, and every slot comes round within a week."""
    applied.database.run("MATCH (j:JochiJob) SET j.next_start = $noon", {"noon": NOON})
    return applied


def test_on_a_fresh_install_a_day_of_ticks_runs_nothing_that_has_nothing_to_do(client: Jochi) -> None:
    ran = [tick(client, NOON + hour * timedelta(hours=1)) for hour in range(25)]
    assert set().union(*ran) == ALWAYS
    found = client.database.run("MATCH (r:JochiJobRun) RETURN DISTINCT r.job AS job", write=False)
    assert {row["job"] for row in found} == ALWAYS
    jobs = client.jobs()
    assert {job.name for job in jobs if not job.idle} == ALWAYS
    late = [job.name for job in jobs if job.slot and job.next_start and job.next_start <= NOON + timedelta(days=1)]
    assert late == [], "a slot that passed waits for the next"
    assert {job.name for job in jobs} == set(client.policy.policy.jobs)


def test_the_first_input_makes_a_job_live_at_the_next_tick(client: Jochi) -> None:
    assert tick(client, NOON) <= ALWAYS
    jobs = set(client.policy.policy.jobs)
    assert {name for names in INPUTS.values() for name in names} == jobs - ALWAYS
    for pattern, names in INPUTS.items():
        client.database.run("MATCH (j:JochiJob) SET j.next_start = $noon", {"noon": NOON})
        client.database.run(f"CREATE p = {pattern} FOREACH (n IN nodes(p) | SET n:OfThisTest)")
        assert set(names) <= tick(client, NOON), pattern
        client.database.run("MATCH (n:OfThisTest) DETACH DELETE n")
    client.database.run("MATCH (j:JochiJob) SET j.next_start = $noon", {"noon": NOON})
    assert tick(client, NOON) == ALWAYS


def test_a_job_that_is_asked_for_runs(client: Jochi) -> None:
    (run,) = client.run("flush_buffers")
    assert (run.status, run.selected) == ("ok", 0)


def test_derivations_cost_nothing_where_nobody_observes_and_ingests(jochi: Jochi) -> None:
    """The policy derives as the shipped one does. Plain memories are no work for it, give no job something to do and aren't walked
    through; what a derivation is made of is found by the walk, also where it came before the derivation was on."""
    derive = jochi.policy.policy.derive
    on = sorted(name for name, each in derive.items() if each.deriving)
    assert on == ["describe", "extract", "learn", "process", "storylines"]
    names = {job.name for job in jochi.jobs() if not job.idle}
    kinds = ("Belief", "MemoryEntry", "Task", "CompressedContext", "Reflection", "Fact")
    rows = [{"kind": kind, "id": kind, "content": f"Ann keeps the {kind} of the harbour."} for kind in kinds]
    jochi.remember(rows, now=NOON, on_refused="raise")
    jochi.database.run("MATCH (m:Curated) REMOVE m.prepare_due")
    jobs = {job.name for job in jochi.jobs() if not job.idle} - names
    stories = ("count_mentions", "promote_storylines", "promote_macros", "find_meaning", "consolidate", "flush_buffers")
    assert jobs.isdisjoint(stories)
    left = status(jochi.engine, NOON)
    assert [left[name].waiting for name in (*on, "resolve")] == [0] * 6

    def seen(name: str) -> int:
        row = jochi.engine.call("work/changed", {"now": NOON, "derivation": name, "limit": 100})
        assert row["items"] == []
        return int(row["seen"])

    assert [seen(name) for name in on] == [0] * 5
    # Switched off and on again, and a source is there by then: all memories are looked at, once.
    jochi.database.run("MATCH (d:JochiDerivation) REMOVE d.walked_for CREATE (:Source)")
    assert [seen(name) for name in ("learn", "process", "process")] == [0, len(kinds), 0]
    assert Queue(jochi.engine, "process", clock=lambda: NOON).want(100) == 0
