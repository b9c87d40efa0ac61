"""What constraints of an application forbid of what is brought back is named with the constraint and with who has the value; the rest
comes back, and a dry run says the same before (docs/reference/audit-and-undo.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.database.database import Database
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
SOURCE = "CREATE CONSTRAINT one_source FOR (m:MemoryEntry) REQUIRE m.source_ref IS UNIQUE"


@contextmanager
def constraint(database: Database, text: str) -> Iterator[None]:
    """One of an application, as long as the block lasts; nothing of its kind stays, so that another test can have another."""
    name = text.split()[2]
    database.autocommit(text)
    try:
        yield
    finally:
        database.autocommit(f"DROP CONSTRAINT {name}")


def entry(id: str, now: datetime, source: Any, **more: Any) -> Memory:
    """Due to be pruned: nobody has used it for long."""
    return Memory(id, ("MemoryEntry", "Notification"), {"read": True, "created_at": now - 40 * DAY, "source_ref": source} | more)


def pruned(client: Jochi, now: datetime, memories: Iterable[Memory]) -> str:
    """The run that pruned them."""
    graph.write(client.database, memories, due=now)
    [run] = run_job(client.engine, "curate_due", now=now, drain=True)
    assert run.id
    return run.id


def live(client: Jochi, id: str, source: Any, *, labels: str = ":Curated:MemoryEntry") -> str:
    """Somebody writes another one with this source; its name as results have it."""
    key = {"key": f"default/{id}", "scope": "default", "id": id} if "Curated" in labels else {}
    [row] = client.database.run(
        f"CREATE (m{labels}) SET m = $key, m.source_ref = $source RETURN coalesce(m.key, '(' + $labels + ' ' + elementId(m) + ')') AS name",
        {"key": key, "source": source, "labels": labels},
    )
    return str(row["name"])


def test_debug(applied: Jochi, now: datetime) -> None:
    with constraint(applied.database, SOURCE):
        run = pruned(applied, now, [entry(f"m{i}", now, f"mail-{i}") for i in range(7)])
        print(live(applied, "new", "mail-3"), live(applied, "", "mail-5", labels=":MemoryEntry"))
        dry = applied.undo(run, dry_run=True)
        for r in dry.rows: print(r)
        done = applied.undo(run)
        print(done)
        print(applied.restore(["default/m3", "default/m5", "default/m1"]))
