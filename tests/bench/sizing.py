"""What grows with the memories, what with those that are due, and what not at all: `python -m tests.bench.sizing [--write]`.

On a server of its own, in one run, at 10^4, 10^5 and 10^6 memories; ``--most 100000`` stops earlier. ``--write`` puts the tables
into docs/explanation/sizing.md. Figures of one machine compare with each other and with nothing else.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from rich.console import Console
from tests.bench.__main__ import memories, timed
from tests.bench.store import FAR, make_due
from tests.pages import REFERENCE, page_of, table

from jochi import Jochi
from jochi.database.database import Database
from jochi.jobs.runner import run_job
from jochi.localserver import LocalServer
from jochi.operate.doctor import examine
from jochi.operate.status import overview
from jochi.policy import LoadedPolicy, load_policy
from jochi.write import importing

PAGE = REFERENCE.parent / "explanation/sizing.md"
SIZES = (10_000, 100_000, 1_000_000)
FORECAST = 100_000_000
DUE = 10_000
ADDED = 10_000
"""Memories of an import, nodes of an enrolment, memories with a vector, tombstones."""
ROUNDS = 2
GROWS = 3
"""What takes less than so many times as long among a hundred times the memories differs by what else the machine did."""

POLICY = """
[policy]
name = "sizing{more}"
extends = "default"
[kinds.Parcel]
class = "{age}min"
properties = {{ id = "number", content = "label" }}
"""

# A memory of 200 characters with what an import writes of it, and nothing that makes it due.
_FILL = """
UNWIND range($from, $to) AS i
WITH i, 's' + toString(i % 100) AS scope, 'n' + toString(i) AS id
CREATE (:Curated:Notification {
  scope: scope, id: id, key: scope + '/' + id, content: 'build ' + toString(i) + ' is green, ' + $text,
  content_hash: 'h' + toString(i),
  token_count: 50, tier: 'HOT', access_count: 0, read: false, priority: 'low', agent_id: 'agent-' + toString(i % 7),
  created_at: $created, last_accessed_at: $created, next_due: $next_due
})
"""
_TEXT = (
    "the deployment of the third service took four minutes and nobody had to look at it, which is what was agreed on "
    * 2
)[:170]
_PARCELS = """
UNWIND range(1, $n) AS i
CREATE (:Parcel {number: i, label: 'parcel ' + i + ', ' + $text, created_at: datetime('2026-01-01T00:00:00Z')})
"""
_DELETE = "MATCH (m:Curated) WHERE m.key STARTS WITH $prefix WITH m LIMIT 20000 DETACH DELETE m"
_VECTORS = """
UNWIND range($from, $to) AS i
MATCH (m:Curated {key: 's' + toString(i % 100) + '/n' + toString(i)})
CALL db.create.setNodeVectorProperty(m, 'embedding', [k IN range(1, $dimensions) | rand() - 0.5])
SET m.embedding_model = $model
RETURN count(*) AS n
"""
_READ = """
UNWIND range($from, $to) AS i
MATCH (m:Curated {key: 's' + toString(i % 100) + '/n' + toString(i)})
SET m.read = true, m.read_at = $at, m.created_at = $at, m.next_due = $at
"""


def policy(folder: Path, more: str = "", age: int = 60) -> LoadedPolicy:
    """The shipped policy with a kind of somebody else's."""
    file = folder / f"policy{more}.toml"
    file.write_text(POLICY.format(more=more, age=age), encoding="utf-8")
    return load_policy(file)


def fill(database: Database, first: int, last: int, now: datetime) -> None:
    """Memories ``first`` to ``last`` in 100 scopes; none is due."""
    for start in range(first, last + 1, 10_000):
        given = {"from": start, "to": min(start + 9_999, last), "created": now, "next_due": now + FAR, "text": _TEXT}
        database.run(_FILL, given)


def empty_tick(client: Jochi) -> None:
    """What the pump does each second: sign of life, arming, a claim that finds nothing due."""
    engine, now = client.engine, datetime.now(timezone.utc)
    engine.call("scheduler/tick", {"clock": now, "pump": engine.pump})
    engine.call(
        "scheduler/arm", {"clock": now, "pump": engine.pump, "watch": engine.watch, "pin": None, "ticked": None}
    )
    claim = {"clock": now, "due_by": now - timedelta(days=1), "now": now, "pump": engine.pump, "job": None}
    engine.call("scheduler/claim", {**claim, "except": [], "runner": "bench"})


def bytes_by_part(local: LocalServer, client: Jochi) -> dict[str, int]:
    """Of the store after a checkpoint, without its transaction logs. Community makes one where the server is stopped."""
    folder = local.layout.data / "databases/neo4j"
    local.stop()
    local.start()
    assert client.jobs(), "the driver finds out that its connections are gone"
    parts = dict.fromkeys(("nodes and properties", "range indexes", "full-text indexes", "vector index"), 0)
    names = {"range": "range indexes", "fulltext": "full-text indexes", "vector": "vector index"}
    for file in folder.rglob("*"):
        if file.is_file():
            place = file.relative_to(folder).parts
            provider = place[2].split("-")[0] if place[0] == "schema" and len(place) > 2 else ""
            parts[names.get(provider, "nodes and properties")] += file.stat().st_size
    return parts


