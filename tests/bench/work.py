"""The worker's queue: memories that one worker hashes and counts in a second, with all writes."""

from __future__ import annotations

import time
from datetime import datetime, timezone

from rich.table import Table
from tests.bench.store import wipe

from jochi import Jochi
from jochi_workers.prepare import Prepare
from jochi_workers.worker import Worker

_CREATE = """
UNWIND range($from, $to) AS i
CREATE (:Curated:MemoryEntry {
  scope: 's' + toString(i % 100), id: 'p' + toString(i), key: 's' + toString(i % 100) + '/p' + toString(i),
  content: 'note ' + toString(i) + ': the deployment of service ' + toString(i % 17) + ' went well, all checks are green',
  token_count: 18, token_counter: 'estimate:chars/4', created_at: $now, prepare_due: $now
})
"""


def prepare_speed(client: Jochi, n: int = 20_000) -> float:
    """Memories a second, after a warm-up."""
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    took = 1.0
    for first, count in ((0, 2_000), (2_000, n)):
        for start in range(first, first + count, 10_000):
            rows = {"from": start, "to": min(start + 10_000, first + count) - 1, "now": now}
            client.database.run(_CREATE, rows)
        started = time.perf_counter()
        Worker(client.engine, [Prepare()], batch=500).run(once=True)
        took = time.perf_counter() - started
    wipe(client.database)
    return n / took


def add_rows(table: Table, client: Jochi) -> None:
    """The figures of this part."""
    counter = Prepare().counter.name
    table.add_row(f"prepare by one worker ({counter})", f"{prepare_speed(client):,.0f} memories/s", "")
