"""The value by five signals against the oracle: random memories, and what is written (seed 001; DESIGN §12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.conftest import PolicyWith, say_go
from tests.oracle import graph
from tests.oracle.classification import classify
from tests.scored_memories import cases
from tests.tally import examples

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning"),  # a batch of forty is told at length
]

_WRITTEN = """
MATCH (m:Curated)-[:HAS_VALUE]->(v:JochiValue)
RETURN m.key AS key, v {.*} AS value, COUNT { (m)-[:HAS_VALUE]->() } AS n
"""
_SIGNALS = {
    "retention": "retention_score",
    "uniqueness": "uniqueness_score",
    "confidence": "confidence_score",
    "frequency": "access_frequency",
}
_COMPARED = st.fixed_dictionaries(
    {},
    optional={
        "nearest": st.sampled_from([0.0, 0.3, 0.85, 1.0, "near"]),
        "nearest_hash": st.sampled_from(["a", "b"]),
        "embedding": st.just([0.1, 0.2]),
        "embedding_hash": st.just("a"),
        "access_count": st.sampled_from([0, 1, 50, 99, 100, 101, 4000]),
        "category": st.sampled_from(["correction", "decision", "weather", 7]),
        "content_type": st.sampled_from(["chitchat", "task"]),
        "policy_class": st.sampled_from(["protected", "standard"]),
    },
)


@pytest.fixture
def classifying(policy_with: PolicyWith, install_once: Callable[[LoadedPolicy], Jochi]) -> Jochi:
    client = install_once(policy_with("[classification]\nclassifying = true"))
    say_go(client)
    return client


@given(case=cases(), more=st.lists(_COMPARED, min_size=45, max_size=45))
@settings(
    max_examples=examples(4, 15),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
def test_values_are_the_oracles(classifying: Jochi, case: Any, more: list[dict[str, Any]]) -> None:
    now, drawn, first = case
    jochi = classifying
    held = [replace(m, properties=m.properties | extra) for m, extra in zip(drawn, more, strict=False)]
    graph.clear(jochi.database)
    graph.write(jochi.database, held, due=now)
    graph.write_scopes(jochi.database, first)
    runs = list(run_job(jochi.engine, "curate_due", now=now, drain=True))
    assert [run.error or run.quarantined for run in runs if run.error or run.quarantined] == []
    stored = {row["key"]: row for row in jochi.database.run(_WRITTEN, write=False)}
    live = {key for key, node in graph.state(jochi.database).items() if node.live}
    for memory in held:
        wanted = classify(memory, now, first[memory.scope])
        if memory.key not in live or wanted is None:
            assert memory.key not in stored, (memory, wanted)
            continue
        assert stored[memory.key]["n"] == 1
        told = stored[memory.key]["value"]
        assert {name: told.get(its) for name, its in _SIGNALS.items()} == pytest.approx(
            {name: wanted.signals[name] for name in _SIGNALS}
        ), memory
        assert (told["value_score"], told["retention_tier"]) == (pytest.approx(wanted.value, abs=3e-12), wanted.tier), (
            memory
        )
