"""Speed of `Jochi.remember`, with a hash and a token count made for each memory on the way."""

from __future__ import annotations

import os
import time
from datetime import datetime, timezone
from typing import Any

from rich.table import Table
from tests.bench.store import settle, wipe

from jochi import Jochi

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
SIZES = (1_000, 2_000, 5_000)
ROUND = 20_000


def remember(client: Jochi, table: Table) -> None:
    """Adds the figures of this part."""
    client.install(arm=False)
    settle()
    for links in (0, 1):
        # A warm-up: the statement is compiled and the server's own compiler has seen it.
        speed(client, ROUND, 2_000, links)
        figures = {size: max(speed(client, ROUND, size, links) for _ in range(2)) for size in SIZES}
        what = "remember" + (", 1 relationship each" if links else "")
        shown = ", ".join(f"{figure:,.0f}" for figure in figures.values())
        table.add_row(f"{what}, batches of 1, 2, 5 thousand", f"{shown} memories/s", "≥ 5,000" if not links else "")
    again = rows(ROUND, 0)
    client.remember(again, now=NOW)
    started = time.perf_counter()
    client.remember(again, now=NOW)
    table.add_row("remember what is known", f"{ROUND / (time.perf_counter() - started):,.0f} memories/s", "")


def speed(client: Jochi, n: int, batch_size: int, links: int) -> float:
    """Memories a second; the load of the box stands beside it in the output of `python -m tests.bench.remember`."""
    wipe(client.database)
    memories = rows(n, links)
    started = time.perf_counter()
    done = client.remember(memories, now=NOW, batch_size=batch_size)
    took = time.perf_counter() - started
    assert done.written == n, done.refusals[:1]
    return n / took


def rows(n: int, links: int) -> list[dict[str, Any]]:
    """``n`` beliefs in 20 scopes, each with ``links`` relationships to an earlier one."""
    return [
        {
            "kind": "Belief",
            "id": f"m{i}",
            "scope": f"s{i % 20}",
            "content": f"note {i}: the deployment of service {i % 97} went well",
            "properties": {"confidence": 0.5, "state": "active"},
            "relationships": [{"type": "NEXT", "to": f"m{i - 20}"}] * links if i >= 20 else [],
        }
        for i in range(n)
    ]


def main() -> None:
    """On the server of JOCHI_TEST_URI, whose memories are wiped."""
    import neo4j
    from rich.console import Console

    auth = (os.environ.get("JOCHI_TEST_USER", "neo4j"), os.environ.get("JOCHI_TEST_PASSWORD", ""))
    table = Table("what", "figure", "wanted", title=f"load of the box: {os.getloadavg()[0]:.1f}")
    with neo4j.GraphDatabase.driver(os.environ["JOCHI_TEST_URI"], auth=auth) as driver:
        remember(Jochi(driver), table)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
