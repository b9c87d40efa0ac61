"""Phase 0 of raw sources (seed 002): `Jochi.ingest` against a bare write of the same nodes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from rich.table import Table
from tests.bench.store import wipe

from jochi import Jochi
from jochi.write.ingesting import Message, Piece, Source

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
SOURCES, AT_ONCE = 10_000, 500

_WRITE = "UNWIND $rows AS row CREATE (m:Curated:Source) SET m = row"


def pieces(n: int) -> Iterator[Piece]:
    """``n`` notes of one message each, about 200 characters."""
    for i in range(n):
        text = f"Note {i}: the deployment of service {i % 97} went well, all checks are green. " * 3
        yield Source("text-note", id=f"note{i}"), Message(None, NOW + timedelta(minutes=i), "Ann", text, text)


def speed(client: Jochi, n: int) -> float:
    """Sources a second."""
    wipe(client.database)
    started = time.perf_counter()
    done = client.ingest(pieces(n), now=NOW)
    took = time.perf_counter() - started
    assert (done.sources, done.faulty) == (n, 0)
    return n / took


def bare(client: Jochi) -> float:
    """Sources a second of a statement that writes what is there, and nothing else."""
    found = client.database.run("MATCH (m:Curated:Source) RETURN properties(m) AS row", write=False)
    rows: list[dict[str, Any]] = [each["row"] for each in found]
    wipe(client.database)
    started = time.perf_counter()
    for first in range(0, len(rows), AT_ONCE):
        client.database.run(_WRITE, {"rows": rows[first : first + AT_ONCE]})
    return len(rows) / (time.perf_counter() - started)


def add_rows(client: Jochi, table: Table) -> None:
    """The figures of this part: the better of two rounds after a warm-up."""
    speed(client, SOURCES // 5)
    rounds = [(speed(client, SOURCES), bare(client)) for _ in range(2)]
    ours, theirs = (max(figures) for figures in zip(*rounds, strict=True))
    wipe(client.database)
    table.add_row("ingest: raw sources", f"{ours:,.0f} sources/s", "≥ 500")
    table.add_row("ingest against a bare write of the same nodes", f"{theirs / ours:.1f} ({theirs:,.0f} /s bare)", "")
