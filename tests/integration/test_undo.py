"""Undo of a run: each action back exactly, what changed since named and left, and an undo that can be undone (DESIGN §10)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError
from tests import merge_graph
from tests.oracle import Memory, graph
from tests.oracle.strategies import WRONG_TYPES

from jochi import Jochi, clock
from jochi.errors import Refused, UsageError
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.undo import undo as undoing
from jochi.undo.undo import UndoResult

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
BOOKKEEPING = {
    *(
        "next_due",
        "last_curated_at",
        "curation_action",
        "hold_until",
        "similar_due",
        "prepare_due",
        "embed_due",
        "revision",
    ),
    *(
        "tier_reason",
        "tier_from",
        "tier_at",
        "mvs",
        "mvs_at",
        "mvs_low_at",
        "curation_rails",
        "needs_compression",
        "needs_improvement",
    ),
}
"""What the engine writes at each look and each move: not undone, but written anew."""


def notice(id: str, now: datetime, **more: Any) -> Memory:
    """One that is pruned at the next look."""
    return Memory(id, ("Notification", "Urgent"), {"read": True, "created_at": now - 40 * DAY} | more)


def task(id: str, now: datetime, **more: Any) -> Memory:
    """One that is archived at the next look."""
    held = {"status": "completed", "completed_at": now - 20 * DAY, "created_at": now - 40 * DAY, "tier": "WARM"}
    return Memory(id, ("Task",), held | more)


def reflection(id: str, now: datetime, **more: Any) -> Memory:
    """One that is flagged at the next look."""
    return Memory(id, ("Reflection",), {"consolidated": False, "created_at": now - 40 * DAY, "tier": "ARCHIVE"} | more)


def idle(id: str, now: datetime, **more: Any) -> Memory:
    """One that goes down a tier at the next look."""
    held = {"tier": "HOT", "last_accessed_at": now - 30 * DAY, "access_count": 1, "content": "a note"}
    return Memory(id, ("MemoryEntry",), {"created_at": now - 40 * DAY} | held | more)


def put(client: Jochi, now: datetime, *memories: Memory) -> None:
    graph.write(client.database, memories, due=now)
    graph.write_scopes(client.database, {"default": now - 300 * DAY})


def curate(client: Jochi, now: datetime, job: str = "curate_due") -> str:
    (run,) = run_job(client.engine, job, now=now)
    assert run.error is None
    return run.id


def told(client: Jochi, aside: frozenset[str] | set[str] = BOOKKEEPING) -> dict[str, Any]:
    """Every memory, without the engine's own bookkeeping."""
    return {
        key: (stored.labels, {name: repr(value) for name, value in stored.properties.items() if name not in aside})
        for key, stored in graph.state(client.database).items()
    }


def whole(client: Jochi) -> list[Any]:
    """All nodes and relationships but the clock of the scheduler."""
    nodes = client.database.run(
        "MATCH (n) RETURN labels(n) AS labels, properties(n) AS p, COUNT { (n)--() } AS degree", write=False
    )
    edges = client.database.run("MATCH ()-[r]->() RETURN type(r) AS type, properties(r) AS p", write=False)
    return sorted(repr(row) for row in [*nodes, *edges])


def outcomes(done: UndoResult) -> dict[str | None, str]:
    return {row.key: row.outcome for row in done.rows}


def everything(now: datetime) -> list[Memory]:
    odd = {f"p{i}": value for i, (name, value) in enumerate(WRONG_TYPES.items()) if name != "NaN"}
    return [
        *(notice("n1", now, tier="HOT", **odd), notice("n2", now)),
        *(
            task("t1", now, **odd),
            task("t2", now, state="open"),
            task("t3", now, state="done", archived_at=now - 400 * DAY),
        ),
        *(reflection("r1", now, **odd), reflection("r2", now, needs_consolidation=False)),
        *(reflection("r3", now, needs_consolidation="perhaps"), idle("i1", now, **odd), idle("i2", now, tier="WARM")),
    ]


def test_each_action_of_a_run_goes_back_exactly(applied: Jochi, now: datetime) -> None:
    put(applied, now, *everything(now))
    before = told(applied)
    run = curate(applied, now)
    after = told(applied)
    assert after.keys() == before.keys()
    assert {key for key in before if after[key] == before[key]} == set()
    done = applied.undo(run)
    assert done.counts == {"undone": 10}
    assert told(applied) == before
    again = applied.undo(run)
    assert (again.counts, again.already) == ({}, 10)


