"""Relationships through the models: connecting again and saving undo nothing of what was written there since."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from neomodel import db
from tests.integration.conftest import Run

from jochi import Jochi
from jochi.errors import UsageError
from jochi.use.edges import Edge as Named
from jochi_models import Belief, Concept, Edge, Fact, Gone, Person, Semantic, aio

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("connected", "jochi")]

NOW = datetime.now(timezone.utc).replace(microsecond=0)
DAY = timedelta(days=1)


def edges() -> list[dict[str, Any]]:
    # Not by elementId: that is a text, and ":10" stands before ":9".
    rows, _ = db.cypher_query("MATCH (a:Curated)-[r]->(:Curated) RETURN properties(r) ORDER BY a.key, r.created_at")
    return [row[0] for row in rows]


def pair() -> tuple[Fact, Fact]:
    return Fact(uid="a", content="tea is hot").save(), Fact(uid="b", content="tea is green").save()


def test_a_new_edge_says_when_it_was_made(jochi: Jochi) -> None:
    one, other = pair()
    made = one.same_entity.connect(other)
    assert isinstance(made, Edge)
    assert abs(made.created_at - datetime.now(timezone.utc)) < timedelta(minutes=5)
    (stored,) = edges()
    assert set(stored) == {"created_at"}
    given = datetime(2026, 1, 1, tzinfo=timezone.utc)
    other.same_entity.connect(one, {"created_at": given, "confidence": 0.7})
    assert edges()[1] == {"created_at": given, "confidence": 0.7}


def test_connecting_again_takes_nothing_away(jochi: Jochi) -> None:
    one, other = pair()
    one.same_entity.connect(other, {"weight": 0.5})
    jochi.reinforce([Named("default/a", "SAME_ENTITY", "default/b")])
    (before,) = edges()
    assert before["last_reinforced_at"] is not None
    again = one.same_entity.connect(other)
    assert again.weight == 0.5
    assert again.last_reinforced_at is not None
    one.same_entity.connect(other, {"weight": 0.5})
    assert edges() == [before]
    one.same_entity.connect(other, {"weight": 0.6})
    assert sorted(edge["weight"] for edge in edges()) == [0.5, 0.6], "with other properties it is another one"


def test_a_stale_save_writes_what_was_changed_only(jochi: Jochi) -> None:
    ann, tea = Person(uid="ann", content="Ann").save(), Concept(uid="tea", content="tea").save()
    stale = ann.related_to.connect(tea, {"attitude": "curious", "salience": 0.5})
    assert isinstance(stale, Semantic)
    used = Named("default/ann", "RELATED_TO", "default/tea")
    assert jochi.reinforce([used] * 3, now=NOW).reinforced == 3
    stale.attitude = "fond"
    stale.save()
    (found,) = edges()
    assert (found["attitude"], found["state"], found["access_count"]) == ("fond", "active", 3)
    assert found["salience"] > 0.5
    stale.attitude = None
    stale.save()
    assert "attitude" not in edges()[0]
    fresh = ann.related_to.relationship(tea)
    assert (fresh.state, fresh.access_count, fresh.last_accessed_at) == ("active", 3, NOW)
    db.cypher_query("MATCH ()-[r:RELATED_TO]->() DELETE r")
    fresh.attitude = "none"
    with pytest.raises(Gone):
        fresh.save()


def test_what_was_saved_is_looked_at_anew(jochi: Jochi) -> None:
    one, other = pair()
    held = one.same_entity.connect(other)
    jochi.apply()
    jochi.run("schedule_edges", drain=True)
    assert edges()[0]["next_due"] is not None
    held.confidence = 0.05
    held.save()
    assert "next_due" not in edges()[0]


def test_incoming_ones_lead_the_right_way(jochi: Jochi) -> None:
    ann, tea = Person(uid="ann", content="Ann").save(), Concept(uid="tea", content="tea").save()
    tea.related_from.connect(ann, {"attitude": "fond"})
    rows, _ = db.cypher_query("MATCH (a)-[r:RELATED_TO]->(b) RETURN a.id, b.id, r.attitude")
    assert rows == [["ann", "tea", "fond"]]
    assert ann.related_to.is_connected(tea)


def test_the_asynchronous_ones_do_the_same(jochi: Jochi, run: Run) -> None:
    async def work() -> None:
        ann = await aio.Person(uid="ann", content="Ann").save()
        tea = await aio.Concept(uid="tea", content="tea").save()
        stale = await ann.related_to.connect(tea, {"attitude": "curious"})
        jochi.reinforce([Named("default/ann", "RELATED_TO", "default/tea")], now=NOW)
        again = await ann.related_to.connect(tea)
        assert (again.state, again.attitude) == ("active", "curious")
        stale.attitude = "fond"
        await stale.save()

    run(work)
    rows = jochi.database.run("MATCH ()-[r:RELATED_TO]->() RETURN r.attitude AS attitude, r.state AS state")
    assert rows == [{"attitude": "fond", "state": "active"}]


def test_properties_where_none_are_declared_are_refused(jochi: Jochi) -> None:
    one, other = Belief(uid="a", content="tea is hot").save(), Belief(uid="b", content="tea is green").save()
    with pytest.raises(UsageError, match="EVIDENCE of Belief carries no properties"):
        one.evidence.connect(other, {"weight": 0.5})
    assert edges() == []
