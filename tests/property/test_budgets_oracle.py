"""Token budgets enforced by the database against the oracle: random scopes, tiers, tokens, pins, ties and times (DESIGN §12)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.oracle import Memory, budgets, graph
from tests.oracle.strategies import WRONG_TYPES
from tests.tally import examples

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.results import Switch

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
SCOPES = ("a", "b", "Zoë", "with space")
KINDS = (("Note",), ("Belief",), ("Task", "Note"), ("Invoice",), ("Ticket",))
ZONES = (timezone.utc, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8)))
TIERS = ("HOT", "HOT", "HOT", "WARM", "WARM", "COLD", "COLD", "ARCHIVE")
WRITTEN = {"tier", "tier_reason", "tier_from", "tier_at", "curation_action", "last_curated_at"}

wrong = st.sampled_from(sorted(WRONG_TYPES)).map(WRONG_TYPES.__getitem__)
# Few moments, so that there are many ties; the same instant in several zones.
moments = st.builds(
    lambda steps, zone: (NOW - timedelta(minutes=steps // 3, microseconds=steps % 3)).astimezone(zone),
    st.integers(-3, 30),
    st.sampled_from(ZONES),
)
counts = st.one_of(
    st.sampled_from([0, 1, 10, 100, 199, 200, 201, 300, 399, 400, 401, 1599, 1600, 1601, 5000]),
    st.integers(1, 500),
    st.sampled_from([-1, 10**9, 10**15, 2**63 - 1]),
)


@st.composite
def memories(draw: st.DrawFn, number: int) -> Memory:
    """One memory; most of what a budget reads is right, some of it absent or of any wrong type."""
    labels = draw(st.sampled_from(KINDS))
    properties: dict[str, Any] = {
        "created_at": draw(moments),
        "tier": draw(st.sampled_from(TIERS)),
        "token_count": draw(counts),
    }
    if draw(st.booleans()):
        properties["last_accessed_at"] = draw(moments)
    changes = {
        "token_count": st.one_of(st.none(), counts, wrong),
        "content": st.sampled_from(["x" * n for n in (0, 1, 4, 5, 798, 6401)]),
        "pinned": st.one_of(st.booleans(), wrong),
        "last_accessed_at": wrong,
        "created_at": st.one_of(st.none(), wrong),
        "tier": st.one_of(st.none(), wrong, st.sampled_from(["hot", "LUKEWARM"])),
        "next_due": moments,
        "curation_action": st.sampled_from(["PROTECTED", "KEEP"]),
    }
    for name in draw(st.lists(st.sampled_from(sorted(changes)), max_size=3)):
        properties[name] = draw(changes[name])
    properties = {name: value for name, value in properties.items() if value is not None}
    if "Ticket" in labels:
        own = {"created_at": "opened", "pinned": "sticky", "content": "body"}
        properties = {own.get(name, name): value for name, value in properties.items()}
        opened = properties.get("opened")
        if isinstance(opened, datetime) and opened.tzinfo is not None:
            properties["opened"] = (opened - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
        # A standard name means nothing on it.
        properties |= draw(st.sampled_from([{}, {"pinned": True}, {"content": "y" * 9000}]))
    return Memory(f"m{number:02d}", labels, properties, scope=draw(st.sampled_from(SCOPES)))


stores = st.integers(0, 45).flatmap(lambda n: st.tuples(*(memories(i) for i in range(n)))).map(list)


@given(
    store=stores,
    order=st.randoms(use_true_random=False),
    batch=st.sampled_from([1, 2, 100]),
    moves=st.sampled_from([1, 2, 7, 5000]),
    paused=st.sampled_from(
        [(), (), (Switch("scope", "a"),), (Switch("kind", "Note"),), (Switch("kind", "other"), Switch("scope", "b"))]
    ),
)
@settings(
    max_examples=examples(4, 15),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
def test_the_database_moves_what_the_oracle_moves(
    jochi: Jochi, store: list[Memory], order: Any, batch: int, moves: int, paused: tuple[Switch, ...]
) -> None:
    wipe(jochi, batch)
    order.shuffle(store)
    graph.write(jochi.database, store, due=NOW + timedelta(days=1))
    before = {key: to_python(found.properties) for key, found in graph.state(jochi.database).items()}
    for switch in paused:
        jochi.pause(switch)
    kinds = {switch.name for switch in paused if switch.what == "kind"}
    wanted = budgets.enforce(
        store,
        paused_scopes={switch.name for switch in paused if switch.what == "scope"},
        paused_kinds=kinds | ({"Invoice"} if "other" in kinds else set()),
    )
    planned = jochi.plan_budgets(most=10_000)
    assert planned.memories == len(wanted.moves)
    assert {(o.scope, o.tier) for o in planned.overflows} == wanted.overflow.keys()
    run(jochi, moves)
    after = {key: to_python(found.properties) for key, found in graph.state(jochi.database).items()}
    moved = {
        key: budgets.Move(now["tier_from"], now["tier"], now["tier_reason"])
        for key, now in after.items()
        if "tier_from" in now
    }
    assert moved == wanted.moves
    for key, now in after.items():
        if key not in moved:
            assert same(now, before[key]), key
            continue
        assert (now["tier_at"], now["curation_action"], now["last_curated_at"]) == (NOW, "DEMOTE", NOW)
        kept = {name for name in before[key] if name not in WRITTEN | {"next_due"}}
        assert same({name: now[name] for name in kept}, {name: before[key][name] for name in kept})
    found = jochi.database.run(
        "MATCH (b:JochiBudget) RETURN b.scope AS scope, b.above AS above, b.mark AS mark", write=False
    )
    assert all(row["mark"] is None for row in found)
    overflow = {
        (row["scope"], tier): n for row in found for tier, n in zip(budgets.TIERS, row["above"], strict=False) if n
    }
    assert overflow.keys() == wanted.overflow.keys()
    assert all(overflow[key] == n for key, n in wanted.overflow.items() if n < 10**9)
    assert jochi.database.run("MATCH (c:JochiScopeChange) RETURN c", write=False) == []
    assert run(jochi, moves) == 0, "a second run has nothing to do"
    assert jochi.plan_budgets().memories == 0


def same(some: dict[str, Any], others: dict[str, Any]) -> bool:
    """NaN is like NaN here."""
    return some.keys() == others.keys() and repr(some) == repr({name: others[name] for name in some})


def run(client: Jochi, moves: int) -> int:
    """Every scope is checked, whether or not something was reported; the number of memories that moved."""
    client.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.checked_at = null")
    text = client.engine.text("tiers/enforce_budgets", "act")
    assert "5000 / CASE" in text
    client.database.run(
        "MATCH (x:JochiProcedure {name: 'tiers/enforce_budgets'}) SET x.was = x.act, x.act = $act",
        {"act": text.replace("5000 / CASE", f"{moves} / CASE")},
    )
    client.engine.refresh()
    try:
        runs = client.run("enforce_budgets", now=NOW, drain=True)
    finally:
        client.database.run("MATCH (x:JochiProcedure {name: 'tiers/enforce_budgets'}) SET x.act = x.was REMOVE x.was")
        client.engine.refresh()
    assert [each.error for each in runs if each.error] == []
    return sum(each.changed for each in runs)


def wipe(client: Jochi, batch: int) -> None:
    client.database.run(
        "MATCH (n:Curated|JochiBudget|JochiScopeChange|JochiPause|CurationAudit|JochiJobRun) DETACH DELETE n"
    )
    client.database.run(
        "MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.batch_size = $n, j.batch_now = null", {"n": batch}
    )