def test_a_dry_run_names_every_action_and_writes_nothing(applied: Jochi, now: datetime) -> None:
    put(applied, now, *everything(now))
    run = curate(applied, now)
    before = whole(applied)
    would = applied.undo(run, dry_run=True)
    assert whole(applied) == before
    assert (would.run, would.counts, len(would.rows)) == (None, {"undone": 10}, 10)
    assert {(row.key, row.action) for row in would.rows if row.action != "demote"} == {
        *(("default/n1", "prune"), ("default/n2", "prune")),
        *((f"default/t{i}", "archive") for i in (1, 2, 3)),
        *((f"default/r{i}", "flag") for i in (1, 2, 3)),
    }


def test_what_was_undone_sticks_until_the_hold_ends(applied: Jochi, now: datetime) -> None:
    put(applied, now, notice("n", now), task("t", now), idle("i", now), reflection("r", now))
    before = told(applied)
    applied.undo(curate(applied, now), now=now)
    for moment in (now + SECOND, now + 10 * DAY, now + 30 * DAY - timedelta(minutes=1)):
        run_job(applied.engine, "curate_due", now=moment, drain=True)
        applied.database.run("CREATE (:JochiScopeChange {scope: 'default', at: $at})", {"at": moment})
        run_job(applied.engine, "enforce_budgets", now=moment, drain=True)
        assert told(applied) == before, moment
    run_job(applied.engine, "curate_due", now=now + 31 * DAY, drain=True)
    left = told(applied)
    assert {key for key in before if left[key] != before[key]} == set(before)


def test_a_budgets_move_that_was_undone_sticks(applied: Jochi, now: datetime) -> None:
    memories = [idle(f"b{i}", now, token_count=5000, last_accessed_at=now - i * SECOND) for i in range(6)]
    put(applied, now + 400 * DAY, *memories)
    applied.database.run("CREATE (:JochiScopeChange {scope: 'default', at: $now})", {"now": now})
    before = told(applied)
    run = curate(applied, now, "enforce_budgets")
    moved = {key for key, was in told(applied).items() if was != before[key]}
    assert moved
    assert applied.undo(run, now=now).counts == {"undone": len(moved)}
    assert told(applied) == before
    curate(applied, now + DAY, "enforce_budgets")
    assert told(applied) == before
    applied.database.run("CREATE (:JochiScopeChange {scope: 'default', at: $now})", {"now": now})
    curate(applied, now + 30 * DAY, "enforce_budgets")
    assert {key for key, was in told(applied).items() if was != before[key]} == moved


def test_an_undo_can_be_undone_and_that_one_again(applied: Jochi, now: datetime) -> None:
    put(applied, now, *everything(now))
    before = told(applied)
    run = curate(applied, now)
    gone = BOOKKEEPING | {"deleted_at", "archived_at"}
    after = told(applied, gone)
    first = applied.undo(run, now=now + SECOND)
    assert first.run is not None
    redone = applied.undo(first.run, now=now + 2 * SECOND)
    assert redone.counts == {"undone": 10}
    assert told(applied, gone) == after
    assert redone.run is not None
    last = applied.undo(redone.run, now=now + 3 * SECOND)
    assert last.counts == {"undone": 10}
    assert told(applied) == before


def test_a_run_whose_undo_was_undone_can_be_undone_again(applied: Jochi, now: datetime) -> None:
    put(applied, now, *everything(now))
    before = told(applied)
    run = curate(applied, now)
    gone = BOOKKEEPING | {"deleted_at", "archived_at"}
    after = told(applied, gone)

    def said(id: str | None) -> list[int]:
        """How many actions a run says it did, and how many of them were undone."""
        [one] = applied.runs(id)
        rows = [each for each in one.done if each.action != "protect"]
        return [sum(each.n for each in rows), sum(each.undone for each in rows)]

    first = applied.undo(run, now=now + SECOND)
    assert first.run is not None
    assert (said(run), said(first.run)) == ([10, 10], [10, 0])
    redone = applied.undo(first.run, now=now + 2 * SECOND)
    assert redone.run is not None
    assert (said(run), said(first.run), said(redone.run)) == ([10, 0], [10, 10], [10, 0])
    would = applied.undo(run, now=now + 3 * SECOND, dry_run=True)
    assert (would.counts, would.already) == ({"undone": 10}, 0)
    assert applied.undo(now, now=now + 3 * SECOND, dry_run=True).counts == {"undone": 10}
    again = applied.undo(run, now=now + 3 * SECOND)
    assert (again.counts, again.already) == ({"undone": 10}, 0)
    assert told(applied) == before
    assert again.run is not None
    assert [said(id) for id in (run, first.run, redone.run, again.run)] == [[10, 10], [10, 0], [10, 10], [10, 0]]
    for target in (run, redone.run):
        nothing = applied.undo(target, now=now + 4 * SECOND)
        assert (nothing.counts, nothing.already) == ({}, 10)
    assert applied.undo(now, now=now + 4 * SECOND).counts == {}
    # To and fro once more: by the undo that came first, then all since the moment.
    last = applied.undo(first.run, now=now + 5 * SECOND)
    assert last.counts == {"undone": 10}
    assert told(applied, gone) == after
    assert last.run is not None
    assert [said(id) for id in (run, first.run, redone.run, again.run, last.run)] == [
        *([10, 0], [10, 10], [10, 0], [10, 10], [10, 0])
    ]
    assert applied.undo(now, now=now + 6 * SECOND).counts == {"undone": 10}
    assert told(applied) == before
    assert [said(id) for id in (run, redone.run, last.run)] == [[10, 10]] * 3
    # However often it went to and fro, what is on record of a turn stays as large.
    sizes = applied.database.run(
        "MATCH (a:CurationAudit) WHERE a.depth > 1 "
        "UNWIND ['id', 'of', 'root', 'line'] AS name WITH a.depth AS depth, a[name] AS value "
        "RETURN depth, sum(CASE WHEN value IS :: LIST<STRING> NOT NULL THEN 1000 ELSE size(value) END) AS n ORDER BY depth",
        write=False,
    )
    assert [row["depth"] for row in sizes] == [2, 3, 4, 5]
    assert len({row["n"] for row in sizes}) == 1


