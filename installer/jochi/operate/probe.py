"""How many threads APOC's scheduler has, by experiment: Core has no way to read the setting.

A few background jobs sleep for a moment, and the running transactions are counted meanwhile. They touch no graph, end by
themselves and are gone from APOC's list within seconds.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from time import monotonic, sleep

from neo4j.exceptions import Neo4jError

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.operate.checks_server import ENOUGH_THREADS

SLEEP_MS = 400
_TRIES = 3
_LOOK_EVERY = 0.02


def threads_at_once(database: Database, bodies: Sequence[str]) -> int:
    """The most jobs of the scheduler seen at work at one moment; at least that many threads there are.

    ``bodies``: texts of Jochi's own repeat jobs, which count if they happen to be at work. A busy server can show too few,
    so a low count is tried again. Raises `Neo4jError` where the server doesn't allow the experiment.
    """
    most = 0
    for _ in range(_TRIES):
        most = max(most, _once(database, list(bodies)))
        if most >= ENOUGH_THREADS:
            break
    return most


def _once(database: Database, bodies: list[str]) -> int:
    mark = str(uuid.uuid4())
    look = {"mark": mark, "bodies": bodies}
    database.run(statement("server/probe_look"), look)  # so that the first real look needn't be planned
    database.run(
        statement("server/probe_submit"),
        {
            "name": f"jochi.probe.{database.name}.{mark}",
            "probes": ENOUGH_THREADS,
            "text": statement("server/probe_sleep"),
            "ms": SLEEP_MS,
            "mark": mark,
        },
    )
    most = 0
    deadline = monotonic() + SLEEP_MS / 1000 * ENOUGH_THREADS + 1
    quiet_after = monotonic() + SLEEP_MS / 1000
    while monotonic() < deadline:
        row = database.run(statement("server/probe_look"), look)[0]
        if row["probes"]:
            most = max(most, row["probes"] + row["jobs"])
        elif monotonic() > quiet_after and most:
            break
        if most >= ENOUGH_THREADS:
            break
        sleep(_LOOK_EVERY)
    return most


def try_threads(database: Database, bodies: Sequence[str]) -> tuple[int | None, str]:
    """As `threads_at_once`, or None and why not."""
    try:
        return threads_at_once(database, bodies), ""
    except Neo4jError as error:
        return None, f"the server doesn't allow the experiment: {error.message}"
