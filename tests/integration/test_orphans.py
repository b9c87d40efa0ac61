"""The sweep of orphans: what hangs on nothing goes, under all rails, switches and the breaker (docs/reference/orphans.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import partial
from threading import Thread
from typing import Any

import pytest
from tests.conftest import say_go
from tests.curation_looks import set_batches
from tests.oracle import Memory, graph
from tests.oracle.strategies import WRONG_TYPES

from jochi import Jochi
from jochi.curate.plan import PlanQuota
from jochi.database.database import in_one_map
from jochi.errors import Refused
from jochi.jobs.results import Switch
from jochi.jobs.runner import Run, run_job
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
OLD = NOW - 40 * DAY
LATER = NOW + 90 * DAY
JOB = "sweep_orphans"
shape = partial(set_batches, job=JOB)


@pytest.fixture
def applied(jochi: Jochi, test_policy: LoadedPolicy) -> Iterator[Jochi]:
    say_go(jochi)
    yield jochi
    job = test_policy.policy.jobs[JOB]
    shape(jochi, job.batch_size, job.max_batches)


def context(id: str = "c", *labels: str, **properties: Any) -> Memory:
    scope = properties.pop("scope", "default")
    return Memory(id, labels or ("CompressedContext",), {"created_at": OLD} | properties, scope=scope)


def write(client: Jochi, *memories: Memory) -> None:
    """Not waiting in the queue: what does is the queue's to judge first."""
    graph.write(client.database, memories, due=LATER)


def sweep(client: Jochi, now: datetime = NOW) -> list[Run]:
    runs = run_job(client.engine, JOB, now=now, drain=True)
    assert [run.error for run in runs if run.error] == []
    return runs


def gone(client: Jochi) -> list[str]:
    return sorted(graph.pruned(client.database))


def hang(client: Jochi, key: str, pattern: str, **parameters: Any) -> None:
    client.database.run(f"MATCH (m:Curated {{key: $key}}) {pattern}", {"key": key, **parameters})


def test_it_waits_for_somebody_to_say_go(jochi: Jochi) -> None:
    with pytest.raises(Refused, match="go"):
        run_job(jochi.engine, JOB)


def test_what_hangs_on_nothing_goes_and_comes_back(applied: Jochi) -> None:
    write(applied, context("c", tier="COLD", token_count=70), context("linked", token_count=900))
    hang(applied, "default/linked", "CREATE (m)-[:PART_OF]->(:Session)")
    (run,) = sweep(applied)
    (summary,) = applied.runs(run.id)
    assert (summary.tokens_before["COLD"], sum(summary.tokens_before.values())) == (70, 70)
    assert sum(summary.tokens_after.values()) == 0
    assert (run.changed, dict(run.tally)) == (1, {"pruned": 1, "rule_orphan_unlinked": 1})
    assert gone(applied) == ["default/c"]
    (audit,) = graph.audits(applied.database)
    assert {name: audit[name] for name in ("action", "rule", "kind", "key", "scope", "run")} == {
        "action": "prune",
        "rule": "orphan.unlinked",
        "kind": "CompressedContext",
        "key": "default/c",
        "scope": "default",
        "run": run.id,
    }
    assert audit["due"] == OLD + 7 * DAY
    assert [entry["rule"] for entry in applied.explain("c", at=NOW).audits] == ["orphan.unlinked"]
    assert [restored.outcome for restored in applied.restore(["default/c"])] == ["restored"]
    assert sweep(applied, NOW + DAY)[0].changed == 0  # the hold of the restore


MOMENTS = ("created_at", "updated_at", "read_at", "last_active_at", "last_accessed_at")


def test_seven_days_after_the_newest_moment_and_not_a_second_before(applied: Jochi) -> None:
    write(applied, *(context(f"exact {name}", **{name: NOW - 7 * DAY}) for name in MOMENTS))
    write(applied, *(context(f"early {name}", **{name: NOW - 7 * DAY + SECOND}) for name in MOMENTS))
    sweep(applied)
    assert gone(applied) == sorted(f"default/exact {name}" for name in MOMENTS)


