"""Whatever jobs did with a random graph, undoing their runs, the newest first, gives the graph back (DESIGN §10, §12)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.oracle import Memory, graph
from tests.oracle.strategies import batches, firsts, nows
from tests.property.test_merge_oracle import natives

from jochi import Jochi
from jochi.scheduler.runner import run_job

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
JOBS = ("curate_due", "enforce_budgets", "sweep_orphans", "hygiene", "settle_slots")
BOOKKEEPING = {
    *("next_due", "last_curated_at", "curation_action", "hold_until", "similar_due", "prepare_due", "embed_due"),
    *("revision", "tier_reason", "tier_from", "tier_at", "mvs", "mvs_at", "curation_rails", "needs_compression"),
    *("needs_improvement", "slot_due"),
}
"""What the engine writes anew instead of putting it back."""
GENTLE: dict[str, Any] = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}


@st.composite
def cases(draw: st.DrawFn) -> tuple[datetime, list[Memory], dict[str, datetime | None], list[tuple[str, int]]]:
    now = draw(nows)
    found = draw(batches(now, 15, 25))
    found = [
        replace(memory, properties=memory.properties | {f"native{i}": value for i, value in enumerate(drawn)})
        for memory in found
        for drawn in [draw(st.lists(natives, max_size=2))]
    ]
    done = draw(st.lists(st.tuples(st.sampled_from(JOBS), st.integers(0, 20)), min_size=2, max_size=6))
    return now, found, draw(firsts(now)), [("curate_due", 0), *done]


def told(client: Jochi) -> tuple[dict[str, Any], list[str]]:
    """Labels and properties of every memory with their types, and every relationship between nodes that stay."""
    nodes = {
        key: (
            sorted(stored.labels),
            sorted((name, repr(value)) for name, value in stored.properties.items() if name not in BOOKKEEPING),
        )
        for key, stored in graph.state(client.database).items()
    }
    edges = client.database.run(
        "MATCH (a)-[r]->(b) RETURN coalesce(a.key, a.id, '') + type(r) + coalesce(b.key, b.id, '') AS e", write=False
    )
    return nodes, sorted(row["e"] for row in edges)


@given(case=cases())
@settings(max_examples=12, **GENTLE)
def test_undoing_all_runs_gives_the_graph_back(
    jochi: Jochi, case: tuple[datetime, list[Memory], dict[str, datetime | None], list[tuple[str, int]]]
) -> None:
    now, memories, first, done = case
    graph.clear(jochi.database)
    jochi.database.run("MATCH (j:JochiJob) SET j.cursor = null, j.walked_at = null, j.checked_at = null")
    jochi.database.run("MATCH (n:JochiScopeChange|JochiBudget|JochiSlotChange|JochiSlot) DETACH DELETE n")
    graph.write(jochi.database, memories, due=now)
    graph.write_scopes(jochi.database, first)
    jochi.apply()
    before = told(jochi)
    runs, at = [], now
    for job, days in done:
        at += days * DAY
        for run in run_job(jochi.engine, job, now=at, drain=True):
            assert run.error is None, run
            runs.append(run.id)
    left: dict[str, int] = {}
    for run_id in reversed(runs):
        if any(row["run"] == run_id for row in graph.audits(jochi.database, lists=True)):
            undone = jochi.undo(run_id, now=at + DAY)
            for outcome, n in undone.counts.items():
                left[outcome] = left.get(outcome, 0) + n
    assert set(left) <= {"undone", "as_before", "derived", "no_record"}
    assert told(jochi) == before
