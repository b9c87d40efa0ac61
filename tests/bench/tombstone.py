"""What a tombstone with its record costs against the bare label swap (issue 8; DESIGN §11), and a whole look.

`python -m tests.bench.tombstone`
"""

from __future__ import annotations

import statistics
import time
from datetime import datetime, timedelta, timezone
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.bench.store import wipe
from tests.own_server import own_server

from jochi import Jochi
from jochi.compile.rendering import _environment
from jochi.database.database import in_one_map
from jochi.database.statements import procedures_folder
from jochi.jobs.runner import run_job

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
PAGE = 1_000
PAGES = 3
ROUNDS = 6
WARM = 3

_CREATE = """
UNWIND range($from, $to) AS i
CREATE (m:Curated:Notification {scope: 's' + (i % 100), id: 'm' + i, key: 's' + (i % 100) + '/m' + i,
  content: 'note ' + i, token_count: 8, tier: 'HOT', created_at: $now - duration({days: 200}),
  next_due: $now, read: true, priority: 'low'})
"""
_BARE = """
UNWIND $in.keys AS key
MATCH (m:Curated {key: key})
USING INDEX SEEK m:Curated(key)
WITH m, labels(m) AS live
SET m.tombstone = true, m.deleted_at = $in.now, m.tombstone_labels = live
REMOVE m:$(live)
SET m:Tombstone
RETURN count(*) AS n
"""
_OURS = """
UNWIND $in.keys AS key
MATCH (m:Curated {key: key})
USING INDEX SEEK m:Curated(key)
REMOVE m.curation_lock
{{ tombstone("'bench'", "$in.now", "'Notification'") }}
RETURN count(*) AS n
"""


def _fill(client: Jochi) -> list[str]:
    wipe(client.database)
    for page in range(PAGES):
        client.database.run(_CREATE, {"from": page * PAGE, "to": (page + 1) * PAGE - 1, "now": NOW})
    return [f"s{i % 100}/m{i}" for i in range(PAGE * PAGES)]


def _paged(client: Jochi, text: str) -> float:
    keys = _fill(client)
    began = time.perf_counter()
    for page in range(PAGES):
        given: dict[str, Any] = {"keys": keys[page * PAGE : (page + 1) * PAGE], "now": NOW, "run": "r", "policy": "p"}
        client.database.run(text, in_one_map(given))
    return time.perf_counter() - began


def _looked(client: Jochi) -> float:
    _fill(client)
    client.database.run(
        "UNWIND range(0, 99) AS i MERGE (s:JochiScope {name: 's' + i}) SET s.first_access_at = $at",
        {"at": NOW - timedelta(days=300)},
    )
    client.apply(client.plan(NOW))
    began = time.perf_counter()
    run_job(client.engine, "curate_due", now=NOW, drain=True)
    return time.perf_counter() - began


def add_rows(client: Jochi, table: Table) -> None:
    """Interleaved rounds; those that don't count first."""
    client.apply()
    template = "{% from '_macros/act/tombstone.j2' import tombstone %}" + _OURS
    ours_text = _environment(procedures_folder()).from_string(template).render(policy=client.policy.policy)
    bare, ours, looked = [], [], []
    for _ in range(ROUNDS):
        bare.append(_paged(client, _BARE))
        ours.append(_paged(client, ours_text))
        looked.append(_looked(client))
    n = PAGE * PAGES
    b, o, w = (statistics.median(times[WARM:]) / n * 1e6 for times in (bare, ours, looked))
    table.add_row(
        "tombstone with its record, against the bare label swap", f"{o / b:.2f} ({o:.0f} / {b:.0f} µs)", "≤ 2"
    )
    table.add_row(
        "the whole look: queue, rules, rails, score, breaker, tombstone, record",
        f"{w / b:.2f} ({w:.0f} / {b:.0f} µs)",
        "",
    )


def main() -> None:
    """On a local server of its own."""
    table = Table("what", "figure", "wanted")
    with own_server("bench-tombstone") as client:
        add_rows(client, table)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