def test_a_moment_that_cannot_be_read_keeps_it(applied: Jochi) -> None:
    odd = [(name, value) for name in MOMENTS for value in WRONG_TYPES.values()]
    write(applied, *(context(f"c{i}", **{name: value}) for i, (name, value) in enumerate(odd)))
    assert sum(run.changed for run in sweep(applied)) == 0
    assert applied.plan(NOW).prunes == 0


def test_without_created_at_it_stays(applied: Jochi) -> None:
    write(applied, Memory("c", ("CompressedContext",), {}))
    assert sweep(applied)[0].changed == 0


KINDS: list[tuple[tuple[str, ...], dict[str, Any], bool]] = [
    (("SessionContext",), {"active": False}, True),
    (("Notification",), {"read": True}, True),
    (("Notification",), {"read": False, "priority": "critical"}, False),
    (("Notification",), {}, False),
    (("Notification",), {"read": "yes"}, False),
    (("CompressedContext",), {}, True),
    (("Recommendation",), {}, True),
    (("CompressedContext", "Draft"), {}, True),
    (("CompressedContext", "Recommendation"), {}, True),
    (("CompressedContext", "Notification"), {"read": False}, False),
    (("CompressedContext", "Note"), {}, False),
    (("Recommendation", "Task"), {"status": "completed"}, False),
    (("MemoryEntry",), {}, False),
    (("Belief",), {"state": "archived", "confidence": 0.1}, False),
    (("Task",), {"status": "completed"}, False),
    (("Invoice",), {}, False),
]


def test_only_kinds_of_the_policy(applied: Jochi) -> None:
    write(applied, *(context(f"c{n:02}", *labels, **held) for n, (labels, held, _) in enumerate(KINDS)))
    sweep(applied)
    assert gone(applied) == [f"default/c{n:02}" for n, (*_, goes) in enumerate(KINDS) if goes]


GONE = "CREATE (m)-[:HAS]->(:Tombstone {tombstone: true, tombstone_labels: ['Curated'], deleted_at: $old})"
THERE: list[tuple[str, bool]] = [
    ("CREATE (m)-[:PART_OF]->(:Curated {key: $other, created_at: $old, next_due: $later})", False),
    ("CREATE (m)-[:FOLLOWS]->(:Curated {key: $other, created_at: $old, next_due: $later})", False),
    ("CREATE (m)<-[:FOLLOWS {derived_by: 'levels'}]-(:Curated {key: $other, created_at: $old, next_due: $later})", True),
    ("CREATE (m)<-[:SAW]-(:Agent {id: 'a'})", False),
    ("CREATE (m)-[:ABOUT]->()", False),
    ("CREATE (m)-[:SAME]->(m)", True),
    ("CREATE (m)<-[:LOOKED]-(:JochiThing)", True),
    ("CREATE (m)<-[:LOOKED]-(:CurationAudit)", True),
    ("CREATE (m)-[:PART_OF]->(:Tombstone {tombstone: true, tombstone_labels: ['Curated'], deleted_at: $old})", True),
    ("CREATE (m)-[:PART_OF]->(:Tombstone {tombstone: true, tombstone_labels: ['Curated'], deleted_at: $recent})", False),
    ("CREATE (m)-[:PART_OF]->(:Tombstone {tombstone: true, tombstone_labels: ['Curated'], deleted_at: $exact})", True),
    ("CREATE (m)-[:PART_OF]->(:Tombstone {tombstone: true, tombstone_labels: ['Curated'], deleted_at: 'then'})", False),
    ("CREATE (m)-[:PART_OF]->(:Tombstone {deleted_at: $old})", False),  # another framework's
    ("CREATE (m)-[:PART_OF]->(:Tombstone {tombstone: true, tombstone_labels: ['Other'], deleted_at: $old})", False),
    ("CREATE (m)-[:A]->(:Tombstone {tombstone: true, tombstone_labels: ['Curated'], deleted_at: $old}), (m)-[:B]->()", False),
    (f"WITH m UNWIND range(1, 1000) AS i {GONE}", True),
    (f"WITH m UNWIND range(1, 1001) AS i {GONE}", False),  # more than are looked at
]  # fmt: skip


