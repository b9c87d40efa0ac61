"""What the states of facts add to their scores in recall, and which are left out (seed 003, Retrieval Integration;
docs/reference/facts.md)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import PolicyWith
from tests.curation_looks import NOW, write
from tests.edge_graph import add_edges
from tests.oracle import Memory
from tests.oracle.edges import Edge
from tests.oracle.fact_recall import delta, is_found

from jochi import Jochi
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

STATES: tuple[dict[str, Any], ...] = (
    {},
    *({"state": state} for state in ("active", "validated", "candidate", "stale", "archived", "core", "superseded")),
    {"state": 7},
    {"state": "active", "status": "archived"},
    {"state": "active", "status": "superseded"},
    {"verification_state": "disputed"},
    {"verification_state": "disputed", "state": "active"},
    {"verification_state": 7, "state": "active"},
)
FACTS = [
    Memory(
        f"f{i:02d}", ("Fact",), {"content": "the key rotates on Mondays", "created_at": NOW - timedelta(days=1)} | given
    )
    for i, given in enumerate(STATES)
]
GREATEST = 1.0  # of a request by words alone


@pytest.fixture
def told(jochi: Jochi) -> Jochi:
    """All facts say the same: by words alone each has the whole score."""
    write(jochi, FACTS)
    jochi.database.autocommit("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    return jochi


def found(client: Jochi, **asked: Any) -> dict[str, Any]:
    hits = client.recall("key rotates", scope="default", k=50, **asked).hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return {hit.key: hit for hit in hits}


def test_what_each_state_adds_and_what_is_left_out(told: Jochi) -> None:
    for archived, superseded in itertools.product((False, True), repeat=2):
        hits = found(told, include_archived=archived, include_superseded=superseded)
        wanted = [f for f in FACTS if is_found(f, include_archived=archived, include_superseded=superseded)]
        assert hits.keys() == {fact.key for fact in wanted}
        for fact in wanted:
            hit = hits[fact.key]
            assert hit.score == pytest.approx(GREATEST + GREATEST * delta(fact), abs=1e-12), fact


def test_other_kinds_have_their_ranks_only(jochi: Jochi) -> None:
    some = {
        "content": "the key rotates on Mondays",
        "created_at": NOW,
        "state": "active",
        "verification_state": "disputed",
    }
    write(jochi, [Memory("b", ("Belief",), some)])
    assert found(jochi)["default/b"].score == pytest.approx(GREATEST)


@pytest.fixture
def strict(install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith) -> Jochi:
    """Another policy: what is stale is left out."""
    return install_once(policy_with("[facts]\nfilter_stale = true"))


def test_a_policy_can_leave_out_what_is_stale(strict: Jochi) -> None:
    client = strict
    write(client, FACTS)
    client.database.autocommit("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    for archived in (False, True):
        hits = found(client, include_archived=archived)
        assert hits.keys() == {f.key for f in FACTS if is_found(f, filter_stale=True, include_archived=archived)}


@pytest.mark.parametrize("filter_stale", [False, True])
def test_edges_lead_to_and_through_what_recall_may_return(request: pytest.FixtureRequest, filter_stale: bool) -> None:
    """From one hit to facts of every state, and from each of them to one that only it leads to."""
    client: Jochi = request.getfixturevalue("strict" if filter_stale else "jochi")
    given = {"content": "nothing of note", "created_at": NOW}
    behind = [Memory(f"behind {fact.id}", ("Fact",), given) for fact in FACTS]
    hit = Memory("hit", ("Fact",), given | {"content": "the blue door"})
    write(client, [hit, *FACTS, *behind])
    add_edges(client, [Edge(hit.key, fact.key, id=fact.id) for fact in FACTS])
    add_edges(client, [Edge(fact.key, far.key, id=far.id) for fact, far in zip(FACTS, behind, strict=True)])
    client.database.autocommit("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    for archived in (False, True):
        recalled = client.recall("blue door", scope="default", k=50, hops=2, include_archived=archived)
        assert recalled.keys == [hit.key]
        there = [fact for fact in FACTS if is_found(fact, filter_stale=filter_stale, include_archived=archived)]
        wanted = {fact.key for fact in there} | {f"default/behind {fact.id}" for fact in there}
        assert {one.key for one in recalled.reached} == wanted
