"""Score over TTLs and tiers against the oracle, in both band profiles (seed 000, Phase 2; DESIGN §8, Order of precedence)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import say_go
from tests.oracle.value_and_ttl import kept
from tests.property.test_curation_oracle import GENTLE, batch_sizes, judged_alike, orders, switch_the_sweep
from tests.scored_memories import aging_cases, cases
from tests.tally import expect_all_seen

from jochi import Jochi
from jochi.policy import LoadedPolicy

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning"),  # a batch of forty is told at length
]


@pytest.fixture(params=["seed", pytest.param("relative", marks=pytest.mark.slow)])
def in_bands(
    request: pytest.FixtureRequest,
    test_policy: LoadedPolicy,
    relative: LoadedPolicy,
    install_once: Callable[[LoadedPolicy], Jochi],
) -> Iterator[tuple[Jochi, str]]:
    client = install_once({"seed": test_policy, "relative": relative}[request.param])
    say_go(client)
    switch_the_sweep(client, on=False)
    yield client, request.param
    switch_the_sweep(client, on=True)


@pytest.mark.exhaustive
def test_what_the_score_does_is_the_oracles(in_bands: tuple[Jochi, str]) -> None:
    """The tally at the end says that nothing was left out: a change of the strategies could lose it unseen."""
    client, profile = in_bands
    seen: Counter[str] = Counter()

    @given(case=st.one_of(aging_cases(), aging_cases(), cases()), batch_size=batch_sizes, seed=orders)
    @settings(max_examples=12, database=None, **GENTLE)
    def lives(case: Any, batch_size: int, seed: int) -> None:
        now, memories, first = case
        verdicts = judged_alike(client, case, batch_size, seed, profile)
        for memory in memories:
            verdict = verdicts[memory.key]
            seen.update(change.rule for change in verdict.changes)
            seen.update([verdict.met.rule] if verdict.met and verdict.outcome == "prune" else [])
            seen.update(f"held {rule}" for rule in verdict.held)
            seen.update(["kept"] if kept(memory, now, first[memory.scope], profile) else [])

    lives()
    wanted = {"score.prunes", "score.demotes", "held score.prunes", "held score.demotes", "kept"}
    expect_all_seen(name for name in wanted if seen[name] < 2)
