"""What an application is writing while the queue's job works the same memory: the job waits for it, and judges what it wrote
(DESIGN §10: compare and swap; read again behind the lock)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import Run, run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
DAY = timedelta(days=1)
KEY = "default/m"

NOTIFICATION: tuple[str, dict[str, Any]] = ("Notification", {"read": True, "priority": "low"})
SESSION: tuple[str, dict[str, Any]] = ("SessionContext", {"active": False})
TASK: tuple[str, dict[str, Any]] = ("Task", {"status": "completed", "state": "active"})
WRITES: dict[str, tuple[tuple[str, dict[str, Any]], str]] = {
    "pinned": (NOTIFICATION, "SET m.pinned = true"),
    "read": (NOTIFICATION, "SET m.read = false, m.priority = 'critical'"),
    "active": (SESSION, "SET m.active = true"),
    "status": (TASK, "SET m.status = 'in_progress'"),
    "content": (TASK, "SET m.content = 'once more', m.updated_at = $now, m.revision = 1"),
    "hold_until": (NOTIFICATION, "SET m.hold_until = $now + duration('P1D')"),
    "lock": (NOTIFICATION, "SET m.locked_by = 'ada', m.locked_at = $now"),
    "touch": (NOTIFICATION, "SET m.seen = true CREATE (:JochiAccess {key: m.key, at: $now})"),
    "label": (NOTIFICATION, "SET m:Agent"),
}
"""What is due, and what somebody writes of it so that nothing may become of that."""


def due(client: Jochi, kind: str, properties: dict[str, Any], id: str = "m") -> None:
    memory = Memory(
        id, (kind,), {"created_at": NOW - 200 * DAY, "content": "as it was", "tier": "ARCHIVE"} | properties
    )
    graph.write(client.database, [memory], due=NOW - DAY)


def while_written(client: Jochi, write: str) -> Run:
    """The run of the job that waits for the transaction which has done ``write``, until it is committed."""
    blocked = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n"
    with ThreadPoolExecutor(1) as pool, client.database.driver.session(database=client.database.name) as session:
        writing = session.begin_transaction()
        writing.run(f"MATCH (m:Curated {{key: $key}}) {write}", key=KEY, now=NOW).consume()
        running = pool.submit(run_job, client.engine, "curate_due", now=NOW)
        while not running.done() and not client.database.run(blocked, write=False)[0]["n"]:
            pass
        assert not running.done(), "it didn't wait"
        writing.commit()
        (run,) = running.result(60)
    assert run.error is None
    return run


@pytest.mark.parametrize("name", WRITES)
def test_what_is_being_written_is_waited_for_and_counts(applied: Jochi, name: str) -> None:
    (kind, properties), write = WRITES[name]
    due(applied, kind, properties)
    run = while_written(applied, write)
    left = graph.state(applied.database)[KEY]
    assert (left.live, left.properties.get("state") == "archived") == (True, False)
    assert (run.selected, run.changed, run.tally.get("pruned", 0), run.tally.get("archive", 0)) == (1, 0, 0, 0)
    assert [a["action"] for a in graph.audits(applied.database) if a["action"] != "protect"] == []


@pytest.mark.parametrize("kind", [NOTIFICATION, SESSION, TASK])
def test_without_it_something_would_have_become_of_it(applied: Jochi, kind: tuple[str, dict[str, Any]]) -> None:
    due(applied, *kind)
    run = while_written(applied, "SET m.seen = true")
    assert run.changed == 1
    (audit,) = graph.audits(applied.database)
    assert audit["action"] == ("archive" if kind is TASK else "prune")


def test_what_is_not_due_any_more_is_counted_as_changed_meanwhile(applied: Jochi) -> None:
    due(applied, *NOTIFICATION)
    later = NOW + DAY
    run = while_written(applied, "SET m.next_due = $now + duration('P1D')")
    assert (run.selected, run.changed, run.tally["changed_meanwhile"]) == (1, 0, 1)
    left = graph.state(applied.database)[KEY]
    assert left.live
    assert to_python(left.properties["next_due"]) == later
    (again,) = run_job(applied.engine, "curate_due", now=later)
    assert (again.changed, again.tally.get("changed_meanwhile", 0)) == (1, 0)
