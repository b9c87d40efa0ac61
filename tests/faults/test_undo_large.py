"""100,000 actions are taken back in bounded transactions, by an undo that is cut off three times and goes on (DESIGN §10)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from tests.oracle import graph

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.undo import undo as undoing

pytestmark = [pytest.mark.server, pytest.mark.timeout(1800)]

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
PRUNES, MOVES = 60_000, 40_000

_CREATE = """
UNWIND range($first, $first + $n - 1) AS i
CREATE (m:Curated {scope: 's' + (i % 100), id: 'm' + i, key: 's' + (i % 100) + '/m' + i, content: 'note ' + i,
  token_count: 8, tier: 'HOT', created_at: $now - duration({days: 200}), next_due: $now})
FOREACH (_ IN CASE WHEN i < $prunes THEN [1] ELSE [] END | SET m:Notification, m.read = true, m.priority = 'low')
FOREACH (_ IN CASE WHEN i < $prunes THEN [] ELSE [1] END | SET m:MemoryEntry)
"""


class _Cut(Exception):
    """The client goes away."""


def stands(client: Jochi) -> dict[tuple[bool, bool, str], int]:
    """How many memories by: live, a notification, tier."""
    rows = client.database.run(
        "MATCH (m) WHERE m:Curated OR m:Tombstone "
        "RETURN m:Curated AS live, m:Notification OR 'Notification' IN coalesce(m.tombstone_labels, []) AS notice, "
        "coalesce(m.tier, 'none') AS tier, count(*) AS n",
        write=False,
    )
    return {(row["live"], row["notice"], row["tier"]): row["n"] for row in rows}


def test_a_hundred_thousand_actions_come_back_though_the_client_went_away_thrice(jochi: Jochi) -> None:
    graph.write_scopes(jochi.database, {f"s{i}": NOW - 300 * DAY for i in range(100)})
    for first in range(0, PRUNES + MOVES, 5_000):
        jochi.database.run(_CREATE, {"first": first, "n": 5_000, "now": NOW, "prunes": PRUNES})
    before = stands(jochi)
    assert before == {(True, True, "HOT"): PRUNES, (True, False, "HOT"): MOVES}
    jochi.apply(jochi.plan(NOW))
    assert [run.error for run in run_job(jochi.engine, "curate_due", now=NOW, drain=True) if run.error] == []
    after = stands(jochi)
    assert sum(n for (live, notice, _), n in after.items() if not live and notice) == PRUNES
    assert sum(n for (live, notice, tier), n in after.items() if live and not notice and tier != "HOT") == MOVES

    counted, pages, cuts = [0], list[int](), [5_000, 20_000, 40_000]

    def on_page(done: int) -> None:
        pages.append(done - counted[0])
        counted[0] = done
        if cuts and done >= cuts[0]:
            cuts.pop(0)
            counted[0] = 0
            raise _Cut

    since, cut = NOW - DAY, 0
    while True:
        try:
            done = undoing.undo(jochi.engine, since, now=NOW + DAY, by="test", on_page=on_page)
            break
        except _Cut:
            cut += 1
    assert cut == 3
    assert done.resumed
    assert stands(jochi) == before
    # A record of the engine's own may hold more than a page, and goes as a whole: no more than a batch of the job.
    most = jochi.policy.policy.jobs["curate_due"].batch_size
    assert max(pages) <= max(undoing.PAGE, most)
    [run] = jochi.runs(run=done.run)
    assert (run.changed, run.status) == (PRUNES + MOVES, "ok")
    rows = jochi.database.run("MATCH (t:Tombstone) RETURN count(t) AS n UNION ALL MATCH (a:CurationAudit) "
                              "WHERE a.undone_by IS NULL AND NOT a.rule STARTS WITH 'undo.' RETURN count(a) AS n")  # fmt: skip
    assert [row["n"] for row in rows] == [0, 0]
    # And nobody has anything left to do.
    assert undoing.undo(jochi.engine, since, now=NOW + DAY, by="test").counts == {}
