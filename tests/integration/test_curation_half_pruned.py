"""Half-pruned memories: a stale object of an app gave a tombstone its live labels back. Only hygiene deals with them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from tests.conftest import say_go
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
DAY = timedelta(days=1)


def read_long_ago(name: str) -> Memory:
    return Memory(name, ("Notification",), {"created_at": NOW - 40 * DAY, "read": True})


def half_prune(client: Jochi, prefix: str) -> None:
    client.database.run(
        "MATCH (m:Curated) WHERE m.id STARTS WITH $prefix "
        "SET m.tombstone = true, m.deleted_at = $now, m.tombstone_labels = ['Curated', 'Notification']",
        {"prefix": prefix, "now": NOW - DAY},
    )


def test_plan_explain_and_run_leave_it_alone(jochi: Jochi) -> None:
    graph.write(jochi.database, [read_long_ago("half"), read_long_ago("due")], due=NOW - DAY)
    half_prune(jochi, "half")
    assert jochi.plan(NOW).prunes == 1
    assert jochi.explain("default/half", at=NOW).outcome == "half_pruned"
    assert jochi.explain("default/due", at=NOW).outcome == "prune"
    say_go(jochi)
    run_job(jochi.engine, "curate_due", now=NOW, drain=True)
    state = graph.state(jochi.database)
    assert {key: stored.live for key, stored in state.items()} == {"default/half": True, "default/due": False}


def test_many_of_them_do_not_keep_the_queue_from_what_is_behind_them(jochi: Jochi) -> None:
    graph.write(jochi.database, [read_long_ago(f"half{i}") for i in range(250)], due=NOW - 2 * DAY)
    graph.write(jochi.database, [read_long_ago("due")], due=NOW - DAY)
    half_prune(jochi, "half")
    say_go(jochi)
    (run,) = run_job(jochi.engine, "curate_due", now=NOW)
    assert (run.selected, run.changed) == (1, 1)
    assert not graph.state(jochi.database)["default/due"].live
