"""Records: what they say, how long they stay, and that they are few against the data (docs/reference/audit-and-undo.md)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def notice(id: str) -> Memory:
    return Memory(id, ("Notification",), {"read": True, "created_at": NOW - 40 * DAY, "content": "x" * 400})


def moved(id: str) -> Memory:
    held = {"tier": "HOT", "last_accessed_at": NOW - 30 * DAY, "access_count": 1, "content": "y" * 400}
    return Memory(id, ("MemoryEntry",), {"created_at": NOW - 40 * DAY} | held)


def put(client: Jochi, *memories: Memory) -> None:
    graph.write(client.database, memories, due=NOW)
    graph.write_scopes(client.database, {"default": NOW - 300 * DAY})


def run(client: Jochi, job: str, now: datetime) -> int:
    return sum(each.changed for each in run_job(client.engine, job, now=now, drain=True))


def actions(client: Jochi) -> list[str]:
    return sorted(audit["action"] for audit in graph.audits(client.database, lists=True))


def test_a_record_expires_after_thirty_days_and_never_before_its_tombstone_is_purged(applied: Jochi) -> None:
    put(applied, notice("n"), moved("m"))
    run(applied, "curate_due", NOW)
    assert actions(applied) == ["demote", "prune"]
    assert run(applied, "expire_audit", NOW + 30 * DAY - SECOND) == 0
    assert run(applied, "expire_audit", NOW + 30 * DAY) == 1
    assert actions(applied) == ["prune"]
    assert run(applied, "expire_audit", NOW + 300 * DAY) == 0
    assert run(applied, "purge_tombstones", NOW + 300 * DAY) == 1
    assert run(applied, "expire_audit", NOW + 300 * DAY) == 1
    assert actions(applied) == ["purge"]
    assert run(applied, "expire_audit", NOW + 330 * DAY - SECOND) == 0
    assert run(applied, "expire_audit", NOW + 330 * DAY) == 1


def test_a_run_stays_as_long_as_its_records(applied: Jochi) -> None:
    put(applied, notice("n"))
    run(applied, "curate_due", NOW)
    applied.database.run("MATCH (r:JochiJobRun) SET r.started_at = r.started_at - duration({days: 60})")
    run(applied, "prune_runs", datetime.now(timezone.utc))
    assert [each.job for each in applied.runs()] == ["curate_due"]
    applied.database.run("MATCH (a:CurationAudit) DELETE a")
    run(applied, "prune_runs", datetime.now(timezone.utc))
    assert applied.runs() == []


def test_records_are_bounded_by_the_memories(applied: Jochi) -> None:
    put(applied, *(moved(f"m{i}") for i in range(10)), notice("n"))
    run(applied, "curate_due", NOW)
    most = applied.policy.policy.audit.per_memory
    applied.database.run(
        "UNWIND range(1, $n) AS i "
        "CREATE (:CurationAudit {id: 'x' + i, run: 'x', key: 'default/m0', action: 'state', rule: 'x', at: $at})",
        {"n": 11 * most + 40, "at": NOW + SECOND},
    )
    assert run(applied, "expire_audit", NOW + DAY) == 42
    size = applied.audit_size()
    assert (size.records, size.memories, size.per_memory) == (11 * most, 11, most)
    # The tombstone's own record is the oldest, and stays.
    assert "prune" in actions(applied)
    assert "demote" not in actions(applied)
    assert run(applied, "expire_audit", NOW + DAY) == 0


def test_the_bytes_on_record_are_few_against_the_data(applied: Jochi) -> None:
    put(applied, *(moved(f"m{i}") for i in range(60)), *(notice(f"n{i}") for i in range(30)))
    for days in (0, 10, 20):
        applied.database.run("MATCH (m:Curated) SET m.next_due = $at", {"at": NOW + days * DAY})
        run(applied, "curate_due", NOW + days * DAY)
    size = applied.audit_size()
    assert size.ratio is not None
    assert 0 < size.ratio <= 0.5, size
