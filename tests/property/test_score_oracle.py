"""The Memory Value Score against the oracle: random memories, every term, both of what it is and could be, and what it asks for (seed
000, Option B; DESIGN §12)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.conftest import TEST_POLICY
from tests.oracle import Link, Memory, graph, value, value_bands
from tests.oracle.strategies import WRONG_TYPES, firsts, memories, moments, nows

from jochi import Jochi
from jochi.policy import LoadedPolicy, load_policy
from jochi.scoring import TERMS, Scored

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning"),  # a batch of forty is told at length
]

GENTLE: dict[str, Any] = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}
PLAIN = (
    ("Notification",),
    ("SessionContext",),
    *(("Task",),) * 2,
    *(("Belief",),) * 4,
    ("Reflection",),
    ("Analysis",),
    ("Synthesis",),
    ("Recommendation",),
    ("MemoryEntry",),
    ("CompressedContext",),
    ("Fact",),
    ("Person",),
    ("Invoice",),
)


def scored_properties(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """What terms read, on both sides of where each is cut off; now and then of a wrong type, or taken away (None)."""
    far = st.sampled_from([now - timedelta(days=days) for days in (1, 2, 60, 90, 200, 700, 4000)])
    right: dict[str, st.SearchStrategy[Any]] = {
        "created_at": st.one_of(moments(now), far),
        "last_accessed_at": st.one_of(moments(now), far),
        "access_count": st.sampled_from([0, 1, 9, 98, 99, 100, 5.5, -1]),
        "confidence": st.sampled_from([0, 0.2, 0.21, 0.5, 0.7, 0.7000001, 0.75, 0.8, 0.89, 0.9, 1, 1.1, -0.1]),
        "confidence_at": st.one_of(moments(now), far),
        "severity": st.sampled_from(["low", "medium", "high", "critical", "High", ""]),
        "status": st.sampled_from(["pending", "in_progress", "blocked", "completed"]),
        "state": st.sampled_from(["active", "core", "validated", "archived", "candidate"]),
        "agents": st.sampled_from([[], ["a"], ["a", "a", "b"], ["x", "y", "z"], ["a", "b", "c", "d", "e"]]),
        "token_count": st.sampled_from([0, 100, 101, 150, 199, 200, 300, 400, 500, 650, 1000, 5000, -1]),
        "content": st.sampled_from(["", " ", "short", "x" * 399, "x" * 401, "x" * 9000]),
        "keywords": st.sampled_from([[], ["k"], "", "k"]),
        "embedding": st.just([0.1, 0.2]),
        "embedding_unknown": st.just(0.5),
        "pinned": st.booleans(),
    }
    wrong = st.sampled_from(sorted(WRONG_TYPES)).map(WRONG_TYPES.__getitem__)
    some = st.fixed_dictionaries({}, optional=right)
    odd = st.sampled_from(sorted(right)).flatmap(lambda name: st.tuples(st.just(name), st.one_of(wrong, st.none())))
    return st.builds(lambda of, more: of | dict(more), some, st.lists(odd, max_size=1))


links = st.lists(
    st.builds(
        Link,
        st.sampled_from(["ABOUT", "ABOUT", "NEXT", "SIMILAR_TO", "SUPERSEDES"]),
        st.sampled_from(["in", "out"]),
        st.sampled_from(
            [("Concept",), ("Concept",), ("Tombstone",), ("Concept", "Tombstone"), ("JochiThing",), ("CurationAudit",)]
        ),
    ),
    max_size=14,
)


@st.composite
def scored(draw: st.DrawFn, now: datetime, number: int) -> Memory:
    """One of any kind of the other strategies, or of a kind of the score's table, with more of what terms read."""
    held: Memory = draw(memories(now, number))
    if draw(st.integers(0, 3)):
        labels = draw(st.sampled_from(PLAIN))
        kept = {name: v for name, v in held.properties.items() if name not in ("opened", "done", "sticky")}
        held = replace(held, labels=labels, properties={"created_at": now - timedelta(days=40)} | kept)
    properties = held.properties | draw(scored_properties(now))
    if "Ticket" in held.labels and isinstance(properties.get("content"), str):
        properties["body"] = properties["content"]
    properties = {name: v for name, v in properties.items() if v is not None}
    return replace(held, properties=properties, links=(*held.links, *draw(links)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[datetime, list[Memory], dict[str, datetime | None]]:
    now = draw(nows)
    n = draw(st.integers(30, 45))
    return now, [draw(scored(now, i)) for i in range(n)], draw(firsts(now))


@pytest.fixture(scope="module")
def relative() -> LoadedPolicy:
    """The tests' policy with the other bands."""
    tests = load_policy(TEST_POLICY)
    parts = tests.policy.model_copy(update={"value": tests.policy.value.model_copy(update={"profile": "relative"})})
    return replace(tests, policy=parts, sha256="0" * 60 + "b0b0")


@given(case=cases())
@settings(max_examples=25, **GENTLE)
def test_scores_are_the_oracles(jochi: Jochi, case: Any) -> None:
    scored_alike(jochi, case, "seed")


@given(case=cases())
@settings(max_examples=25, **GENTLE)
def test_scores_are_the_oracles_in_the_other_bands(install_once: Any, relative: LoadedPolicy, case: Any) -> None:
    scored_alike(install_once(relative), case, "relative")


def scored_alike(jochi: Jochi, case: tuple[datetime, list[Memory], dict[str, datetime | None]], profile: str) -> None:
    now, held, first = case
    graph.clear(jochi.database)
    graph.write(jochi.database, held, due=now)
    graph.write_scopes(jochi.database, first)
    said = {one.key: one for one in jochi.score([memory.key for memory in held], at=now)}
    assert len(said) == len(held)
    for memory in held:
        if told := differences(said[memory.key], memory, now, first[memory.scope], profile):
            pytest.fail(f"{memory} at {now}, first access {first[memory.scope]}, {profile}: {told}")


def differences(said: Scored, memory: Memory, now: datetime, first: datetime | None, profile: str) -> dict[str, Any]:
    """By what is told: (by the database, by the oracle), where these differ."""
    wanted = value.score(memory, now, first)
    crossing = value_bands.next_crossing(memory, now, first, profile)
    act = value_bands.action(memory, wanted, profile)
    pairs: dict[str, tuple[Any, Any]] = {
        "band": (said.band, value_bands.band(value_bands.measured(wanted, profile))),
        "acting": (said.acting, value_bands.acting_band(wanted, profile)),
        "action": (said.action, act.name),
        "missing": (frozenset(said.missing), value_bands.missing(memory)),
        "falls": (("time" if said.falls_at else "never") if said.falls_known else "unknown", crossing.when),
        "falls_at": (said.falls_at and said.falls_at.astimezone(timezone.utc), crossing.at),
        "rails": (said.rails, wanted.rails),
        "kind": (said.kind, value.kind_of(memory)),
        "target": (said.target, value.target(memory)),
    }
    for name in ("mvs", "most", "above", "above_most"):
        pairs[name] = (said.__getattribute__(name), pytest.approx(getattr(wanted, name), abs=3e-12))
    for name in TERMS:
        term = getattr(wanted, name)
        told = said.terms[name]
        pairs[name] = ((told.value, told.most), pytest.approx((term.value, term.most), abs=1e-12))
    return {name: (a, b) for name, (a, b) in pairs.items() if a != b}