def test_what_counts_as_something_to_hang_on(applied: Jochi) -> None:
    write(applied, *(context(f"c{n:02}") for n in range(len(THERE))))
    moments = {"old": OLD, "later": LATER, "recent": NOW - 7 * DAY + SECOND, "exact": NOW - 7 * DAY}
    for n, (pattern, _) in enumerate(THERE):
        hang(applied, f"default/c{n:02}", pattern, other=f"default/other{n}", **moments)
    sweep(applied)
    assert gone(applied) == [f"default/c{n:02}" for n, (_, goes) in enumerate(THERE) if goes]


def test_what_was_pruned_around_it_gives_it_seven_days(applied: Jochi) -> None:
    """The clock of a second step starts when the first really happened (DESIGN §8)."""
    write(applied, context("c"))
    session = Memory("s", ("SessionContext",), {"active": False, "created_at": OLD})
    graph.write(applied.database, [session], due=NOW)
    hang(applied, "default/c", "MATCH (s:Curated {key: 'default/s'}) CREATE (m)-[:PART_OF]->(s)")
    run_job(applied.engine, "curate_due", now=NOW)
    assert gone(applied) == ["default/s"]
    sweep(applied, NOW + 7 * DAY - SECOND)
    assert gone(applied) == ["default/s"]
    sweep(applied, NOW + 7 * DAY + HOUR)
    assert gone(applied) == ["default/c", "default/s"]


RAILS: list[tuple[str, dict[str, Any], str]] = [
    ("pinned", {"pinned": True}, ""),
    ("pinned", {"pinned": "yes"}, ""),
    ("keep_forever", {"ttl_policy": "keep_forever"}, ""),
    ("hold", {"hold_until": NOW + SECOND}, ""),
    ("hold", {"hold_until": "soon"}, ""),
    ("locked", {"locked_by": "kublai", "locked_at": NOW}, ""),
    ("unfolded_access", {}, "CREATE (:JochiAccess {key: m.key})"),
    ("quarantined", {"quarantined_until": NOW + SECOND}, ""),
    ("consensus", {"agents": ["a", "b", "c", "d"]}, ""),
    ("consensus", {"agents": 4}, ""),
    ("agent_identity", {}, "SET m:Agent"),
    ("agent_key", {}, "SET m:AgentKey"),
    ("migration", {}, "SET m:Migration"),
    ("system_config", {}, "SET m:SystemConfig"),
]


def test_every_rail_holds(applied: Jochi) -> None:
    write(applied, context("plain"), *(context(f"c{n}", **held) for n, (_, held, _) in enumerate(RAILS)))
    for n, (*_, pattern) in enumerate(RAILS):
        if pattern:
            hang(applied, f"default/c{n}", pattern)
    (run,) = sweep(applied)
    held_by = Counter(rail for rail, *_ in RAILS)
    assert (gone(applied), run.tally["protected"]) == (["default/plain"], len(RAILS))
    assert {rail: run.tally[f"rail_{rail}"] for rail in held_by} == held_by
    sweep(applied)
    saved = [audit for audit in graph.audits(applied.database) if audit["action"] == "protect"]
    assert sorted(audit["key"] for audit in saved) == sorted(f"default/c{n}" for n in range(len(RAILS)))
    for audit in saved:
        assert (audit["rule"], RAILS[int(audit["key"][9:])][0] in audit["rails"]) == ("orphan.unlinked", True), audit


def test_an_active_session_is_protected(applied: Jochi) -> None:
    write(applied, context("c", "SessionContext", active=True), context("d", "SessionContext"))
    assert sweep(applied)[0].tally["rail_active_session"] == 2


