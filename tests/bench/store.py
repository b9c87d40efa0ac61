"""Fills a store for the benchmarks."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import psutil

from jochi.database.database import Database

_CREATE = """
UNWIND range($from, $to) AS i
CREATE (:Curated:Notification {
  scope: 's' + toString(i % 100), id: 'n' + toString(i), key: 's' + toString(i % 100) + '/n' + toString(i),
  content: 'build ' + toString(i) + ' is green', token_count: 6, tier: 'HOT', access_count: 0, read: true, priority: 'low',
  created_at: $created, read_at: $created, next_due: $next_due
})
"""


def wipe(database: Database) -> None:
    """Takes memories, tombstones, records, runs and what is observed out."""
    database.autocommit(
        "MATCH (n:Curated|Tombstone|CurationAudit|JochiQuota|JochiJobRun|JochiBuffer|JochiTurn) "
        "CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
    )


def fill(database: Database, first: int, last: int, created: datetime, next_due: datetime) -> None:
    """Notifications ``first`` to ``last`` in 100 scopes, read when they were created."""
    for start in range(first, last + 1, 10_000):
        stop = min(start + 9_999, last)
        parameters = {"from": start, "to": stop, "created": created, "next_due": next_due}
        database.run(_CREATE, parameters)


def make_due(database: Database, n: int, moment: datetime) -> None:
    """Moves ``next_due`` of the first ``n`` memories (by id) to ``moment``."""
    rows = {"keys": [f"s{i % 100}/n{i}" for i in range(n)], "moment": moment}
    database.run("UNWIND $keys AS key MATCH (m:Curated {key: key}) SET m.next_due = $moment", rows)


FAR = timedelta(days=3650)
"""So far ahead that it isn't due in any benchmark."""


def settle(most: float = 300) -> float:
    """Waits until the machine is idle, at most ``most`` seconds; returns how many it took.

    After a large write the server merges segments of its vector index for minutes. A server in service does so now and then,
    not all the time: what is measured then is the merge.
    """
    began = time.monotonic()
    idle = 0
    while idle < 3 and time.monotonic() - began < most:
        idle = idle + 1 if psutil.cpu_percent(interval=1) < 15 else 0
    return time.monotonic() - began
