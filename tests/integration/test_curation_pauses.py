"""Kill switches: a kind, a scope, everything; at once, between batches, and taken back (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.errors import Refused
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
OLD = NOW - timedelta(days=40)
MEMORIES = [
    Memory("n", ("Notification",), {"read": True, "created_at": OLD}, scope="a"),
    Memory("n", ("Notification",), {"read": True, "created_at": OLD}, scope="b"),
    Memory("s", ("SessionContext",), {"active": False, "created_at": OLD}, scope="a"),
    Memory("i", ("Invoice",), {"created_at": OLD, "expires_at": OLD}, scope="b"),
]
ALL = {memory.key for memory in MEMORIES}


@pytest.mark.parametrize(
    ("switch", "waits"),
    [
        (Switch("kind", "Notification"), {"a/n", "b/n"}),
        (Switch("kind", "Invoice"), {"b/i"}),
        (Switch("scope", "a"), {"a/n", "a/s"}),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
)
def test_a_paused_kind_or_scope_waits_and_goes_on_when_resumed(applied: Jochi, switch: Switch, waits: set[str]) -> None:
    graph.write(applied.database, MEMORIES, due=NOW)
    applied.pause(switch)
    said = {memory.key: applied.explain(memory.key, at=NOW).outcome for memory in MEMORIES}
    assert {key for key, outcome in said.items() if outcome == "paused"} == waits
    assert applied.plan(NOW).prunes == len(ALL - waits)
    runs = run_job(applied.engine, "curate_due", now=NOW, drain=True)
    assert graph.pruned(applied.database) == ALL - waits
    assert sum(run.tally.get("paused", 0) for run in runs) == len(waits)
    run_job(applied.engine, "curate_due", now=NOW + HOUR, drain=True)
    assert graph.pruned(applied.database) == ALL - waits
    assert applied.resume(switch)
    assert not applied.resume(switch)
    run_job(applied.engine, "curate_due", now=NOW + 2 * HOUR, drain=True)
    assert graph.pruned(applied.database) == ALL


def test_everything_paused(applied: Jochi) -> None:
    graph.write(applied.database, MEMORIES, due=NOW)
    applied.pause(Switch("all"))
    with pytest.raises(Refused):
        run_job(applied.engine, "curate_due", now=NOW)
    assert graph.pruned(applied.database) == set()
    applied.resume(Switch("all"))
    run_job(applied.engine, "curate_due", now=NOW)
    assert graph.pruned(applied.database) == ALL


@pytest.mark.parametrize(
    "switch",
    [Switch("all"), Switch("job", "curate_due"), Switch("kind", "Notification")],
    ids=str,
)
def test_a_run_in_progress_ends_after_its_batch(
    applied: Jochi, monkeypatch: pytest.MonkeyPatch, switch: Switch
) -> None:
    applied.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = 10")
    memories = [Memory(f"n{i}", ("Notification",), {"read": True, "created_at": OLD}) for i in range(50)]
    graph.write(applied.database, memories, due=NOW)
    transaction = applied.engine.database.transaction
    batches = 0

    def and_then_pause(work: Callable[[Any], Any], *, write: bool = True) -> Any:
        nonlocal batches
        result = transaction(work, write=write)
        if result is True:  # a batch, and not the reading of a row
            batches += 1
            if batches == 2:
                applied.pause(switch)
        return result

    monkeypatch.setattr(applied.engine.database, "transaction", and_then_pause)
    run_job(applied.engine, "curate_due", now=NOW)
    monkeypatch.undo()
    assert len(graph.pruned(applied.database)) == 20
    applied.resume(switch)
    run_job(applied.engine, "curate_due", now=NOW + HOUR, drain=True)
    assert len(graph.pruned(applied.database)) == 50
