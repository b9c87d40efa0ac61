"""What one scrape costs the database, by how much is stored (docs/reference/metrics.md)."""

from __future__ import annotations

import statistics
import time
from datetime import datetime, timedelta, timezone

from rich.table import Table
from tests.bench.store import FAR, fill, wipe

from jochi import Jochi
from jochi.operate.metrics import Metrics

SMALL, LARGE = 10_000, 100_000


def scrape(client: Jochi, rounds: int = 9) -> float:
    """Milliseconds of one read, the median; what is looked at once a minute is known by then."""
    collector = Metrics(client)
    took = []
    for _ in range(rounds + 2):
        started = time.perf_counter()
        assert collector.look() is not None
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took[2:])


def add_rows(client: Jochi, table: Table) -> None:
    """A tenth of the memories waits for the engine, and a tenth for a worker."""
    now = datetime.now(timezone.utc)
    wipe(client.database)
    took, filled = {}, 0
    for n in (SMALL, LARGE):
        fill(client.database, filled, n - 1, now - timedelta(days=1), now + FAR)
        client.database.run(
            "UNWIND range($from, $to) AS i MATCH (m:Curated {key: 's' + toString(i % 100) + '/n' + toString(i)}) "
            "SET m.next_due = $now - duration('PT1M'), m.prepare_due = $now - duration('PT1M')",
            {"from": filled, "to": filled + (n - filled) // 10 - 1, "now": now},
        )
        filled = n
        took[n] = scrape(client)
    wipe(client.database)
    small, large = took[SMALL], took[LARGE]
    figure = f"{large / small:.2f} ({large:.0f} / {small:.0f} ms)"
    table.add_row(f"metrics: one scrape, {LARGE:,} memories against {SMALL:,}", figure, "≤ 2, and ≤ 300 ms")
