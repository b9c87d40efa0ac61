"""What an agent starts with: choosing it, with the same live memories, in a scope of a short history and in one of a long one.

`python -m tests.bench.context` prints it.
"""

from __future__ import annotations

import statistics
import time
from datetime import datetime, timezone

from rich.console import Console
from rich.table import Table
from tests.bench.store import wipe
from tests.own_server import own_server
from tests.work import hits

from jochi import Jochi

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
LIVE = 150
SMALL, LARGE = 1_000, 1_000_000
WARM, ROUNDS = 30, 20
MOST = 1.3
"""How many times as long it may take in the scope of the long history."""

# Of six, four are worth nothing to speak of and in the archive, one holds no more, one is gone.
_HISTORY = """
UNWIND range($from, $to) AS i
CALL (i) {
  WITH i, $scope + '/old' + i AS key, CASE i % 3 WHEN 0 THEN ['preference', 'preferences'] ELSE ['context', 'insights'] END AS named
  FOREACH (_ IN CASE WHEN i % 6 < 5 THEN [1] ELSE [] END |
    CREATE (m:Curated:Fact {scope: $scope, id: 'old' + i, key: key, content: 'The door of room ' + i + ' was painted.',
      token_count: 12, tier: 'ARCHIVE', category: named[0], access_count: 0, created_at: $now - duration({days: 200, seconds: i}),
      last_accessed_at: $now - duration({days: 100, seconds: i}), status: CASE WHEN i % 6 = 4 THEN 'superseded' END})
    CREATE (m)-[:HAS_VALUE]->(:JochiValue:ValueClassification {id: m.id, scope: $scope, entity_type: 'Fact',
      retention_tier: 'ARCHIVE', section: named[1], value_score: 0.05 + i * 7919 % 1000 / 5000.0, updated_at: $now}))
  FOREACH (_ IN CASE WHEN i % 6 = 5 THEN [1] ELSE [] END |
    CREATE (:Tombstone {scope: $scope, id: 'old' + i, key: key, content: 'The door of room ' + i + ' was painted.',
      tombstone: true, tombstone_labels: ['Fact', 'Curated'], tier: 'ARCHIVE', deleted_at: $now}))
} IN TRANSACTIONS OF 10000 ROWS
"""
_LIVE = """
UNWIND range(1, $n) AS i
WITH i, CASE i % 3 WHEN 0 THEN ['preference', 'preferences'] ELSE ['context', 'insights'] END AS named
CREATE (m:Curated:Fact {scope: $scope, id: 'new' + i, key: $scope + '/new' + i, token_count: 14, access_count: i % 40,
  content: 'The lamp of tower ' + i + ' is lit at dusk, says Ann.', tier: ['HOT', 'WARM', 'COLD'][i % 3], category: named[0],
  confidence: 0.8, created_at: $now - duration({days: 9, seconds: i}), last_accessed_at: $now - duration({hours: i})})
CREATE (m)-[:HAS_VALUE]->(:JochiValue:ValueClassification {id: m.id, scope: $scope, entity_type: 'Fact',
  retention_tier: 'SUMMARIZE', section: named[1], value_score: 0.4 + i * 7919 % 1000 / 2500.0, updated_at: $now})
"""


def fill(client: Jochi, scope: str, history: int) -> None:
    """A scope with ``history`` memories that an agent doesn't start with, and the live ones that are the same everywhere."""
    client.database.autocommit(_HISTORY, {"scope": scope, "from": 1, "to": history, "now": NOW})
    client.database.run(_LIVE, {"scope": scope, "n": LIVE, "now": NOW})


def look(client: Jochi, scope: str) -> float:
    """Milliseconds of one choice, with the driver's share."""
    began = time.perf_counter()
    client.context(scope, at=NOW)
    return (time.perf_counter() - began) * 1000


def work(client: Jochi, scope: str) -> int:
    """How often choosing goes to the store."""
    asked = {"scope": scope, "room": 1880, "open": False, "held": []}
    text = client.engine.text("context/choose")
    return hits(client.database, text, client.engine.given(text, {"now": NOW, "asked_for": [asked]}))


def measure(client: Jochi) -> tuple[float, float, int, int]:
    """Medians in milliseconds, by turns on a warm server, and goes to the store: of the short history, of the long one."""
    wipe(client.database)
    client.database.autocommit("MATCH (v:JochiValue) CALL (v) { DETACH DELETE v } IN TRANSACTIONS OF 10000 ROWS")
    for scope, history in (("short", SMALL), ("long", LARGE)):
        fill(client, scope, history)
    assert [e.text for e in client.context("short", at=NOW).entries] == [
        e.text for e in client.context("long", at=NOW).entries
    ]
    pairs = [(look(client, "short"), look(client, "long")) for _ in range(WARM + ROUNDS)][WARM:]
    short, long = (statistics.median(took) for took in zip(*pairs, strict=True))
    return short, long, work(client, "short"), work(client, "long")


def add_rows(client: Jochi, table: Table) -> tuple[float, int, int]:
    """Measures and adds the rows of this part. Returns the ratio of the times, and goes to the store."""
    client.apply()
    short, long, few, many = measure(client)
    table.add_row(
        f"context: a choice with the same {LIVE} live, {LARGE:,} against {SMALL:,} of history",
        f"{long / short:.2f} ({long:.0f} / {short:.0f} ms, medians)",
        f"≤ {MOST}, ≤ 50 ms",
    )
    table.add_row("  db hits of it", f"{many / few:.2f} ({many:,} / {few:,})", f"≤ {MOST}")
    return long / short, few, many


def check(found: tuple[float, int, int]) -> None:
    """Measured within one run, so no machine is to blame: ends with 1 where the history costs."""
    ratio, few, many = found
    if ratio > MOST or many > few * MOST:
        raise SystemExit(f"a long history costs: {ratio:.2f} times as long, {many:,} against {few:,} db hits")


if __name__ == "__main__":
    figures = Table("what", "figure", "wanted")
    with own_server("bench-context") as client:
        found = add_rows(client, figures)
    Console(width=150).print(figures)
    check(found)
