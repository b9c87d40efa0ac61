"""The sweep of orphans against an oracle in plain Python: random memories and neighbours, the same verdicts (DESIGN §8, §12)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.conftest import say_go
from tests.oracle import Memory, graph
from tests.oracle.orphans import AFTER, CLOCK, Neighbour, orphan_since, swept
from tests.oracle.strategies import WRONG_TYPES, memories, moments, nows
from tests.tally import examples

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.policy.model import ORPHAN_RULE

pytestmark = pytest.mark.server

KINDS = (
    ("CompressedContext",),
    ("CompressedContext",),
    ("Recommendation",),
    ("Notification",),
    ("SessionContext",),
    ("Recommendation", "Draft"),
    ("CompressedContext", "Note"),
    ("Notification", "SessionContext"),
)
Case = tuple[Memory, tuple[Neighbour, ...]]

_NEIGHBOURS = """
UNWIND $rows AS row
MATCH (m:Curated {key: row.key})
CALL (m, row) {
  WITH m, row WHERE row.what = 'itself' CREATE (m)-[:SAME]->(m)
}
CALL (m, row) {
  WITH m, row WHERE row.what = 'ours' CREATE (m)<-[:LOOKED]-(:JochiTest)
}
CALL (m, row) {
  WITH m, row WHERE row.what = 'live' CREATE (m)-[:ABOUT]->(:Thing)
}
CALL (m, row) {
  WITH m, row WHERE row.what = 'foreign' CREATE (m)-[:ABOUT]->(:Tombstone {deleted_at: row.deleted_at})
}
CALL (m, row) {
  WITH m, row WHERE row.what = 'pruned'
  CREATE (m)<-[:ABOUT]-(:Tombstone {tombstone: true, tombstone_labels: ['Curated'], deleted_at: row.deleted_at})
}
"""


@st.composite
def _case(draw: st.DrawFn, now: datetime, number: int) -> Case:
    memory = draw(memories(now, number))
    if draw(st.integers(0, 3)):
        properties = (
            dict(memory.properties) if "Ticket" not in memory.labels else {"created_at": now - timedelta(days=40)}
        )
        properties |= {"read": draw(st.sampled_from([True, True, False])), "active": False}
        memory = Memory(memory.id, draw(st.sampled_from(KINDS)), properties, (), memory.touched, memory.scope)
    changed: dict[str, Any] = dict(memory.properties)
    for name in draw(st.lists(st.sampled_from(CLOCK), max_size=2)):
        wrong = st.sampled_from(sorted(WRONG_TYPES)).map(WRONG_TYPES.__getitem__)
        changed[name] = draw(st.one_of(moments(now), moments(now), wrong))
    some = st.builds(
        Neighbour,
        st.sampled_from(["pruned", "pruned", "pruned", "ours", "itself", "live", "foreign"]),
        moments(now),
    )
    around = draw(st.one_of(st.just(()), st.just(()), st.lists(some, max_size=3).map(tuple)))
    return Memory(memory.id, memory.labels, changed, memory.linked, memory.touched, memory.scope), around


@st.composite
def cases(draw: st.DrawFn) -> tuple[datetime, list[Case]]:
    now = draw(nows)
    return now, [draw(_case(now, number)) for number in range(draw(st.integers(20, 35)))]


@given(
    case=cases(),
    batch_size=st.sampled_from([3, 2000]),
    paused=st.sampled_from(["", "", "kind/Recommendation", "scope/other"]),
)
@settings(
    max_examples=examples(3, 10),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
def test_the_sweep_judges_as_the_oracle_does(
    jochi: Jochi, case: tuple[datetime, list[Case]], batch_size: int, paused: str
) -> None:
    now, all_of_them = case
    say_go(jochi)
    graph.clear(jochi.database)
    jochi.database.run(
        "MATCH (j:JochiJob {name: 'sweep_orphans'}) "
        "SET j.cursor = null, j.walked_at = null, j.walk_again = null, j.batch_size = $size",
        {"size": batch_size},
    )
    if paused:
        jochi.database.run("CREATE (:JochiPause {key: $key})", {"key": paused})
    graph.write(jochi.database, [memory for memory, _around in all_of_them], due=now + timedelta(days=90))
    rows = [
        {"key": memory.key, "what": neighbour.what, "deleted_at": neighbour.deleted_at}
        for memory, around in all_of_them
        for neighbour in around
    ]
    jochi.database.run(_NEIGHBOURS, {"rows": rows})
    switches = frozenset({paused} if paused else ())
    verdicts = {memory.key: swept(memory, around, now, switches) for memory, around in all_of_them}

    plan = jochi.plan(now)
    for memory, around in all_of_them:
        said = jochi.explain(memory.key, at=now).orphan
        since = orphan_since(memory, around)
        assert said is not None
        assert said.due == (since and since + AFTER), memory
    runs = run_job(jochi.engine, "sweep_orphans", now=now, drain=True)

    assert [run.error for run in runs if run.error] == []
    assert graph.pruned(jochi.database) == {key for key, verdict in verdicts.items() if verdict == "prune"}
    counted = {outcome: list(verdicts.values()).count(outcome) for outcome in ("prune", "protected", "paused")}
    for outcome, n in counted.items():
        assert sum(g.n for g in plan.groups if g.rule == ORPHAN_RULE and g.outcome == outcome) == n
    assert sum(run.tally.get("protected", 0) for run in runs) == counted["protected"]
    assert sum(run.tally.get("paused", 0) for run in runs) == counted["paused"]