def test_what_somebody_else_did_again_is_not_the_runs(applied: Jochi, now: datetime) -> None:
    """The undo of the undo finds nothing to do: what stands is another's."""
    put(applied, now, reflection("r", now))
    run = curate(applied, now)
    first = applied.undo(run, now=now + SECOND)
    applied.database.run("MATCH (m:Curated {key: 'default/r'}) SET m.needs_consolidation = true")
    assert first.run is not None
    assert applied.undo(first.run, now=now + 2 * SECOND).counts == {"as_before": 1}
    again = applied.undo(run, now=now + 3 * SECOND)
    assert (again.counts, again.already) == ({}, 1)


def test_what_is_left_of_a_second_undo_is_found_again(applied: Jochi, now: datetime) -> None:
    put(applied, now, *everything(now))
    before = told(applied)
    run = curate(applied, now)
    first = applied.undo(run, now=now + SECOND)
    assert first.run is not None
    applied.undo(first.run, now=now + 2 * SECOND)
    applied.database.run("MATCH (m:Curated {key: 'default/t1'}) SET m.state = 'reopened'")
    applied.database.run("MATCH (m:Curated {key: 'default/i1'}) SET m.tier = 'ARCHIVE'")
    done = applied.undo(run, now=now + 3 * SECOND)
    assert {row.key for row in done.rows} == {"default/t1", "default/i1"}
    assert done.left == 2
    rest = applied.undo(run, now=now + 4 * SECOND, force=True)
    assert (rest.counts["undone"], rest.left) == (2, 0)
    assert told(applied) == before


def test_a_prune_goes_back_after_its_restore_was_taken_back(applied: Jochi, now: datetime) -> None:
    put(applied, now, notice("n", now))
    before = told(applied)
    run = curate(applied, now)
    applied.restore(["default/n"])
    (restored,) = [audit["run"] for audit in graph.audits(applied.database) if audit["action"] == "restore"]
    assert applied.undo(restored, now=now + SECOND).counts == {"undone": 1}
    assert graph.pruned(applied.database) == {"default/n"}
    assert applied.undo(run, now=now + 2 * SECOND).counts == {"undone": 1}
    assert told(applied) == before


def test_an_undo_is_taken_back_in_its_own_order(applied: Jochi, now: datetime) -> None:
    """What one undo did at one moment, the last page first: a memory moved, then was pruned."""
    put(applied, now, idle("n", now, token_count=50_000), notice("other", now))
    applied.database.run("CREATE (:JochiScopeChange {scope: 'default', at: $now})", {"now": now})
    before = told(applied)
    curate(applied, now, "enforce_budgets")
    applied.database.run("MATCH (m:Curated {key: 'default/n'}) SET m.expires_at = $at, m.next_due = $at", {"at": now})
    curate(applied, now + SECOND)
    gone = BOOKKEEPING | {"deleted_at", "expires_at"}
    assert graph.pruned(applied.database) == {"default/n", "default/other"}
    after = told(applied, gone)
    done: Any = now
    for turn in range(4):
        undone = applied.undo(done, now=now + (turn + 2) * SECOND)
        assert undone.left == 0, (turn, undone)
        done = undone.run
        if turn % 2:
            assert told(applied, gone) == after, turn
    applied.database.run("MATCH (m:Curated) REMOVE m.expires_at")
    applied.undo(done, now=now + 9 * SECOND)
    assert told(applied, BOOKKEEPING | {"expires_at"}) == before


