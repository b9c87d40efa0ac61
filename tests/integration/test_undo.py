"""Undo of a run: each action back exactly, what changed since named and left, and an undo that can be undone (DESIGN §10)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError
from tests import merge_graph
from tests.oracle import Memory, graph
from tests.oracle.strategies import WRONG_TYPES

from jochi import Jochi, clock, undoing
from jochi.errors import Refused, UsageError
from jochi.scheduler.runner import run_job
from jochi.temporal import to_python
from jochi.undoing import Undone

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


def outcomes(done: Undone) -> dict[str | None, str]:
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
    assert told(applied)["default/i"][1]["tier"] == "'ARCHIVE'"
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
                # The transaction is ended in its middle: nothing of it stays.
                call(name, {**parameters, "now": "never"}, **more)
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


@pytest.mark.parametrize("most", [1, 2, 3])
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
    assert dict(one.tokens_after) == {"HOT": 0, "WARM": 0, "COLD": 4, "ARCHIVE": 0}
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
