"""Relationships with a salience against the oracle: any properties, cadences and uses, also late ones."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests import living_edges
from tests.conftest import say_go
from tests.edge_graph import wipe
from tests.oracle import edge_salience as oracle
from tests.oracle.edge_salience import LivingEdge
from tests.tally import examples, expect_all_seen

from jochi import Jochi
from jochi.use.edges import Edge

pytestmark = pytest.mark.server

START = datetime(2026, 3, 1, 22, tzinfo=timezone.utc)
DAY = timedelta(days=1)
CHECKS = settings(
    max_examples=examples(8, 15),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
EXACT = (
    "state",
    "salience_at",
    "archived_at",
    "access_count",
    "recall_frequency",
    "last_accessed_at",
    "prev_accessed_at",
    "ttl_policy",
)
NEARLY = ("salience", "last_recall_interval", "decay_gradient", "confidence")


def absent_or(*values: Any) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), st.sampled_from(values), st.sampled_from(values))


past = st.sampled_from([START - days * DAY for days in (0, 1, 89, 90, 91, 196, 400)])
anything = st.fixed_dictionaries(
    {
        "created_at": st.one_of(past, past, past, st.sampled_from(["then", None])),
        "salience": absent_or(0.0, 0.009, 0.01, 0.02, 0.3, 1.0, 1, "x", math.nan, 1.5),
        "salience_at": absent_or(START - 30 * DAY, START + DAY, "then"),
        "state": absent_or("candidate", "active", "core", "archived", "odd", 7),
        "confidence": absent_or(0.4, 0.79, 0.8, 0.9, "sure"),
        "ttl_policy": absent_or("decay", "decay", "ephemeral", "ephemeral", "keep_forever", 5),
        "recall_frequency": absent_or(0, 1, 9, 12, -1),
        "access_count": absent_or(0, 8, 9, 10),
        "decay_gradient": absent_or(0.5, 1.0, 2.0, -3, "x"),
        "last_accessed_at": absent_or(START - 10 * DAY),
        "last_recall_interval": absent_or(0.0, 5.0),
    }
)
ASLEEP = {"state": "archived", "salience": 0.005, "created_at": START - 400 * DAY}
TALES = (
    {},
    {},
    ASLEEP | {"ttl_policy": None},
    ASLEEP | {"ttl_policy": "ephemeral"},
    {"access_count": 9, "state": "active"},
)
edges = st.builds(
    lambda drawn, tale: {name: value for name, value in (drawn | tale).items() if value is not None},
    anything,
    st.sampled_from(TALES),
)


@dataclass(frozen=True)
class Look:
    """Both jobs run."""


@dataclass(frozen=True)
class Use:
    """Edge number ``edge`` was used, so long ago."""

    edge: int
    ago: timedelta


histories = st.lists(
    st.tuples(
        st.sampled_from([timedelta(hours=2), DAY, 29 * DAY, 90 * DAY, 200 * DAY]),
        st.one_of(
            st.builds(Look),
            st.builds(Use, st.integers(0, 5), st.sampled_from([timedelta(0), timedelta(0), 3 * DAY])),
        ),
    ),
    min_size=2,
    max_size=6,
)


def test_uses_and_looks_leave_what_the_oracle_leaves(jochi: Jochi) -> None:
    say_go(jochi)
    happened: Counter[str] = Counter()

    @given(st.lists(edges, min_size=6, max_size=6), histories)
    @CHECKS
    def lived(drawn: list[dict[str, Any]], history: list[tuple[timedelta, Look | Use]]) -> None:
        live(jochi, drawn, history, happened)

    lived()
    wanted = {"faded", "expired", "revived", "archived for good", "became core", "became active", "late", "kept"}
    expect_all_seen(wanted - {*+happened})


def live(
    jochi: Jochi,
    drawn: list[dict[str, Any]],
    history: list[tuple[timedelta, Look | Use]],
    happened: Counter[str],
) -> None:
    """Writes the edges, lets them live, and compares them with the oracle's after each step."""
    wipe(jochi)
    jochi.database.run("MATCH (s:JochiScope) DELETE s")
    expected = {
        f"e{i}": LivingEdge(f"e{i}", f"{'st'[i % 2]}/a", f"s/b{i}", {"id": f"e{i}", **p}) for i, p in enumerate(drawn)
    }
    living_edges.add(jochi, expected.values())
    first: dict[str, datetime] = {}
    now = START
    for after, step in [*history, (200 * DAY, Look()), (2 * DAY, Look())]:
        # The walk that puts edges into the queue comes once a day (edges.look_every).
        now += max(after, DAY) if isinstance(step, Look) else after
        if isinstance(step, Use):
            at, used = now - step.ago, expected[f"e{step.edge}"]
            assert jochi.reinforce([Edge(used.start, "RELATED_TO", used.end)], now=at).reinforced == 1
            expected[used.id] = oracle.used(used, at, first.get(used.scope))
            happened[change(used, expected[used.id])] += 1
            happened["late"] += step.ago > timedelta(0)
            first[used.scope] = min(first.get(used.scope, at), at)
        else:
            for job in ("schedule_edges", "decay_edges"):
                assert [run.error for run in jochi.run(job, drain=True, now=now) if run.error] == []
            for id, e in expected.items():
                expected[id] = oracle.looked_at(e, now, first.get(e.scope))
                happened["kept"] += e.properties.get("ttl_policy") == "keep_forever"
                if expected[id] is not e:
                    happened["expired" if e.properties.get("ttl_policy") == "ephemeral" else "faded"] += 1
        found = living_edges.stored(jochi)
        for id, e in expected.items():
            assert {n: found[id].get(n) for n in EXACT} == {n: e.properties.get(n) for n in EXACT}, (id, step)
            for name in NEARLY:
                nearly(found[id].get(name), e.properties.get(name), f"{id}.{name}")
            if isinstance(step, Look):
                assert found[id].get("next_due") == oracle.due(e, first.get(e.scope)), id
        links = [Edge(e.start, "RELATED_TO", e.end) for e in expected.values()]
        for standing, e in zip(jochi.edge_salience(links, at=now), expected.values(), strict=True):
            assert standing is not None
            nearly(standing.at(now), oracle.salience_now(e, now, first.get(e.scope)), e.id)


def change(before: LivingEdge, after: LivingEdge) -> str:
    """What a use did to the state, in a word."""
    was, now = before.properties.get("state", "candidate"), after.properties.get("state")
    if was == "archived":
        return "revived" if now == "active" else "archived for good"
    return f"became {now}" if now != was else f"stayed {now}"


def nearly(found: Any, expected: Any, what: str) -> None:
    """Equal; numbers to 1e-12 of their size, NaN to itself."""
    if isinstance(expected, float) and not isinstance(found, str):
        assert found == pytest.approx(expected, rel=1e-12, nan_ok=True), what
    else:
        assert found == expected, what
