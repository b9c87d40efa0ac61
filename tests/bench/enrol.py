"""Enrolment and intake: nodes a second, what the job costs with nothing to do, what the triggers add to a commit."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.own_server import own_server

from jochi import Jochi
from jochi.database.database import in_one_map
from jochi.install import triggers
from jochi.jobs.runner import run_job
from jochi.policy import load_policy

NODES = 100_000
ROUNDS = 20
POLICY = """
[policy]
name = "bench"
extends = "default"
[kinds.Parcel]
class = "60min"
intake = true
properties = { id = "number", content = "label" }
"""
_FILL = """
UNWIND range($first, $first + 9999) AS i
CREATE (:Parcel {number: i, label: 'parcel ' + i + ' goes a long way', created_at: datetime('2026-01-01T00:00:00Z')})
"""
_SELECT = "an intake select with nothing to do at 10^5 nodes"


def measure() -> list[tuple[str, str, str]]:
    """(what, figure, wanted) on a server of its own that allows triggers."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.toml"
        file.write_text(POLICY, encoding="utf-8")
        settings = {
            "apoc.trigger.enabled": "true",
            "apoc.trigger.refresh": "500",
            "dbms.security.procedures.unrestricted": "apoc.trigger.*",
        }
        with own_server("bench-enrol", settings=settings, policy=load_policy(file)) as client:
            return _rows(client)


def _rows(client: Jochi) -> list[tuple[str, str, str]]:
    for first in range(0, NODES, 10_000):
        client.database.run(_FILL, {"first": first})
    started = time.perf_counter()
    done = client.enrol("Parcel")
    speed = done.enrolled / (time.perf_counter() - started)
    run_job(client.engine, "intake", drain=True)
    text = client.engine.text("intake/intake", "select")
    state = client.database.run("MATCH (j:JochiJob {name: 'intake'}) RETURN properties(j) AS j")[0]["j"]
    now = client.database.run("RETURN datetime() AS now")[0]["now"]
    given = in_one_map({"now": now, "limit": 1000, "skip": [], "job": dict(state)})
    idle = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        row = client.database.run(text, given, write=False)[0]
        idle.append((time.perf_counter() - begun) * 1000)
        assert row["keys"] == []
    client.database.run("MATCH (n:Parcel) WITH n LIMIT 1 CREATE (:Parcel {number: 'new'})")
    begun = time.perf_counter()
    (run,) = run_job(client.engine, "intake")
    one = (time.perf_counter() - begun) * 1000
    assert run.changed == 1
    triggers.install_triggers(client.engine)
    triggers.await_running(client.engine)
    cost = triggers.measure_cost(client.engine, pairs=4, commits=200)
    return [
        ("enrol", f"{speed:,.0f} nodes/s", "–"),
        (_SELECT, f"{statistics.median(idle):.1f} ms (median)", "O(1)"),
        ("an intake run that finds the one new among 10^5", f"{one:.0f} ms", "–"),
        (
            "what the triggers add to a commit of one node",
            f"{cost.added_ms:+.2f} ms ({cost.added_low_ms:+.2f} to {cost.added_high_ms:+.2f}; bare {cost.without_ms:.2f})",
            "–",
        ),
    ]


if __name__ == "__main__":
    for what, figure, wanted in measure():
        sys.stdout.write(f"{what}: {figure} (wanted: {wanted})\n")
