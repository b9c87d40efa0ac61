"""Uses and looks at memories with salience against the oracle: random properties, moments and cadences (seed 002; DESIGN §12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.conftest import say_go
from tests.oracle import Memory, graph
from tests.oracle.salience import salience_now
from tests.oracle.states import looked_at, used
from tests.tally import examples

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
COMPARED = (
    "state",
    "salience",
    "salience_at",
    "recall_frequency",
    "decay_gradient",
    "last_recall_interval",
    "access_count",
    "archived_at",
    "last_accessed_at",
    "prev_accessed_at",
)

_moments = st.integers(0, 40 * 24 * 60).map(lambda minutes: MADE + timedelta(minutes=minutes, microseconds=minutes % 7))
_properties = st.fixed_dictionaries(
    {"created_at": st.just(MADE), "tier": st.sampled_from(["HOT", "ARCHIVE"])},
    optional={
        "state": st.sampled_from(["candidate", "active", "core", "archived", "odd"]),
        "salience": st.one_of(st.floats(0, 1), st.sampled_from([0, 1, 0.0101, 0.02])),
        "salience_at": _moments,
        "confidence": st.sampled_from([0.0, 0.4, 0.79, 0.8, 1, 1.0]),
        "access_count": st.integers(0, 12),
        "recall_frequency": st.integers(0, 12),
        "decay_gradient": st.sampled_from([0.5, 0.53, 1.0, 1, 2.45]),
        "last_recall_interval": st.floats(0, 30),
        "last_accessed_at": _moments,
        "ttl_policy": st.sampled_from(["decay", "ephemeral", "keep_forever"]),
        "is_owner": st.booleans(),
        "pinned": st.booleans(),
    },
)
_wrong = st.tuples(
    st.sampled_from(sorted({*COMPARED[:6], "confidence"})),
    st.sampled_from(["much", True, -1, 5.5, [1.0]]),
)


@st.composite
def memories(draw: st.DrawFn, number: int) -> Memory:
    """One in a scope of its own, so that its uses alone say when that scope first reported one."""
    label = draw(st.sampled_from(["Person", "Concept", "Source", "Artifact", "Storyline"]))
    properties: dict[str, Any] = draw(_properties)
    if draw(st.sampled_from([False] * 5 + [True])):
        name, value = draw(_wrong)
        properties |= {name: value}
    return Memory(f"m{number}", (label,), properties, scope=f"s{number}")


@st.composite
def stories(draw: st.DrawFn) -> list[tuple[int, list[list[int]], bool]]:
    """Steps of (days, by memory the minutes before its end at which it was used, whether the queue is worked then)."""
    gaps = st.sampled_from([1, 3, 14, 35, 60, 90, 200])
    uses = st.lists(st.integers(0, 30 * 24 * 60), max_size=4, unique=True)
    step = st.tuples(gaps, st.lists(uses, min_size=12, max_size=12), st.booleans())
    return draw(st.lists(step, min_size=2, max_size=5))


@given(many=st.tuples(*(memories(i) for i in range(12))), story=stories())
@settings(
    max_examples=examples(4, 15),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
def test_uses_and_looks_leave_what_the_oracle_says(
    jochi: Jochi, many: tuple[Memory, ...], story: list[tuple[int, list[list[int]], bool]]
) -> None:
    say_go(jochi)
    graph.clear(jochi.database)
    graph.write(jochi.database, many, due=MADE)
    held = {memory.key: memory for memory in many}
    first: dict[str, datetime | None] = dict.fromkeys(held)
    now = MADE + 40 * DAY
    for days, uses, look in story:
        now += days * DAY
        for key, some in zip(held, uses, strict=True):
            moments = sorted(now - timedelta(minutes=minutes) for minutes in some)
            # One batch reports them all, so a late one comes with the others.
            for moment in moments:
                assert jochi.touch([key], now=moment).touched == 1
            if moments:
                first[key] = min(first[key] or moments[0], moments[0])
            for moment in moments:
                held[key] = used(held[key], moment, first[key])
        assert [run.error for run in run_job(jochi.engine, "fold_accesses", now=now, drain=True) if run.error] == []
        agree(jochi, held, f"folded at {now}")
        if look:
            jochi.database.run("MATCH (m:Curated) SET m.next_due = $now", {"now": now})
            assert [run.error for run in run_job(jochi.engine, "curate_due", now=now, drain=True) if run.error] == []
            held = {key: looked_at(memory, now, first[key]) for key, memory in held.items()}
            agree(jochi, held, f"looked at {now}")
    there = {standing.key: standing for standing in jochi.salience(held, at=now)}
    assert sorted(there) == sorted(held)
    # Before every anchor, at once, some time after, and when nearly nothing is left.
    for later in (MADE - DAY, now, now + 17 * DAY + timedelta(microseconds=123_457), now + 7305 * DAY):
        then = {standing.key: standing.at(later) for standing in jochi.salience(held, at=later)}
        told = told_by_the_database(jochi, held, later)
        for key, memory in held.items():
            wanted = salience_now(memory, later, first[key])
            found = (there[key].at(later), then[key], told[key])
            assert all(same(value, wanted) for value in found), f"{later}: {found}, and the oracle {wanted}: {memory}"


def told_by_the_database(client: Jochi, keys: Iterable[str], at: datetime) -> dict[str, float | None]:
    row = client.engine.call("memory/salience", {"now": at, "keys": list(keys)}, write=False)
    return {told["key"]: told["salience"] for told in row["memories"]}


def same(found: Any, wanted: Any) -> bool:
    """Numbers to 1e-12, for two languages compute e^x; anything else exactly."""
    return bool(found == pytest.approx(wanted, rel=1e-12)) if isinstance(wanted, float) else bool(found == wanted)


def agree(client: Jochi, held: dict[str, Memory], when: str) -> None:
    state = graph.state(client.database)
    for key, memory in held.items():
        stored = to_python(state[key].properties)
        for name in COMPARED:
            found, wanted = stored.get(name), memory.get(name)
            assert same(found, wanted), f"{when}: {key} {name} is {found!r}, not {wanted!r}: {memory}"


def test_of_thirty_uses_in_an_hour_ten_reinforce(jochi: Jochi) -> None:
    """The first ten of them: the same cap as on access_count (accesses.per_window)."""
    memory = Memory("m", ("Concept",), {"created_at": MADE, "confidence": 0.9}, scope="s")
    graph.clear(jochi.database)
    graph.write(jochi.database, [memory], due=MADE + 900 * DAY)
    hour = MADE + 10 * DAY
    moments = [hour + timedelta(minutes=2 * i) for i in range(30)]
    for portion in (moments[:4], moments[4:]):
        for moment in portion:
            jochi.touch([memory.key], now=moment)
        run_job(jochi.engine, "fold_accesses", now=hour + timedelta(hours=1), drain=True)
    held = memory
    for moment in moments[:10]:
        held = used(held, moment, hour)
    stored = to_python(graph.state(jochi.database)[memory.key].properties)
    assert (stored["access_count"], stored["recall_frequency"], stored["state"]) == (10, 10, "core")
    assert stored["salience"] == pytest.approx(held.get("salience"), rel=1e-12)
    assert stored["salience_at"] == moments[9]
    assert stored["last_accessed_at"] == moments[29]


def test_a_pruned_memory_is_not_reinforced(jochi: Jochi) -> None:
    memory = Memory("m", ("Concept",), {"created_at": MADE, "salience": 0.2}, scope="s")
    graph.clear(jochi.database)
    graph.write(jochi.database, [replace(memory, properties=memory.properties | {"expires_at": MADE})], due=MADE)
    say_go(jochi)
    run_job(jochi.engine, "curate_due", now=MADE + 2 * DAY, drain=True)
    assert graph.pruned(jochi.database) == {memory.key}
    jochi.touch([memory.key], now=MADE + 3 * DAY)
    run_job(jochi.engine, "fold_accesses", now=MADE + 4 * DAY, drain=True)
    stored = graph.state(jochi.database)[memory.key].properties
    assert (stored["salience"], stored["access_count"], stored.get("state")) == (0.2, 1, None)
