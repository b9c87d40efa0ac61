"""A plan is an object: saved, shown, thinned out, applied with each memory judged again (docs/reference/plans-and-approval.md)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.curate import saved_plans as plans
from jochi.curate.saved_plans import Excluded, SavedPlan
from jochi.errors import Refused, UsageError
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 30, tzinfo=timezone.utc)
DAY = timedelta(days=1)
OLD = NOW - 40 * DAY


def read(n: int, *, first: int = 0, scope: str = "default", **more: Any) -> list[Memory]:
    """Notifications that were read long ago: to be pruned."""
    properties = {"read": True, "created_at": OLD, **more}
    return [Memory(f"n{first + i:05d}", ("Notification",), properties, scope=scope) for i in range(n)]


def idle(*ids: str, **more: Any) -> list[Memory]:
    """Beliefs that nobody used: they move down from HOT."""
    properties = {"tier": "HOT", "state": "active", "confidence": 0.8, "created_at": NOW - 2 * DAY, **more}
    return [Memory(one, ("Belief",), properties) for one in ids]


@pytest.fixture(autouse=True)
def used(jochi: Jochi) -> None:
    """A scope that never reported an access has no rules of idleness."""
    graph.write_scopes(jochi.database, {"default": NOW - 400 * DAY})


def save(client: Jochi, at: datetime = NOW) -> SavedPlan:
    return client.save_plan(client.plan(at))


def gone(client: Jochi) -> set[str]:
    return set(graph.pruned(client.database))


def outcomes(client: Jochi, plan: str) -> dict[str, tuple[str | None, str]]:
    return {one.key: (one.outcome, one.note) for one in client.plan_entries(plan)}


def change(client: Jochi, key: str, **properties: object) -> None:
    client.database.run("MATCH (m:Curated {key: $key}) SET m += $set", {"key": key, "set": properties})


def memories_only(client: Jochi) -> list[dict[str, Any]]:
    return client.database.run(
        "MATCH (n) WHERE NOT n:JochiPlan AND NOT n:JochiPlanPart RETURN labels(n) AS labels, properties(n) AS stored "
        "ORDER BY elementId(n)"
    )


def test_a_saved_plan_names_what_the_run_would_do_and_writes_to_no_memory(jochi: Jochi) -> None:
    graph.write(jochi.database, read(3) + read(1, first=3, pinned=True) + idle("b"), due=NOW)
    before = memories_only(jochi)
    printed = jochi.plan(NOW)
    saved = jochi.save_plan(printed)
    assert memories_only(jochi) == before
    assert (saved.state, saved.at, saved.memories, saved.excluded) == ("saved", NOW, 4, 0)
    assert (saved.rails, saved.looked_at) == (printed.rails, printed.looked_at)
    assert {(g.action, g.kind, g.rule, g.n) for g in saved.groups} == {
        (g.outcome, g.kind, g.rule, g.n) for g in printed.groups if g.outcome not in ("keep", "protected")
    }
    assert [g.samples for g in jochi.show_plan(saved.id).groups if g.action == "prune"] == [
        ["default/n00000", "default/n00002"]
    ]
    named = {one.key: one.deeds for one in jochi.plan_entries(saved.id)}
    assert named["default/n00000"] == ("prune notification.read",)
    assert named["default/b"][0].startswith("demote ")
    assert [one.id for one in jochi.plans()] == [saved.id]
    assert jochi.plans()[0].by


def test_printing_a_plan_keeps_none(jochi: Jochi) -> None:
    graph.write(jochi.database, read(3), due=NOW)
    jochi.plan(NOW)
    assert jochi.plans() == []


def test_applying_does_what_is_named_and_nothing_else(jochi: Jochi) -> None:
    """Nobody has said go for the policy: the plan is the go for what it names."""
    graph.write(jochi.database, read(3) + idle("b"), due=NOW)
    saved = save(jochi)
    graph.write(jochi.database, read(2, first=50), due=NOW)  # due as well, but not named
    done = jochi.apply_plan(saved.id, now=NOW)
    assert (done.outcomes, done.drifted, done.resumed) == ({"applied": 4}, 0, False)
    assert gone(jochi) == {f"default/n0000{i}" for i in range(3)}
    belief = graph.state(jochi.database)["default/b"].properties
    assert belief["tier"] != "HOT"
    shown = jochi.show_plan(saved.id)
    assert (shown.state, shown.run, shown.outcomes) == ("applied", done.run, {"applied": 4})
    assert {(g.action, g.applied) for g in shown.groups} >= {("prune", 3)}
    (run,) = jochi.runs(done.run)
    assert (run.job, run.status, run.target, run.scanned, run.changed) == ("plan", "ok", saved.id, 4, 4)
    assert (run.counts["pruned"], run.counts["demoted"]) == (3, 1)
    assert run.id in [each.id for each in jochi.runs()]
    with pytest.raises(Refused, match="said go"):
        run_job(jochi.engine, "curate_due", now=NOW)


def test_it_does_what_the_job_does_with_the_same_records(jochi: Jochi) -> None:
    """The same memories, once by the job and once by a plan: the graph and the records are the same but for names of runs."""
    memories = [
        *read(3),
        *read(1, first=3, pinned=True),
        *idle("b"),
        Memory("s", ("SessionContext",), {"active": False, "created_at": OLD}),
        Memory("t", ("Task",), {"status": "completed", "completed_at": OLD, "created_at": OLD, "tier": "HOT"}),
        Memory("e", ("Belief",), {"state": "archived", "archived_at": NOW - 400 * DAY, "created_at": NOW - 500 * DAY}),
    ]

    def all_of_it(run: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        stored = {key: (one.labels, one.properties) for key, one in graph.state(jochi.database).items()}
        rows = jochi.database.run(
            "MATCH (a:CurationAudit {run: $run}) WHERE a.action <> 'protect' RETURN properties(a) AS a ORDER BY a.id",
            {"run": run},
        )
        audits = [{**row["a"], "run": "", "id": row["a"]["id"].removeprefix(run)} for row in rows]
        return stored, audits

    jochi.apply()
    graph.write(jochi.database, memories, due=NOW)
    by_job = all_of_it(run_job(jochi.engine, "curate_due", now=NOW)[0].id)
    graph.clear(jochi.database)
    graph.write_scopes(jochi.database, {"default": NOW - 400 * DAY})
    graph.write(jochi.database, memories, due=NOW)
    done = jochi.apply_plan(save(jochi).id, now=NOW)
    by_plan = all_of_it(done.run)
    assert by_plan[1] == by_job[1]
    assert len(by_job[1]) >= 4
    named = {key for audit in by_job[1] for key in audit.get("keys", [audit.get("key")])}
    assert {key: by_plan[0][key] for key in named} == {key: by_job[0][key] for key in named}


def test_drift_of_each_sort(jochi: Jochi) -> None:
    graph.write(jochi.database, read(8) + idle("b", "c", "d"), due=NOW)
    saved = save(jochi)
    assert saved.memories == 11
    change(jochi, "default/n00001", read=False)
    change(jochi, "default/n00002", read_at=NOW - DAY)
    jochi.database.run("MATCH (m:Curated {key: 'default/n00003'}) DETACH DELETE m")
    change(jochi, "default/n00004", pinned=True)
    change(jochi, "default/n00005", expires_at=NOW - DAY)
    jochi.database.run(
        "MATCH (m:Curated {key: 'default/n00006'}) SET m:Tombstone, m.tombstone = true, m.deleted_at = $now, "
        "m.tombstone_labels = ['Curated', 'Notification'] REMOVE m:Curated:Notification",
        {"now": NOW},
    )
    change(jochi, "default/c", pinned=True)
    change(jochi, "default/d", locked_by="agent", locked_at=NOW)
    done = jochi.apply_plan(saved.id, now=NOW)
    found = outcomes(jochi, saved.id)
    assert found["default/n00000"] == ("applied", "")
    assert found["default/n00001"] == ("changed", "")
    assert found["default/n00002"] == ("changed", "")
    assert found["default/n00003"] == ("gone", "")
    assert found["default/n00004"] == ("protected", "pinned")
    assert found["default/n00005"] == ("other_rule", "prune any.expires_at")
    assert found["default/n00006"] == ("already", "")
    assert found["default/n00007"] == ("applied", "")
    assert found["default/b"] == ("applied", "")
    assert found["default/c"] == ("protected", "pinned")
    assert found["default/d"] == ("protected", "locked")
    assert done.drifted == 8
    assert done.outcomes == {"applied": 3, "other_rule": 1, "changed": 2, "gone": 1, "protected": 3, "already": 1}
    assert {one.key for one in jochi.plan_entries(saved.id, drifted=True)} == {
        k for k, v in found.items() if v[0] != "applied"
    }
    assert jochi.runs(done.run)[0].status == "partial"
    # What drifted was not touched.
    assert gone(jochi) == {"default/n00000", "default/n00006", "default/n00007"}


def test_of_several_changes_only_those_that_are_named(jochi: Jochi) -> None:
    old = {"tier": "HOT", "created_at": NOW - 2 * DAY, "updated_at": NOW - 2 * DAY}
    flagged = {**old, "created_at": NOW - 30 * DAY, "consolidated": False, "last_accessed_at": NOW - 2 * DAY}
    graph.write(
        jochi.database,
        [
            Memory("both", ("Reflection",), flagged),
            Memory("one", ("Reflection",), {**flagged, "consolidated": None}),
        ],
        due=NOW,
    )
    saved = save(jochi)
    named = {one.key: one.deeds for one in jochi.plan_entries(saved.id)}
    flag = "flag " + next(r.name for r in jochi.policy.policy.all_rules() if r.flag == "needs_consolidation")
    assert flag in named["default/both"]
    assert len(named["default/both"]) == 2
    assert len(named["default/one"]) == 1
    change(jochi, "default/both", tier="ARCHIVE")  # the move isn't due any more, the flag is
    change(jochi, "default/one", consolidated=False)  # the flag is due now as well, but nobody planned it
    done = jochi.apply_plan(saved.id, now=NOW)
    assert outcomes(jochi, saved.id) == {"default/both": ("partly", ""), "default/one": ("applied", "")}
    assert done.drifted == 1
    state = graph.state(jochi.database)
    both, one = state["default/both"].properties, state["default/one"].properties
    assert (both["tier"], both["needs_consolidation"]) == ("ARCHIVE", True)
    assert "needs_consolidation" not in one
    assert one["tier"] != "HOT"
    assert one["next_due"] == NOW  # the job comes to it


def test_what_a_job_did_since_is_done_already(jochi: Jochi) -> None:
    graph.write(jochi.database, read(2) + idle("b"), due=NOW)
    saved = save(jochi)
    jochi.apply()
    run_job(jochi.engine, "curate_due", now=NOW)
    state = graph.state(jochi.database)
    assert jochi.apply_plan(saved.id, now=NOW).outcomes == {"already": 3}
    assert graph.state(jochi.database) == state


def test_kill_switches_hold_for_a_plan_as_well(jochi: Jochi) -> None:
    graph.write(jochi.database, read(1) + read(1, first=1, scope="b"), due=NOW)
    saved = save(jochi)
    jochi.pause(Switch("scope", "b"))
    jochi.pause(Switch("all"))
    with pytest.raises(Refused, match="everything is paused"):
        jochi.apply_plan(saved.id, now=NOW)
    jochi.resume(Switch("all"))
    jochi.database.run("MATCH (p:JochiPump) SET p.guard = 'the clock went back'")
    with pytest.raises(Refused, match="guard"):
        jochi.apply_plan(saved.id, now=NOW)
    jochi.approve()
    assert jochi.apply_plan(saved.id, now=NOW).outcomes == {"applied": 1, "paused": 1}
    assert gone(jochi) == {"default/n00000"}


def test_what_is_excluded_stays_and_no_job_takes_it_either(jochi: Jochi) -> None:
    graph.write(jochi.database, read(4), due=NOW)
    saved = save(jochi)
    said = jochi.exclude(saved.id, ["default/n00001", "default/n00002", "default/other", "default/n00001"], now=NOW)
    assert {(one.key, one.outcome) for one in said} == {
        ("default/n00001", "excluded"),
        ("default/n00002", "excluded"),
        ("default/other", "not_named"),
    }
    assert jochi.exclude(saved.id, ["default/n00001"], now=NOW) == [Excluded("default/n00001", "already")]
    shown = jochi.show_plan(saved.id)
    assert (shown.memories, shown.excluded, [g.excluded for g in shown.groups]) == (4, 2, [2])
    held = graph.state(jochi.database)["default/n00001"].properties
    assert held["hold_until"] == NOW + 30 * DAY
    done = jochi.apply_plan(saved.id, now=NOW)
    assert (done.outcomes, done.drifted) == ({"applied": 2, "excluded": 2}, 0)
    assert jochi.runs(done.run)[0].status == "ok"
    jochi.apply()
    run_job(jochi.engine, "curate_due", now=NOW + DAY, drain=True)
    assert gone(jochi) == {"default/n00000", "default/n00003"}
    (record,) = [a for a in jochi.explain("default/n00001").audits if a["rule"] == "plan.excluded"]
    assert (record["action"], record["rails"]) == ("protect", ["hold"])
    with pytest.raises(Refused, match="applied already"):
        jochi.exclude(saved.id, ["default/n00003"], now=NOW)


def test_excluding_never_shortens_a_hold(jochi: Jochi) -> None:
    graph.write(jochi.database, read(2), due=NOW)
    saved = save(jochi)
    change(jochi, "default/n00000", hold_until=NOW + 90 * DAY)
    change(jochi, "default/n00001", hold_until="for ever")
    jochi.exclude(saved.id, ["default/n00000", "default/n00001"], now=NOW)
    state = graph.state(jochi.database)
    assert state["default/n00000"].properties["hold_until"] == NOW + 90 * DAY
    assert state["default/n00001"].properties["hold_until"] == "for ever"


def test_a_plan_is_applied_once(jochi: Jochi) -> None:
    graph.write(jochi.database, read(2), due=NOW)
    saved = save(jochi)
    done = jochi.apply_plan(saved.id, now=NOW)
    with pytest.raises(Refused, match=f"applied already, by the run {done.run}"):
        jochi.apply_plan(saved.id, now=NOW)


def test_two_who_apply_at_once(jochi: Jochi) -> None:
    graph.write(jochi.database, read(60), due=NOW)
    saved = save(jochi)

    def work(_n: int) -> str:
        try:
            return plans.apply(jochi.engine, saved.id, now=NOW, by="a test", batch=5).run
        except Refused as error:
            return error.what.split(" ", 3)[0]

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(work, range(2)))
    assert said[0].startswith("plan/") != said[1].startswith("plan/")
    assert len(gone(jochi)) == 60
    audits = jochi.database.run(
        "MATCH (a:CurationAudit {action: 'prune'}) RETURN count(*) AS n, count(DISTINCT a.key) AS keys"
    )
    assert audits == [{"n": 60, "keys": 60}]


class Cut(Exception):
    """The client goes away."""


def test_cut_off_in_the_middle_it_goes_on_where_it_stopped(jochi: Jochi) -> None:
    graph.write(jochi.database, read(20), due=NOW)
    saved = save(jochi)

    def cut(looked_at: int) -> None:
        if looked_at >= 10:
            raise Cut

    with pytest.raises(Cut):
        plans.apply(jochi.engine, saved.id, now=NOW, by="a test", batch=5, on_page=cut)
    assert (len(gone(jochi)), jochi.show_plan(saved.id).state) == (10, "applying")
    with pytest.raises(Refused, match="being applied"):
        jochi.exclude(saved.id, ["default/n00019"], now=NOW)
    done = jochi.apply_plan(saved.id, now=NOW)
    assert (done.resumed, done.outcomes, len(gone(jochi))) == (True, {"applied": 20}, 20)
    (run,) = jochi.runs(done.run)
    assert (run.status, run.changed, run.counts["pruned"]) == ("ok", 20, 20)
    assert jochi.undo(done.run, now=NOW).counts == {"undone": 20}


def test_a_killed_client_holds_its_lease_and_what_it_sends_later_is_void(jochi: Jochi) -> None:
    graph.write(jochi.database, read(4), due=NOW)
    saved = save(jochi)
    now = datetime.now(timezone.utc)
    asked = {"now": NOW, "pump": jochi.engine.pump, "plan": saved.id, "by": "a test", "token": None, "status": None}
    lost = jochi.engine.call("plans/run", {**asked, "clock": now, "run": "plan/lost"})
    with pytest.raises(Refused, match="somebody else"):
        jochi.apply_plan(saved.id, now=NOW)
    later = now + jochi.policy.policy.scheduler.lease + timedelta(seconds=1)
    taken = jochi.engine.call("plans/run", {**asked, "clock": later, "run": "plan/new"})
    assert (taken["run"], taken["resumed"], taken["token"]) == ("plan/lost", True, lost["token"] + 1)
    page = {"now": NOW, "clock": later, "pump": jochi.engine.pump, "plan": saved.id, "part": 0, "from": 0, "limit": 2}
    late = {**page, "token": lost["token"], "run": "plan/lost", "policy": "tests"}
    assert not jochi.engine.call("plans/apply", late)["go"]
    assert gone(jochi) == set()
    right = {**late, "token": taken["token"]}
    assert jochi.engine.call("plans/apply", right) == {"go": True, "looked_at": 2, "changed": 2}
    assert not jochi.engine.call("plans/apply", right)["go"]  # sent twice, it does nothing twice
    assert len(gone(jochi)) == 2


def test_an_undo_takes_it_back_whole(jochi: Jochi) -> None:
    graph.write(jochi.database, read(3) + idle("b"), due=NOW)
    before = {key: one.labels for key, one in graph.state(jochi.database).items()}
    done = jochi.apply_plan(save(jochi).id, now=NOW)
    assert set(jochi.undo(done.run, now=NOW).counts) == {"undone"}
    after = graph.state(jochi.database)
    assert {key: one.labels for key, one in after.items()} == before
    assert after["default/b"].properties["tier"] == "HOT"


def test_a_plan_of_another_policy_or_of_another_time_is_refused(jochi: Jochi, test_policy: LoadedPolicy) -> None:
    graph.write(jochi.database, read(2), due=NOW)
    saved = save(jochi)
    ahead = jochi.save_plan(jochi.plan(NOW + DAY))
    with pytest.raises(Refused, match="hasn't come"):
        jochi.apply_plan(ahead.id, now=NOW)
    assert jochi.apply_plan(ahead.id, now=NOW + DAY).outcomes == {"applied": 2}
    limits = test_policy.policy.limits.model_copy(update={"plan_samples": 4})
    other = replace(test_policy, policy=test_policy.policy.model_copy(update={"limits": limits}), sha256="e" * 64)
    try:
        Jochi(jochi.database.driver, jochi.database.name, policy=other).install(arm=False)
        with pytest.raises(Refused, match="policy has changed"):
            jochi.apply_plan(saved.id, now=NOW)
    finally:
        jochi.install(arm=False)


def test_plans_expire_and_prune_runs_removes_them_part_by_part(jochi: Jochi) -> None:
    graph.write(jochi.database, read(30), due=NOW)
    saved = plans.save(jochi.engine, jochi.plan(NOW), by="a test", page=10)
    keep = jochi.policy.policy.limits.plan_keep
    assert saved.expires_at == saved.made_at + keep
    jochi.run("prune_runs", now=saved.expires_at - timedelta(seconds=1), drain=True)
    assert len(jochi.plan_entries(saved.id)) == 30
    at_the_end = {
        "clock": saved.expires_at,
        "now": NOW,
        "pump": jochi.engine.pump,
        "plan": saved.id,
        "run": "plan/x",
        "by": "me",
        "token": None,
        "status": None,
    }
    assert jochi.engine.call("plans/run", at_the_end)["refused"] == "expired"
    (run,) = jochi.run("prune_runs", now=saved.expires_at, drain=True)
    assert (run.tally["plan_parts"], run.tally.get("plans", 0)) in ((3, 0), (3, 1))
    jochi.run("prune_runs", now=saved.expires_at, drain=True)
    assert jochi.plans() == []
    assert jochi.database.run("MATCH (x:JochiPlanPart) RETURN count(*) AS n") == [{"n": 0}]
    with pytest.raises(UsageError, match="no plan"):
        jochi.show_plan(saved.id)


def test_the_go_for_a_policy_is_no_saved_plan(jochi: Jochi) -> None:
    graph.write(jochi.database, read(2), due=NOW)
    jochi.apply(jochi.plan(NOW))
    assert jochi.plans() == []
    jochi.run("prune_runs", now=NOW + 4000 * DAY, drain=True)
    assert jochi.database.run("MATCH (p:JochiPlan) RETURN count(*) AS n") == [{"n": 1}]


def test_the_breaker_lets_through_what_a_plan_names(jochi: Jochi) -> None:
    graph.write(jochi.database, read(150), due=NOW)
    done = jochi.apply_plan(save(jochi).id, now=NOW)
    assert (done.outcomes, len(gone(jochi))) == ({"applied": 150}, 150)


def test_orphans_are_named_and_go_with_it(jochi: Jochi) -> None:
    dead = {"created_at": NOW - 20 * DAY}
    contexts = [Memory(f"c{i}", ("CompressedContext",), {**dead, "compression_level": "full"}) for i in range(4)]
    graph.write(jochi.database, contexts, due=NOW + 10 * DAY)
    saved = save(jochi)
    assert [(g.action, g.rule, g.n) for g in saved.groups] == [("prune", "orphan.unlinked", 4)]
    change(jochi, "default/c1", pinned=True)
    jochi.database.run("MATCH (m:Curated {key: 'default/c2'}) CREATE (m)-[:OF]->(:Thing)")
    jochi.exclude(saved.id, ["default/c3"], now=NOW)
    done = jochi.apply_plan(saved.id, now=NOW)
    assert outcomes(jochi, saved.id) == {
        "default/c0": ("applied", ""),
        "default/c1": ("protected", "pinned"),
        "default/c2": ("changed", ""),
        "default/c3": ("excluded", ""),
    }
    assert gone(jochi) == {"default/c0"}
    assert jochi.undo(done.run, now=NOW).counts == {"undone": 1}
    jochi.database.run("MATCH (t:Thing) DETACH DELETE t")


def test_pages_of_what_it_names(jochi: Jochi) -> None:
    graph.write(jochi.database, read(25), due=NOW)
    saved = plans.save(jochi.engine, jochi.plan(NOW), by="a test", page=10)
    keys = [one.key for start in range(0, 30, 7) for one in jochi.plan_entries(saved.id, skip=start, limit=7)]
    assert keys == [f"default/n{i:05d}" for i in range(25)]
    sizes = jochi.database.run("MATCH (x:JochiPlanPart) RETURN size(x.keys) AS n ORDER BY x.n")
    assert [row["n"] for row in sizes] == [10, 10, 5]


@pytest.mark.parametrize("verb", ["show_plan", "apply_plan"])
def test_a_plan_that_there_is_not(jochi: Jochi, verb: str) -> None:
    call: Callable[[str], object] = getattr(jochi, verb)
    with pytest.raises(UsageError, match="there is no plan 'plan-x'"):
        call("plan-x")


@pytest.mark.slow
def test_thousands_in_bounded_transactions(jochi: Jochi) -> None:
    graph.write(jochi.database, read(4 * plans.PAGE), due=NOW)
    saved = save(jochi)
    assert saved.memories == 4 * plans.PAGE
    parts = jochi.database.run("MATCH (x:JochiPlanPart) RETURN count(*) AS n, max(size(x.keys)) AS most")
    assert parts == [{"n": 4, "most": plans.PAGE}]
    pages: list[int] = []
    done = jochi.apply_plan(saved.id, now=NOW, on_page=pages.append)
    assert done.outcomes == {"applied": 4 * plans.PAGE}
    assert {after - before for before, after in zip([0, *pages], pages, strict=False)} == {plans.BATCH}
    assert jochi.runs(done.run)[0].counts["pruned"] == 4 * plans.PAGE
