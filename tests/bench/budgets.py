"""Token budgets: a run over 100 of 10,000 scopes, and one scope with very many memories."""

from __future__ import annotations

import statistics
import time
from datetime import datetime, timedelta, timezone

from rich.table import Table
from tests.bench.store import wipe

from jochi import Jochi
from jochi.jobs.runner import run_job

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
SCOPES, CHANGED, EACH, ROUNDS = 10_000, 100, 10, 7
LARGE = 100_000
_FILL = """
UNWIND range($from, $to) AS s UNWIND range(1, $each) AS i
CREATE (:Curated:Note {scope: 's' + s, id: $name + i, key: 's' + s + '/' + $name + i, tier: 'HOT', token_count: 100,
                       created_at: $now - duration({seconds: i})})
"""
_ONE = """
UNWIND range($from, $to) AS i
CREATE (:Curated:Note {scope: 'large', id: toString(i), key: 'large/' + i, tier: 'HOT', token_count: 1 + i * 7919 % 60,
                       created_at: $now - duration({seconds: i * 104729 % 999983})})
"""
_CHANGE = """
UNWIND range(0, $changed - 1) AS n
WITH n * $apart AS s
CREATE (:JochiScopeChange {scope: 's' + s, at: $now})
WITH s UNWIND range(1, $each) AS i
CREATE (:Curated:Note {scope: 's' + s, id: $name + i, key: 's' + s + '/' + $name + i, tier: 'HOT', token_count: 100,
                       created_at: $now + duration({seconds: i})})
"""


def add_rows(client: Jochi, table: Table) -> None:
    """Measures and adds the rows of this part."""
    took, moved = changed_scopes(client)
    table.add_row(
        f"budgets: a run over {CHANGED} of {SCOPES:,} scopes", f"{took:.2f} s (median; {moved:,} moves)", "≤ 2 s"
    )
    first, rate = one_scope(client)
    table.add_row(f"budgets: one scope of {LARGE:,} memories", f"{rate:,.0f} moves/s, {first:.1f} s to the first", "")


def changed_scopes(client: Jochi) -> tuple[float, int]:
    """Seconds of the run in which each of the changed scopes gives up as much as it was given; how many memories moved."""
    _wipe(client)
    for start in range(0, SCOPES, 500):
        client.database.run(_FILL, {"from": start, "to": start + 499, "each": 16, "name": "old", "now": NOW})
    run_job(client.engine, "enforce_budgets", now=NOW, drain=True)
    times, moved = [], 0
    for number in range(ROUNDS):
        now = NOW + timedelta(minutes=5 * number)
        client.database.run(
            _CHANGE,
            {"changed": CHANGED, "apart": SCOPES // CHANGED, "each": EACH, "name": f"new{number}-", "now": now},
        )
        started = time.perf_counter()
        runs = run_job(client.engine, "enforce_budgets", now=now)
        times.append(time.perf_counter() - started)
        moved = sum(run.changed for run in runs)
        if sum(run.tally.get("scopes", 0) for run in runs) != CHANGED or moved < CHANGED * EACH:
            raise AssertionError(f"the run didn't work the scopes that changed: {runs}")
    return statistics.median(times), moved


def one_scope(client: Jochi) -> tuple[float, float]:
    """Seconds of the first run, which finds the cuts; moves a second over all runs."""
    _wipe(client)
    for start in range(0, LARGE, 20_000):
        client.database.run(_ONE, {"from": start, "to": start + 19_999, "now": NOW})
    started = time.perf_counter()
    moved = sum(run.changed for run in run_job(client.engine, "enforce_budgets", now=NOW))
    first = time.perf_counter() - started
    moved += sum(run.changed for run in run_job(client.engine, "enforce_budgets", now=NOW, drain=True))
    return first, moved / (time.perf_counter() - started)


def _wipe(client: Jochi) -> None:
    wipe(client.database)
    client.database.run("MATCH (n:JochiScopeChange|JochiBudget) DELETE n")
    client.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.check_mark = null")
