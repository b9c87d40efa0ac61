"""Tasks of agents: what the start of a session, a claim and a sync cost with 10 and with 10,000 tasks."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

from rich.table import Table
from tests.bench.store import wipe

from jochi import Jochi
from jochi.heartbeat import NewTask

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
ROUNDS = 200


def ratios(client: Jochi, many: int = 10_000) -> tuple[dict[str, float], float]:
    """By verb the time with ``many`` tasks over that with 10, in turns; and milliseconds of a sync of ``many``."""
    heartbeat = client.heartbeat
    for scope, n in (("few", 10), ("many", many)):
        tasks = [NewTask(f"q{i}", "look at the mail", "every 1h") for i in range(10)]
        tasks += [NewTask(f"t{i}", f"do it {i} " * 60, "every 1h") for i in range(n - 10)]
        heartbeat.add_all(tasks, scope=scope, now=NOW)
        with tempfile.TemporaryDirectory() as folder:  # so that nothing is pending, as at the start of most sessions
            heartbeat.sync(Path(folder) / "HEARTBEAT.md", scope=scope, now=NOW)
    due = NOW + timedelta(hours=1)

    def claimed(scope: str) -> None:
        nonlocal due
        due += timedelta(hours=1)
        heartbeat.due("bench", scope=scope, limit=1, lease=timedelta(minutes=1), now=due)

    verbs: dict[str, Callable[[str], object]] = {
        "start": lambda scope: heartbeat.start(scope=scope, limit=10),
        "due": claimed,
    }
    found = {}
    for name, verb in verbs.items():
        took: dict[str, list[float]] = {"few": [], "many": []}
        for turn in range(ROUNDS + 10):
            for scope, times in took.items():
                started = time.perf_counter()
                verb(scope)
                if turn >= 10:
                    times.append(time.perf_counter() - started)
        found[name] = statistics.median(took["many"]) / statistics.median(took["few"])
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        heartbeat.sync(Path(folder) / "HEARTBEAT.md", scope="many", now=due)
        synced = (time.perf_counter() - started) * 1000
    wipe(client.database)
    return found, synced


def add_rows(table: Table, client: Jochi) -> None:
    """The figures of this part."""
    found, synced = ratios(client)
    for name, ratio in found.items():
        table.add_row(f"heartbeat {name}: time with 10,000 tasks over that with 10", f"{ratio:.2f}", "≤ 1.3")
    table.add_row("heartbeat sync of 10,000 tasks", f"{synced:,.0f} ms", "")