def measure(client: Jochi, folder: Path) -> dict[str, float]:
    """Milliseconds of each thing in a store as it is: the median of some rounds, after one that doesn't count."""
    database, now = client.database, datetime.now(timezone.utc)

    def run_due(n: int) -> None:
        make_due(database, n, now - timedelta(days=1))
        found.setdefault(f"a run over {n:,} due", []).append(
            timed(lambda: run_job(client.engine, "curate_due", now=now, drain=True))
        )

    def add() -> None:
        batch = memories(ADDED)
        found.setdefault(f"an import of {ADDED:,}", []).append(timed(lambda: importing.write(database, batch, now=now)))
        for scope in range(20):
            database.run(_DELETE, {"prefix": f"s{scope}/m"})

    def enrol() -> None:
        database.run(_PARCELS, {"n": ADDED, "text": _TEXT})
        found.setdefault(f"an enrolment of {ADDED:,}", []).append(timed(lambda: client.enrol("Parcel")))
        database.run("MATCH (p:Parcel) DETACH DELETE p")

    def upgrade() -> None:
        nonlocal age
        age += 1
        Jochi(database.driver, policy=policy(folder, "-more", age)).install(arm=False)

    age = 60
    found: dict[str, list[float]] = {}
    asked: dict[str, Callable[[], object]] = {
        "an empty tick": lambda: empty_tick(client),
        "`jochi status`": lambda: overview(client, tiers=False),
        "`jochi status --all`": lambda: overview(client, tiers=True),
        "`jochi plan`": client.plan,
        "`jochi doctor`": lambda: examine(client, probe=False),
        "`jochi install`, nothing new": lambda: client.install(arm=False),
    }
    for name, work in asked.items():
        work()
        found[name] = [timed(work) for _ in range(20 if name == "an empty tick" else ROUNDS)]
    upgrade()
    found["`jochi install` of another policy"] = [timed(upgrade)]
    client.install(arm=False)
    client.apply()
    run_due(1_000)
    for _ in range(ROUNDS):
        run_due(1_000)
    run_due(DUE)
    add()
    enrol()
    return {name: statistics.median(times) for name, times in found.items()}


def growth(sizes: Sequence[int], times: Sequence[float]) -> tuple[float, float]:
    """How many times as long the largest takes as the smallest; and milliseconds at `FORECAST`, by the line of the last two."""
    slope = max(0.0, times[-1] - times[-2]) / (sizes[-1] - sizes[-2])
    return times[-1] / times[0], times[-1] + slope * (FORECAST - sizes[-1])


def shown(milliseconds: float) -> str:
    """In the unit that reads well."""
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1_000:.1f} s" if milliseconds < 120_000 else f"{milliseconds / 60_000:,.0f} min"


def per_memory(before: dict[str, int], after: dict[str, int], n: int) -> dict[str, float]:
    """Bytes that each of ``n`` added."""
    return {part: (after[part] - before[part]) / n for part in after}


def main(most: int, *, write: bool) -> None:
    """Measures, prints, and with ``write`` puts the tables into the page."""
    sizes = [n for n in SIZES if n <= most]
    err = Console(stderr=True)
    now = datetime.now(timezone.utc)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        local = LocalServer("bench-sizing", home=folder)
        running = local.start()
        try:
            with running.driver() as driver:
                client = Jochi(driver, policy=policy(folder))
                client.install(arm=False)
                client.apply()
                database = client.database
                stores, times = [bytes_by_part(local, client)], list[dict[str, float]]()
                first = 0
                for n in sizes:
                    started = time.monotonic()
                    fill(database, first, n - 1, now)
                    database.run("CALL db.awaitIndexes(300)")
                    err.print(f"{n:,} memories after {time.monotonic() - started:.0f} s")
                    first = n
                    times.append(measure(client, folder))
                    stores.append(bytes_by_part(local, client))
                    err.print(f"measured after {time.monotonic() - started:.0f} s")
                each = per_memory(stores[-2], stores[-1], sizes[-1] - (sizes[-2] if len(sizes) > 1 else 0))
                embedding = client.policy.policy.embedding
                before = stores[-1]
                for start in range(0, ADDED, 1_000):
                    vectors = {
                        "from": start,
                        "to": start + 999,
                        "dimensions": embedding.dimensions,
                        "model": embedding.model,
                    }
                    database.run(_VECTORS, vectors)
                with_vector = bytes_by_part(local, client)
                database.run(_READ, {"from": ADDED, "to": 2 * ADDED - 1, "at": now - timedelta(days=60)})
                pruned = sum(run.tally.get("pruned", 0) for run in run_job(client.engine, "curate_due", drain=True))
                tombs = bytes_by_part(local, client)
        finally:
            local.reset()
    bytes_rows = [
        ("a memory of 200 characters", each),
        (f"its vector of {embedding.dimensions} numbers", per_memory(before, with_vector, ADDED)),
        ("a pruned memory: what its tombstone and its record add", per_memory(with_vector, tombs, max(pruned, 1))),
    ]
    head = ["bytes of", "all", *each]
    store_table = table(
        head,
        [(what, f"{sum(row.values()):,.0f}", *(f"{value:,.0f}" for value in row.values())) for what, row in bytes_rows],
    )
    rows = []
    for name in times[0]:
        at_sizes = [measured[name] for measured in times]
        ratio, forecast = growth(sizes, at_sizes)
        rows.append((name, *map(shown, at_sizes), f"{ratio:.1f}", shown(forecast) if ratio >= GROWS else "as long"))
    head = [
        "",
        *(f"{n:,}" for n in sizes),
        f"largest : smallest, memories {sizes[-1] // sizes[0]} : 1",
        f"{FORECAST:,}, forecast",
    ]
    time_table = table(head, rows)
    Console(soft_wrap=True, markup=False).print(store_table, time_table, sep="\n")
    if write:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(page_of({"bytes": store_table, "times": time_table}, text), encoding="utf-8")


if __name__ == "__main__":
    main(
        int(sys.argv[sys.argv.index("--most") + 1]) if "--most" in sys.argv else SIZES[-1], write="--write" in sys.argv
    )
