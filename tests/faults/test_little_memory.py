"""A server whose transactions may take little memory: pages are halved until they fit, or one sentence names the setting."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from tests.own_server import own_server

from jochi import Jochi
from jochi.database.batches import PageSize
from jochi.errors import MemoryExceeded

pytestmark = [pytest.mark.server, pytest.mark.timeout(900)]

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
MEMORIES = 4_000

_CREATE = """
UNWIND range($first, $first + 499) AS i
CREATE (m:Curated:Notification {scope: 's' + (i % 20), id: 'm' + i, key: 's' + (i % 20) + '/m' + i, read: true, priority: 'low',
  content: 'note ' + i + reduce(text = '', _ IN range(1, 30) | text + ' words and more words'), token_count: 100, tier: 'HOT',
  created_at: $now - duration('P200D'), next_due: $now})
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Jochi]:
    with own_server("little", settings={"db.memory.transaction.max": "24m"}) as made:
        for first in range(0, MEMORIES, 500):
            made.database.run(_CREATE, {"first": first, "now": NOW})
        yield made


def test_what_goes_by_pages_ends(client: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    halved: list[int] = []
    fit = PageSize.shrink

    def shrink(pages: PageSize, size: int) -> None:
        halved.append(size)
        fit(pages, size)

    monkeypatch.setattr(PageSize, "shrink", shrink)
    plan = client.save_plan(client.plan(NOW))
    assert (plan.memories, len(halved) > 0) == (MEMORIES, True), "a page of 2,000 was too much"
    client.apply_plan(plan.id, now=NOW)
    assert client.database.run("MATCH (t:Tombstone) RETURN count(t) AS n")[0]["n"] == MEMORIES
    halved.clear()
    assert client.undo(NOW - timedelta(days=1), now=NOW).counts == {"undone": MEMORIES}
    client.uninstall()
    assert halved, "one of these was too much at first"
    assert client.database.run("MATCH (m:Notification) RETURN count(m) AS n")[0]["n"] == MEMORIES


def test_what_does_not_fit_names_the_setting(client: Jochi) -> None:
    with pytest.raises(MemoryExceeded, match=r"raise db\.memory\.transaction\.max in neo4j\.conf"):
        client.database.run("UNWIND range(1, 3000000) AS i RETURN collect(toString(i) + 'x') AS all")
