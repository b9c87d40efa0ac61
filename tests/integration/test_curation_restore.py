"""Restore: back as it was, kept for a while, and never over a key that lives again (DESIGN §4, §10)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.oracle import Memory, graph
from tests.oracle.strategies import WRONG_TYPES

from jochi import Jochi, clock
from jochi.errors import UsageError
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
BOOKKEEPING = {"next_due", "last_curated_at", "curation_action", "hold_until", "similar_due"}


def read_long_ago(id: str, now: datetime, **more: Any) -> Memory:
    return Memory(id, ("Notification", "Urgent"), {"read": True, "created_at": now - 40 * DAY} | more)


def prune(client: Jochi, now: datetime) -> None:
    run_job(client.engine, "curate_due", now=now, drain=True)


def links(client: Jochi) -> list[dict[str, Any]]:
    return client.database.run(
        "MATCH (a)-[r]->(b) RETURN type(r) AS type, properties(r) AS props, coalesce(a.key, a.id) AS a, coalesce(b.key, b.id) AS b "
        "ORDER BY type, a, b"
    )


def test_a_restored_memory_equals_the_original(applied: Jochi, now: datetime) -> None:
    odd = {f"p{i}": value for i, (name, value) in enumerate(WRONG_TYPES.items()) if name != "NaN"}
    graph.write(
        applied.database,
        [read_long_ago("n", now, tier="HOT", **odd), Memory("other", ("Note",), {"created_at": now})],
        due=now,
    )
    applied.database.run(
        "MATCH (n:Notification), (o:Note) CREATE (n)-[:ABOUT {weight: 0.5}]->(o), "
        "(o)-[:KNOWS {since: date()}]->(n), (n)-[:SELF]->(n)"
    )
    before, linked = graph.state(applied.database)["default/n"], links(applied)
    prune(applied, now)
    assert graph.pruned(applied.database) == {"default/n"}
    assert [(restored.key, restored.outcome) for restored in applied.restore(["default/n"])] == [
        ("default/n", "restored")
    ]
    after = graph.state(applied.database)["default/n"]
    assert after.labels == before.labels
    assert without(after) == without(before)
    assert links(applied) == linked
    assert [audit["action"] for audit in graph.audits(applied.database) if audit["key"] == "default/n"].count(
        "restore"
    ) == 1


def without(stored: graph.Stored) -> dict[str, Any]:
    return {name: value for name, value in stored.properties.items() if name not in BOOKKEEPING}


def test_a_restored_memory_is_held_for_thirty_days_and_then_goes(applied: Jochi, now: datetime) -> None:
    graph.write(applied.database, [read_long_ago("n", now)], due=now)
    prune(applied, now)
    applied.restore(["default/n"])
    hold = to_python(graph.state(applied.database)["default/n"].properties["hold_until"])
    assert timedelta(0) <= hold - now - 30 * DAY < timedelta(minutes=5)
    for moment, gone in (
        (clock.now(), False),
        (hold - timedelta(seconds=1), False),
        (hold + timedelta(minutes=5), True),
    ):
        prune(applied, moment)
        assert (graph.pruned(applied.database) == {"default/n"}) is gone


def test_a_longer_hold_stays(applied: Jochi, now: datetime) -> None:
    holds = {"none": None, "shorter": now + 10 * DAY, "longer": now + 90 * DAY, "odd": "for ever"}
    graph.write(applied.database, [read_long_ago(id, now) for id in holds], due=now)
    prune(applied, now)
    applied.database.run("MATCH (t:Tombstone) SET t.hold_until = $holds[t.id]", {"holds": holds})
    applied.restore([f"default/{id}" for id in holds])
    state = graph.state(applied.database)
    left = {id: to_python(state[f"default/{id}"].properties)["hold_until"] for id in holds}
    assert (left["longer"], left["odd"]) == (holds["longer"], holds["odd"])
    assert min(left["none"], left["shorter"]) > now + 29 * DAY


def test_of_several_tombstones_the_newest_or_the_named_one_comes_back(applied: Jochi, now: datetime) -> None:
    for number, moment in enumerate((now - 3 * DAY, now - 2 * DAY, now - DAY)):
        graph.write(applied.database, [read_long_ago("n", now, content=f"life {number}")], due=moment)
        prune(applied, moment)
    assert applied.database.run("MATCH (t:Tombstone {key: 'default/n'}) RETURN count(t) AS n") == [{"n": 3}]
    assert len(applied.explain("n").tombstones) == 3
    first, second = (audit["id"] for audit in graph.audits(applied.database)[:2])
    assert [restored.outcome for restored in applied.restore(["default/n"])] == ["restored"]
    assert live(applied) == ["life 2"]
    assert [restored.outcome for restored in applied.restore(["default/n"], audit=first)] == ["taken"]
    applied.database.run("MATCH (m:Curated) DETACH DELETE m")
    assert [restored.outcome for restored in applied.restore(["default/n"], audit=second)] == ["restored"]
    assert live(applied) == ["life 1"]
    assert [restored.outcome for restored in applied.restore(["default/n"], audit="no such audit")] == ["not_found"]


def live(client: Jochi) -> list[str]:
    return [
        row["content"]
        for row in client.database.run("MATCH (m:Curated {key: 'default/n'}) RETURN m.content AS content")
    ]


def test_every_key_gets_its_answer_once(applied: Jochi, now: datetime) -> None:
    graph.write(applied.database, [read_long_ago("n", now), read_long_ago("m", now)], due=now)
    prune(applied, now)
    graph.write(applied.database, [Memory("m", ("Note",), {"created_at": now})], due=now + DAY)
    asked = ["default/n", "default/never", "default/m", "default/n"]
    assert {restored.key: restored.outcome for restored in applied.restore(asked)} == {
        "default/n": "restored",
        "default/never": "not_found",
        "default/m": "taken",
    }
    actions = [audit["action"] for audit in graph.audits(applied.database)]
    assert (actions.count("prune"), actions.count("restore")) == (2, 1)
    with pytest.raises(UsageError):
        applied.restore([])


def test_what_is_being_purged_does_not_come_back(applied: Jochi, now: datetime) -> None:
    graph.write(applied.database, [read_long_ago("n", now)], due=now)
    prune(applied, now)
    applied.database.run("MATCH (t:Tombstone) SET t.purge_started_at = $now", {"now": now})
    assert [restored.outcome for restored in applied.restore(["default/n"])] == ["purging"]
    assert graph.pruned(applied.database) == {"default/n"}
