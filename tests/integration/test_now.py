"""The `now` of what apps call: a moment that can't be meant is refused before it gets into anything (a unit that was mistaken)."""

from __future__ import annotations

from typing import Any

import pytest

from jochi import Jochi

LAST = "datetime({year: 9999, month: 12, day: 31, hour: 23, minute: 59, second: 59, timezone: 'Z'})"
AFTER = "datetime({year: 10000, timezone: 'Z'})"
MISTAKEN = "datetime({epochSeconds: 1780000000000})"  # milliseconds taken for seconds: the year 58,000
GREATEST = "datetime({year: 999999999, month: 12, day: 31, timezone: 'Z'})"  # nothing can be added to it

CALLS: dict[str, str] = {
    "memory/remember": "agent: null, memories: [{kind: 'Belief', id: 'new', properties: {seen_at: datetime('2026-01-01T00Z')}}]",
    "memory/touch": "keys: ['default/a'], used: true, agent: null, batch: 'b'",
    "edges/reinforce": "links: [{from: 'default/a', type: 'SAME_ENTITY', to: 'default/b'}], batch: 'b'",
    "memory/supersede": "facts: [{key: 'default/a'}]",
}


OFTEN = ("memory/remember", "memory/touch")


def call(jochi: Jochi, name: str, now: str) -> dict[str, Any]:
    """As Cypher calls it: no Python has a datetime after the year 9999."""
    row: dict[str, Any] = jochi.database.run(
        f"MATCH (p:JochiProcedure {{name: $name}}) CALL apoc.cypher.doIt(p.body, {{in: {{now: {now}, {CALLS[name]}}}}}) "
        "YIELD value RETURN value",
        {"name": name},
    )[0]["value"]
    return row


def everything(jochi: Jochi) -> list[Any]:
    return jochi.database.run(
        "MATCH (n) WHERE n:Curated OR n:JochiAccess OR n:JochiAccessBatch OR n:JochiSlot "
        "OPTIONAL MATCH (n)-[r]->() RETURN labels(n) AS l, properties(n) AS p, properties(r) AS r ORDER BY elementId(n)"
    )


@pytest.mark.parametrize(
    "name", [*OFTEN, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in CALLS if name not in OFTEN)]
)
def test_a_now_after_the_year_9999_is_refused_and_nothing_written(jochi: Jochi, name: str) -> None:
    jochi.database.run(
        "CREATE (:Curated:Fact {key: 'default/a', scope: 'default', id: 'a', created_at: datetime('2026-01-01T00Z')})"
        "-[:SAME_ENTITY {confidence: 0.5}]->(:Curated:Fact {key: 'default/b', scope: 'default', id: 'b'})"
    )
    was = everything(jochi)
    for moment in (AFTER, MISTAKEN, GREATEST):
        answer = call(jochi, name, moment)
        if name == "memory/remember":
            assert [(r["outcome"], r["reason"]) for r in answer["results"]] == [("refused", "bad_now")]
            assert "year 9999" in answer["results"][0]["detail"]
        else:
            assert "year 9999" in answer["problem"]
        assert everything(jochi) == was

    taken = call(jochi, name, LAST)
    assert taken.get("problem") is None
    assert taken.get("refused", 0) == 0
    if name != "memory/supersede":  # this one has nothing to do
        assert everything(jochi) != was
