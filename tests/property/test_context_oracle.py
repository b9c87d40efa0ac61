"""What an agent starts with against the oracle: random memories, random limits (seed 001, Rolling Window; DESIGN §12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.oracle import graph
from tests.oracle.context import FRAME, Chosen, choose
from tests.scored_memories import cases
from tests.tally import examples

from jochi import Jochi

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning"),  # a batch of forty is told at length
]

_MORE = st.fixed_dictionaries(
    {
        "tier": st.sampled_from(["HOT", "HOT", "WARM", "COLD", "ARCHIVE", "odd"]),
        "content": st.sampled_from(["said once", "said twice", "short", "x" * 100, "x" * 900, "x" * 3000, " ", ""]),
        "content_hash": st.sampled_from([f"v2:{n}" for n in range(12)]),
    },
    optional={
        "status": st.sampled_from(
            ["pending", "in_progress", "completed", "superseded", "active", "TODO", "In-Progress", "Done", "odd", 7]
        ),
        "category": st.sampled_from(["preference", "identity", "event"]),
        "content_type": st.sampled_from(["preference", "task", "chitchat"]),
        "access_tier": st.sampled_from(["PUBLIC", "PUBLIC", "SENSITIVE", "PRIVATE", "odd", 7]),
        "contains_pii": st.sampled_from([True, False, False, "true"]),
        "sensitivity": st.sampled_from(["low", "normal", "high", 7]),
        "state": st.sampled_from(["archived", "stale", "active", "active", "active", "active"]),
        "token_count": st.sampled_from([0, 5, 40, 90, 450, 900]),
    },
)


@given(
    case=cases(),
    more=st.lists(_MORE, min_size=45, max_size=45),
    max_tokens=st.sampled_from([1, FRAME - 1, FRAME, 300, 700, 1000, 2000, 2000, 9000]),
    open=st.booleans(),
)
@settings(
    max_examples=examples(8, 25),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
def test_what_is_chosen_is_the_oracles(
    jochi: Jochi, case: Any, more: list[dict[str, Any]], max_tokens: int, open: bool
) -> None:
    now, drawn, first = case
    plain = [m for m in drawn if "Ticket" not in m.labels]
    held = [replace(m, properties=m.properties | extra) for m, extra in zip(plain, more, strict=False)]
    graph.clear(jochi.database)
    graph.write(jochi.database, held, due=now)
    graph.write_scopes(jochi.database, first)
    for scope in first:
        asked = {"now": now, "scope": scope, "open": open, "max_tokens": max_tokens}
        row = jochi.engine.call("context/look", asked, write=False)
        wanted = choose([m for m in held if m.scope == scope], now, first[scope], max_tokens=max_tokens, open=open)
        assert [Chosen(e["key"], e["section"], e["reason"]) for e in row["entries"]] == wanted
        assert sum(e["tokens"] for e in row["entries"]) <= max(0, max_tokens - FRAME)
