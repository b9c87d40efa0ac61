"""The janitor's speed: against the bare Cypher that writes the same, and at 10^6 memories (issue 5; DESIGN §11).

`python -m tests.bench.janitor [--million]`; the million takes several minutes to fill.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.bench.store import FAR, settle, wipe
from tests.own_server import own_server

from jochi import Jochi
from jochi.jobs.runner import run_job

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
DUE = 10_000
HISTORY = 100_000
"""Memories that were worked off before: what a database has seen. In an empty one each round would change what the planner has
counted so much that it plans anew in the middle of what is measured."""
ROUNDS = 10
WARM = 5
"""Rounds that don't count: the server compiles what runs often."""

# A mixed store. Of ten, a look at NOW prunes two, archives one, moves three, flags one and keeps three.
_CREATE = """
UNWIND range($from, $to) AS i
WITH i, i % 10 AS r
CREATE (m:Curated {
  scope: 's' + (i % 100), id: 'm' + i, key: 's' + (i % 100) + '/m' + i, content: 'note ' + i,
  token_count: 8, tier: CASE WHEN r IN [3, 4, 5] THEN 'HOT' ELSE 'ARCHIVE' END,
  created_at: $now - duration({days: 200}), next_due: $due
})
SET m += CASE r
  WHEN 0 THEN {read: true, priority: 'low'} WHEN 1 THEN {severity: 'low'} WHEN 2 THEN {status: 'completed'}
  WHEN 6 THEN {consolidated: false, tier: 'ARCHIVE'} WHEN 7 THEN {state: 'active', confidence: 0.95} ELSE {} END
FOREACH (_ IN CASE WHEN r = 0 THEN [1] ELSE [] END | SET m:Notification)
FOREACH (_ IN CASE WHEN r = 1 THEN [1] ELSE [] END | SET m:Analysis)
FOREACH (_ IN CASE WHEN r = 2 THEN [1] ELSE [] END | SET m:Task)
FOREACH (_ IN CASE WHEN r = 6 THEN [1] ELSE [] END | SET m:Reflection)
FOREACH (_ IN CASE WHEN r = 7 THEN [1] ELSE [] END | SET m:Belief)
FOREACH (_ IN CASE WHEN r IN [3, 4, 5, 8, 9] THEN [1] ELSE [] END | SET m:MemoryEntry)
"""
_SCOPES = "UNWIND range(0, 99) AS i MERGE (s:JochiScope {name: 's' + i}) SET s.first_access_at = $at"

# What a round leaves goes again, the history stays.
_CLEAR = """
UNWIND $keys AS key
CALL (key) { MATCH (m:Curated {key: key}) USING INDEX SEEK m:Curated(key) DETACH DELETE m }
CALL (key) { MATCH (m:Tombstone {key: key}) USING INDEX SEEK m:Tombstone(key) DETACH DELETE m }
CALL (key) { MATCH (a:CurationAudit {key: key}) USING INDEX SEEK a:CurationAudit(key) DETACH DELETE a }
"""
_CLEAR_COUNTS = "MATCH (q:JochiQuota) SET q.hours = [], q.counts = [], q.runs = [], q.run_counts = [], q.lift_left = 0"

_SCOPES_CHANGED = "MATCH (s:JochiScope) CREATE (:JochiScopeChange {scope: s.name, at: $at})"

# What a hand-written janitor would do with the same memories, knowing already what each needs; records as ours, with the counts
# of what was pruned in each scope.
_BARE = """
UNWIND $keys AS key
MATCH (m:Curated {key: key})
CALL (m) {
  WITH m WHERE m:Notification OR m:Analysis
  WITH m, labels(m) AS live
  SET m.tombstone = true, m.deleted_at = $now, m.tombstone_labels = live, m.last_curated_at = $now, m.curation_action = 'PRUNE'
  REMOVE m:$(live)
  SET m:Tombstone
  CREATE (:CurationAudit {id: 'bare/' + m.key, run: 'bare', key: m.key, scope: m.scope, kind: live[1], action: 'prune',
    form: 'prune', rule: 'bare', due: $now, at: $now, labels: live, policy: 'bare'})
}
CALL (m) {
  WITH m WHERE m:Task
  CREATE (:CurationAudit {id: 'bare/' + m.key, run: 'bare', key: m.key, scope: m.scope, kind: 'Task', action: 'archive',
    form: 'properties', rule: 'bare', due: $now, at: $now, policy: 'bare', before_state: m.state, before_tier: m.tier})
  SET m.state = 'archived', m.archived_at = $now, m.tier_from = m.tier, m.tier = 'ARCHIVE', m.tier_reason = 'bare',
    m.tier_at = $now
}
CALL (m) { WITH m WHERE m:Reflection SET m.needs_consolidation = true }
CALL (m) { WITH m WHERE m.tier = 'HOT' SET m.tier_from = m.tier, m.tier = 'ARCHIVE', m.tier_reason = 'bare', m.tier_at = $now }
CALL (m) { WITH m WHERE m:Curated SET m.next_due = $far, m.last_curated_at = $now, m.curation_action = 'KEEP' }
WITH m.scope + '/' + m.tombstone_labels[1] AS place, count(*) AS n WHERE place IS NOT NULL
MERGE (q:JochiQuota {key: place})
SET q.hours = [$now.epochSeconds / 3600], q.counts = [coalesce(q.counts[0], 0) + n]
RETURN count(*) AS n
"""


