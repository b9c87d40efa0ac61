"""What one scrape costs the database, by how much is stored (docs/reference/metrics.md)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import partial

from rich.table import Table
from tests.bench.store import FAR, fill, wipe

from jochi import Jochi
from jochi.operate.inbox import inbox
from jochi.operate.metrics import Metrics

SMALL, LARGE = 10_000, 100_000


WAITING = """
UNWIND range($from, $to) AS i
MATCH (a:Curated {key: 's' + toString(i % 100) + '/n' + toString(i)})
MATCH (b:Curated {key: 's' + toString((i + 1) % 100) + '/n' + toString(i + 1)})
SET b.state = 'superseded'
CREATE (a)-[:SIMILAR_TO {verdict: 'veto', guard: 'guard 9', found_at: $now, judged_at: $now}]->(b)
CREATE (a)-[:MAY_REPLACE]->(b)
CREATE (:JochiBudget {scope: 'bench ' + toString(i), at: $now, held: [1, 0, 0]})
"""
"""Pairs, doubts and budgets of which nobody has to be asked, so that a count doesn't stop at its limit."""


def milliseconds(work: Callable[[], object], rounds: int = 9) -> float:
    """Of one call, the median; what is looked at less often is known by then."""
    took = []
    for _ in range(rounds + 2):
        started = time.perf_counter()
        assert work() is not None
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took[2:])


def add_rows(client: Jochi, table: Table) -> None:
    """A tenth of the memories waits for the engine, and a tenth for a worker; a tenth has a judged pair, a doubt and a budget."""
    now = datetime.now(timezone.utc)
    wipe(client.database)
    took, counted, filled = {}, {}, 0
    for n in (SMALL, LARGE):
        fill(client.database, filled, n - 1, now - timedelta(days=1), now + FAR)
        client.database.run(
            "UNWIND range($from, $to) AS i MATCH (m:Curated {key: 's' + toString(i % 100) + '/n' + toString(i)}) "
            "SET m.next_due = $now - duration('PT1M'), m.prepare_due = $now - duration('PT1M')",
            {"from": filled, "to": filled + (n - filled) // 10 - 1, "now": now},
        )
        client.database.run(WAITING, {"from": filled, "to": filled + (n - filled) // 10 - 1, "now": now})
        filled = n
        took[n] = milliseconds(Metrics(client).look)
        counted[n] = milliseconds(partial(inbox, client, limit=0))
    wipe(client.database)
    client.database.autocommit(
        "MATCH (b:JochiBudget) WHERE b.scope STARTS WITH 'bench ' CALL (b) { DELETE b } IN TRANSACTIONS OF 10000 ROWS"
    )
    small, large = took[SMALL], took[LARGE]
    figure = f"{large / small:.2f} ({large:.0f} / {small:.0f} ms)"
    table.add_row(f"metrics: one scrape, {LARGE:,} memories against {SMALL:,}", figure, "≤ 2, and ≤ 300 ms")
    found = f"{counted[LARGE]:.0f} ms ({counted[SMALL]:.0f} ms with {SMALL // 10:,})"
    table.add_row(f"metrics: what waits, once a minute, {LARGE // 10:,} pairs and doubts", found, "≤ 1,000 ms")
