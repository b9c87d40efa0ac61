"""`make bench`: prints the figures of the foundation. Each ratio is measured within this one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from rich.console import Console
from rich.table import Table
from tests.bench import (
    accesses,
    budgets,
    cli,
    context,
    duplicates,
    edges,
    enrol,
    forgetting,
    heartbeat,
    ingest,
    janitor,
    language,
    metrics,
    nights,
    observe,
    recall,
    score,
    tombstone,
    undo,
    work,
)
from tests.bench.embed import embedding_speed
from tests.bench.remember import remember
from tests.bench.store import FAR, fill, make_due, wipe
from tests.own_server import own_server

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.write import importing

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
DUE = 1_000
ROUNDS = 15


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that ``work`` takes."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def memories(n: int) -> list[importing.MemoryRecord]:
    """``n`` memories as an import would read them."""
    return [
        importing.MemoryRecord(
            kind="MemoryEntry",
            id=f"m{i}",
            scope=f"s{i % 20}",
            properties={"content": f"note {i}: the deployment went well", "created_at": NOW - timedelta(minutes=i)},
        )
        for i in range(n)
    ]


def main() -> None:
    """Starts a local server of its own, measures, prints."""
    console = Console(width=110)
    with own_server("bench") as client:
        table, edges_ratio = measure(client)
        forgetting_rise = forgetting.add_rows(client, table)
    with own_server("bench-context") as client:
        choices = context.add_rows(client, table)
    with nights.own_nights() as client:
        dirty_ratios = nights.add_rows(client, table)
    found = recall.add_rows(table)
    pairs_found = duplicates.add_rows(table)
    growth = language.add_rows(table)
    for row in enrol.measure():
        table.add_row(*row)
    cli.add_rows(table)
    console.print(table)
    recall.check(found)
    duplicates.check(pairs_found)
    edges.check(edges_ratio)
    language.check(growth)
    forgetting.check(forgetting_rise)
    context.check(choices)
    nights.check(dirty_ratios)


def measure(client: Jochi) -> tuple[Table, float]:
    """All figures as one table, and the ratio of edges that `edges.check` judges."""
    client.apply()
    table = Table("what", "figure", "wanted")
    table.add_row("import without embeddings", f"{import_speed(client):,.0f} memories/s", "≥ 5,000")
    empty, small, large = ticks(client)
    table.add_row("empty tick at 10^5 memories", f"{empty:.1f} ms (median)", "< 50 ms")
    ratio = f"{large / small:.2f} ({large:.0f} / {small:.0f} ms)"
    table.add_row(f"tick with the same {DUE:,} due, 10^5 against 10^4", ratio, "≤ 1.3")
    janitor.add_rows(client, table)
    remember(client, table)
    ingest.add_rows(client, table)
    work.add_rows(table, client)
    metrics.add_rows(client, table)
    heartbeat.add_rows(table, client)
    observe.observe(client, table)
    observe.learning(client, table)
    accesses.add_rows(client, table)
    budgets.add_rows(client, table)
    score.add_rows(client, table)
    undo.add_rows(client, table)
    tombstone.add_rows(client, table)
    edges_ratio = edges.add_rows(client, table)
    alone, processor, worked = embedding_speed(client)
    table.add_row("embedding: the model alone", f"{alone:,.0f} texts/s ({processor:,.0f} a core)", "")
    table.add_row("embedding: a worker with the database", f"{worked:,.0f} memories/s", "≥ 85 (LoCoMo's 2,541 in 30 s)")
    return table, edges_ratio


def import_speed(client: Jochi) -> float:
    """Memories a second, the better of two imports after a warm-up."""
    best = 0.0
    for n in (10_000, 30_000, 30_000):
        wipe(client.database)
        batch = memories(n)
        took = timed(lambda batch=batch: importing.write(client.database, batch, now=NOW))  # type: ignore[misc]
        best = max(best, n / took * 1000)
    return best


def ticks(client: Jochi) -> tuple[float, float, float]:
    """Milliseconds: an empty tick at 10^5 memories, a run over the same due memories at 10^4 and at 10^5."""
    database, engine = client.database, client.engine

    def tick() -> None:
        clock = datetime.now(timezone.utc)
        engine.call("scheduler/tick", {"clock": clock, "pump": engine.pump})
        engine.call(
            "scheduler/arm", {"clock": clock, "pump": engine.pump, "watch": engine.watch, "pin": None, "ticked": None}
        )
        engine.call(
            "scheduler/claim",
            {
                "clock": clock,
                "due_by": clock - timedelta(days=1),
                "now": clock,
                "pump": engine.pump,
                "job": None,
                "except": [],
                "runner": "bench",
            },
        )

    def due_run() -> float:
        make_due(database, DUE, NOW - timedelta(days=1))
        return timed(lambda: run_job(engine, "curate_due", now=NOW))

    # Created within the grace period: looked at, never pruned, so that every round finds the same memories.
    wipe(database)
    fill(database, 0, 9_999, NOW - timedelta(hours=1), NOW + FAR)
    small = [due_run() for _ in range(ROUNDS)]
    fill(database, 10_000, 99_999, NOW - timedelta(hours=1), NOW + FAR)
    large = [due_run() for _ in range(ROUNDS)]
    small += _again_at_ten_thousand(client, due_run)
    empty = [timed(tick) for _ in range(100)]
    return statistics.median(empty[10:]), statistics.median(small[5:]), statistics.median(large)


def _again_at_ten_thousand(client: Jochi, due_run: Callable[[], float]) -> list[float]:
    """The small store once more after the large one, so that a server that has warmed up favours neither."""
    wipe(client.database)
    fill(client.database, 0, 9_999, NOW - timedelta(hours=1), NOW + FAR)
    small = [due_run() for _ in range(ROUNDS)]
    fill(client.database, 10_000, 99_999, NOW - timedelta(hours=1), NOW + FAR)
    return small


if __name__ == "__main__":
    main()
