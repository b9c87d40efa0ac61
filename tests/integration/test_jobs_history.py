"""The run history is bounded and never loses an open run; `jobs ls` and `history` say what was (DESIGN §5)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from jochi import Jochi

pytestmark = pytest.mark.server


def runs(jochi: Jochi, job: str, n: int, newest: datetime, *, finished: bool = True, name: str = "r") -> None:
    jochi.database.run(
        "UNWIND range(1, $n) AS i CREATE (r:JochiJobRun {id: $job + '/' + $name + i, job: $job, token: i, status: 'ok', "
        "runner: 'pump', batches: 1, selected: 0, changed: 0, failed_batches: 0, started_at: $newest - duration({seconds: i})}) "
        "SET r.finished_at = CASE WHEN $finished THEN r.started_at END",
        {"n": n, "job": job, "newest": newest, "finished": finished, "name": name},
    )


def ids(jochi: Jochi, job: str) -> set[str]:
    return {row["id"] for row in jochi.database.run("MATCH (r:JochiJobRun {job: $j}) RETURN r.id AS id", {"j": job})}


def test_old_runs_and_surplus_runs_go_and_open_ones_stay(jochi: Jochi) -> None:
    now = datetime.now(timezone.utc)
    month = timedelta(days=30)
    runs(jochi, "requeue", 5, now - month - timedelta(minutes=1), name="old")
    runs(jochi, "requeue", 5, now - month + timedelta(minutes=5), name="young")
    runs(jochi, "requeue", 1, now - 2 * month, finished=False, name="open")
    runs(jochi, "curate_due", 1010, now, name="many")
    runs(jochi, "curate_due", 1, now - timedelta(days=1), finished=False, name="open")
    (run,) = jochi.run("prune_runs", drain=True)
    assert run.tally["removed"] == run.changed == 5 + 10
    assert ids(jochi, "requeue") == {f"requeue/young{i}" for i in range(1, 6)} | {"requeue/open1"}
    left = ids(jochi, "curate_due")
    assert left == {f"curate_due/many{i}" for i in range(1, 1001)} | {"curate_due/open1"}
    (again,) = jochi.run("prune_runs", drain=True)
    assert again.changed == 0


def test_history_is_newest_first_and_can_leave_out_idle_runs(jochi: Jochi) -> None:
    now = datetime.now(timezone.utc)
    runs(jochi, "requeue", 3, now)
    runs(jochi, "curate_due", 2, now - timedelta(minutes=1))
    jochi.database.run("MATCH (r:JochiJobRun {id: 'curate_due/r2'}) SET r.changed = 7")
    assert [run["id"] for run in jochi.history(limit=4)] == ["requeue/r1", "requeue/r2", "requeue/r3", "curate_due/r1"]
    assert [run["id"] for run in jochi.history("curate_due")] == ["curate_due/r1", "curate_due/r2"]
    assert [run["id"] for run in jochi.history(changed_only=True)] == ["curate_due/r2"]


def test_jobs_say_what_they_wait_for(jochi: Jochi) -> None:
    waiting = {job.name: job.waits_for for job in jochi.jobs() if job.waits_for is not None}
    assert waiting == dict.fromkeys(
        ["curate_due", "decay_edges", "merge_duplicates", "purge_tombstones", "sweep_orphans"], "apply"
    )
    assert {job.name for job in jochi.jobs()} == set(jochi.policy.policy.jobs)
    jochi.apply()
    assert {job.waits_for for job in jochi.jobs()} == {None}
    (run,) = jochi.run("requeue")
    job = next(job for job in jochi.jobs() if job.name == "requeue")
    assert (job.last_status, job.running, job.failures, job.crashes) == (run.status, False, 0, 0)
