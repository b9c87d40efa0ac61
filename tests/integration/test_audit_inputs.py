"""What decided is on record: required and found, for every form of record, and who was asked (docs/reference/audit-and-undo.md)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests import merge_graph
from tests.conftest import say_go
from tests.living_edges import add
from tests.oracle import Memory, graph
from tests.oracle.edge_salience import LivingEdge

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy
from jochi.use.edges import Edge

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
OLD = NOW - 40 * DAY


def put(client: Jochi, *memories: Memory) -> None:
    graph.write(client.database, memories, due=NOW)
    graph.write_scopes(client.database, {"default": NOW - 300 * DAY})


def run(client: Jochi, job: str, now: datetime = NOW) -> None:
    assert [each.error for each in run_job(client.engine, job, now=now, drain=True) if each.error] == []


def record(client: Jochi, action: str) -> dict[str, Any]:
    """The only one of an action."""
    found = [to_python(each) for each in graph.audits(client.database, lists=True)]
    [one] = [each for each in found if each["action"] == action]
    assert one["policy"] == client.engine.state().pump["policy"]
    return dict(one)


def span(value: Any) -> timedelta:
    return timedelta(days=value.days, seconds=value.seconds) if not isinstance(value, timedelta) else value


def test_an_archival_a_state_a_move_and_a_purge(applied: Jochi) -> None:
    done = {"status": "completed", "completed_at": NOW - 20 * DAY, "created_at": OLD, "tier": "WARM"}
    held = {"tier": "HOT", "last_accessed_at": NOW - DAY, "access_count": 1, "created_at": OLD}
    put(
        applied,
        Memory("t", ("Task",), done),
        Memory("me", ("Person",), {"is_owner": True, "created_at": OLD, "state": "candidate"}),
        Memory("m", ("MemoryEntry",), held),
        Memory("n", ("MemoryEntry",), held),
        Memory("read", ("Notification",), {"read": True, "created_at": OLD}),
    )
    run(applied, "curate_due")
    said = record(applied, "archive")
    assert (said["rule"], span(said["required"]), said["since"]) == ("task.completed", 14 * DAY, NOW - 20 * DAY)
    assert (said["due"], said["inputs"]) == (NOW - 6 * DAY, ["status: completed"])
    said = record(applied, "state")
    assert (said["rule"], span(said["required"]), said["since"]) == ("semantic.owner", 0 * DAY, OLD)
    assert (said["before_state"], said["after_state"]) == ("candidate", "core")
    said = record(applied, "demote")
    assert (said["rule"], said["property"], said["keys"]) == ("tier.hot_idle", "tier", ["default/m", "default/n"])
    assert (span(said["required"]), said["dues"]) == (DAY / 2, [NOW - DAY / 2] * 2)
    run(applied, "purge_tombstones", NOW + 31 * DAY)
    said = record(applied, "purge")
    assert (said["rule"], span(said["required"]), said["pruned_at"]) == ("tombstone.ttl", 30 * DAY, NOW)


def test_an_orphan(applied: Jochi) -> None:
    graph.write(applied.database, [Memory("c", ("CompressedContext",), {"created_at": OLD})], due=NOW + 90 * DAY)
    run(applied, "sweep_orphans")
    said = record(applied, "prune")
    assert (said["rule"], span(said["required"]), said["since"]) == ("orphan.unlinked", 7 * DAY, OLD)


def test_a_budget(applied: Jochi) -> None:
    notes = [
        Memory(f"m{i}", ("Note",), {"token_count": 1_000, "tier": "HOT", "created_at": NOW - i * DAY}, scope="a")
        for i in range(2)
    ]
    graph.write(applied.database, notes, due=NOW + 90 * DAY)
    run(applied, "enforce_budgets")
    said = record(applied, "demote")
    assert (said["rule"], said["scope"], said["keys"], said["before"]) == ("budget", "a", ["a/m1"], ["HOT"])
    assert said["required"] == [1_600, 400, 200]
    # 1,000 tokens find no room in WARM (400) and COLD (200).
    assert said["after"] == ["ARCHIVE"]
    # Nothing is fixed there, so all of each budget is room.
    assert said["room"] == [1_600, 400, 200]


def test_an_edge(applied: Jochi) -> None:
    made = NOW - 400 * DAY
    one = LivingEdge("e", "s/a", "s/b", {"id": "e", "created_at": made, "salience": 0.5})
    other = LivingEdge("o", "s/x", "s/y", {"id": "o", "created_at": made})
    add(applied, [one, other])
    applied.reinforce([Edge("s/x", "RELATED_TO", "s/y", "o")], now=made)
    for job in ("schedule_edges", "decay_edges"):
        run(applied, job)
    found = [to_python(each) for each in graph.audits(applied.database) if each["action"] == "archive_edge"]
    [said] = [each for each in found if each["key"] == "s/a"]
    assert (said["rule"], said["to"], said["type"]) == ("edges.faded", "s/b", "RELATED_TO")
    assert said["required"] == applied.policy.policy.edges.faded
    assert said["inputs"] == ["salience: 0.5", "ttl_policy: absent", f"created_at: {said['inputs'][2][12:]}"]
    assert said["inputs"][2].startswith(f"created_at: {made:%Y-%m-%d}")
    assert said["after_salience"] < said["required"] + 1e-9


def twins(client: Jochi) -> None:
    held = {"tier": "HOT", "content": "twice", "content_hash": "h", "created_at": OLD}
    graph.write(
        client.database,
        [Memory(id, ("MemoryEntry",), held | {"access_count": n}) for id, n in (("a", 9), ("b", 1))],
        due=NOW + 90 * DAY,
    )
    merge_graph.flag(client.database, "default/a", "default/b", NOW)


def test_a_merge(applied: Jochi) -> None:
    twins(applied)
    run(applied, "merge_duplicates")
    said = record(applied, "merge")
    assert (said["key"], said["into"], said["score"], said["verdict"]) == ("default/b", "default/a", 1.0, "merge")
    # One relationship: the flag of the pair itself.
    assert (said["guard"], said["reasons"], said["relationships"]) == ("test", [], 1)
    assert said["mvs"] <= said["into_mvs"]


def test_at_the_level_destructive_only_what_is_destructive_is_on_record(
    install_once: Callable[[LoadedPolicy], Jochi], destructive_only: LoadedPolicy
) -> None:
    client = install_once(destructive_only)
    say_go(client)
    twins(client)
    held = {"tier": "HOT", "last_accessed_at": NOW - 30 * DAY, "access_count": 1, "created_at": OLD}
    put(
        client,
        Memory("n", ("Notification",), {"read": True, "created_at": OLD}),
        Memory("m", ("MemoryEntry",), held),
        Memory(
            "t", ("Task",), {"status": "completed", "completed_at": NOW - 20 * DAY, "created_at": OLD, "tier": "WARM"}
        ),
        Memory("r", ("Reflection",), {"consolidated": False, "created_at": OLD}),
    )
    for job in ("merge_duplicates", "curate_due"):
        run(client, job)
    run(client, "purge_tombstones", NOW + 31 * DAY)
    found = [each["action"] for each in graph.audits(client.database, lists=True)]
    assert sorted(found) == ["archive", "merge", "prune", "purge", "purge"]
    client.unmerge(["default/b"])  # purged: nothing comes back, and nothing is on record
    assert "unmerge" not in {each["action"] for each in graph.audits(client.database)}


def test_what_people_ask_for_is_a_run_that_says_by_what(applied: Jochi) -> None:
    put(applied, Memory("n", ("Notification",), {"read": True, "created_at": OLD}))
    twins(applied)
    for job in ("curate_due", "merge_duplicates"):
        run(applied, job)
    assert [each.outcome for each in applied.restore(["default/n", "default/none"])] == ["restored", "not_found"]
    assert [each.outcome for each in applied.unmerge(["default/b"], now=NOW + DAY)] == ["unmerged"]
    for action, procedure, looked in (("restore", "memory/restore", 2), ("unmerge", "memory/unmerge", 1)):
        said = record(applied, action)
        [each] = applied.runs(run=said["run"])
        assert (each.job, each.procedure, each.scanned, each.changed) == (action, procedure, looked, 1)
        assert each.version
        assert {name: n for name, n in each.counts.items() if n} == {
            {"restore": "restored", "unmerge": "unmerged"}[action]: 1
        }
        assert each.policy == said["policy"]
        assert [(done.action, done.rule, done.n) for done in each.done] == [(action, f"{action}.asked", 1)]
    assert {"restore", "unmerge"} <= {each.job for each in applied.runs(changed_only=True)}
    # What found nothing, or was only tried, is none.
    n = len(applied.runs(limit=100))
    applied.restore(["default/none"])
    applied.unmerge(["default/b"], dry_run=True)
    applied.unmerge(["default/none"])
    assert len(applied.runs(limit=100)) == n


def test_an_undo_that_takes_merges_back_is_one_run(applied: Jochi) -> None:
    twins(applied)
    run(applied, "merge_duplicates")
    done = applied.undo(record(applied, "merge")["run"], now=NOW + DAY)
    assert done.counts == {"undone": 1}
    assert record(applied, "unmerge")["run"] == done.run
    assert [(each.job, each.changed) for each in applied.runs(changed_only=True)] == [
        ("undo", 1),
        ("merge_duplicates", 1),
    ]
