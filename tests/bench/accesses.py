"""Accesses: how fast touches are taken and folded."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from rich.table import Table
from tests.bench.store import FAR, fill, wipe

from jochi import Jochi
from jochi.database.database import Database
from jochi.jobs.runner import run_job

TOUCHES = 100_000
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def add_rows(client: Jochi, table: Table) -> None:
    """Measures and adds the rows of this part."""
    wide, narrow = keys_of(10_000), keys_of(10)
    touched, folded = touch_and_fold(client, wide)
    table.add_row("touch, in calls of 5,000", f"{touched:,.0f} touches/s", "≥ 10,000")
    table.add_row("fold 10^5 touches of 10^4 memories", f"{folded:,.0f} touches/s", "≥ 10,000")
    _, folded = touch_and_fold(client, narrow)
    table.add_row("fold 10^5 touches of 10 memories", f"{folded:,.0f} touches/s", "≥ 10,000")


def keys_of(memories: int) -> list[str]:
    """As many keys as touches, over so many of the memories that `store.fill` makes."""
    return [f"s{i % memories % 100}/n{i % memories}" for i in range(TOUCHES)]


def touch_and_fold(client: Jochi, keys: list[str]) -> tuple[float, float]:
    """Touches a second and folded touches a second, the better of two rounds after a warm-up."""
    touched = folded = 0.0
    for round_ in range(3):
        _wipe(client.database)
        fill(client.database, 0, 9_999, NOW - timedelta(hours=1), NOW + FAR)
        taking = seconds(lambda: client.touch(keys, agent="bench", now=NOW))
        counting = seconds(lambda: run_job(client.engine, "fold_accesses", now=NOW, drain=True))
        left = client.database.run("MATCH (a:JochiAccess) RETURN count(a) AS n", write=False)[0]["n"]
        if left:
            raise AssertionError(f"{left} touches are left")
        if round_:
            touched, folded = max(touched, len(keys) / taking), max(folded, len(keys) / counting)
    return touched, folded


def seconds(work: Callable[[], object]) -> float:
    """Seconds that ``work`` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _wipe(database: Database) -> None:
    wipe(database)
    database.autocommit(
        "MATCH (n:JochiAccess|JochiAccessBatch|JochiScope) CALL (n) { DELETE n } IN TRANSACTIONS OF 10000 ROWS"
    )
