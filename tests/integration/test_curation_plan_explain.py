"""A plan writes nothing and names what the run then does; explain says why; golden query plans (DESIGN §6, §8)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import RAILS, Memory, graph
from tests.query_plans import fill, operators

from jochi import Jochi
from jochi.errors import Refused
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
DAY = timedelta(days=1)
OLD = NOW - 40 * DAY
MEMORIES = [
    *(Memory(f"read{i}", ("Notification",), {"read": True, "created_at": OLD}) for i in range(7)),
    Memory("pinned", ("Notification",), {"read": True, "created_at": OLD, "pinned": True}),
    Memory("new", ("Notification",), {"read": True, "created_at": NOW}),
    Memory("session", ("SessionContext",), {"active": False, "created_at": OLD}, scope="b"),
    Memory("note", ("Note",), {"created_at": OLD}, scope="b"),
]


def everything(client: Jochi) -> list[dict[str, Any]]:
    return client.database.run("MATCH (n) RETURN labels(n) AS labels, properties(n) AS stored ORDER BY elementId(n)")


def test_a_plan_writes_nothing_and_names_what_the_run_then_does(applied: Jochi) -> None:
    graph.write(applied.database, MEMORIES, due=NOW)
    before = everything(applied)
    plan = applied.plan(NOW)
    assert everything(applied) == before
    groups = {(group.kind, group.rule, group.outcome): (group.n, group.scopes) for group in plan.groups}
    assert groups == {
        ("Notification", "notification.read", "prune"): (7, 1),
        ("Notification", "notification.read", "protected"): (1, 1),
        ("Notification", None, "keep"): (1, 1),
        ("SessionContext", "session.inactive", "prune"): (1, 1),
        ("Note", None, "keep"): (1, 1),
    }
    assert [group.samples for group in plan.groups if group.kind == "Note"] == [["b/note"]]
    assert {(quota.scope, quota.kind, quota.n) for quota in plan.quotas} == {
        ("default", "Notification", 7),
        ("b", "SessionContext", 1),
    }
    assert (plan.prunes, plan.rails, plan.looked_at) == (8, {"pinned": 1}, len(MEMORIES))
    run = run_job(applied.engine, "curate_due", now=NOW)[0]
    assert (run.changed, run.tally["pruned"], run.tally["protected"], run.tally["keep"]) == (8, 8, 1, 2)
    assert applied.plan(NOW).looked_at == 0


def test_a_plan_of_many_pages_counts_those_of_one_moment_once(applied: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half are due at one moment, half at another: a page ends within each."""
    graph.write(applied.database, MEMORIES[::2], due=NOW)
    graph.write(applied.database, MEMORIES[1::2], due=NOW - DAY)
    whole = applied.plan(NOW)
    for page in (1, 2, len(MEMORIES) - 1):
        monkeypatch.setattr("jochi.curate.plan.PAGE", page)
        paged = applied.plan(NOW)
        assert {(g.kind, g.rule, g.outcome): g.n for g in paged.groups} == {
            (g.kind, g.rule, g.outcome): g.n for g in whole.groups
        }
        assert (paged.quotas, paged.looked_at) == (whole.quotas, len(MEMORIES))


def test_a_plan_of_another_policy_is_not_applied(jochi: Jochi) -> None:
    from dataclasses import replace

    with pytest.raises(Refused, match="changed"):
        jochi.apply(replace(jochi.plan(), policy_sha256="another"))
    with pytest.raises(Refused, match="go"):
        run_job(jochi.engine, "curate_due")


def test_explain_tells_every_rule_and_every_rail(applied: Jochi) -> None:
    memory = Memory("n", ("Notification",), {"read": True, "created_at": OLD, "read_at": OLD + DAY, "pinned": True})
    graph.write(applied.database, [memory], due=NOW)
    said = applied.explain("n", at=NOW)
    assert (said.kind, said.outcome, said.rule) == ("Notification", "protected", "notification.read")
    assert [rule.rule for rule in said.rules[:3]] == ["any.expires_at", "notification.read", "notification.unread"]
    moves = {rule.name for rule in applied.policy.policy.tier_rules}
    assert {rule.rule for rule in said.rules[3:]} == moves | {"score.prunes", "score.demotes"}
    (read,) = (rule for rule in said.rules if rule.rule == "notification.read")
    assert (read.due, read.met, read.unknown) == (OLD + 8 * DAY, True, False)
    assert [dict(condition) for condition in read.conditions] == [
        {"property": "read", "required": "= true", "current": True, "met": True},
        {"property": "mvs", "required": "< 8.0, or 2.0 times as long", "current": 0.5, "met": True},
    ]
    assert [(clock["property"], clock["current"]) for clock in read.clock] == [
        ("read_at", OLD + DAY),
        ("created_at", OLD),
    ]
    assert [rail.rail for rail in said.rails] == list(RAILS)
    (pinned,) = (rail for rail in said.rails if rail.blocks)
    assert (pinned.rail, pinned.until, pinned.current) == ("pinned", None, True)


def test_explain_says_when_a_rail_ends(applied: Jochi) -> None:
    ends = NOW + timedelta(hours=3)
    graph.write(
        applied.database, [Memory("n", ("Note",), {"created_at": OLD, "expires_at": OLD, "hold_until": ends})], due=NOW
    )
    said = applied.explain("n", at=NOW)
    assert [(rail.rail, rail.until) for rail in said.rails if rail.blocks] == [("hold", ends)]
    assert said.next_look is not None
    assert ends <= said.next_look <= ends + timedelta(hours=1)


def test_explain_of_a_tombstone_and_of_nothing(applied: Jochi) -> None:
    graph.write(applied.database, MEMORIES, due=NOW)
    run_job(applied.engine, "curate_due", now=NOW)
    said = applied.explain("read0", at=NOW)
    assert (said.outcome, said.found, len(said.tombstones)) == (None, True, 1)
    assert said.tombstones[0]["purge_due"] == NOW + 30 * DAY
    inputs = {entry["property"]: entry["value"] for entry in said.tombstones[0]["inputs"]}
    assert (inputs["read"], inputs["created_at"]) == (True, OLD)
    assert said.audits[0]["run"]
    assert said.audits[0]["policy"].startswith("tests@")
    assert [(audit["action"], audit["rule"]) for audit in said.audits] == [("prune", "notification.read")]
    assert not applied.explain("never", at=NOW).found


JOBS = [
    ("curate/curate_due", "next_due", "NodeUniqueIndexSeek", 3),
    ("curate/purge_tombstones", "deleted_at", "NodeIndexSeek", 7),
]


def test_a_due_select_seeks_its_index_and_acting_on_keys_seeks_each_key(applied: Jochi) -> None:
    """The act expands to Agents (rail of consensus), sessions and tasks (tiers); the purge besides to what it cuts, what
    follows a memory that was merged, what was kept for taking that merge back, and the contexts that follow one in time."""
    fill(applied)
    for job, index, seek, expands in JOBS:
        found = operators(applied, applied.engine.text(job, "select"))
        names = [operator for operator, _details in found]
        assert names[0] == "NodeIndexSeekByRange"
        assert index in found[0][1]
        assert "Limit" in names
        assert not [name for name in names if "Sort" in name or "Top" in name]
        found = operators(applied, applied.engine.text(job, "act"))
        assert [details for operator, details in found if operator.startswith(seek) and "(key)" in details]
        assert len({details for operator, details in found if operator.startswith("Expand")}) <= expands
