"""A first run over what has piled up: oldest first, in bounded runs, over as many as it takes (seed 000, Heartbeat Schedule)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
N = 330


@pytest.fixture
def small_runs(jochi: Jochi, test_policy: LoadedPolicy) -> Iterator[Jochi]:
    """Two batches of fifty a run."""
    text = "MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = $size, j.max_batches = $most"
    jochi.database.run(text, {"size": 50, "most": 2})
    yield jochi
    shipped = test_policy.policy.jobs["curate_due"]
    jochi.database.run(text, {"size": shipped.batch_size, "most": shipped.max_batches})


def pile_up(client: Jochi) -> list[str]:
    """Keys of what is due, the longest waiting first; written in another order."""
    memories = [
        Memory(f"n{i:03}", ("Notification",), {"read": True, "created_at": NOW - timedelta(days=400) + i * HOUR})
        for i in range(N)
    ]
    graph.write(client.database, sorted(memories, key=lambda memory: memory.id[::-1]), due=NOW)
    client.database.run("MATCH (m:Curated) SET m.next_due = m.created_at + duration('P7D')")
    return [memory.key for memory in memories]


def test_a_backlog_goes_oldest_first_and_every_run_is_bounded(small_runs: Jochi) -> None:
    keys = pile_up(small_runs)
    small_runs.apply(small_runs.plan(NOW))
    runs = 0
    while run := run_job(small_runs.engine, "curate_due", now=NOW)[0]:
        runs += 1
        gone = graph.pruned(small_runs.database)
        assert gone == set(keys[: len(gone)]), "whatever waited longest went first"
        assert run.batches <= 2
        assert run.changed <= 100
        if len(gone) == N:
            break
        assert run.changed == 100, "each run goes on where the last one ended"
    assert runs == 4