def test_a_prune_is_not_redone_over_a_rail(applied: Jochi, now: datetime) -> None:
    put(applied, now, notice("n", now), notice("m", now))
    first = applied.undo(curate(applied, now), now=now + SECOND)
    applied.database.run("MATCH (m:Curated {key: 'default/n'}) SET m.pinned = true")
    assert first.run is not None
    redone = applied.undo(first.run, now=now + 2 * SECOND)
    assert redone.counts == {"undone": 1, "protected": 1}
    assert [(row.key, row.outcome, row.changed) for row in redone.rows] == [("default/n", "protected", ("pinned",))]
    assert graph.pruned(applied.database) == {"default/m"}


@pytest.mark.parametrize(
    ("key", "change", "named"),
    [
        ("default/i1", "SET m.tier = 'ARCHIVE'", {"tier"}),
        ("default/t1", "SET m.state = 'reopened'", {"state"}),
        ("default/t1", "SET m.tier = 'WARM', m.state = 'reopened', m.archived_at = null", {"state"}),
        ("default/r1", "SET m.needs_consolidation = 'yes'", {"needs_consolidation"}),
    ],
)
def test_what_changed_since_stays_unless_forced(
    applied: Jochi, now: datetime, key: str, change: str, named: set[str]
) -> None:
    put(applied, now, *everything(now))
    before = told(applied)
    run = curate(applied, now)
    applied.database.run(f"MATCH (m:Curated {{key: $key}}) {change}", {"key": key})
    changed = graph.state(applied.database)[key].properties
    would = applied.undo(run, dry_run=True)
    done = applied.undo(run)
    assert done.counts == would.counts
    assert done.counts["undone"] == 9
    (row,) = done.rows
    assert (row.key, set(row.changed), row.outcome in {"conflict", "partly"}) == (key, named, True)
    left = graph.state(applied.database)[key].properties
    assert {name: left.get(name) for name in named} == {name: changed.get(name) for name in named}
    assert {other for other, was in told(applied).items() if was != before[other]} == {key}
    forced = applied.undo(run, force=True)
    assert forced.counts == {"undone": 1} or forced.counts == {"undone": 1, "as_before": forced.counts["as_before"]}
    assert told(applied) == before


def test_every_end_has_its_answer(applied: Jochi, now: datetime) -> None:
    names = ("taken", "purging", "purged", "restored")
    put(applied, now, *(notice(name, now) for name in names), idle("gone", now), idle("later", now), task("away", now))
    run = curate(applied, now)
    applied.restore(["default/restored"])
    graph.write(applied.database, [Memory("taken", ("Note",), {"created_at": now})], due=now + DAY)
    applied.database.run("MATCH (t:Tombstone {key: 'default/purging'}) SET t.purge_started_at = $now", {"now": now})
    applied.database.run("MATCH (t:Tombstone {key: 'default/purged'}) DETACH DELETE t")
    applied.database.run("MATCH (m:Curated) WHERE m.key IN ['default/gone', 'default/away'] DETACH DELETE m")
    applied.database.run(
        "MATCH (m:Curated {key: 'default/later'}) SET m.tombstone = true, m.deleted_at = $now, m.tombstone_labels = labels(m) "
        "SET m:Tombstone REMOVE m:Curated:MemoryEntry",
        {"now": now},
    )
    done = applied.undo(run)
    assert outcomes(done) == {
        "default/taken": "taken",
        "default/purging": "purging",
        "default/purged": "purged",
        "default/gone": "gone",
        "default/away": "gone",
        "default/later": "pruned",
    }
    assert done.counts["as_before"] == 1
    assert done.left == 6


def test_since_takes_back_runs_newest_first_and_leaves_what_people_asked_for(applied: Jochi, now: datetime) -> None:
    put(applied, now + DAY, notice("n", now), idle("i", now), notice("kept", now))
    before = told(applied)
    applied.database.run("MATCH (m:Curated {key: 'default/kept'}) SET m.next_due = $due", {"due": now - DAY})
    curate(applied, now - DAY)
    applied.restore(["default/kept"])
    applied.database.run("MATCH (m:Curated) SET m.next_due = $due", {"due": now})
    curate(applied, now)
    # Down again, from where the first run left it.
    applied.database.run("MATCH (m:Curated {key: 'default/i'}) SET m.next_due = $due", {"due": now + 60 * DAY})
    curate(applied, now + 60 * DAY)
    assert told(applied)["default/i"][1]["tier"] == "'COLD'"
    done = applied.undo(now, now=now + 61 * DAY)
    assert set(done.counts) <= {"undone"}
    assert told(applied) == before
    assert applied.undo(now).counts == {}


