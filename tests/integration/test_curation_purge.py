"""Purge: deletes for good after 30 days, asks every rail again, in bounded transactions (seed 000, Option B; DESIGN §4)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
LATER = NOW + 30 * DAY


def tombstones(client: Jochi, *ids: str, at: datetime = NOW, **more: Any) -> None:
    """Notifications that a run at ``at`` prunes."""
    properties = {"read": True, "created_at": NOW - 40 * DAY} | more
    graph.write(client.database, [Memory(id, ("Notification",), properties) for id in ids], due=at)
    run_job(client.engine, "curate_due", now=at, drain=True)


def purge(client: Jochi, now: datetime = LATER) -> dict[str, int]:
    """What the runs counted, by name."""
    runs = run_job(client.engine, "purge_tombstones", now=now, drain=True)
    assert [run.error for run in runs if run.error] == []
    names = {name for run in runs for name in run.tally}
    return {name: sum(run.tally.get(name, 0) for run in runs) for name in names}


def count(client: Jochi, pattern: str) -> int:
    return int(client.database.run(f"MATCH {pattern} RETURN count(*) AS n")[0]["n"])


def test_a_tombstone_goes_after_thirty_days_and_not_a_second_before(applied: Jochi) -> None:
    tombstones(applied, "n")
    purge(applied, LATER - SECOND)
    assert count(applied, "(:Tombstone)") == 1
    assert purge(applied)["purge"] == 1
    assert count(applied, "(:Tombstone)") == 0
    assert [audit["action"] for audit in graph.audits(applied.database)] == ["prune", "purge"]
    assert applied.explain("n").found


HOLDS = [
    ("pinned", "SET t.pinned = true"),
    ("pinned", "SET t.pinned = 'yes'"),
    ("keep_forever", "SET t.ttl_policy = 'keep_forever'"),
    ("hold", "SET t.hold_until = datetime('2030-01-01T00:00:00Z')"),
    ("locked", "SET t.locked_by = 'kublai', t.locked_at = datetime('2026-07-15T11:59:00Z')"),
    ("grace", "REMOVE t.created_at"),
    ("unfolded_access", "CREATE (:JochiAccess {key: t.key})"),
    ("consensus", "FOREACH (i IN range(1, 4) | CREATE (t)<-[:READ]-(:Agent {id: 'a' + i}))"),
    ("active_task", "SET t.tombstone_labels = t.tombstone_labels + 'Task', t.status = 'pending'"),
    ("agent_identity", "SET t.tombstone_labels = t.tombstone_labels + 'Agent'"),
]


def test_a_rail_that_holds_by_now_brings_it_back(applied: Jochi) -> None:
    ids = {f"n{i}": rail for i, (rail, _change) in enumerate(HOLDS)}
    tombstones(applied, *ids, "plain")
    for i, (_rail, change) in enumerate(HOLDS):
        applied.database.run(f"MATCH (t:Tombstone {{key: 'default/n{i}'}}) {change}")
    tally = purge(applied)
    assert (tally["restore"], tally["purge"]) == (len(HOLDS), 1)
    assert Counter(ids.values()) == {rail: tally[f"rail_{rail}"] for rail in ids.values()}
    assert (count(applied, "(:Curated:Notification)"), count(applied, "(:Tombstone)")) == (len(HOLDS), 0)
    back = {audit["key"]: audit["rule"] for audit in graph.audits(applied.database) if audit["action"] == "restore"}
    assert back == {f"default/{id}": f"rail.{rail}" for id, rail in ids.items()}


def test_a_dense_tombstone_goes_over_several_batches_that_nobody_sees(applied: Jochi) -> None:
    tombstones(applied, "hub", "plain")
    applied.database.run(
        "MATCH (t:Tombstone {key: 'default/hub'}) UNWIND range(1, 3500) AS i CREATE (t)-[:KNOWS]->(:Leaf)"
    )
    applied.database.run("MATCH (j:JochiJob {name: 'purge_tombstones'}) SET j.max_batches = 1")
    left, more = [], []
    for _ in range(5):
        (run,) = run_job(applied.engine, "purge_tombstones", now=LATER)
        assert run.batches == 1
        left.append(count(applied, "()-[:KNOWS]->(:Leaf)"))
        more.append(
            bool(
                applied.database.run("MATCH (j:JochiJob {name: 'purge_tombstones'}) RETURN NOT j.drained AS more")[0][
                    "more"
                ]
            )
        )
        assert count(applied, "(:Curated)") + count(applied, "(:Notification)") == 0
        if left[-1]:
            assert [restored.outcome for restored in applied.restore(["default/hub"])] == ["purging"]
    assert left == [2500, 1500, 500, 0, 0]
    assert more == [True, True, True, False, False]  # the pump goes on at its next tick, not an interval later
    assert count(applied, "(:Tombstone)") == 0
    assert count(applied, "(:Leaf)") == 3500
    assert [audit["action"] for audit in graph.audits(applied.database)].count("purge") == 2


def test_a_rail_that_begins_to_hold_after_the_first_cut_comes_too_late(applied: Jochi) -> None:
    tombstones(applied, "hub")
    applied.database.run("MATCH (t:Tombstone) UNWIND range(1, 1500) AS i CREATE (t)-[:KNOWS]->(:Leaf)")
    run_job(applied.engine, "purge_tombstones", now=LATER)
    applied.database.run("MATCH (t:Tombstone) SET t.pinned = true")
    purge(applied)
    assert count(applied, "(:Tombstone)") + count(applied, "(:Curated)") == 0


def test_a_key_in_use_again_stays_a_tombstone_and_holds_up_nobody(applied: Jochi) -> None:
    tombstones(applied, "n", "plain")
    applied.database.run("MATCH (t:Tombstone {key: 'default/n'}) SET t.pinned = true")
    graph.write(applied.database, [Memory("n", ("Note",), {"created_at": NOW})], due=NOW + 90 * DAY)
    tally = purge(applied)
    assert (tally["taken"], tally["purge"]) == (1, 1)
    assert [row["key"] for row in applied.database.run("MATCH (t:Tombstone) RETURN t.key AS key")] == ["default/n"]
    assert "taken" not in purge(applied)
    applied.database.run("MATCH (m:Curated) DETACH DELETE m")
    assert purge(applied, LATER + 8 * DAY)["restore"] == 1


def test_two_tombstones_of_one_key_that_rails_hold_give_back_the_newest(applied: Jochi) -> None:
    tombstones(applied, "n", at=NOW - DAY, content="older")
    tombstones(applied, "n", content="newer")
    applied.database.run("MATCH (t:Tombstone) SET t.pinned = true")
    tally = purge(applied)
    assert (tally["restore"], tally["taken"]) == (1, 1)
    assert applied.database.run("MATCH (m:Curated) RETURN m.content AS content") == [{"content": "newer"}]


def test_of_two_tombstones_of_one_key_the_one_put_aside_stays_put(applied: Jochi) -> None:
    tombstones(applied, "n", at=NOW - DAY, content="older")
    tombstones(applied, "n", content="newer")
    applied.database.run(
        "MATCH (t:Tombstone {content: 'older'}) SET t.quarantined_until = $until", {"until": LATER + DAY}
    )
    purge(applied)
    assert count(applied, "(:Curated)") == 0
    assert applied.database.run("MATCH (t:Tombstone) RETURN t.content AS content") == [{"content": "older"}]


def test_nodes_of_others_that_are_labelled_tombstone_are_left_alone(applied: Jochi) -> None:
    """Another framework's label: with a key and dates like ours, or with no key at all, and however many."""
    applied.database.run(
        "UNWIND range(1, 150) AS i CREATE (:Tombstone {deleted_at: $old, created_at: $old}), "
        "(:Tombstone {key: 'theirs/' + i, deleted_at: $old, created_at: $old})",
        {"old": NOW - 100 * DAY},
    )
    tombstones(applied, "n")
    assert purge(applied)["purge"] == 1
    assert count(applied, "(:Tombstone)") == 300
    assert count(applied, "(:Curated)") == 0
