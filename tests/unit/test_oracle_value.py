"""The oracle's value score against values worked out by hand from seed 000, Option B, and peers A1."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import Link, Memory
from tests.oracle.strategies import KINDS, WRONG_TYPES
from tests.oracle.value import TABLE, TARGETS, Term, is_bloated, relationships, score, target

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
LONG_AGO = NOW - 4000 * DAY


def memory(
    kind: str = "MemoryEntry", *links: Link, age: float = 0, linked: tuple[str, ...] = (), **properties: Any
) -> Memory:
    made = {"created_at": NOW - age * DAY} | properties
    return Memory("m", (kind,), {n: v for n, v in made.items() if v is not None}, links=links, linked=linked)


def terms(held: Memory, first: datetime | None = LONG_AGO) -> tuple[float, ...]:
    """Type weight, recency, frequency, quality, centrality, cross-agent, bloat."""
    of = score(held, NOW, first)
    named = (of.type_weight, of.recency, of.frequency, of.quality, of.centrality, of.cross_agent, of.bloat)
    return tuple(round(term.value, 9) for term in named)


def test_all_seven_terms_of_one_memory_by_hand() -> None:
    links = tuple(Link("ABOUT", "out", ("Concept",)) for _ in range(4))
    held = memory(
        "Analysis", *links, age=60, access_count=9, confidence=0.6, severity="high", agents=["a", "b"], token_count=750
    )
    assert terms(held) == (7.0, 1.5, 1.0, 1.5, 0.6, 1.0, 0.75)  # ln 10 is half of ln 100
    assert score(held, NOW, LONG_AGO).mvs == 11.85
    assert score(held, NOW, LONG_AGO).above == 4.85
    assert not score(held, NOW, LONG_AGO).unknown


@pytest.mark.parametrize(
    ("kind", "properties", "weight", "half_life"),
    [
        ("Belief", {"state": "active", "confidence": 0.71}, 10.0, 180),
        ("Belief", {"state": "core", "confidence": 0.95}, 10.0, 180),
        ("Belief", {"state": "validated", "confidence": 0.95}, 10.0, 180),
        ("Belief", {"state": "active", "confidence": 0.7}, 2.5, 45),
        ("Belief", {"state": "archived", "confidence": 0.95}, 2.5, 45),
        ("Reflection", {}, 8.0, 90),
        ("Analysis", {}, 7.0, 60),
        ("Synthesis", {}, 6.5, 120),
        ("Recommendation", {}, 5.0, 30),
        ("CompressedContext", {}, 4.0, 90),
        ("Task", {"status": "completed"}, 2.5, 45),
        ("MemoryEntry", {}, 2.5, 45),
        ("SessionContext", {}, 1.5, 1),
        ("Notification", {}, 0.5, 0.5),
        ("Fact", {}, 2.5, 45),
        ("Person", {}, 2.5, 45),
        ("Invoice", {}, 2.5, 45),
    ],
)
def test_weights_and_half_lives(kind: str, properties: dict[str, Any], weight: float, half_life: float) -> None:
    fresh = properties | {"confidence_at": NOW} if "confidence" in properties else properties
    assert terms(memory(kind, age=half_life, **fresh))[:2] == (weight, 1.5)
    assert terms(memory(kind, age=0, **fresh))[1] == 3.0
    assert terms(memory(kind, age=2 * half_life, **fresh))[1] == 0.75


@pytest.mark.parametrize("status", ["in_progress", "pending", "blocked"])
def test_an_active_task_is_as_recent_as_can_be(status: str) -> None:
    assert terms(memory("Task", age=900, status=status))[:2] == (3.0, 3.0)


def test_a_belief_is_worth_what_is_left_of_its_confidence() -> None:
    """0.8 falls after 7 idle days, and isn't above 0.7 from the 17th on."""
    belief = {"state": "active", "confidence": 0.8}
    assert terms(memory("Belief", age=16.99, **belief))[0] == 10.0
    assert terms(memory("Belief", age=17, **belief))[:4] == (2.5, round(3 * 0.5 ** (17 / 45), 9), 0.0, 1.4)
    assert terms(memory("Belief", age=17, **belief), first=None)[0] == 10.0  # nothing falls where nobody reports


