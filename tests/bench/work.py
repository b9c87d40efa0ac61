"""Work for workers: what the mechanism alone costs, and memories that one worker hashes and counts in a second."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from typing import Any

import neo4j
from rich.table import Table
from tests.bench.store import wipe

from jochi import Jochi
from jochi_workers.prepare import PrepareHandler
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
        Worker(client.engine, [PrepareHandler()], batch=500).run(once=True)
        took = time.perf_counter() - started
    wipe(client.database)
    return n / took


def mechanism_speed(client: Jochi, n: int = 40_000, workers: int = 2) -> float:
    """Pieces of work a second by so many workers: wanted, leased and settled, 200 at once, with one property written for each."""
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    engine = client.engine

    def call(tx: neo4j.ManagedTransaction, body: str, **given: Any) -> dict[str, Any]:
        row = engine.call_in(tx, engine.text(body), {"now": now, "derivation": "bench", **given})
        return dict(row or {})

    def want(first: int) -> None:
        keys = [f"s{i % 100}/p{i}" for i in range(first, first + 200)]
        items = [{"id": f"bench/{key}", "key": key, "other": None, "scope": key[:3], "ahead": None} for key in keys]
        client.database.transaction(lambda tx: call(tx, "work/want", items=items))

    def lease(tx: neo4j.ManagedTransaction, token: str) -> list[str]:
        return [w["key"] for w in call(tx, "work/lease", limit=200, token=token, able=False)["works"]]

    def store(tx: neo4j.ManagedTransaction, token: str, keys: list[str]) -> None:
        tx.run("UNWIND $keys AS key MATCH (m:Curated {key: key}) SET m.seen = key", keys=keys).consume()
        done = [{"id": f"bench/{key}", "what": "done", "until": None, "error": None, "final": None} for key in keys]
        call(tx, "work/settle", token=token, settled=done, spent=[], ended=[])

    def one() -> int:
        done = 0
        while True:
            token = str(uuid.uuid4())
            keys = client.database.transaction(lambda tx, token=token: lease(tx, token))
            if not keys:
                return done
            client.database.transaction(lambda tx, token=token, keys=keys: store(tx, token, keys))
            done += len(keys)

    rate = 0.0
    for first, count in ((0, 4_000), (4_000, n)):
        client.database.run(_CREATE, {"from": first, "to": first + count - 1, "now": now})
        started = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(want, range(first, first + count, 200)))
            done = sum(pool.map(lambda _: one(), range(workers)))
        rate = done / (time.perf_counter() - started)
        assert done == count
    wipe(client.database)
    return rate


def add_rows(table: Table, client: Jochi) -> None:
    """The figures of this part."""
    table.add_row(
        "work: wanted, leased, stored and settled by two workers", f"{mechanism_speed(client):,.0f} /s", "≥ 2,000"
    )
    counter = PrepareHandler().counter.name
    table.add_row(f"prepare by one worker ({counter})", f"{prepare_speed(client):,.0f} memories/s", "")
