"""The night jobs of raw sources (seed 002): the same dirty things in a large store against a small one, and a first night."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.bench import ingest
from tests.bench.store import settle, wipe
from tests.own_server import own_server

from jochi import Jochi
from jochi.jobs.runner import Run, run_job
from jochi.policy import load_policy

NOW = datetime(2026, 9, 6, 3, tzinfo=timezone.utc)
BEGIN = datetime(2026, 1, 7, 12, tzinfo=timezone.utc)
"""Noon of the first day of a window."""
DIRTY, ROUNDS, WARM = 100, 12, 4
EACH = 10
"""Sources that mention a person: five in each of two windows."""
SMALL, LARGE = 1_000, 100_000
"""Sources."""
MOST = 1.3
"""How many times as many db hits the same dirty people may take in the large store."""

POLICY = "[policy]\nname = 'nights'\nextends = 'default'\n" + "".join(
    f"[derive.{name}]\nderiving = true\n"
    for name in ("process", "extract", "storylines", "macros", "describe", "meaning")
)


@dataclass(frozen=True)
class Night:
    """A job, its procedure, and what makes a person dirty for it."""

    job: str
    procedure: str
    dirty: str


NIGHTS = (
    Night("count_mentions", "stories/count_mentions", "n.count_due = $at"),
    Night("promote_storylines", "stories/promote_storylines", "n.promote_due = $at"),
    Night("promote_macros", "stories/promote_macros", "n.macro_due = $at"),
    Night("consolidate", "stories/consolidate", "n.is_dirty = true"),
    Night("find_meaning", "meaning/find_meaning", "n.meaning_due = $at"),
)

# A hundred people a scope. Each has two storylines, of which the second lacks its newest source, and three notes.
_FILL = """
UNWIND range($from, $to) AS p
WITH p, 's' + p / 100 AS scope, 'person:p' + p AS id
CREATE (n:Curated:Person {
  scope: scope, id: id, key: scope + '/' + id, content: 'P' + p, name: 'P' + p, state: 'active', tier: 'HOT', salience: 0.5,
  salience_at: $now, created_at: $begin, last_accessed_at: $now - duration('P1D'), source_count: $each, distinct_source_days: $each,
  first_mentioned_at: $begin, last_mentioned_at: $begin + duration('P34D'), is_dirty: false, has_meso: true, has_macro: false
})
FOREACH (i IN range(1, 3) | CREATE (n)-[:HAS_NOTE]->(:Curated:Note {
  scope: scope, id: id + '/note' + i, key: scope + '/' + id + '/note' + i, content: 'P' + p + ' painted door ' + i,
  content_hash: 'n' + p + '-' + i, token_count: 6, lifetime: 'forever', tier: 'HOT', created_at: $begin
}))
WITH p, scope, id, n
UNWIND [0, 1] AS w
CREATE (n)<-[:about]-(st:Curated:Storyline {
  scope: scope, id: 'storyline:' + id + ':' + toString(date($begin + duration({days: w * 30}))), content: 'P' + p + ' painted',
  content_hash: 'st' + p + '-' + w, state: 'active', tier: 'HOT', salience: 0.5, salience_at: $now, created_at: $now,
  derived_by: 'storylines'
})
SET st.key = scope + '/' + st.id, st.derived_for = st.key
WITH p, scope, n, w, st
UNWIND range(0, $each / 2 - 1) AS i
WITH p, scope, n, w, st, i, 'p' + p + '-' + w + '-' + i AS id, $begin + duration({days: w * 30 + i}) AS at
CREATE (s:Curated:Source {
  scope: scope, id: id, key: scope + '/' + id, content: 'P' + p + ' painted a door', content_hash: id, token_count: 6, tier: 'WARM',
  source_type: 'text-note', processing_status: 'extracted', started_at: at, created_at: at, state: 'active',
  salience: 0.1, salience_at: $now
})
CREATE (s)-[:mentions {created_at: at, derived_by: 'extract'}]->(n)
CREATE (s)-[:SUMMARIZED_TO]->(o:Curated:SourceSummary {
  scope: scope, id: id + ':summary', key: scope + '/' + id + ':summary', content: 'P' + p + ' painted', content_hash: 'o' + id,
  derived_by: 'process', derived_for: s.key, tier: 'WARM', created_at: at
})
CREATE (o)-[:DERIVED_FROM {content_hash: id, at: at}]->(s)
FOREACH (_ IN CASE WHEN w = 0 OR i < $each / 2 - 1 THEN [1] ELSE [] END | CREATE (st)-[:includes]->(s))
"""


def fill(client: Jochi, first: int, last: int) -> None:
    """People ``first`` to ``last`` with their sources, summaries, notes and storylines."""
    for start in range(first, last + 1, 500):
        given = {"from": start, "to": min(start + 499, last), "now": NOW, "begin": BEGIN, "each": EACH}
        client.database.run(_FILL, given)


def make_dirty(client: Jochi, night: Night, n: int, at: datetime) -> None:
    """The first ``n`` people are dirty for the job, and nobody else is; what it wanted before is gone."""
    client.database.autocommit("MATCH (c:JochiInputChange) CALL (c) { DELETE c } IN TRANSACTIONS OF 10000 ROWS")
    client.database.autocommit(
        "UNWIND range(0, $n - 1) AS p MATCH (n:Curated {key: 's' + p / 100 + '/person:p' + p}) "
        f"CALL (n) {{ SET {night.dirty} }} IN TRANSACTIONS OF 10000 ROWS",
        {"n": n, "at": at},
    )


def once(client: Jochi, night: Night, n: int) -> float:
    """Seconds of the job over so many dirty people."""
    make_dirty(client, night, n, NOW - timedelta(hours=1))
    started = time.perf_counter()
    runs = run_job(client.engine, night.job, now=NOW, drain=True)
    took = time.perf_counter() - started
    assert sum(run.selected for run in runs) == n, (night.job, runs)
    return took


def hits(client: Jochi, night: Night) -> int:
    """Db hits of select and act over the dirty people, of plans for the store as it is; nothing is kept."""
    make_dirty(client, night, DIRTY, NOW - timedelta(hours=1))
    engine = client.engine
    total = 0
    with client.database.driver.session(database=client.database.name) as session, session.begin_transaction() as tx:
        keys: list[str] = []
        for section in ("select", "act"):
            text = engine.text(night.procedure, section)
            given = engine.given(text, {"now": NOW, "limit": DIRTY, "skip": [], "keys": keys, "policy": "bench"})
            result = tx.run("PROFILE " + text, given)
            keys = next(dict(row) for row in result).get("keys", keys)
            total += _hits(result.consume().profile)
        tx.rollback()
    return total


def _hits(plan: Mapping[str, Any] | None) -> int:
    assert plan is not None
    return int(plan.get("dbHits", 0)) + sum(map(_hits, plan.get("children", ())))


def refilled(client: Jochi, people: int) -> dict[str, tuple[float, int]]:
    """The same of a small store. It is measured before and after the large one, so that a warm server favours neither."""
    wipe(client.database)
    fill(client, 0, people - 1)
    return measure(client)


def measure(client: Jochi) -> dict[str, tuple[float, int]]:
    """By job the seconds and the db hits over the same number of dirty people."""
    settle(60)
    found = {}
    for night in NIGHTS:
        took = [once(client, night, DIRTY) for _ in range(ROUNDS)]
        # The fastest: what else the machine does only adds.
        found[night.job] = min(took[WARM:]), hits(client, night)
    return found


def first_night(client: Jochi, night: Night, people: int) -> tuple[float, int, int]:
    """All are dirty: people a second within the budget of one run; the nights until all had their turn, and how many it wanted.

    A run that ends by its budget goes on in the next night where it stopped."""
    make_dirty(client, night, people, NOW - timedelta(hours=1))
    started = time.perf_counter()
    [run] = run_job(client.engine, night.job, now=NOW)
    rate = run.selected / (time.perf_counter() - started)
    runs: list[Run] = [run]
    while sum(each.selected for each in runs) < people:
        assert runs[-1].selected, f"{night.job} forgot {people - sum(each.selected for each in runs)} people"
        runs += run_job(client.engine, night.job, now=NOW)
    return rate, len(runs), sum(each.changed for each in runs)


def add_rows(client: Jochi, table: Table) -> dict[str, float]:
    """Measures and adds the rows of this part. Returns by job how many times as many db hits the large store took."""
    client.apply()
    people = {n: n // EACH for n in (SMALL, LARGE)}
    before = refilled(client, people[SMALL])
    fill(client, people[SMALL], people[LARGE] - 1)
    large = measure(client)
    first = {night.job: first_night(client, night, people[LARGE]) for night in NIGHTS}
    after = refilled(client, people[SMALL])
    ratios = {}
    for job, (took, n_hits) in large.items():
        was, had = (min(before[job][i], after[job][i]) for i in (0, 1))
        # Of some tens of milliseconds other work on the machine makes any ratio; hits are the same everywhere.
        ratios[job] = n_hits / had
        shown = f"{took / was:.2f} ({took * 1000:.0f} / {was * 1000:.0f} ms), db hits {n_hits / had:.2f} ({n_hits:,} / {had:,})"
        table.add_row(f"{job}: {DIRTY} dirty, {LARGE:,} sources against {SMALL:,}", shown, f"≤ {MOST}")
    for job, (rate, runs, wanted) in first.items():
        shown = f"{rate:,.0f} people/s, {rate * EACH:,.0f} sources/s; all in {runs} runs, {wanted:,} wanted"
        table.add_row(f"{job}: a first night, all {people[LARGE]:,} dirty", shown, "")
    return ratios


def check(ratios: Mapping[str, float]) -> None:
    """Ends with 1 where what isn't dirty costs."""
    slow = {job: round(ratio, 2) for job, ratio in ratios.items() if ratio > MOST}
    if slow:
        raise SystemExit(
            f"what isn't dirty costs: {LARGE:,} sources against {SMALL:,} take {slow} times the db hits, not ≤ {MOST}"
        )


@contextmanager
def own_nights() -> Iterator[Jochi]:
    """A server of its own, under a policy that has all of these derivations on."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.toml"
        file.write_text(POLICY, encoding="utf-8")
        with own_server("bench-nights", policy=load_policy(file)) as client:
            yield client


def main() -> None:
    """These figures and those of ingesting alone, on a server of their own."""
    table = Table("what", "figure", "wanted")
    with own_nights() as client:
        ingest.add_rows(client, table)
        ratios = add_rows(client, table)
    Console(width=150).print(table)
    check(ratios)


if __name__ == "__main__":
    main()
