"""The database against an oracle in plain Python: random memories, one run, the same verdicts (DESIGN §8, §12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.oracle import Memory, Verdict, blocking_rails, graph, judge, latest_look
from tests.oracle.strategies import batches, nows

from jochi import Jochi
from jochi.operate.plan import Plan
from jochi.policy import LoadedPolicy
from jochi.scheduler.runner import run_job
from jochi.temporal import to_python

pytestmark = pytest.mark.server


@st.composite
def cases(draw: st.DrawFn) -> tuple[datetime, list[Memory]]:
    now = draw(nows)
    return now, draw(batches(now))


@pytest.fixture
def applied(jochi: Jochi, test_policy: LoadedPolicy) -> Iterator[Jochi]:
    jochi.apply()
    yield jochi
    set_batch_size(jochi, test_policy.policy.jobs["curate_due"].batch_size)


def set_batch_size(client: Jochi, size: int) -> None:
    client.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = $size", {"size": size})


@given(case=cases(), batch_size=st.sampled_from([7, 25, 100]), seed=st.integers(0, 2**16))
@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a batch of fifty takes too long to shrink
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
def test_the_database_judges_as_the_oracle_does(
    applied: Jochi, case: tuple[datetime, list[Memory]], batch_size: int, seed: int
) -> None:
    now, memories = case
    graph.clear(applied.database)
    set_batch_size(applied, batch_size)
    in_some_order = list(memories)
    Random(seed).shuffle(in_some_order)
    graph.write(applied.database, in_some_order, due=now - timedelta(hours=1))
    verdicts = {memory.key: judge(memory, now) for memory in memories}

    explain_agrees(applied, memories, verdicts, now)
    plan = applied.plan(now)
    runs = run_job(applied.engine, "curate_due", now=now, drain=True)

    assert [run.error for run in runs if run.error] == []
    state = graph.state(applied.database)
    wanted = {key for key, verdict in verdicts.items() if verdict.outcome == "prune"}
    assert {key for key, stored in state.items() if not stored.live} == wanted
    plan_agrees(plan, memories, verdicts)
    audits_agree(applied, verdicts)
    for memory in memories:
        if memory.key not in wanted:
            next_due = to_python(state[memory.key].properties["next_due"])
            assert now < next_due <= latest_look(memory, now), memory
    again = run_job(applied.engine, "curate_due", now=now, drain=True)
    assert sum(run.selected + run.changed for run in again) == 0
    assert {key: stored.labels for key, stored in graph.state(applied.database).items()} == {
        key: stored.labels for key, stored in state.items()
    }


def explain_agrees(applied: Jochi, memories: list[Memory], verdicts: dict[str, Verdict], now: datetime) -> None:
    for memory in memories:
        said = applied.explain(memory.key, at=now)
        rails = frozenset(check.rail for check in said.rails if check.blocks)
        verdict = verdicts[memory.key]
        wanted = (verdict.outcome, verdict.met.rule if verdict.met else None, blocking_rails(memory, now))
        if (said.outcome, said.rule, rails) != wanted:
            pytest.fail(f"{memory} at {now}: {(said.outcome, said.rule, rails)}, and the oracle {wanted}")


def plan_agrees(plan: Plan, memories: list[Memory], verdicts: dict[str, Verdict]) -> None:
    wanted = Counter((v.outcome, v.met.rule if v.met else None) for v in verdicts.values())
    said: Counter[tuple[str, str | None]] = Counter()
    for group in plan.groups:
        said[group.outcome, group.rule] += group.n
        for key in group.samples:
            verdict = verdicts[key]
            assert (verdict.outcome, verdict.met.rule if verdict.met else None) == (group.outcome, group.rule)
    assert said == wanted
    assert plan.looked_at == len(memories)
    assert plan.rails == Counter(rail for verdict in verdicts.values() for rail in verdict.rails)


def audits_agree(applied: Jochi, verdicts: dict[str, Verdict]) -> None:
    said = {
        audit["key"]: (audit["action"], audit["rule"], to_python(audit["due"]))
        for audit in graph.audits(applied.database)
    }
    wanted = {
        key: ("prune", verdict.met.rule, verdict.met.at)
        for key, verdict in verdicts.items()
        if verdict.met and verdict.outcome == "prune"
    }
    assert {key: (said.get(key), audit) for key, audit in wanted.items() if said.get(key) != audit} == {}
    assert said.keys() == wanted.keys()


def test_batches_and_order_do_not_matter_for_what_is_due_at_one_instant(applied: Jochi) -> None:
    """The same memories in one batch and in batches of three, written in opposite order, leave the same graph."""
    now = datetime.fromisoformat("2026-05-04T10:00:00+00:00")
    memories = [
        Memory(f"n{i}", ("Notification",), {"created_at": now - timedelta(days=5 + i), "read": True}) for i in range(12)
    ]
    left = []
    for size, given_order in ((100, memories), (3, memories[::-1])):
        graph.clear(applied.database)
        set_batch_size(applied, size)
        graph.write(applied.database, given_order, due=now)
        run_job(applied.engine, "curate_due", now=now, drain=True)
        left.append({key: (stored.labels, stored.properties) for key, stored in graph.state(applied.database).items()})
    assert left[0] == left[1]
    assert len(graph.pruned(applied.database)) == 10
