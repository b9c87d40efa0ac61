"""Slots against the oracle: any order of arrival, equal and late moments, prunes and restores in between, time that goes on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import say_go, wipe_memories
from tests.oracle.memory import Memory
from tests.slot_looks import MADE, NOW, fact, look, prune, remember, restore, settle
from tests.tally import examples

from jochi import Jochi

pytestmark = pytest.mark.server

said = st.tuples(
    st.sampled_from(["A", "b", "B ", 1, 1.0, True, ["x"]]),
    st.one_of(st.none(), st.integers(0, 4), st.sampled_from([99, 101, 102, 104])),
    st.sampled_from(["city", "city", "hobby"]),
    st.sampled_from(["one", "one", "two"]),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), st.lists(said, min_size=1, max_size=5)),
        st.tuples(st.just("prune"), st.sets(st.integers(0, 30), min_size=1, max_size=3)),
        st.tuples(st.just("restore"), st.sets(st.integers(0, 30), min_size=1, max_size=3)),
        st.tuples(st.just("settle"), st.just(None)),
        st.tuples(st.just("wait"), st.just(None)),
        st.tuples(st.just("again"), st.sets(st.integers(0, 30), min_size=1, max_size=4)),
    ),
    min_size=3,
    max_size=8,
)


@settings(max_examples=examples(4, 15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(said, min_size=3, max_size=8), steps, st.randoms(use_true_random=False))
def test_whatever_happens_the_oracle_agrees(
    jochi: Jochi, first: list[Any], steps: list[tuple[str, Any]], random: Any
) -> None:
    wipe_memories(jochi.database)
    say_go(jochi)
    live: dict[str, Memory] = {}
    gone: dict[str, Memory] = {}
    now = NOW
    ids = [f"{i:03}" for i in range(100)]
    random.shuffle(ids)
    for step, what in [("remember", first), *steps]:
        if step == "remember":
            facts = [fact(ids.pop(), value, day, scope, attribute=name) for value, day, name, scope in what]
            remember(jochi, facts, now)
            live |= {held.key: held for held in facts}
        elif step == "wait":
            now += timedelta(days=1)
        elif step == "settle":
            settle(jochi, now)
        else:
            among = sorted(gone if step == "restore" else live)
            keys = sorted({among[i % len(among)] for i in what} if among else set())
            if not keys:
                continue
            if step == "prune":
                prune(jochi, keys, now)
                gone |= {key: live.pop(key) for key in keys}
            elif step == "restore":
                restore(jochi, keys, now)
                live |= {key: gone.pop(key) for key in keys}
            else:
                random.shuffle(keys)
                jochi.supersede(keys, now=now)
        held = jochi.database.run(
            "MATCH (m:Curated) WHERE m.slot_key IS NOT NULL RETURN m.slot_line AS line, count(*) AS n", write=False
        )
        assert all(each["n"] == 1 for each in held)
    settle(jochi, now)
    look(jochi, live.values(), now, many={"hobby"})
    assert now >= MADE