@pytest.mark.parametrize(
    ("properties", "age"),
    [
        ({}, 45),
        ({"last_accessed_at": NOW - 10 * DAY}, 10),  # not from created_at, as the first implementation had it
        ({"last_accessed_at": NOW - 50 * DAY}, 50),
        ({"last_accessed_at": NOW + 5 * DAY}, 0),
        ({"updated_at": NOW}, 45),
    ],
)
def test_recency_counts_from_the_last_access_else_creation(properties: dict[str, Any], age: float) -> None:
    assert terms(memory(age=45, **properties))[1] == pytest.approx(3 * 0.5 ** (age / 45), abs=1e-9)


@pytest.mark.parametrize(
    ("n", "added"), [(None, 0), (0, 0), (9, 1.0), (98, 1.995636), (99, 2.0), (100, 2.0), (10**9, 2.0)]
)
def test_frequency(n: int | None, added: float) -> None:
    assert terms(memory(access_count=n))[2] == pytest.approx(added, abs=1e-6)


@pytest.mark.parametrize(
    ("confidence", "severity", "added"),
    [
        (None, None, 0),
        (0.5, None, 1.0),
        (1, None, 2.0),
        (0.8, "critical", 2.0),
        (0.75, "critical", 2.0),
        (0.74, "critical", 1.98),
        (0.5, "high", 1.3),
        (0.5, "medium", 1.1),
        (0.5, "low", 1.0),
        (0.5, "Critical", 1.0),
        (None, "critical", 0.5),
    ],
)
def test_quality(confidence: float | None, severity: str | None, added: float) -> None:
    assert terms(memory("Analysis", confidence=confidence, severity=severity))[3] == pytest.approx(added)


@pytest.mark.parametrize(("n", "added"), [(0, 0), (1, 0.15), (9, 1.35), (10, 1.5), (11, 1.5)])
def test_centrality(n: int, added: float) -> None:
    """The first implementation never fetched it: it was always 0."""
    assert terms(memory("Fact", *[Link("ABOUT", "in", ("Concept",))] * n))[4] == pytest.approx(added)


@pytest.mark.parametrize(
    ("link", "counts"),
    [
        (Link("ABOUT", "out", ("Concept",)), 1),
        (Link("ABOUT", "in", ("Recipe",)), 1),
        (Link("ABOUT", "out", ("Tombstone",)), 0),
        (Link("ABOUT", "out", ("Concept", "Tombstone")), 0),
        (Link("SIMILAR_TO", "out", ("MemoryEntry",)), 0),
        (Link("SUPERSEDES", "in", ("Fact",)), 0),
        (Link("similar_to", "out", ("MemoryEntry",)), 1),
        (Link("OF", "out", ("JochiSlot",)), 0),
        (Link("OF", "in", ("CurationAudit",)), 0),
        (Link("OF", "in", ("CurationSnapshot",)), 0),
        (Link("OF", "in", ("Curation",)), 1),
    ],
)
def test_what_counts_as_a_relationship(link: Link, counts: int) -> None:
    assert relationships(memory("Fact", link)) == counts
    assert relationships(memory("Fact", link, linked=("jochi",))) == counts + 1


