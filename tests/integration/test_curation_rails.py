"""Every rail on both sides, with its input absent, null-like and of every wrong type (seed 000, Rails; DESIGN §8)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import RAILS, Memory, graph
from tests.oracle.memory import is_moment, is_number
from tests.oracle.strategies import WRONG_TYPES

from jochi import Jochi
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
OLD = NOW - 400 * DAY
EXPIRED = {"created_at": OLD, "expires_at": NOW - DAY}


def prunable(labels: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    """Properties under which only the rail in question can keep a memory of these labels."""
    known = {
        "Notification": {"read": True},
        "SessionContext": {"active": False},
        "Task": {"status": "completed"},
        "Belief": {"state": "archived", "confidence": 0.5},
        "Reflection": {"consolidated": False, "access_count": 0},
    }
    base: dict[str, Any] = dict(EXPIRED)
    for label in labels:
        base |= known.get(label, {})
    return {name: value for name, value in (base | properties).items() if value is not ABSENT}


ABSENT = object()

BOTH_SIDES: list[tuple[str, tuple[str, ...], dict[str, Any], dict[str, Any]]] = [
    # rail, labels, what makes it hold, what just doesn't
    ("active_task", ("Task",), {"status": "in_progress"}, {"status": "completed"}),
    ("active_task", ("Task",), {"status": "pending"}, {"status": "failed"}),
    ("active_task", ("Task",), {"status": "blocked"}, {"status": "done"}),
    ("active_task", ("Task",), {"status": "In Bearbeitung"}, {"status": "erledigt"}),
    ("active_task", ("Task",), {"status": "when the moon is full"}, {"status": "won't do"}),
    ("active_session", ("SessionContext",), {"active": True}, {"active": False}),
    ("confident_belief", ("Belief",), {"state": "active", "confidence": 0.9}, {"state": "active", "confidence": 0.89}),
    ("confident_belief", ("Belief",), {"state": "core", "confidence": 1}, {"state": "archived", "confidence": 1}),
    ("confident_belief", ("Belief",), {"state": "validated", "confidence": 0.95}, {"state": "active", "confidence": 0}),
    (
        "proven_reflection",
        ("Reflection",),
        {"consolidated": True, "access_count": 6},
        {"consolidated": True, "access_count": 5},
    ),
    (
        "proven_reflection",
        ("Reflection",),
        {"consolidated": True, "access_count": 5.5},
        {"consolidated": False, "access_count": 6},
    ),
    ("grace", ("Note",), {"created_at": NOW - DAY + SECOND}, {"created_at": NOW - DAY}),
    ("grace", ("Note",), {"created_at": NOW + DAY}, {"created_at": NOW - DAY - SECOND}),
    ("consensus", ("Note",), {"agents": ["a", "b", "c", "d"]}, {"agents": ["a", "b", "c", "a"]}),
    ("pinned", ("Note",), {"pinned": True}, {"pinned": False}),
    ("keep_forever", ("Note",), {"ttl_policy": "keep_forever"}, {"ttl_policy": "standard"}),
    ("hold", ("Note",), {"hold_until": NOW + SECOND}, {"hold_until": NOW}),
    (
        "locked",
        ("Note",),
        {"locked_by": "a", "locked_at": NOW - timedelta(seconds=599)},
        {"locked_by": "a", "locked_at": NOW - timedelta(seconds=600)},
    ),
    ("locked", ("Note",), {"locked_by": "a"}, {"locked_at": NOW}),
    ("quarantined", ("Note",), {"quarantined_until": NOW + SECOND}, {"quarantined_until": NOW}),
]


@pytest.mark.parametrize("kind", [(), ("Notification",)], ids=["by expires_at", "by a rule of its kind"])
def test_every_rail_holds_on_its_side_and_not_on_the_other(applied: Jochi, kind: tuple[str, ...]) -> None:
    memories, wanted = [], {}
    for number, (rail, labels, holds, just_not) in enumerate(BOTH_SIDES):
        memories += [
            Memory(f"{number}-holds", (*kind, *labels), prunable((*kind, *labels), **holds)),
            Memory(f"{number}-not", (*kind, *labels), prunable((*kind, *labels), **just_not)),
        ]
        wanted[f"default/{number}-holds"] = {rail}
        wanted[f"default/{number}-not"] = set()
    for label, rail in {
        "Agent": "agent_identity",
        "AgentKey": "agent_key",
        "Migration": "migration",
        "SystemConfig": "system_config",
    }.items():
        memories.append(Memory(label, (*kind, label), prunable((*kind, label))))
        wanted[f"default/{label}"] = {rail}
    memories.append(Memory("touched", (*kind, "Note"), prunable(kind), touched=True))
    memories.append(Memory("linked", (*kind, "Note"), prunable(kind, agents=["a", "b"]), linked=("b", "c", "d")))
    memories.append(Memory("linked-3", (*kind, "Note"), prunable(kind, agents=["a", "b"]), linked=("b", "c")))
    wanted |= {"default/touched": {"unfolded_access"}, "default/linked": {"consensus"}, "default/linked-3": set()}

    assert {rail for rails in wanted.values() for rail in rails} == set(RAILS)
    assert_rails(applied, memories, wanted)


INPUTS = {
    "created_at": ("Note", "grace"),
    "status": ("Task", "active_task"),
    "active": ("SessionContext", "active_session"),
    "state": ("Belief", "confident_belief"),
    "confidence": ("Belief", "confident_belief"),
    "consolidated": ("Reflection", "proven_reflection"),
    "access_count": ("Reflection", "proven_reflection"),
    "agents": ("Note", "consensus"),
    "pinned": ("Note", "pinned"),
    "ttl_policy": ("Note", "keep_forever"),
    "hold_until": ("Note", "hold"),
    "locked_by": ("Note", "locked"),
    "locked_at": ("Note", "locked"),
    "quarantined_until": ("Note", "quarantined"),
}
"""The kind on which it is an input, and of which rail."""


def right_type(name: str, value: Any) -> bool:
    if name in {"created_at", "hold_until", "locked_at", "quarantined_until"}:
        return is_moment(value)
    if name in {"active", "consolidated", "pinned"}:
        return isinstance(value, bool)
    if name in {"confidence", "access_count"}:
        return is_number(value)
    if name == "agents":
        return isinstance(value, list) and all(isinstance(agent, str) for agent in value)
    return isinstance(value, str)


@pytest.mark.parametrize(
    "kind",
    [(), pytest.param(("Notification",), marks=pytest.mark.exhaustive)],
    ids=["by expires_at", "by a rule of its kind"],
)
def test_a_wrong_type_of_any_rails_input_protects_and_stops_nobody_else(applied: Jochi, kind: tuple[str, ...]) -> None:
    memories, wanted = [], {}
    for name, (label, rail) in INPUTS.items():
        labels = (*kind, label)
        for what, value in WRONG_TYPES.items():
            if not right_type(name, value):
                memory = Memory(f"{name}: {what}", labels, prunable(labels, **{name: value}))
                memories.append(memory)
                wanted[memory.key] = {rail}
    assert len(memories) > 200
    memories.append(Memory("plain", (*kind, "Note"), prunable(kind)))
    wanted["default/plain"] = set()
    assert_rails(applied, memories, wanted, each=9)


def test_absence_protects_where_a_rail_must_know_and_means_nothing_elsewhere(applied: Jochi) -> None:
    must_know: dict[str, dict[str, Any]] = {
        "created_at": {},
        "status": {},
        "active": {},
        "state": {"confidence": 0.95},
        "confidence": {"state": "active"},
        "consolidated": {"access_count": 6},
    }
    others: dict[str, dict[str, Any]] = {"access_count": {"consolidated": True}}
    memories, wanted = [], {}
    for name, (label, rail) in INPUTS.items():
        more = must_know.get(name, others.get(name, {}))
        memories.append(Memory(name, (label,), prunable((label,), **more, **{name: ABSENT})))
        wanted[f"default/{name}"] = {rail} if name in must_know else set()
    assert_rails(applied, memories, wanted)


def assert_rails(client: Jochi, memories: list[Memory], wanted: dict[str, set[str]], *, each: int = 1) -> None:
    """Explain names just these rails of each so many-th, plan counts them, and the run prunes exactly what none of them keeps."""
    client.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = 1000")
    graph.write(client.database, memories, due=NOW)
    said = {
        m.key: {check.rail for check in client.explain(m.key, at=NOW).rails if check.blocks} for m in memories[::each]
    }
    assert {key: rails for key, rails in said.items() if rails != wanted[key]} == {}
    plan = client.plan(NOW)
    client.apply(plan)  # more than the breaker lets through at once
    runs = run_job(client.engine, "curate_due", now=NOW, drain=True)
    assert [(run.status, run.error) for run in runs if run.status != "ok"] == []
    free = {key for key, rails in wanted.items() if not rails}
    assert graph.pruned(client.database) == free
    assert plan.prunes == len(free)
    assert sum(run.tally.get("protected", 0) for run in runs) == len(wanted) - len(free)
    kept = {key: stored.properties for key, stored in graph.state(client.database).items() if stored.live}
    assert {properties["curation_action"] for properties in kept.values()} == {"PROTECTED"}
    assert {key: set(properties["curation_rails"]) for key, properties in kept.items()} == {k: wanted[k] for k in kept}
    counted = Counter(rail for rails in wanted.values() for rail in rails)
    assert counted == plan.rails
    assert counted == {rail: sum(run.tally.get(f"rail_{rail}", 0) for run in runs) for rail in counted}
    saved = {a["key"]: set(a["rails"]) for a in graph.audits(client.database) if a["action"] == "protect"}
    assert saved == {key: rails for key, rails in wanted.items() if rails}


def test_a_date_beyond_all_calendars_protects_and_stops_nobody_else(applied: Jochi) -> None:
    names = ["created_at", "expires_at", "hold_until", "locked_at", "quarantined_until", "read_at"]
    plain = prunable(("Notification",))
    far = [Memory(name, ("Notification",), plain | {"locked_by": "a"}) for name in names]
    graph.write(applied.database, [*far, Memory("n", ("Notification",), plain)], due=NOW)
    applied.database.run(
        "MATCH (m:Curated) WHERE m.id <> 'n' SET m.locked_at = $old, m.expires_at = null "
        "SET m[m.id] = datetime({year: 999999999, month: 12, day: 31, timezone: '-10:00'})",
        {"old": OLD},
    )
    gone = {"default/n", "default/expires_at"}  # of the second, read_at is what decides
    assert applied.plan(NOW).prunes == len(gone)
    runs = run_job(applied.engine, "curate_due", now=NOW, drain=True)
    assert [run.error for run in runs if run.error] == []
    rows = applied.database.run("MATCH (t:Tombstone) RETURN t.key AS key")
    assert {row["key"] for row in rows} == gone


def test_agents_are_counted_once_however_they_are_known(applied: Jochi) -> None:
    """An Agent without an id counts as itself; two relationships to one Agent count once."""
    graph.write(applied.database, [Memory("n", ("Note",), prunable((), agents=["a"]), linked=("a", "b"))], due=NOW)
    applied.database.run("MATCH (m:Curated), (a:Agent {id: 'b'}) CREATE (a)-[:WROTE]->(m), (m)<-[:WROTE]-(:Agent)")
    assert applied.explain("n", at=NOW).outcome == "prune"
    applied.database.run("MATCH (m:Curated) CREATE (m)<-[:WROTE]-(:Agent {name: 'z'})")
    assert applied.explain("n", at=NOW).outcome == "protected"


# -- the record of what rails saved ----------------------------------------------------------------------------------------


def look(client: Jochi, now: datetime) -> dict[str, Any]:
    """One look at the only memory; its properties after it."""
    client.database.run("MATCH (m:Curated) SET m.next_due = $now", {"now": now})
    runs = run_job(client.engine, "curate_due", now=now, drain=True)
    assert [run.error for run in runs if run.error] == []
    (stored,) = graph.state(client.database).values()
    return stored.properties


def saved(client: Jochi) -> list[tuple[str, list[str]]]:
    """Rule and rails of each record of a protection, oldest first."""
    return [(a["rule"], a["rails"]) for a in graph.audits(client.database) if a["action"] == "protect"]


def test_a_protection_is_recorded_once_until_other_rails_hold(applied: Jochi) -> None:
    lock = {"locked_by": "ada", "locked_at": NOW - SECOND}
    graph.write(
        applied.database, [Memory("n", ("Notification",), prunable(("Notification",), pinned=True, **lock))], due=NOW
    )
    assert look(applied, NOW)["curation_rails"] == ["pinned", "locked"]
    assert look(applied, NOW + SECOND)["curation_rails"] == ["pinned", "locked"]
    assert saved(applied) == [("any.expires_at", ["pinned", "locked"])]
    assert look(applied, NOW + DAY)["curation_rails"] == ["pinned"], "the lock has run out"
    assert saved(applied)[1:] == [("any.expires_at", ["pinned"])]
    (first, *_), audits = applied.explain("default/n", at=NOW + DAY).audits, graph.audits(applied.database)
    assert (first["action"], first["rails"]) == ("protect", ["pinned"])
    assert {audit["kind"] for audit in audits} == {"Notification"}
    applied.database.run("MATCH (m:Curated) REMOVE m.pinned")
    assert "curation_rails" not in look(applied, NOW + DAY + SECOND)
    assert len(saved(applied)) == 2
    assert graph.pruned(applied.database) == {"default/n"}


def test_what_no_rule_asks_for_any_more_is_no_longer_held(applied: Jochi) -> None:
    graph.write(applied.database, [Memory("n", ("Notification",), prunable(("Notification",), pinned=True))], due=NOW)
    assert look(applied, NOW)["curation_rails"] == ["pinned"]
    applied.database.run(
        "MATCH (m:Curated) SET m.expires_at = $later, m.read = false, m.priority = 'critical'", {"later": NOW + 9 * DAY}
    )
    assert "curation_rails" not in look(applied, NOW + SECOND)
    assert look(applied, NOW + 10 * DAY)["curation_rails"] == ["pinned"]
    assert len(saved(applied)) == 1, "the same rule and rails are on record already"


def test_what_is_held_of_less_than_pruning_is_recorded_too(applied: Jochi) -> None:
    """A completed task that is pinned isn't archived; keep_forever doesn't stop a move between tiers."""
    done = {"created_at": OLD, "status": "completed", "completed_at": NOW - 100 * DAY, "tier": "COLD"}
    graph.write(applied.database, [Memory("t", ("Task",), {**done, "pinned": True})], due=NOW)
    before = applied.plan(NOW)
    assert look(applied, NOW)["curation_rails"] == ["pinned"]
    assert (saved(applied), before.rails) == ([("task.completed", ["pinned"])], {"pinned": 1})


def test_a_budget_wakes_what_a_rail_held(applied: Jochi) -> None:
    """Held at its last look, then pushed down a tier by a budget: it is judged anew at once; one that nothing held isn't."""
    client = applied
    held = {
        "created_at": OLD,
        "expires_at": NOW - DAY,
        "ttl_policy": "keep_forever",
        "tier": "HOT",
        "token_count": 5000,
    }
    free = {"created_at": OLD, "tier": "HOT", "token_count": 5000}
    graph.write(client.database, [Memory("held", ("Note",), held), Memory("free", ("Note",), free)], due=NOW)
    run_job(client.engine, "curate_due", now=NOW, drain=True)
    client.database.run("MATCH (m:Curated) SET m.tier = 'HOT'")
    client.database.run("MERGE (:JochiScopeChange {scope: 'default', at: $now})", {"now": NOW})
    run_job(client.engine, "enforce_budgets", now=NOW + SECOND, drain=True)
    state = {key: stored.properties for key, stored in graph.state(client.database).items()}
    assert {key: properties["curation_action"] for key, properties in state.items()} == dict.fromkeys(state, "DEMOTE")
    assert state["default/held"]["next_due"] == NOW + SECOND
    assert state["default/free"]["next_due"] > NOW + DAY
