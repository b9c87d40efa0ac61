"""Edges in the database against the oracle: any confidences, moments, cadences, observations also late; recall along them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.conftest import say_go
from tests.edge_graph import add_edges, add_memories, look_along, next_dues, stored, wipe
from tests.oracle.edges import Edge, decayed, due, reinforced
from tests.tally import examples

from jochi import Jochi
from jochi.use.edges import Edge as Observed

pytestmark = pytest.mark.server

START = datetime(2026, 3, 1, 22, tzinfo=timezone.utc)
DAY = timedelta(days=1)
KEYS = ("s/a", "s/b", "s/c", "s/with/slashes")
JOBS = ("schedule_edges", "decay_edges")
TYPES = ("SAME_ENTITY", "NEAR_IN_TIME", "CAUSED")
CHECKS = settings(
    max_examples=examples(4, 15),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)

confidences = st.one_of(
    st.none(),
    st.integers(0, 100).map(lambda n: n / 100),
    st.integers(0, 10**6).map(lambda n: n / 10**6),
    st.sampled_from([0, 1, 1.7, -1, "x", True, math.nan, math.inf, 0.1 + 1e-12, 0.30000000000000004]),
)
moments = st.one_of(
    st.none(),
    st.integers(0, 1000).map(lambda days: START - days * DAY),
    st.integers(-(10**12), 10**14).map(lambda us: START - timedelta(microseconds=us)),
    st.sampled_from([START - 180 * DAY, START - 180 * DAY + timedelta(microseconds=1), START + 400 * DAY]),
    st.sampled_from(["then", datetime(2026, 1, 1), datetime(2025, 1, 1, tzinfo=timezone(timedelta(hours=9)))]),  # noqa: DTZ001
)


@dataclass(frozen=True)
class Tick:
    """Both jobs run, so many memories a batch."""

    limit: int


@dataclass(frozen=True)
class Seen:
    """Edge number ``edge`` is observed, so long ago; ``by_id``: none of its parallels; ``turned``: named the other way round."""

    edge: int
    ago: timedelta
    by_id: bool
    turned: bool


def types_of(edges: Iterable[Edge]) -> dict[str, str]:
    """CAUSED is one way; the others take turns."""
    return {edge.id: "CAUSED" if edge.one_way else TYPES[int(edge.id[1:]) % 2] for edge in edges}


@st.composite
def graphs(draw: st.DrawFn) -> list[Edge]:
    made = st.builds(
        Edge, st.sampled_from(KEYS), st.sampled_from(KEYS), confidences, st.none(), moments, moments, st.booleans()
    )
    return [replace(edge, id=f"e{i}") for i, edge in enumerate(draw(st.lists(made, min_size=1, max_size=12)))]


steps = st.lists(
    st.tuples(
        st.sampled_from([DAY, 29 * DAY, 90 * DAY, 91 * DAY, 400 * DAY]),
        st.one_of(
            st.builds(Tick, st.integers(1, 3)),
            st.builds(
                Seen,
                st.integers(0, 11),
                st.sampled_from([timedelta(0), timedelta(0), timedelta(hours=3), 200 * DAY]),
                st.booleans(),
                st.booleans(),
            ),
        ),
    ),
    max_size=6,
)


def meant(edges: dict[str, Edge], named: Observed) -> list[str]:
    """Which edges an observation speaks of: those that way round, else, if they lead both ways, those the other way round."""
    types = types_of(edges.values())
    alike = [e for e in edges.values() if types[e.id] == named.type and named.id in (None, e.id)]
    straight = [e.id for e in alike if (e.start, e.end) == (named.start, named.end)]
    return straight or [e.id for e in alike if not e.one_way and (e.end, e.start) == (named.start, named.end)]


def as_instants(edge: Edge) -> Edge:
    """Comparable: NaN equals itself, moments are in UTC."""

    def plain(value: Any) -> Any:
        if isinstance(value, float) and math.isnan(value):
            return "NaN"
        return value.astimezone(timezone.utc) if isinstance(value, datetime) and value.tzinfo else value

    return replace(edge, **{n: plain(getattr(edge, n)) for n in ("confidence", "last_reinforced_at", "created_at")})


@pytest.fixture
def client(jochi: Jochi) -> Iterator[Jochi]:
    """Somebody said go; the jobs' batches are as the policy says again afterwards."""
    say_go(jochi)
    yield jochi
    for job in JOBS:
        set_batch_size(jochi, job, jochi.policy.policy.jobs[job].batch_size)