def test_an_undo_that_is_cut_off_goes_on_where_it_was(
    applied: Jochi, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(applied, now, *(notice(f"n{i}", now) for i in range(10)))
    before = told(applied)
    run = curate(applied, now)
    call, calls = applied.engine.call, []

    def failing(name: str, parameters: Any, **more: Any) -> Any:
        if name == "undo/prunes":
            calls.append(name)
            if len(calls) == 3:
                # The transaction is ended in its middle, by a time that no hold can be added to: nothing of it stays.
                call(name, {**parameters, "now": False}, **more)
        return call(name, parameters, **more)

    monkeypatch.setattr(applied.engine, "call", failing)
    with pytest.raises(Neo4jError):
        undoing.undo(applied.engine, run, now=now, by="test", page=3)
    monkeypatch.undo()
    (open_run,) = applied.database.run("MATCH (r:JochiJobRun {job: 'undo'}) RETURN r.id AS id, r.status AS status")
    assert open_run["status"] == "running"
    assert len(graph.pruned(applied.database)) == 4
    done = applied.undo(run)
    assert (done.resumed, done.run, done.counts, done.already) == (True, open_run["id"], {"undone": 4}, 6)
    assert told(applied) == before
    assert [audit["action"] for audit in graph.audits(applied.database)].count("restore") == 10
    assert done.run is not None
    assert applied.undo(done.run).counts == {"undone": 10}


@pytest.mark.parametrize("most", [1, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (2, 3))])
def test_records_are_found_page_by_page_in_one_order(
    applied: Jochi, now: datetime, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    put(applied, now, *everything(now))
    before = told(applied)
    run = curate(applied, now)
    curate(applied, now + 400 * DAY)
    at_once = applied.undo(now, dry_run=True)
    monkeypatch.setattr(undoing, "FOUND", most)
    assert applied.undo(now, dry_run=True) == at_once
    # What stays is among those that are still to be done; it is not found again and again.
    applied.database.run("MATCH (m:Curated {key: 'default/t1'}) SET m.state = 'reopened'")
    assert applied.undo(now, force=True).left == 0
    assert told(applied) == before
    assert applied.undo(run).counts == {}


def test_what_stays_is_met_once_however_small_the_pages(
    applied: Jochi, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(applied, now, *(task(f"t{i}", now) for i in range(7)))
    run = curate(applied, now)
    applied.database.run("MATCH (m:Curated) WHERE m.id < 't5' SET m.state = 'reopened'")
    monkeypatch.setattr(undoing, "FOUND", 2)
    done = undoing.undo(applied.engine, run, now=now, by="test", page=1)
    assert (done.counts["undone"], done.left) == (2, 5)
    assert [row.key for row in done.rows] == [f"default/t{i}" for i in range(5)]


def test_two_do_not_undo_the_same_at_once(applied: Jochi, now: datetime) -> None:
    put(applied, now, notice("n", now))
    run = curate(applied, now)
    asked = {"clock": clock.now(), "now": now, "run": "undo/a", "target": run, "force": False, "by": "a"}
    applied.engine.call("undo/begin", asked)
    with pytest.raises(Refused):
        applied.undo(run)
    applied.database.run("MATCH (r:JochiJobRun {id: 'undo/a'}) SET r.lease_until = $at", {"at": clock.now() - SECOND})
    assert applied.undo(run).resumed


def test_a_repair_is_taken_back(applied: Jochi, now: datetime) -> None:
    put(applied, now + DAY, idle("odd", now, tier="LUKEWARM", token_count=-5))
    before = told(applied)
    run = curate(applied, now, "hygiene")
    assert told(applied) != before
    assert applied.undo(run).counts == {"undone": 1}
    assert told(applied) == before


def test_there_is_no_such_run(applied: Jochi) -> None:
    with pytest.raises(UsageError):
        applied.undo("curate_due/999")
    with pytest.raises(UsageError):
        applied.undo(datetime(2026, 1, 1))  # noqa: DTZ001


def test_runs_say_what_they_did_and_what_of_it_was_undone(applied: Jochi, now: datetime) -> None:
    put(applied, now, *everything(now), notice("held", now, pinned=True))
    run = curate(applied, now)
    (one,) = applied.runs(run)
    assert (one.id, one.status, one.scanned, one.counts["pruned"], one.counts["archived"]) == (run, "ok", 11, 2, 3)
    assert one.skipped["pinned"] == 1
    assert one.version
    # "a note" is 2; the tasks and the one that was pruned from HOT have no content.
    assert dict(one.tokens_before) == {"HOT": 2, "WARM": 2, "COLD": 0, "ARCHIVE": 0}
    assert dict(one.tokens_after) == {"HOT": 0, "WARM": 2, "COLD": 2, "ARCHIVE": 0}
    assert {(each.action, each.n, each.undone) for each in one.done if each.action == "prune"} == {("prune", 2, 0)}
    applied.undo(run)
    (one,) = applied.runs(run)
    assert all(each.undone == each.n for each in one.done if each.action != "protect")
    listed = applied.runs()
    assert [each.job for each in listed] == ["undo", "curate_due"]
    assert listed[0].target == run


def test_an_edge_that_was_archived_goes_back_and_stays(applied: Jochi, now: datetime) -> None:
    put(
        applied,
        now + 400 * DAY,
        Memory("a", ("Concept",), {"created_at": now}),
        Memory("b", ("Concept",), {"created_at": now}),
    )
    applied.database.run("MATCH (s:JochiScope) SET s.first_edge_use_at = $first", {"first": now - 3000 * DAY})
    held = {"state": "active", "salience": 0.5, "created_at": now - 3000 * DAY, "next_due": now - DAY, "note": "ours"}
    applied.database.run(
        "MATCH (a:Curated {key: 'default/a'}) MATCH (b:Curated {key: 'default/b'}) CREATE (a)-[r:RELATED_TO]->(b) SET r = $held",
        {"held": held},
    )

    def edge() -> dict[str, Any]:
        (row,) = applied.database.run("MATCH ()-[r:RELATED_TO]->() RETURN properties(r) AS p", write=False)
        return {name: repr(value) for name, value in row["p"].items() if name not in {"next_due", "confidence"}}

    before = edge()
    run = curate(applied, now, "decay_edges")
    assert edge()["state"] == "'archived'"
    assert applied.undo(run, now=now).counts == {"undone": 1}
    assert edge() == before
    curate(applied, now + 29 * DAY, "decay_edges")
    assert edge() == before
    curate(applied, now + 31 * DAY, "decay_edges")
    assert edge()["state"] == "'archived'"
    applied.database.run("MATCH (b:Curated {key: 'default/b'}) DETACH DELETE b")
    again = applied.undo(applied.runs(limit=1)[0].id)
    assert [(row.key, row.outcome) for row in again.rows] == [("default/a", "end_gone")]


def test_a_state_that_a_use_changed_goes_back(applied: Jochi, now: datetime) -> None:
    held = {"state": "archived", "archived_at": now - DAY, "salience": 0.2, "salience_at": now - DAY}
    put(applied, now + 400 * DAY, Memory("c", ("Concept",), {"created_at": now - 40 * DAY} | held))
    applied.touch(["default/c"], now=now)
    run = curate(applied, now, "fold_accesses")
    assert graph.state(applied.database)["default/c"].properties["state"] == "active"
    done = applied.undo(run, now=now)
    assert done.counts == {"undone": 1}, done
    left = graph.state(applied.database)["default/c"].properties
    assert (left["state"], to_python(left["archived_at"])) == ("archived", now - DAY)


@pytest.mark.exhaustive
def test_a_merge_of_a_run_is_taken_back(applied: Jochi, now: datetime) -> None:
    memories = [
        idle(id, now, content="one text", content_hash="v1:1", access_count=n) for id, n in (("a", 1), ("b", 3))
    ]
    put(applied, now + 400 * DAY, *memories)
    merge_graph.flag(applied.database, "default/a", "default/b", now)
    before = told(applied)
    run = curate(applied, now, "merge_duplicates")
    assert told(applied) != before
    would = applied.undo(run, dry_run=True)
    assert (would.counts, [row.action for row in would.rows]) == ({"undone": 1}, ["merge"])
    done = applied.undo(run, now=now)
    assert done.counts == {"undone": 1}
    assert told(applied) == before
    assert done.run is not None
    assert [row.outcome for row in applied.undo(done.run).rows] == ["merge_again"]


def test_merges_that_are_taken_back_first_to_last_say_what_they_leave(applied: Jochi, now: datetime) -> None:
    held = {"content": "one text", "content_hash": "v1:1"}
    memories = [idle(id, now, **held, access_count=n, agents=[id]) for id, n in (("a", 1), ("b", 30), ("c", 2))]
    put(applied, now + 400 * DAY, *memories)
    runs, gone = [], []
    for n, (left, right) in enumerate((("a", "b"), ("b", "c"))):
        merge_graph.flag(
            applied.database, f"default/{left}", f"default/{right}", now, decision="approved", same_text=True
        )
        runs.append(curate(applied, now + n * DAY, "merge_duplicates"))
        gone = [row["k"] for row in applied.database.run("MATCH (t:Tombstone) RETURN t.key AS k ORDER BY t.deleted_at")]
    assert gone == ["default/a", "default/c"]
    would = applied.undo(runs[0], now=now + 2 * DAY, dry_run=True)
    done = applied.undo(runs[0], now=now + 2 * DAY)
    assert (would.counts, done.counts, done.left) == ({"partly": 1}, {"partly": 1}, 1)
    assert would.rows == done.rows
    assert [(row.key, row.outcome, row.changed) for row in done.rows] == [
        ("default/a", "partly", ("default/b.access_count", "default/b.agents"))
    ]
    assert graph.state(applied.database)["default/b"].properties["merged_from"] == ["default/c"]
    assert applied.undo(runs[1], now=now + 2 * DAY).counts == {"undone": 1}
    left = graph.state(applied.database)["default/b"].properties
    assert not {"merged_from", "merged_hashes", "merged_at"} & left.keys()
    assert left["agents"] == ["a", "b"]
    again = applied.undo(runs[0], now=now + 2 * DAY)
    assert (again.counts, again.already) == ({}, 1)


def test_what_comes_back_in_two_halves_of_one_undo_is_on_record_twice(applied: Jochi, now: datetime) -> None:
    put(applied, now, idle("a", now), idle("b", now))
    run = curate(applied, now)
    [record] = [each for each in graph.audits(applied.database, lists=True) if each["action"] == "demote"]
    after = dict(zip(record["keys"], record["after"], strict=True))["default/b"]
    applied.database.run("MATCH (m:Curated {key: 'default/b'}) SET m.tier = 'ARCHIVE'")

    def goes_away(_done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        undoing.undo(applied.engine, run, now=now, by="test", on_page=goes_away)
    applied.database.run("MATCH (m:Curated {key: 'default/b'}) SET m.tier = $tier", {"tier": after})
    done = undoing.undo(applied.engine, run, now=now, by="test")
    assert done.resumed
    made = [each for each in graph.audits(applied.database, lists=True) if each["run"] == done.run]
    assert sorted(each["keys"] for each in made) == [["default/a"], ["default/b"]]
    assert len({each["id"] for each in made}) == 2
    assert done.run is not None
    assert applied.undo(done.run, now=now).counts == {"undone": 2}


def faded(client: Jochi, now: datetime, edges: list[tuple[str, str, dict[str, Any]]]) -> Any:
    """Edges that the next look archives; how to look at all of them."""
    names = sorted({name for start, end, _more in edges for name in (start, end)})
    put(client, now + 400 * DAY, *(Memory(name, ("Concept",), {"created_at": now}) for name in names))
    client.database.run("MATCH (s:JochiScope) SET s.first_edge_use_at = $first", {"first": now - 3000 * DAY})
    for start, end, more in edges:
        held = {
            "state": "active",
            "salience": 0.5,
            "salience_at": now - 2000 * DAY,
            "created_at": now - 3000 * DAY,
        } | more
        client.database.run(
            "MATCH (a:Curated {key: $start}) MATCH (b:Curated {key: $end}) CREATE (a)-[r:RELATED_TO]->(b) SET r = $held",
            {"start": f"default/{start}", "end": f"default/{end}", "held": {"next_due": now - DAY} | held},
        )

    def look() -> list[str]:
        rows = client.database.run(
            "MATCH (a)-[r:RELATED_TO]->(b) RETURN a.key AS a, b.key AS b, properties(r) AS p", write=False
        )
        aside = {"next_due", "confidence"}
        return sorted(
            repr((row["a"], row["b"], sorted((k, str(v)) for k, v in row["p"].items() if k not in aside)))
            for row in rows
        )

    return look


PARALLEL = [("a", "b", {"w": w, "salience": 0.3 + 0.1 * w, "salience_at_days": 2000 + w}) for w in (1, 2, 3)]
FAN = [("a", "b", {"w": 1}), ("a", "c", {"w": 2}), ("b", "c", {"w": 3}), ("a", "d", {"w": 4})]


@pytest.mark.parametrize("edges", [PARALLEL, FAN], ids=["parallel", "fan"])
def test_each_edge_of_one_start_has_a_record_of_its_own(
    applied: Jochi, now: datetime, edges: list[tuple[str, str, dict[str, Any]]]
) -> None:
    made = []
    for start, end, more in edges:
        days = more.get("salience_at_days", 2000)
        kept = {name: value for name, value in more.items() if name != "salience_at_days"}
        made.append((start, end, kept | {"salience_at": now - days * DAY}))
    look = faded(applied, now, made)
    before = look()
    done: Any = curate(applied, now, "decay_edges")
    after = look()
    assert len(after) == sum("'archived'" in each for each in after) == len(edges)
    records = graph.audits(applied.database)
    assert len({record["id"] for record in records}) == len(records) == len(edges)
    for turn in range(4):
        would = applied.undo(done, now=now + (turn + 1) * SECOND, dry_run=True)
        undone = applied.undo(done, now=now + (turn + 1) * SECOND)
        assert undone.counts == would.counts == {"undone": len(edges)}, turn
        assert look() == (after if turn % 2 else before), turn
        done = undone.run
        ids = [record["id"] for record in graph.audits(applied.database) if record["run"] == done]
        assert len(set(ids)) == len(ids) == len(edges)


def test_of_parallel_edges_the_one_that_was_changed_is_named_and_the_others_go_back(
    applied: Jochi, now: datetime
) -> None:
    edges = [("a", "b", {"w": w, "created_at": now - (3000 + w) * DAY}) for w in (1, 2, 3)]
    look = faded(applied, now, edges)
    before = look()
    # One that nobody archived is nobody's.
    applied.database.run(
        "MATCH (a:Curated {key: 'default/a'}) MATCH (b:Curated {key: 'default/b'}) "
        "CREATE (a)-[:RELATED_TO {w: 4, state: 'active'}]->(b)"
    )
    run = curate(applied, now, "decay_edges")
    applied.database.run("MATCH ()-[r:RELATED_TO {w: 2}]->() SET r.state = 'ours'")
    done = applied.undo(run, now=now + SECOND)
    assert done.counts == {"undone": 2, "partly": 1}
    assert [row.changed for row in done.rows] == [("state",)]
    left = look()
    assert sum("'ours'" in each for each in left) == 1
    assert len(set(left) & set(before)) == 2
    again = applied.undo(done.run or "", now=now + 2 * SECOND)
    assert again.counts == {"undone": 3}
    assert sum("'archived'" in each for each in look()) == 2
    assert any("('state', 'active')" in each and "('w', '4')" in each for each in look())


def test_the_hold_that_was_there_comes_back_when_an_undo_is_undone(applied: Jochi, now: datetime) -> None:
    """Of what was archived, moved and flagged."""
    had: dict[int, Any] = {0: None, 10: now + 10 * DAY, 30: now + 30 * DAY, 90: now + 90 * DAY, 1: "for ever"}
    makers = {"archived": task, "moved": idle, "flagged": reflection}
    was = {f"default/{name}{days}": hold for name in makers for days, hold in had.items()}
    put(applied, now, *(made(f"{name}{days}", now) for name, made in makers.items() for days in had))
    run = curate(applied, now)

    def holds() -> dict[str, Any]:
        found = {key: left.properties.get("hold_until") for key, left in graph.state(applied.database).items()}
        return {key: to_python(hold) for key, hold in found.items()}

    change = "UNWIND keys($was) AS key MATCH (m:Curated {key: key}) SET m.hold_until = $was[key]"
    applied.database.run(change, {"was": was})
    later = now + SECOND
    first = applied.undo(run, now=later)
    raised = {key: hold if key.endswith(("90", "1")) else later + 30 * DAY for key, hold in was.items()}
    assert holds() == raised
    second = applied.undo(first.run or "", now=later)
    assert (second.left, holds()) == (0, was)
    third = applied.undo(second.run or "", now=later)
    assert holds() == raised
    # Somebody's own hold since is nobody else's.
    own = dict.fromkeys(was, now + 5 * DAY)
    applied.database.run(change, {"was": own})
    applied.undo(third.run or "", now=later)
    assert holds() == own


def test_a_hold_of_a_tombstone_comes_back_as_well_and_each_return_has_one(applied: Jochi, now: datetime) -> None:
    put(applied, now, notice("n", now))
    done: Any = curate(applied, now)
    was = now - 3 * DAY
    applied.database.run("MATCH (t:Tombstone) SET t.hold_until = $was", {"was": was})
    for turn in range(4):
        at = now + (turn + 1) * SECOND
        undone = applied.undo(done, now=at)
        assert undone.counts == {"undone": 1}
        found = applied.database.run(
            "MATCH (m:Curated|Tombstone {key: 'default/n'}) RETURN m.hold_until AS hold", write=False
        )
        assert to_python(found[0]["hold"]) == (was if turn % 2 else at + 30 * DAY), turn
        done = undone.run
    # One that is still to come held it, whoever pruned it then.
    applied.database.run("MATCH (t:Tombstone) SET t.hold_until = $was", {"was": now + 3 * DAY})
    back = applied.undo(done, now=now + 9 * SECOND)
    assert applied.undo(back.run or "", now=now + 10 * SECOND).counts == {"protected": 1}


def test_what_was_pruned_again_is_not_said_to_be_purged(applied: Jochi, now: datetime) -> None:
    put(applied, now, notice("again", now), notice("purged", now))
    first = curate(applied, now)
    applied.restore(["default/again", "default/purged"])
    applied.database.run("MATCH (m:Curated) SET m.hold_until = null, m.next_due = $now", {"now": now})
    second = curate(applied, now + SECOND)
    assert graph.pruned(applied.database) == {"default/again", "default/purged"}
    applied.database.run(
        "MATCH (a:CurationAudit {run: $run, key: 'default/purged'}) "
        "CREATE (:CurationAudit {id: 'a purge', run: 'p', key: a.key, action: 'purge', rule: 'tombstone.ttl', "
        "at: a.at, pruned_at: a.at})",
        {"run": first},
    )
    for dry_run in (True, False):
        done = applied.undo(first, now=now + 2 * SECOND, dry_run=dry_run)
        assert outcomes(done) == {"default/again": "pruned", "default/purged": "purged"}
    assert applied.undo(second, now=now + 3 * SECOND).counts == {"undone": 2}