def test_what_waits_in_the_queue_is_judged_there_first(applied: Jochi) -> None:
    graph.write(applied.database, [context("c"), context("d", expires_at=OLD)], due=NOW)
    assert sweep(applied)[0].changed == 0
    run_job(applied.engine, "curate_due", now=NOW)
    assert gone(applied) == ["default/d"]
    sweep(applied, NOW + HOUR)
    assert gone(applied) == ["default/c", "default/d"]
    assert {audit["rule"] for audit in graph.audits(applied.database)} == {"any.expires_at", "orphan.unlinked"}


def test_kill_switches(applied: Jochi) -> None:
    write(applied, context("a"), context("b", "Recommendation"), context("c", scope="other"))
    applied.pause(Switch("kind", "Recommendation"))
    applied.pause(Switch("scope", "other"))
    try:
        (run,) = sweep(applied)
        assert (gone(applied), run.tally["paused"]) == (["default/a"], 2)
    finally:
        applied.resume(Switch("kind", "Recommendation"))
        applied.resume(Switch("scope", "other"))
    sweep(applied, NOW + HOUR)
    assert len(gone(applied)) == 3
    applied.pause(Switch("job", JOB))
    with pytest.raises(Refused, match="paused"):
        sweep(applied)
    applied.resume(Switch("job", JOB))


def test_the_breaker_stops_it_and_the_next_run_begins_anew(applied: Jochi) -> None:
    write(applied, *(context(f"c{i:03d}") for i in range(101)), context("r", "Recommendation"))
    (run,) = sweep(applied)
    assert (run.status, run.tally["pruned"], run.tally["breaker"]) == ("breaker", 101, 1)
    assert [entry["kind"] for entry in applied.status().tripped] == ["CompressedContext"]
    with pytest.raises(Refused, match=f"approve {run.id}"):
        sweep(applied, NOW + SECOND)
    approved = applied.approve_run(run.id, now=NOW + SECOND)
    assert approved.lifts == [PlanQuota("default", "CompressedContext", 1)]
    assert sweep(applied, NOW + SECOND)[-1].status == "ok"  # no pause between walks then
    assert len(gone(applied)) == 102


def test_it_goes_on_where_it_stopped(applied: Jochi) -> None:
    shape(applied, 3, 1)
    write(applied, *(context(f"c{i}") for i in range(10)))
    pruned = []
    for _ in range(4):
        (run,) = run_job(applied.engine, JOB, now=NOW)
        assert run.batches == 1
        pruned.append(len(gone(applied)))
    assert pruned == [3, 6, 9, 10]
    assert cursor(applied) is None


def cursor(client: Jochi) -> str | None:
    return client.database.run("MATCH (j:JochiJob {name: $job}) RETURN j.cursor AS cursor", {"job": JOB})[0]["cursor"]  # type: ignore[no-any-return]


def test_a_walk_ends_whatever_the_size_of_a_page(applied: Jochi) -> None:
    write(applied, *(context(f"c{i}", "Note") for i in range(10)))
    for batch_size in (1, 5, 10, 11):
        shape(applied, batch_size, 1000)
        again(applied)
        (run,) = sweep(applied)
        assert (run.selected, cursor(applied)) == (10, None), batch_size


def test_a_walk_whose_rest_vanished_ends(applied: Jochi) -> None:
    shape(applied, 3, 1)
    write(applied, *(context(f"c{i}", "Note") for i in range(5)))
    run_job(applied.engine, JOB, now=NOW)
    applied.database.run("MATCH (m:Curated) DETACH DELETE m")
    assert cursor(applied) is not None
    assert sweep(applied)[-1].selected == 0
    assert cursor(applied) is None


