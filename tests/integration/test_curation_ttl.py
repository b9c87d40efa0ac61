"""Every row of the tiered janitor's TTL table on both sides of its threshold, and each condition on both sides
(seed 000, TTL Rules; DESIGN §8, §9). The numbers are typed out from the seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.curation_looks import DAY, HAIR, NOW, OLD, SECOND, archived, curate, due_again, look, pruned, write
from tests.oracle import Link, Memory, graph

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server


@pytest.fixture
def jochi(install_once: Callable[[LoadedPolicy], Jochi], rules_alone: LoadedPolicy) -> Jochi:
    """What rules do by themselves: what the score makes of that is for test_score."""
    return install_once(rules_alone)


Row = tuple[str, str, dict[str, Any], str, timedelta]
ARCHIVES: list[Row] = [
    ("task.completed", "Task", {"status": "completed", "updated_at": OLD, "created_at": OLD}, "completed_at", 14 * DAY),
    ("task.completed", "Task", {"status": "completed", "created_at": OLD}, "updated_at", 14 * DAY),
    ("task.completed", "Task", {"status": "completed"}, "created_at", 14 * DAY),
    ("task.completed", "Task", {"status": "erledigt"}, "created_at", 14 * DAY),
    ("task.failed", "Task", {"status": "failed", "updated_at": OLD, "created_at": OLD}, "failed_at", 90 * DAY),
    ("task.failed", "Task", {"status": "failed", "created_at": OLD}, "updated_at", 90 * DAY),
    ("task.failed", "Task", {"status": "failed"}, "created_at", 90 * DAY),
]
WEAK: list[Row] = [
    (
        "belief.weak",
        "Belief",
        {"state": state, "confidence": confidence, "created_at": OLD},
        "last_accessed_at",
        60 * DAY,
    )
    for state, confidence in (("active", 0.29), ("core", 0.2), ("validated", 0), ("active", -1.5))
] + [("belief.weak", "Belief", {"state": "active", "confidence": 0.1}, "created_at", 60 * DAY)]
PRUNES: list[Row] = [
    (
        "belief.archived",
        "Belief",
        {"state": "archived", "confidence": 0.29, "created_at": OLD},
        "archived_at",
        30 * DAY,
    ),
    ("analysis.minor", "Analysis", {"severity": "low"}, "created_at", 60 * DAY),
    ("analysis.minor", "Analysis", {"severity": "info"}, "created_at", 60 * DAY),
    ("analysis.medium", "Analysis", {"severity": "medium"}, "created_at", 120 * DAY),
    ("analysis.major", "Analysis", {"severity": "high"}, "created_at", 180 * DAY),
    ("analysis.major", "Analysis", {"severity": "critical"}, "created_at", 180 * DAY),
    ("notification.read", "Notification", {"read": True, "created_at": OLD}, "read_at", 7 * DAY),
    ("notification.read", "Notification", {"read": True}, "created_at", 7 * DAY),
    ("notification.read", "Notification", {"read": True, "priority": "critical"}, "created_at", 7 * DAY),
    ("notification.unread", "Notification", {"read": False, "priority": "low"}, "created_at", 30 * DAY),
    ("session.inactive", "SessionContext", {"active": False, "created_at": OLD}, "last_active_at", DAY),
    ("session.inactive", "SessionContext", {"active": False}, "created_at", DAY),
    *(
        ("any.expires_at", kind, {"created_at": OLD, **more}, "expires_at", 0 * DAY)
        for kind, more in {
            "Notification": {"read": False, "priority": "critical"},
            "SessionContext": {"active": False, "last_active_at": NOW},
            "Task": {"status": "won't do"},
            "Belief": {"state": "archived"},
            "Reflection": {"consolidated": False},
            "Analysis": {},
            "MemoryEntry": {},
            "SomebodyElses": {},
        }.items()
    ),
]
PRUNES_BY_ACCESS: list[Row] = [
    ("reflection.consolidated", "Reflection", {"consolidated": True, "created_at": OLD}, "consolidated_at", 90 * DAY),
    ("reflection.consolidated", "Reflection", {"consolidated": True}, "created_at", 90 * DAY),
    ("reflection.consolidated", "Reflection", {"consolidated": True, "access_count": 5}, "created_at", 90 * DAY),
    (
        "context.keywords",
        "CompressedContext",
        {"compression_level": "keywords", "created_at": OLD},
        "last_accessed_at",
        45 * DAY,
    ),
    ("context.keywords", "CompressedContext", {"compression_level": "keywords"}, "created_at", 45 * DAY),
    ("synthesis.old", "Synthesis", {}, "created_at", 120 * DAY),
    ("synthesis.old", "Synthesis", {"access_count": 3}, "created_at", 120 * DAY),
]


ROWS = PRUNES + PRUNES_BY_ACCESS + ARCHIVES + WEAK
BY_ACCESS = PRUNES_BY_ACCESS + WEAK
ARCHIVED = [row for row in PRUNES if row[2].get("state") == "archived"]
"""They are so before anything is done."""
OFFSETS = {"hair": HAIR, "exact": timedelta(0), "late": -SECOND}


def around(rows: list[Row]) -> list[Memory]:
    """Of each row one a hair too young, one just old enough, and one older."""
    return [
        Memory(f"{ROWS.index(row)} {id}", (row[1],), row[2] | {row[3]: NOW - row[4] + offset})
        for row in rows
        for id, offset in OFFSETS.items()
    ]


def ids(rows: list[Row], *of: str) -> set[str]:
    return {f"{ROWS.index(row)} {id}" for row in rows for id in of}


def test_every_rule_at_its_threshold(applied: Jochi) -> None:
    write(applied, around(ROWS))
    # The sweep of orphans is a job of its own, and the plan tells of it, too.
    rules = {row[0] for row in ROWS}
    groups = [group for group in applied.plan(NOW).groups if group.outcome == "prune" and group.rule in rules]
    planned = sum((Counter({group.rule: group.n}) for group in groups), Counter())
    assert planned == Counter(row[0] for row in PRUNES + PRUNES_BY_ACCESS for _ in ("exact", "late"))
    left = look(applied)
    assert pruned(left) == ids(PRUNES + PRUNES_BY_ACCESS, "exact", "late")
    assert archived(left) == ids(ARCHIVES + WEAK, "exact", "late") | ids(ARCHIVED, "hair")
    audits = {audit["key"].split("/")[1]: to_python(audit) for audit in graph.audits(applied.database)}
    assert audits.keys() == ids(ROWS, "exact", "late")
    for i, row in enumerate(ROWS):
        rule, kind, properties, _clock, _after = row
        audit, late, hair = audits[f"{i} late"], left[f"{i} late"], left[f"{i} hair"]
        # What a record gives as due: its clock, or the look, where what is left of a confidence has its say.
        due = NOW if rule.startswith("belief.") else NOW - SECOND
        prunes = row in PRUNES + PRUNES_BY_ACCESS
        assert (audit["action"], audit["rule"], audit["due"]) == ("prune" if prunes else "archive", rule, due)
        known = {"SomebodyElses": "other"}.get(kind, kind)
        assert (audit["kind"], audit["scope"], audit["at"]) == (known, "default", NOW)
        assert audit["run"]
        assert audit["policy"]
        assert NOW < hair["next_due"] <= NOW + timedelta(hours=6 if prunes else 1)
        if not prunes:
            assert late["archived_at"] == NOW  # the second step's clock starts when the first really happened
            assert (late.moved, late["curation_action"]) == (("ARCHIVE", rule, None, NOW), "ARCHIVE")
            assert hair.moved == (None, None, None, None)
            assert audit.get("before_state") == properties.get("state")
    left = look(applied, max(left[id]["next_due"] for id in ids(ROWS, "hair")))
    assert pruned(left) == ids(PRUNES + PRUNES_BY_ACCESS, *OFFSETS)
    assert archived(left) == ids(ARCHIVES + WEAK, *OFFSETS)


def test_only_rules_of_accesses_are_off_where_nobody_reports_them(applied: Jochi) -> None:
    left = curate(applied, *around(ROWS), first=None)
    assert pruned(left) == ids(PRUNES, "exact", "late")
    assert archived(left) == ids(ARCHIVES, "exact", "late") | ids(ARCHIVED, "hair")


def test_only_idleness_counts_from_the_first_report(applied: Jochi) -> None:
    """Each in a scope of its own, which began to report a hair too late, or just in time."""
    memories, firsts = [], {}
    for i, (_rule, kind, more, clock, after) in enumerate(BY_ACCESS):
        for id, offset in (("hair", HAIR), ("exact", timedelta(0))):
            properties = {**more, clock: OLD, "created_at": OLD}
            memories.append(Memory(f"{i} {id}", (kind,), properties, scope=f"{i}-{id}"))
            firsts[f"{i}-{id}"] = NOW - after + offset
    memories.append(Memory("analysis", ("Analysis",), {"severity": "low", "created_at": NOW - 60 * DAY}, scope="late"))
    write(applied, memories, first=None)
    graph.write_scopes(applied.database, {**firsts, "late": NOW - HAIR})
    left = look(applied)
    assert pruned(left) | archived(left) == {f"{i} exact" for i in range(len(BY_ACCESS))} | {"analysis"}


def link(labels: str, direction: str = "in", type: str = "ABOUT", **properties: Any) -> Link:
    return Link(type, direction, tuple(labels.split("+")), properties)


TASK = {"status": "completed", "created_at": OLD}
BELIEF = {"state": "archived", "confidence": 0.1, "created_at": OLD, "archived_at": OLD}
ANALYSIS = {"severity": "low", "created_at": OLD}
REFLECTION = {"consolidated": True, "created_at": OLD}
UNTOUCHED: dict[str, tuple[str, dict[str, Any], tuple[Link, ...]]] = {
    **{
        f"task {status!r}": ("Task", TASK | {"status": status}, ())
        for status in ("in_progress", "pending", "blocked", "In Bearbeitung", "moon", "", 7, True, ["completed"])
    },
    "task of a state that can't be read": ("Task", TASK | {"state": 7}, ()),
    "task without a status": ("Task", {"created_at": OLD}, ()),
    "task that was learned from": ("Task", TASK, (link("Note", "in", "LEARNED_FROM"),)),
    "task that learned": ("Task", TASK, (link("Reflection", "out", "LEARNED_FROM"),)),
    "task with an odd clock": ("Task", TASK | {"completed_at": "2020-01-01"}, ()),
    "task without a clock": ("Task", {"status": "failed"}, ()),
    "belief at 0.3 used this week": ("Belief", BELIEF | {"confidence": 0.3, "last_accessed_at": NOW}, ()),
    "belief without confidence": ("Belief", {k: v for k, v in BELIEF.items() if k != "confidence"}, ()),
    "belief of odd confidence": ("Belief", BELIEF | {"confidence": "0.1"}, ()),
    "belief of no number": ("Belief", BELIEF | {"confidence": float("nan")}, ()),
    "belief without archived_at": ("Belief", {k: v for k, v in BELIEF.items() if k != "archived_at"}, ()),
    "belief of odd archived_at": ("Belief", BELIEF | {"archived_at": datetime(2020, 1, 1)}, ()),  # noqa: DTZ001
    **{
        f"belief referred to by one that is {state}": ("Belief", BELIEF, (link("Belief", state=state),))
        for state in ("active", "core", "validated")
    },
    **{
        f"belief that is {state!r}": ("Belief", BELIEF | {"state": state}, ())
        for state in ("candidate", "ARCHIVED", "", 7)
    },
    "belief steady": ("Belief", {"state": "active", "confidence": 0.9, "created_at": OLD}, ()),
    "reflection proven": ("Reflection", REFLECTION | {"access_count": 6}, ()),
    "reflection of odd count": ("Reflection", REFLECTION | {"access_count": "0"}, ()),
    "reflection of negative count": ("Reflection", REFLECTION | {"access_count": -1}, ()),
    "reflection of odd state": ("Reflection", REFLECTION | {"consolidated": "true"}, ()),
    "reflection without a state": ("Reflection", {"created_at": OLD}, ()),
    **{
        f"analysis {severity!r}": ("Analysis", ANALYSIS | {"severity": severity}, ())
        for severity in ("Low", "", "none", 1, ["low"])
    },
    "analysis without a severity": ("Analysis", {"created_at": OLD}, ()),
    **{
        f"analysis recommended {direction} {severity}": (
            "Analysis",
            ANALYSIS | {"severity": severity},
            (link("Recommendation", direction),),
        )
        for direction, severity in (("in", "low"), ("out", "info"), ("in", "medium"), ("out", "high"))
    },
    **{
        f"context {level!r}": ("CompressedContext", {"compression_level": level, "created_at": OLD}, ())
        for level in ("summary", "full", "Keywords", 7)
    },
    "context used": (
        "CompressedContext",
        {"compression_level": "keywords", "created_at": OLD, "last_accessed_at": NOW - 44 * DAY},
        (),
    ),
    "context of odd use": (
        "CompressedContext",
        {"compression_level": "keywords", "created_at": OLD, "last_accessed_at": "never"},
        (),
    ),
    "synthesis read often": ("Synthesis", {"created_at": OLD, "access_count": 4}, ()),
    "synthesis of negative count": ("Synthesis", {"created_at": OLD, "access_count": -1}, ()),
    "synthesis of odd count": ("Synthesis", {"created_at": OLD, "access_count": [0]}, ()),
    "synthesis without a date": ("Synthesis", {}, ()),
}


def test_what_a_condition_lets_be_stays_as_it_is(applied: Jochi) -> None:
    memories = [Memory(id, (kind,), properties, links=links) for id, (kind, properties, links) in UNTOUCHED.items()]
    left = curate(applied, *memories)
    assert pruned(left) == set()
    for id, (_kind, properties, _links) in UNTOUCHED.items():
        for name, value in properties.items():
            assert left[id][name] == value or repr(left[id][name]) == repr(value), (id, name)
        assert left[id].moved == (None, None, None, None), id
    assert graph.audits(applied.database) == []


TOUCHED: dict[str, tuple[str, dict[str, Any], tuple[Link, ...]]] = {
    "task learned from a tombstone": ("Task", TASK, (link("Tombstone", "in", "LEARNED_FROM"),)),
    "task learned from a stale tombstone": ("Task", TASK, (link("Note+Tombstone", "out", "LEARNED_FROM"),)),
    "task with another relationship": ("Task", TASK, (link("Note", "out", "learned_from"),)),
    "failed task that was learned from": ("Task", TASK | {"status": "failed"}, (link("Note", "in", "LEARNED_FROM"),)),
    "belief that refers to an active one": ("Belief", BELIEF, (link("Belief", "out", state="active"),)),
    "belief referred to by an archived one": ("Belief", BELIEF, (link("Belief", state="archived"),)),
    "belief referred to by a dead one": ("Belief", BELIEF, (link("Tombstone", state="active"),)),
    "belief referred to by a stale dead one": ("Belief", BELIEF, (link("Belief+Tombstone", state="active"),)),
    "belief referred to by something else": ("Belief", BELIEF, (link("Note", state="active"),)),
    "analysis with a dead recommendation": ("Analysis", ANALYSIS, (link("Recommendation+Tombstone"),)),
    "analysis with something else": ("Analysis", ANALYSIS, (link("Note"),)),
    "a state nobody knows is not archived": ("Task", TASK | {"state": "done"}, ()),
}


def test_what_no_condition_lets_be_goes(applied: Jochi) -> None:
    memories = [Memory(id, (kind,), properties, links=links) for id, (kind, properties, links) in TOUCHED.items()]
    left = curate(applied, *memories)
    tasks = {id for id, (kind, _properties, _links) in TOUCHED.items() if kind == "Task"}
    assert archived(left) == tasks
    assert pruned(left) == TOUCHED.keys() - tasks


BLOCKS: dict[str, dict[str, Any]] = {
    "pinned": {"pinned": True},
    "odd pin": {"pinned": "false"},
    "keep_forever": {"ttl_policy": "keep_forever"},
    "odd ttl_policy": {"ttl_policy": 7},
    "hold": {"hold_until": NOW + HAIR},
    "odd hold": {"hold_until": "2020-01-01"},
    "locked": {"locked_by": "kublai", "locked_at": NOW - timedelta(minutes=10) + HAIR},
    "odd lock": {"locked_by": "kublai"},
    "quarantined": {"quarantined_until": NOW + HAIR},
    "odd quarantine": {"quarantined_until": 7},
}
LETS: dict[str, dict[str, Any]] = {
    "not pinned": {"pinned": False},
    "standard": {"ttl_policy": "standard"},
    "hold that is over": {"hold_until": NOW},
    "lock that is over": {"locked_by": "kublai", "locked_at": NOW - timedelta(minutes=10)},
    "quarantine that is over": {"quarantined_until": NOW},
    "many agents": {"agents": ["a", "b", "c", "d"]},
    "odd agents": {"agents": 7},
}


def test_what_blocks_an_archive_and_what_does_not(applied: Jochi) -> None:
    """Archive forgets nothing, so grace and consensus are no rails for it; unknown blocks all the same."""
    memories = [Memory(id, ("Task",), TASK | more) for id, more in (BLOCKS | LETS).items()]
    memories.append(Memory("touched", ("Task",), TASK, touched=True))
    left = curate(applied, *memories)
    assert archived(left) == LETS.keys()
    assert left["hold"]["next_due"] <= NOW + timedelta(minutes=15)
    assert "hold" in archived(look(applied, left["hold"]["next_due"]))


def test_an_archived_task_is_never_archived_again(applied: Jochi) -> None:
    """Nor is it pruned: ARCHIVE is kept unless the policy says otherwise (DESIGN §9)."""
    first = curate(applied, Memory("t", ("Task",), TASK | {"tier": "WARM"}))
    assert first["t"].moved == ("ARCHIVE", "task.completed", "WARM", NOW)
    for later in (NOW + 31 * DAY, NOW + 400 * DAY):
        due_again(applied, later)
        left = look(applied, later)
        assert left["t"].live
        assert left["t"].moved == first["t"].moved
        assert left["t"]["archived_at"] == NOW
    assert len(graph.audits(applied.database)) == 1


def test_a_weak_belief_is_archived_and_thirty_days_later_pruned(applied: Jochi) -> None:
    """The second, destructive step counts from when the first really happened, however late that was."""
    belief = Memory("b", ("Belief",), {"state": "active", "confidence": 0.1, "created_at": OLD})
    left = curate(applied, belief)
    assert archived(left) == {"b"}
    assert left["b"]["next_due"] <= NOW + 30 * DAY
    due_again(applied, NOW + 30 * DAY - HAIR)
    left = look(applied, NOW + 30 * DAY - HAIR)
    assert left["b"].live
    assert pruned(look(applied, left["b"]["next_due"])) == {"b"}


def test_a_prune_goes_before_an_archive(applied: Jochi) -> None:
    expired = Memory("t", ("Task",), TASK | {"expires_at": NOW, "tier": "HOT"})
    left = curate(applied, expired)
    assert pruned(left) == {"t"}
    assert [audit["action"] for audit in graph.audits(applied.database)] == ["prune"]
    assert left["t"]["tier"] == "HOT"


def test_a_prune_that_a_rail_stops_leaves_the_archive(applied: Jochi) -> None:
    kept = Memory("t", ("Task",), TASK | {"expires_at": NOW, "agents": ["a", "b", "c", "d"]})
    write(applied, [kept])
    said = applied.explain("t", at=NOW)
    assert (said.outcome, said.rule) == ("protected", "any.expires_at")
    assert [(c.action, c.rule, c.due, c.to) for c in said.changes] == [
        ("archive", "task.completed", OLD + 14 * DAY, "ARCHIVE")
    ]
    assert archived(look(applied)) == {"t"}


def test_reflections_are_flagged_until_they_are_consolidated(applied: Jochi) -> None:
    """Never pruned for their age: flagged (seed 000). The flag goes when consolidated comes."""
    reflection = Memory("r", ("Reflection",), {"consolidated": False, "created_at": OLD})
    young = Memory("young", ("Reflection",), {"consolidated": False, "created_at": NOW})
    odd = Memory("odd", ("Reflection",), {"consolidated": "no", "created_at": OLD, "needs_consolidation": True})
    write(applied, [reflection, young, odd], first=None)
    plan = {(g.rule, g.outcome): g.n for g in applied.plan(NOW).groups if g.outcome not in ("keep", "protected")}
    assert plan == {("reflection.unconsolidated", "flag"): 2}
    left = look(applied)
    assert [left[id]["needs_consolidation"] for id in ("r", "young", "odd")] == [True, True, True]
    assert pruned(left) == set()
    applied.database.run(
        "MATCH (m:Reflection {id: 'r'}) SET m.consolidated = true, m.consolidated_at = $now", {"now": NOW}
    )
    due_again(applied, NOW + DAY)
    assert [(c.action, c.rule) for c in applied.explain("r", at=NOW + DAY).changes] == [
        ("unflag", "reflection.unconsolidated")
    ]
    left = look(applied, NOW + DAY)
    assert [bool(left[id]["needs_consolidation"]) for id in ("r", "young", "odd")] == [False, True, True]


def test_a_paused_kind_archives_and_flags_nothing(applied: Jochi) -> None:
    from jochi.jobs.results import Switch

    applied.pause(Switch("scope", "default"))
    memories = [
        Memory("t", ("Task",), TASK),
        Memory("r", ("Reflection",), {"consolidated": False, "created_at": OLD}),
        Memory("m", ("MemoryEntry",), {"tier": "HOT", "created_at": OLD, "last_accessed_at": OLD}),
    ]
    left = curate(applied, *memories)
    assert archived(left) == set()
    assert left["r"]["needs_consolidation"] is None
    assert left["m"].moved == ("HOT", None, None, None)
    applied.resume(Switch("scope", "default"))
    left = look(applied, NOW + timedelta(hours=1))
    assert archived(left) == {"t"}
    assert (left["r"]["needs_consolidation"], left["m"]["tier"]) == (True, "WARM")