def fill(client: Jochi, first: int, last: int, due: datetime) -> None:
    """Memories ``first`` to ``last`` of all kinds in 100 scopes that report accesses."""
    client.database.run(_SCOPES, {"at": NOW - 300 * DAY})
    for start in range(first, last + 1, 10_000):
        client.database.run(_CREATE, {"from": start, "to": min(start + 9_999, last), "now": NOW, "due": due})


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that ``work`` takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def against_bare(client: Jochi) -> tuple[float, float, int]:
    """Milliseconds for ten thousand due memories of all kinds: ours and the bare Cypher, medians; and how many ours changed."""
    database = client.database
    ours, bare, changed = [], [], 0
    keys = [f"s{i % 100}/m{i}" for i in range(DUE + 1000)]

    def prepare(first_thousand: datetime) -> None:
        database.run(_CLEAR, {"keys": keys})
        database.run(_CLEAR_COUNTS)
        fill(client, 0, DUE - 1, NOW)
        fill(client, DUE, DUE + 999, first_thousand)

    def by_hand() -> None:
        for start in range(0, DUE, 1000):
            database.run(_BARE, {"keys": keys[start : start + 1000], "now": NOW, "far": NOW + FAR})

    wipe(database)
    fill(client, 2 * DUE, 2 * DUE + HISTORY - 1, NOW - DAY)
    client.apply(client.plan(NOW))
    run_job(client.engine, "curate_due", now=NOW - timedelta(hours=2), drain=True)
    for _ in range(ROUNDS):
        # Ours and the bare one each begin with a thousand that don't count.
        prepare(NOW - DAY)
        client.apply(client.plan(NOW))
        run_job(client.engine, "curate_due", now=NOW - timedelta(hours=1), drain=True)
        runs: list[Any] = []
        ours.append(timed(lambda runs=runs: runs.extend(run_job(client.engine, "curate_due", now=NOW, drain=True))))  # type: ignore[misc]
        changed = sum(run.changed for run in runs)
        prepare(NOW)
        database.run(_BARE, {"keys": keys[DUE:], "now": NOW, "far": NOW + FAR})
        bare.append(timed(by_hand))
    return statistics.median(ours[WARM:]), statistics.median(bare[WARM:]), changed


def one_tick(client: Jochi) -> float:
    """Milliseconds of a run over a thousand due memories that a look leaves as they are, median."""
    taken = []
    for _ in range(9):
        keys = [f"s{i % 100}/m{i}" for i in range(8, 8 + 10 * 1000, 10)]
        client.database.run(
            "UNWIND $keys AS key MATCH (m:Curated {key: key}) SET m.next_due = $at", {"keys": keys, "at": NOW - DAY}
        )
        taken.append(timed(lambda: run_job(client.engine, "curate_due", now=NOW)))
    return statistics.median(taken[4:])


def add_rows(client: Jochi, table: Table) -> None:
    """The part that `make bench` runs."""
    ours, bare, changed = against_bare(client)
    table.add_row(
        f"{DUE:,} due memories of all kinds, {changed:,} of them changed, against bare Cypher",
        f"{bare / ours:.2f} ({DUE / ours * 1000:,.0f}/s against {DUE / bare * 1000:,.0f}/s)",
        "≥ 0.5",
    )


def _work_off(client: Jochi, kinds: str) -> tuple[float, int, int]:
    """Milliseconds for ten thousand due memories of these kinds, how many of them changed, and how many there were."""
    due = client.database.run(
        f"MATCH (m:{kinds}) WHERE m:Curated AND m.last_curated_at IS NULL WITH m LIMIT $n SET m.next_due = $at "
        "RETURN count(*) AS n",
        {"at": NOW - DAY, "n": DUE},
    )[0]["n"]
    client.database.run(_CLEAR_COUNTS)
    client.apply(client.plan(NOW))
    runs: list[Any] = []
    took = timed(lambda: runs.extend(run_job(client.engine, "curate_due", now=NOW, drain=True)))
    return took, sum(run.changed for run in runs), due


def million(client: Jochi) -> Iterator[tuple[str, str, str]]:
    """At 10^6 memories: the same thousand due against 10^4, and one percent due against the seed's budgets."""
    wipe(client.database)
    fill(client, 0, 9_999, NOW + FAR)
    small = one_tick(client)
    fill(client, 10_000, 999_999, NOW + FAR)
    client.database.autocommit("CALL db.awaitIndexes(600)")
    settle()
    large = one_tick(client)
    yield (
        "a run with 1,000 due at 10^6 memories against 10^4",
        f"{large / small:.2f} ({large:.0f}/{small:.0f} ms)",
        "≤ 1.3",
    )
    classes = (("Notification", 2), ("Task", 5), ("Belief|Analysis|MemoryEntry", 10), ("Reflection", 30))
    for kinds, _ in classes:
        _work_off(client, kinds)
    for kinds, seconds in classes:
        took, changed, due = _work_off(client, kinds)
        told = f"{took / 1000:.2f} s ({changed:,} of {due:,} changed)"
        yield f"1 % due at 10^6 memories: {kinds}", told, f"< {seconds} s"
    # One run each, as the schedule makes them: what it leaves, the next one goes on with.
    client.database.run(_SCOPES_CHANGED, {"at": NOW})
    settle()
    for job, seconds in (("enforce_budgets", 2), ("fold_accesses", 5), ("sweep_orphans", 10), ("hygiene", 30)):
        run_job(client.engine, job, now=NOW - timedelta(minutes=1))
        done: list[Any] = []
        took = timed(lambda job=job, done=done: done.extend(run_job(client.engine, job, now=NOW)))  # type: ignore[misc]
        yield (
            f"a run of {job} at 10^6 memories",
            f"{took / 1000:.2f} s ({done[0].selected:,} looked at)",
            f"< {seconds} s",
        )


def main() -> None:
    """On a local server of its own."""
    table = Table("what", "figure", "wanted")
    with own_server("bench-janitor") as client:
        client.apply()
        add_rows(client, table)
        if "--million" in sys.argv:
            for row in million(client):
                table.add_row(*row)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
