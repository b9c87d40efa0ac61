"""How fast a run is undone: plain prunes and plain moves (DESIGN §10).

`python -m tests.bench.undo`
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

from rich.console import Console
from rich.table import Table
from tests.bench.store import wipe
from tests.own_server import own_server

from jochi import Jochi
from jochi.jobs.runner import run_job

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
ACTIONS = 20_000
WARM = 4_000

_CREATE = """
UNWIND range($from, $to) AS i
CREATE (m:Curated {scope: 's' + (i % 100), id: 'm' + i, key: 's' + (i % 100) + '/m' + i, content: 'note ' + i, token_count: 8,
  tier: 'HOT', created_at: $now - duration({days: 200}), next_due: $now})
FOREACH (_ IN CASE WHEN $prunes THEN [1] ELSE [] END | SET m:Notification, m.read = true, m.priority = 'low')
FOREACH (_ IN CASE WHEN $prunes THEN [] ELSE [1] END | SET m:MemoryEntry)
"""
_SCOPES = "UNWIND range(0, 99) AS i MERGE (s:JochiScope {name: 's' + i}) SET s.first_access_at = $at"


def undone(client: Jochi, n: int, prunes: bool) -> tuple[float, int]:
    """Seconds that the undo of ``n`` actions takes, and how many it took back."""
    wipe(client.database)
    client.database.run(_SCOPES, {"at": NOW - timedelta(days=300)})
    for start in range(0, n, 5_000):
        last = min(start + 4_999, n - 1)
        client.database.run(_CREATE, {"from": start, "to": last, "now": NOW, "prunes": prunes})
    client.apply(client.plan(NOW))
    runs = [run.id for run in run_job(client.engine, "curate_due", now=NOW, drain=True) if run.changed]
    began = time.perf_counter()
    back = sum(client.undo(run, now=NOW).counts.get("undone", 0) for run in reversed(runs))
    return time.perf_counter() - began, back


def add_rows(client: Jochi, table: Table) -> None:
    """Prunes and moves, each after a round that doesn't count."""
    for what, prunes in (("prunes", True), ("moves between tiers", False)):
        undone(client, WARM, prunes)
        took, n = undone(client, ACTIONS, prunes)
        table.add_row(f"undo of {n:,} {what}", f"{n / took:,.0f}/s", "≥ 5,000/s")


def main() -> None:
    """On a local server of its own."""
    table = Table("what", "figure", "wanted")
    with own_server("bench-undo") as client:
        client.apply()
        add_rows(client, table)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
