"""Edges: a run over the same due ones in a large store against a small one; the walk for those of others; recall along them."""

from __future__ import annotations

import statistics
import time
from datetime import datetime, timezone

from rich.console import Console
from rich.table import Table
from tests.bench.store import settle, wipe
from tests.own_server import own_server

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.use.edges import Edge

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
DUE, ROUNDS = 1_000, 15
SMALL, LARGE = 10_000, 1_000_000
EACH = 10
"""Edges that start from a memory."""
MOST = 1.3
"""How many times as long the same due edges may take in the large store."""

_MEMORIES = """
UNWIND range($from, $to) AS i
CREATE (:Curated:Fact {scope: 's' + i / 1000, id: toString(i), key: 's' + i / 1000 + '/' + i, content: 'fact ' + i,
                       tier: 'HOT', created_at: $now})
"""
_EDGES = """
UNWIND range($from, $to) AS i
MATCH (a:Curated {key: 's' + i / 1000 + '/' + i})
UNWIND range(1, $each) AS n
MATCH (b:Curated {key: 's' + i / 1000 + '/' + ((i / 1000) * 1000 + (i * 7 + n * 31) % 1000)})
CREATE (a)-[:SAME_ENTITY {confidence: 0.9, created_at: $now, next_due: $now + duration({days: 180})}]->(b)
"""
_MAKE_DUE = """
UNWIND range(0, $n - 1) AS i
MATCH (a:Curated {key: 's' + i / 1000 + '/' + i})-[r:SAME_ENTITY]->()
WITH a, collect(r)[0] AS r
SET r.confidence = 0.9, r.last_reinforced_at = $now - duration({days: 200}), r.next_due = $now - duration({days: 20})
"""


def add_rows(client: Jochi, table: Table) -> float:
    """Measures and adds the rows of this part. Returns how many times as long the due ones took in the large store."""
    client.apply()
    small, large, walked, reinforced, spread = measure(client)
    ratio = f"{large / small:.2f} ({large * 1000:.0f} / {small * 1000:.0f} ms)"
    table.add_row(f"edges: a run with the same {DUE:,} due, {LARGE:,} against {SMALL:,}", ratio, f"≤ {MOST}")
    table.add_row("edges: the walk for those of others", f"{walked:,.0f} edges/s", "")
    table.add_row("edges: reinforce", f"{reinforced:,.0f} edges/s", "")
    table.add_row(f"edges: recall_spread, 10 seeds, 3 hops, {EACH} edges each", f"{spread * 1000:.0f} ms (median)", "")
    return large / small


def check(ratio: float) -> None:
    """Measured within one run, so no machine is to blame: ends with 1 where what isn't due costs."""
    if ratio > MOST:
        raise SystemExit(
            f"edges that aren't due cost: {LARGE:,} against {SMALL:,} take {ratio:.2f} times as long, not ≤ {MOST}"
        )


def fill(client: Jochi, first: int, last: int) -> None:
    """Memories ``first`` to ``last`` of 1,000 a scope, and ``EACH`` edges from each; first and last at the ends of a thousand."""
    for start in range(first, last + 1, 1_000):
        given = {"from": start, "to": min(start + 999, last), "now": NOW, "each": EACH}
        client.database.run(_MEMORIES, given)
        client.database.run(_EDGES, given)


def due_run(client: Jochi) -> float:
    """Seconds of a run over the due edges."""
    client.database.run(_MAKE_DUE, {"n": DUE, "now": NOW})
    started = time.perf_counter()
    runs = run_job(client.engine, "decay_edges", now=NOW, drain=True)
    took = time.perf_counter() - started
    if sum(run.changed for run in runs) != DUE:
        raise AssertionError(f"the run didn't charge the edges that were due: {runs}")
    return took


def measure(client: Jochi) -> tuple[float, float, float, float, float]:
    """Seconds of a run in the small and in the large store; edges a second of the walk and of reinforce; seconds of a spread.

    The small store is measured before and after the large one, so that a server that has warmed up favours neither.
    """

    def small_runs() -> list[float]:
        wipe(client.database)
        fill(client, 0, SMALL // EACH - 1)
        return [due_run(client) for _ in range(ROUNDS)]

    small = small_runs()
    fill(client, SMALL // EACH, LARGE // EACH - 1)
    settle(60)
    large = [due_run(client) for _ in range(ROUNDS)]
    client.database.run("MATCH (j:JochiJob {name: 'schedule_edges'}) SET j.walked_at = null, j.cursor = null")
    started = time.perf_counter()
    run_job(client.engine, "schedule_edges", now=NOW, drain=True)
    walked = LARGE / (time.perf_counter() - started)
    spread = statistics.median(spread_once(client, i) for i in range(30))
    seen = [Edge(f"s0/{i}", "SAME_ENTITY", f"s0/{(i * 7 + 31) % 1000}") for i in range(1_000)] * 4
    started = time.perf_counter()
    client.reinforce(seen, now=NOW)
    reinforced = len(seen) / (time.perf_counter() - started)
    small = small[5:] + small_runs()[5:]
    return statistics.median(small), statistics.median(large[5:]), walked, reinforced, spread


def spread_once(client: Jochi, number: int) -> float:
    """Seconds of one call for ten seeds of a scope."""
    seeds = [{"key": f"s{number}/{number * 1000 + i * 97}", "score": 1 / (61 + i)} for i in range(10)]
    asked = {"scope": f"s{number}", "seeds": seeds, "hops": 3, "k": 10}
    started = time.perf_counter()
    row = client.engine.call("memory/recall_spread", {"now": NOW, "asked": asked}, write=False)
    if not row["reached"]:
        raise AssertionError("nothing was reached")
    return time.perf_counter() - started


def main() -> None:
    """These figures alone, on a server of their own."""
    table = Table("what", "figure", "wanted")
    with own_server("bench-edges") as client:
        ratio = add_rows(client, table)
    Console(width=110).print(table)
    check(ratio)


if __name__ == "__main__":
    main()