def set_batch_size(client: Jochi, job: str, n: int) -> None:
    client.database.run("MATCH (j:JochiJob {name: $job}) SET j.batch_size = $n", {"job": job, "n": n})


def tick(client: Jochi, now: datetime, limit: int = 100) -> None:
    """Both jobs, drained."""
    for job in JOBS:
        set_batch_size(client, job, limit)
        runs = client.run(job, drain=True, now=now)
        assert [run.error for run in runs if run.error] == []


@given(graphs(), steps)
@CHECKS
def test_confidences_are_the_oracles(
    client: Jochi, drawn: list[Edge], history: list[tuple[timedelta, Tick | Seen]]
) -> None:
    wipe(client)
    add_memories(client, KEYS)
    types = types_of(drawn)
    add_edges(client, drawn, types)
    expected, now = {edge.id: edge for edge in drawn}, START
    for after, step in [*history, (2 * DAY, Tick(2))]:
        now += after
        if isinstance(step, Tick):
            tick(client, now, step.limit)
            expected = {id: decayed(edge, now) for id, edge in expected.items()}
        else:
            seen = expected[drawn[step.edge % len(drawn)].id]
            at = now - step.ago
            start, end = (seen.end, seen.start) if step.turned else (seen.start, seen.end)
            named = Observed(start, types[seen.id], end, seen.id if step.by_id else None)
            ids = meant(expected, named)
            assert (client.reinforce([named], now=at).unknown == 0) is bool(ids)
            for id in ids:
                expected[id] = reinforced(expected[id], at)
        found = stored(client, drawn)
        assert {id: as_instants(edge) for id, edge in found.items()} == {
            id: as_instants(edge) for id, edge in expected.items()
        }
        if isinstance(step, Tick):
            assert next_dues(client) == {id: due(edge) for id, edge in expected.items()}


@given(graphs(), st.lists(st.integers(1, 900), max_size=5, unique=True))
@CHECKS
@pytest.mark.exhaustive
def test_any_cadence_takes_the_same_and_twice_is_once(client: Jochi, drawn: list[Edge], days: list[int]) -> None:
    found = []
    for looks in (sorted(days), []):
        wipe(client)
        add_memories(client, KEYS)
        add_edges(client, drawn, types_of(drawn))
        for day in [*looks, 901, 901]:
            tick(client, START + day * DAY)
        found.append({id: as_instants(edge) for id, edge in stored(client, drawn).items()})
        assert sum(run.changed for run in client.run("decay_edges", drain=True, now=START + 901 * DAY)) == 0
    assert found[0] == found[1]


# -- recall along edges ---------------------------------------------------------------------------------------------

NODES = tuple(f"s/{name}" for name in "abcdefg")


@st.composite
def networks(draw: st.DrawFn) -> list[Edge]:
    made = st.builds(
        Edge,
        st.sampled_from(NODES),
        st.sampled_from(NODES),
        st.one_of(st.none(), st.sampled_from([0.1, 0.199, 0.2, 0.5, 0.5, 0.87, 1, 7, "x"])),
        st.one_of(st.none(), st.none(), st.sampled_from([0, -1, 0.5, 2, "heavy", math.nan])),
        st.none(),
        st.none(),
        st.booleans(),
    )
    return [replace(edge, id=f"e{i:02}") for i, edge in enumerate(draw(st.lists(made, max_size=20)))]


@given(
    networks(),
    st.dictionaries(st.sampled_from(NODES), st.sampled_from([1 / 61, 1 / 62, 2 / 61, 0.0]), min_size=1, max_size=3),
    st.integers(1, 3),
)
@CHECKS
def test_what_recall_reaches_is_the_oracles(
    client: Jochi, edges: list[Edge], seeds: dict[str, float], hops: int
) -> None:
    wipe(client)
    add_memories(client, NODES)
    add_edges(client, edges)
    look_along(client, "s", edges, seeds, hops, START)