@pytest.mark.parametrize(
    ("agents", "linked", "added"),
    [
        (None, (), 0),
        ([], (), 0),
        (["a"], (), 0.5),
        (["a", "a"], (), 0.5),
        (["a"], ("a",), 0.5),
        (["a"], ("b",), 1.0),
        (["a", "b", "c"], (), 1.5),
        (["a", "b", "c"], ("d",), 2.0),
        (["a", "b", "c", "d", "e"], (), 2.0),
    ],
)
def test_cross_agent(agents: list[str] | None, linked: tuple[str, ...], added: float) -> None:
    """The first implementation never fetched it: it was always 0."""
    assert terms(memory(agents=agents, linked=linked))[5] == added


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("Belief", 100), ("MemoryEntry", 200), ("SessionContext", 400), ("Analysis", 500), ("Invoice", 500)],
)
def test_bloat_is_what_is_above_the_kinds_target(kind: str, wanted: int) -> None:
    for held, added in ((0, 0), (wanted, 0), (1.5 * wanted, 0.75), (2 * wanted, 1.5), (9 * wanted, 1.5)):
        assert terms(memory(kind, token_count=int(held)))[6] == added
    for tier in ("HOT", "WARM", "COLD", "ARCHIVE"):  # the first implementation took the tier's budget
        assert not is_bloated(memory(kind, token_count=wanted, tier=tier))
        assert is_bloated(memory(kind, token_count=wanted + 1, tier=tier))
    assert terms(memory(kind, content="x" * 4 * 2 * wanted))[6] == 1.5  # estimated
    assert terms(memory(kind, content="x" * 4 * 2 * wanted, token_count="many"))[6] == 1.5


def test_the_first_of_several_kinds_decides() -> None:
    both = Memory("m", ("Analysis", "Belief"), {"created_at": NOW, "state": "active", "confidence": 0.8})
    assert score(both, NOW, LONG_AGO).type_weight.value == 10.0
    assert target(both) == 100
    assert target(Memory("m", ("Person", "Analysis"), {})) == 500
    assert target(Memory("m", ("Draft", "Person"), {})) == 200


def test_the_kind_comes_from_labels_and_not_from_a_property() -> None:
    """A bug of the first implementation."""
    assert terms(memory("MemoryEntry", type="Belief", state="active", confidence=0.9))[0] == 2.5


@pytest.mark.parametrize(
    "protection", [{"pinned": True}, {"confidence": 0.95, "state": "active"}, {"agents": list("abcd")}]
)
def test_protection_is_a_flag_and_never_a_factor(protection: dict[str, Any]) -> None:
    """The first implementation multiplied by 100, a negative score, too."""
    poor = memory("Notification", age=30, token_count=900)
    assert score(poor, NOW, LONG_AGO).mvs == -1.0
    held = memory("Belief", age=300, **protection)
    of = score(held, NOW, LONG_AGO)
    assert of.rails
    assert of.mvs < 20.5
    pinned = score(memory("Notification", age=30, token_count=900, pinned=True), NOW, LONG_AGO)
    assert (pinned.mvs, pinned.rails) == (-1.0, frozenset({"pinned"}))


def test_a_scope_that_never_reported_an_access() -> None:
    """Imported counts and times are not read; at best it was used just now, and often."""
    held = memory(age=45, access_count=50, last_accessed_at=NOW)
    of = score(held, NOW, None)
    assert (of.recency, of.frequency) == (Term(1.5, 3.0), Term(0.0, 2.0))
    assert of.unknown == {"recency", "frequency"}
    assert (of.mvs, of.most) == (4.0, 7.5)


def test_a_scope_that_reported_late() -> None:
    of = score(memory(age=135), NOW, NOW - 45 * DAY)
    assert of.recency == Term(0.375, 1.5)
    assert of.frequency.known
    assert score(memory(age=45), NOW, NOW - 45 * DAY).recency.known


