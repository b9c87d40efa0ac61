"""The Memory Value Score against the oracle: random memories, every term, what it is and could be, and what it asks for (seed 000,
Option B; DESIGN §12)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.oracle import Memory, graph, value, value_bands
from tests.scored_memories import cases

from jochi import Jochi
from jochi.curate.score import TERMS, Scored
from jochi.policy import LoadedPolicy

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


@pytest.mark.exhaustive  # what a look stores of it is compared in test_curation_oracle
@given(case=cases())
@settings(max_examples=25, **GENTLE)
def test_scores_are_the_oracles(jochi: Jochi, case: Any) -> None:
    scored_alike(jochi, case, "seed")


@pytest.mark.slow
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
    act = value_bands.action(memory, wanted, profile)
    pairs: dict[str, tuple[Any, Any]] = {
        "band": (said.band, value_bands.band(value_bands.measured(wanted, profile))),
        "acting": (said.acting, value_bands.acting_band(wanted, profile)),
        "action": (said.action, act.name),
        "missing": (frozenset(said.missing), value_bands.missing(memory)),
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
