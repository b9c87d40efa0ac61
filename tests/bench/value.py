"""What the value by five signals costs: room, looks, an idle server, each off and on in turn: `python -m tests.bench.value`.

On a server of its own at 10^4 and 10^5 memories; ``--most 1000000`` goes on. Figures of one machine compare with each other only.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table
from tests.bench.__main__ import timed
from tests.bench.remember import rows
from tests.bench.sizing import SIZES, bytes_by_part, empty_tick
from tests.bench.store import FAR

from jochi import Jochi
from jochi.database.database import Database
from jochi.jobs.runner import run_job
from jochi.localserver import LocalServer
from jochi.policy import load_policy

MOST = 100_000
LOOKED_AT = 5_000
"""Memories of a measured run over what is due."""
ROUNDS = 4
SETTLED, IDLE = 15, 30
"""Seconds after the jobs are armed, and that an idle server is watched then."""
IDLE_ROUNDS = 3
"""The first doesn't count: all jobs have their first run in it."""
REMEMBERED = 1_000

# The memories of the sizing page, of four kinds that are classified, in scopes with accesses.
_FILL = """
UNWIND range($from, $to) AS i
WITH i, 's' + toString(i % 100) AS scope, 'n' + toString(i) AS id
CREATE (m:Curated {
  scope: scope, id: id, key: scope + '/' + id, content: 'build ' + toString(i) + ' is green, ' + $text,
  content_hash: 'h' + toString(i), token_count: 50, tier: 'HOT', access_count: i % 7, confidence: 0.5 + (i % 5) / 10.0,
  agent_id: 'agent-' + toString(i % 7), created_at: $created, last_accessed_at: $created, next_due: $next_due
})
SET m:$(['MemoryEntry', 'Fact', 'Belief', 'Note'][i % 4])
"""
_SCOPES = "UNWIND range(0, 99) AS i MERGE (s:JochiScope {name: 's' + toString(i)}) SET s.first_access_at = $at"
_DUE = "UNWIND range($from, $to) AS i MATCH (m:Curated {key: 's' + toString(i % 100) + '/n' + toString(i)}) SET m.next_due = $at"
_REMEMBERED = "MATCH (m:Curated) WHERE m.scope IN $scopes AND m.id STARTS WITH 'm' DETACH DELETE m"
_TEXT = (
    "the deployment of the third service took four minutes and nobody had to look at it, which is what was agreed on "
    * 2
)[:170]


def make_due(database: Database, first: int, last: int, now: datetime) -> None:
    """Memories ``first`` to ``last`` are looked at by the next run."""
    for start in range(first, last + 1, 10_000):
        database.run(_DUE, {"from": start, "to": min(start + 9_999, last), "at": now - timedelta(days=1)})


def look(client: Jochi, first: int, last: int, now: datetime) -> float:
    """Milliseconds for each thousand of a run over these."""
    make_due(client.database, first, last, now)
    return timed(lambda: run_job(client.engine, "curate_due", now=now, drain=True)) / (last - first + 1) * 1_000


def idle_share(client: Jochi, pid: int) -> float:
    """The part of a core that the server takes while nothing is due, jobs armed."""
    # What another policy puts back into the queue is looked at before, with all that is due by now.
    for job in ("requeue", "curate_due"):
        run_job(client.engine, job, drain=True)
    client.install()
    time.sleep(SETTLED)
    process = psutil.Process(pid)
    before, began = process.cpu_times(), time.monotonic()
    time.sleep(IDLE)
    after = process.cpu_times()
    share = (after.user + after.system - before.user - before.system) / (time.monotonic() - began)
    client.install(arm=False)
    return share


def remember(client: Jochi, now: datetime) -> float:
    """Milliseconds of one call with a thousand new beliefs."""
    took = timed(lambda: client.remember(rows(REMEMBERED, 0), now=now))
    client.database.run(_REMEMBERED, {"scopes": [f"s{i}" for i in range(20)]})
    return took


def round_of(client: Jochi, now: datetime) -> dict[str, float]:
    """One measure of each."""
    return {
        "a later look, ms for 1,000": look(client, 0, LOOKED_AT - 1, now),
        "an empty tick, ms": statistics.median(timed(lambda: empty_tick(client)) for _ in range(20)),
        f"remember {REMEMBERED:,}, ms": remember(client, now),
    }


def main(most: int) -> None:
    """Measures and prints."""
    console, now = Console(width=130), datetime.now(timezone.utc)
    table = Table("memories", "what", "off", "on", "on : off")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for switch in ("false", "true"):
            text = f'[policy]\nname = "{switch}"\nextends = "default"\n[classification]\nclassifying = {switch}\n'
            (folder / f"{switch}.toml").write_text(text, encoding="utf-8")
        local = LocalServer("bench-value", home=folder)
        running = local.start()
        try:
            with running.driver() as driver:
                switched = {on: Jochi(driver, policy=load_policy(folder / f"{on}.toml")) for on in ("false", "true")}

                def use(on: str) -> Jochi:
                    switched[on].install(arm=False)
                    switched[on].apply()
                    return switched[on]

                client = use("false")
                database = client.database
                empty = sum(bytes_by_part(local, client).values())
                first = 0
                for n in [each for each in SIZES if each <= most]:
                    for start in range(first, n, 10_000):
                        given = {"from": start, "to": start + 9_999, "created": now - timedelta(hours=6), "text": _TEXT}
                        database.run(_FILL, given | {"next_due": now + FAR})
                    database.run(_SCOPES, {"at": now - timedelta(days=100)})
                    database.run("CALL db.awaitIndexes(300)")
                    first_pass, sizes = {}, {}
                    for on in ("false", "true"):
                        client = use(on)
                        look(client, 0, 999, now)
                        first_pass[on] = look(client, first, n - 1, now)
                        sizes[on] = bytes_by_part(local, client)
                        console.print(
                            n, on, {k: round(v / n) for k, v in sizes[on].items()}, f"{first_pass[on]:.0f} ms"
                        )
                    found: dict[str, dict[str, list[float]]] = {}
                    pid = local.running().pid
                    for turn in range(ROUNDS):
                        for on in ("false", "true"):
                            for what, value in round_of(use(on), now).items():
                                if turn:
                                    found.setdefault(what, {}).setdefault(on, []).append(value)
                    for turn in range(IDLE_ROUNDS):
                        for on in ("false", "true"):
                            value = idle_share(use(on), pid) * 100
                            if turn:
                                found.setdefault("idle, % of a core", {}).setdefault(on, []).append(value)
                    lines = [("first look, ms for 1,000", first_pass["false"], first_pass["true"])]
                    lines += [
                        (what, *(statistics.median(each[on]) for on in ("false", "true")))
                        for what, each in found.items()
                    ]
                    each = {on: (sum(parts.values()) - empty) / n for on, parts in sizes.items()}
                    lines += [("bytes a memory", each["false"], each["true"])]
                    for what, off, on_ in lines:
                        table.add_row(f"{n:,}", what, f"{off:,.1f}", f"{on_:,.1f}", f"{on_ / off:.2f}")
                    first = n
                    console.print(table)
        finally:
            local.reset()


if __name__ == "__main__":
    main(int(sys.argv[sys.argv.index("--most") + 1]) if "--most" in sys.argv else MOST)