@pytest.mark.parametrize(
    ("kind", "name", "term", "value", "most"),
    [
        ("MemoryEntry", "created_at", "recency", 0.0, 3.0),
        ("MemoryEntry", "last_accessed_at", "recency", 0.0, 3.0),
        ("MemoryEntry", "access_count", "frequency", 0.0, 2.0),
        ("MemoryEntry", "confidence", "quality", 0.0, 2.0),
        ("MemoryEntry", "agents", "cross_agent", 0.0, 2.0),
        ("Belief", "confidence", "type_weight", 2.5, 10.0),
        ("Belief", "state", "type_weight", 2.5, 10.0),
        ("Task", "status", "type_weight", 2.5, 3.0),
    ],
)
def test_what_cant_be_read_never_raises_the_score(kind: str, name: str, term: str, value: float, most: float) -> None:
    right = {
        "created_at": NOW,
        "state": "active",
        "confidence": 0.8,
        "status": "pending",
        "access_count": 9,
        "agents": ["a"],
    }
    clean = score(Memory("m", (kind,), right), NOW, LONG_AGO)
    bad = {"access_count": -1, "confidence": 1.1, "agents": [1]}.get(name, 7)
    of = score(Memory("m", (kind,), right | {name: bad}), NOW, LONG_AGO)
    assert getattr(of, term) == Term(value, most)
    assert term in of.unknown
    assert of.mvs <= clean.mvs <= of.most


def test_an_absent_state_of_a_belief_and_a_task_is_unknown_and_all_else_is_zero() -> None:
    assert score(memory("Belief", confidence=0.8), NOW, LONG_AGO).type_weight == Term(2.5, 10.0)
    assert score(memory("Belief", state="active"), NOW, LONG_AGO).quality == Term(0.0, 2.0)
    assert score(memory("Task"), NOW, LONG_AGO).type_weight == Term(2.5, 3.0)
    assert score(memory(), NOW, LONG_AGO).unknown == frozenset()
    assert score(memory(severity=7), NOW, LONG_AGO).quality == Term(0.0, 0.5)


@pytest.mark.parametrize("name", ["created_at", "last_accessed_at"])
def test_a_naive_moment_is_unknown(name: str) -> None:
    """The first implementation reckoned with naive datetimes."""
    naive = NOW.replace(tzinfo=None)
    assert score(memory(**{name: naive}), NOW, LONG_AGO).recency == Term(0.0, 3.0)


def test_what_is_protected_grows_old_as_all_else_does() -> None:
    """The first implementation gave protected kinds 3.0 of recency for ever."""
    sure = {"state": "active", "confidence": 0.95, "pinned": True}
    assert terms(memory("Belief", age=180, **sure))[1] == 1.5
    assert terms(memory("Reflection", age=90, consolidated=True, access_count=6))[1] == 1.5


@settings(max_examples=200, deadline=None)
@given(
    labels=st.sampled_from(KINDS),
    name=st.sampled_from(
        ["created_at", "last_accessed_at", "access_count", "confidence", "severity", "agents", "state"]
    ),
    wrong=st.sampled_from(sorted(WRONG_TYPES)),
    first=st.sampled_from([None, LONG_AGO, NOW - 20 * DAY]),
)
def test_any_wrong_type_gives_a_score_in_its_range(
    labels: tuple[str, ...], name: str, wrong: str, first: datetime | None
) -> None:
    right = {"created_at": NOW - 40 * DAY, "state": "active", "confidence": 0.8, "status": "failed", "token_count": 300}
    of = score(Memory("m", labels, right | {name: WRONG_TYPES[wrong]}), NOW, first)
    assert of.type_weight.value - 1.5 <= of.mvs <= of.most <= of.type_weight.most + 10.5
    assert math.isfinite(of.most)


def test_every_row_of_the_table_is_the_seeds() -> None:
    days = {kind: (row.weight, row.half_life and row.half_life / DAY) for kind, row in TABLE.items()}
    assert days == {
        "Belief": (10.0, 180),
        "Reflection": (8.0, 90),
        "Analysis": (7.0, 60),
        "Synthesis": (6.5, 120),
        "Recommendation": (5.0, 30),
        "CompressedContext": (4.0, 90),
        "Task": (3.0, None),
        "MemoryEntry": (2.5, 45),
        "SessionContext": (1.5, 1),
        "Notification": (0.5, 0.5),
    }
    assert set(TARGETS.values()) == {100, 200, 400}