def test_one_walk_at_most_in_the_policys_pause(applied: Jochi, test_policy: LoadedPolicy) -> None:
    pause = test_policy.policy.orphans.pause
    write(applied, context("a"))
    assert sweep(applied)[0].selected == 1
    write(applied, context("b"))
    assert [sweep(applied, NOW + later)[0].selected for later in (timedelta(0), pause - SECOND)] == [0, 0]
    assert gone(applied) == ["default/a"]
    assert sweep(applied, NOW + pause)[0].changed == 1
    # A clock that went back doesn't stop it.
    write(applied, context("c"))
    assert sweep(applied, NOW)[0].changed == 1


def test_two_runs_at_one_moment(applied: Jochi) -> None:
    write(applied, context("a"), context("b", "Note"), context("p", pinned=True))
    sweep(applied)
    again(applied)
    before = graph.state(applied.database)
    assert sweep(applied)[0].changed == 0
    assert graph.state(applied.database) == before
    assert [audit["action"] for audit in graph.audits(applied.database)].count("prune") == 1


def again(client: Jochi) -> None:
    client.database.run("MATCH (j:JochiJob {name: $job}) SET j.walked_at = null", {"job": JOB})


def act(client: Jochi, keys: list[str]) -> dict[str, Any]:
    text = client.engine.text("curate/sweep_orphans", "act")
    parameters = {"now": NOW, "keys": keys, "run": "test/1", "policy": "test", "job": {"name": JOB}}
    return client.database.run(text, in_one_map(parameters))[0]


def test_a_relationship_that_comes_between_select_and_act(applied: Jochi) -> None:
    write(applied, context("a"), context("b"))
    select = applied.engine.text("curate/sweep_orphans", "select")
    asked = in_one_map({"now": NOW, "limit": 10, "skip": [], "job": {"name": JOB}})
    (row,) = applied.database.run(select, asked, write=False)
    assert row["keys"] == ["default/a", "default/b"]
    hang(applied, "default/a", "CREATE (m)-[:PART_OF]->(:Session)")
    assert act(applied, row["keys"])["changed"] == 1
    assert gone(applied) == ["default/b"]


def test_a_relationship_that_is_being_written_is_waited_for(applied: Jochi) -> None:
    """Found without a lock, it is looked at again under it. No retry here that would look anew by itself."""
    write(applied, context("a"))
    text = applied.engine.text("curate/sweep_orphans", "act")
    parameters = {"now": NOW, "keys": ["default/a"], "run": "test/1", "policy": "test", "job": {"name": JOB}}
    results: list[Any] = []

    def acting() -> None:
        with applied.database.driver.session(database=applied.database.name) as session:
            results.extend(session.run(text, in_one_map(parameters)).data())

    with applied.database.driver.session(database=applied.database.name) as session:
        writing = session.begin_transaction()
        writing.run(
            "MATCH (m:Curated {key: 'default/a'}) SET m.seen = true CREATE (m)-[:PART_OF]->(:Session)"
        ).consume()
        sweeping = Thread(target=acting)
        sweeping.start()
        waiting = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n"
        while sweeping.is_alive() and not applied.database.run(waiting, write=False)[0]["n"]:
            pass
        writing.commit()
        sweeping.join()
    assert [row["changed"] for row in results] == [0]
    assert gone(applied) == []


def test_a_plan_names_what_the_runs_then_do_and_writes_nothing(applied: Jochi) -> None:
    write(
        applied,
        *(context(f"c{i}") for i in range(7)),
        context("pinned", pinned=True),
        context("r", "Recommendation", scope="other"),
        context("note", "Note"),
        context("young", created_at=NOW),
    )
    graph.write(
        applied.database,
        [context("waits"), context("both", expires_at=OLD), context("s", "SessionContext", active=False)],
        due=NOW,
    )
    before = graph.state(applied.database)
    plan = applied.plan(NOW)
    assert graph.state(applied.database) == before
    orphans = {(g.kind, g.outcome): (g.n, g.scopes) for g in plan.groups if g.rule == "orphan.unlinked"}
    assert orphans == {
        ("CompressedContext", "prune"): (8, 1),
        ("CompressedContext", "protected"): (1, 1),
        ("Recommendation", "prune"): (1, 1),
    }
    assert (plan.prunes, plan.rails) == (11, {"pinned": 1})
    assert {(quota.scope, quota.kind, quota.n) for quota in plan.quotas} == {
        ("default", "CompressedContext", 9),
        ("default", "SessionContext", 1),
        ("other", "Recommendation", 1),
    }
    run_job(applied.engine, "curate_due", now=NOW)
    sweep(applied)
    assert len(gone(applied)) == plan.prunes
    by_rule = [audit["rule"] for audit in graph.audits(applied.database) if audit["action"] == "prune"]
    assert by_rule.count("orphan.unlinked") == 9


