"""The speed of the value score: ten thousand memories of the ten kinds with ten relationships each (issue 7).

`python -m tests.bench.score` prints it.
"""

from __future__ import annotations

import statistics
import time
from datetime import datetime, timedelta, timezone

from rich.console import Console
from rich.table import Table
from tests.bench.store import wipe
from tests.own_server import own_server

from jochi import Jochi
from jochi.curate.score import CHUNK
from jochi.database.batches import chunks

NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)
MEMORIES = 10_000
ROUNDS, WARM = 9, 4

_CREATE = """
UNWIND range(0, $n - 1) AS i
CREATE (m:Curated {
  key: 'default/m' + i, scope: 'default', id: 'm' + i, content: 'note ' + i, created_at: $now - duration({hours: i % 4000}),
  confidence: 0.3 + (i % 7) / 10.0, severity: 'low', state: 'active', status: 'completed', access_count: i % 50,
  last_accessed_at: $now - duration({hours: i % 1000}), agents: ['ada', 'bob']
})
SET m:$(['Belief', 'Analysis', 'MemoryEntry', 'Notification', 'Task', 'Reflection', 'Synthesis', 'Recommendation',
  'SessionContext', 'CompressedContext'][i % 10])
"""
# Five out and five in, as i * 7 goes once round.
_LINK = """
UNWIND range(0, $n - 1) AS i
MATCH (a:Curated {key: 'default/m' + i})
UNWIND range(1, 5) AS j
MATCH (b:Curated {key: 'default/m' + ((i * 7 + j * 131) % $n)})
CREATE (a)-[:ABOUT]->(b)
"""
_SCOPE = "MERGE (s:JochiScope {name: 'default'}) SET s.first_access_at = $at"


def measure(client: Jochi) -> tuple[float, float]:
    """Seconds for all of them, medians: with the results as Python's, and what the server takes of it."""
    database = client.database
    wipe(database)
    database.run(_CREATE, {"n": MEMORIES, "now": NOW})
    database.run(_LINK, {"n": MEMORIES})
    database.run(_SCOPE, {"at": NOW - timedelta(days=400)})
    keys = [f"default/m{i}" for i in range(MEMORIES)]
    pages = list(chunks(keys, CHUNK))
    all_in, on_server = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        scored = client.score(keys, at=NOW)
        all_in.append(time.perf_counter() - began)
        assert len(scored) == MEMORIES
        began = time.perf_counter()
        for page in pages:
            # The same statement; of what it returns only how much.
            client.database.run(
                "MATCH (p:JochiProcedure {name: 'score/score'}) "
                "CALL apoc.cypher.doIt(p.body, {in: {now: $now, keys: $keys}}) YIELD value "
                "RETURN size(value.memories) AS n",
                {"now": NOW, "keys": page},
            )
        on_server.append(time.perf_counter() - began)
    return statistics.median(all_in[WARM:]), statistics.median(on_server[WARM:])


def add_rows(client: Jochi, table: Table) -> None:
    """The figures, for `make bench`."""
    all_in, on_server = measure(client)
    what = f"value score of {MEMORIES:,} memories with 10 relationships each"
    table.add_row(what, f"{all_in:.2f} s ({on_server:.2f} s on the server)", "≤ 2 s")


def main() -> None:
    """Starts a local server of its own, measures, prints."""
    table = Table("what", "figure", "wanted")
    with own_server("bench-score") as client:
        add_rows(client, table)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
