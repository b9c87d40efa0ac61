"""Turns of conversations: buffered, learned from, put into boxes and traces (seed 003, Write Path; docs/reference/observing.md)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle.observing import Boxes, Buffers

from jochi import Jochi, Turn
from jochi.errors import UsageError
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import Offline
from jochi_workers.derive.handler import Derive
from jochi_workers.derive.learn import Fact, Learned
from jochi_workers.handler import Row
from jochi_workers.models import Reply
from jochi_workers.prepare import Prepare
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)
LEARN = derivation("learn")
PLAIN, HIGH = "The bus was green today", "I prefer tea"


class Told(Offline):
    """Learns of each batch what it is told to: by a word of the text, facts and topics."""

    def __init__(self, learned: Callable[[str], Learned]) -> None:
        super().__init__(LEARN, Estimate())
        self.learned = learned

    def make(self, row: Row) -> Reply[Any]:
        return Reply(self.learned(row["inputs"][0]["content"]), 0, 0)


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    return jochi


def work(client: Jochi, learned: Callable[[str], Learned] | None = None) -> int:
    maker = Told(learned) if learned else Offline(LEARN, Estimate())
    worker = Worker(client.engine, [Prepare(Estimate()), Derive(LEARN, maker, Estimate())])
    worker.run(once=True)
    assert not worker.progress["learn"].failed, worker.progress["learn"].reasons
    return worker.progress["learn"].done


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, {"now": NOW, **given})]


def batches(client: Jochi) -> list[tuple[str, str, list[str]]]:
    """Of each batch its session, why it was flushed, and the ids of its turns, in the order of time."""
    rows = run(client, "MATCH (m:Curated:TurnBatch) RETURN m.session AS s, m.flush_reason AS r, m.message_ids AS t ORDER BY m.created_at, m.key")
    return [(row["s"], row["r"], row["t"]) for row in rows]


def test_try(client: Jochi) -> None:
    for n in range(5):
        print(client.observe(Turn(PLAIN, id=f"t{n}", speaker="Ann", at=NOW + n * MINUTE), now=NOW + n * MINUTE))
    print(client.observe(Turn(HIGH, session="b", speaker="Ann"), now=NOW))
    print(batches(client))
    print(work(client))
    print(run(client, "MATCH (f:Fact) OPTIONAL MATCH (f)-[r]->(o) RETURN f.content AS c, f.status AS s, f.slot_name AS slot, collect([type(r), o.key]) AS r"))
    print(run(client, "MATCH (f:MemoryBox) RETURN f {.*}"))
    print(client.flush())
    print(run_job(client.engine, "flush_buffers", now=NOW+DAY, drain=True))
    print(run(client, "MATCH (f:MemoryBox|Trace|JochiBuffer) RETURN f {.*}"))