def test_a_plan_goes_through_all_pages_and_is_silent_where_the_job_is_off(
    applied: Jochi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jochi.curate.plan._SWEPT_PAGE", 3)
    write(applied, *(context(f"c{i}") for i in range(9)))
    (group,) = applied.plan(NOW).groups
    assert (group.n, group.samples) == (9, ["default/c0", "default/c2", "default/c3", "default/c5", "default/c6"])
    applied.database.run("MATCH (j:JochiJob {name: $job}) SET j.enabled = false", {"job": JOB})
    assert applied.plan(NOW).groups == []


@pytest.mark.slow
def test_three_orphans_among_twenty_thousand(applied: Jochi) -> None:
    applied.database.run(
        "UNWIND range(1, 20000) AS i CREATE (m:Curated {key: 'default/m' + i, scope: 'default', id: 'm' + i, "
        "created_at: $old, next_due: $later}) "
        "FOREACH (x IN CASE WHEN i % 2 = 0 THEN [m] ELSE [] END | SET x:CompressedContext CREATE (x)-[:PART_OF]->(:Thing)) "
        "FOREACH (x IN CASE WHEN i % 2 = 1 THEN [m] ELSE [] END | SET x:MemoryEntry)",
        {"old": OLD, "later": LATER},
    )
    write(applied, *(context(id) for id in ("a", "m99999", "z")))
    text = applied.engine.text("curate/sweep_orphans", "select")
    with applied.database.driver.session(database=applied.database.name) as session:
        asked = in_one_map({"now": NOW, "limit": 500, "skip": [], "job": {"name": JOB}})
        summary = session.run("PROFILE " + text, asked).consume().profile
    found: list[tuple[str, int]] = []

    def walk(node: dict[str, Any]) -> None:
        found.append((node["operatorType"].split("@")[0], node["dbHits"]))
        for child in node.get("children", []):
            walk(child)

    assert summary is not None
    walk(summary)
    assert not [name for name, _hits in found if "Scan" in name or "Sort" in name or "Top" in name]
    assert sum(hits for _name, hits in found) < 2_500
    runs = sweep(applied)
    assert sum(run.selected for run in runs) == 20_003
    assert gone(applied) == ["default/a", "default/m99999", "default/z"]


def test_explain_says_whether_it_is_one(applied: Jochi) -> None:
    cases: list[tuple[Memory, datetime | None, str]] = [
        (context("m0"), OLD + 7 * DAY, "hangs on nothing: 7d after"),
        (context("m1", last_accessed_at=NOW), NOW + 7 * DAY, "hangs on nothing"),
        (context("m2"), None, "hangs on something"),
        (context("m3", last_accessed_at="then"), None, "can't be read"),
        (context("m4", "Note"), None, "not of a kind"),
        (context("m5", "Notification", read=False), None, "not of a kind"),
    ]
    write(applied, *(memory for memory, *_ in cases))
    hang(applied, "default/m2", "CREATE (m)-[:ABOUT]->()")
    for memory, due, words in cases:
        said = applied.explain(memory.id, at=NOW).orphan
        assert said is not None
        assert (said.due, words in said.words) == (due, True)


def test_explain_of_what_is_not_live_says_nothing_of_it(applied: Jochi) -> None:
    write(applied, context("m"))
    sweep(applied)
    assert applied.explain("m", at=NOW).orphan is None
    assert applied.explain("never", at=NOW).orphan is None
