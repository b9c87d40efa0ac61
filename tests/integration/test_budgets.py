"""Token budgets per scope: what goes down, how far, who reports a change, and that no change is lost (seed 000, DESIGN §8, §9)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import neo4j
import pytest
from tests.conftest import PolicyWith, TestServer, say_go
from tests.oracle import Memory, budgets, graph
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.graph.driver_values import to_python
from jochi.jobs.results import Switch
from jochi.jobs.runner import Run
from jochi.operate.status import overview
from jochi.policy import LoadedPolicy
from jochi.write import importing
from jochi_models import Belief

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def note(
    number: int, tokens: Any, tier: str = "HOT", *, scope: str = "a", age: float | None = None, **more: Any
) -> Memory:
    """The higher its number, the longer ago it was made."""
    hours = number if age is None else age
    properties = {"token_count": tokens, "tier": tier, "created_at": NOW - hours * HOUR, **more}
    return Memory(f"m{number:03d}", ("Note",), {k: v for k, v in properties.items() if v is not None}, scope=scope)


def run(client: Jochi, now: datetime = NOW) -> list[Run]:
    """Until nothing is left to do."""
    runs = client.run("enforce_budgets", now=now, drain=True)
    assert [each.error for each in runs if each.error] == []
    return runs


def tally(runs: list[Run], name: str) -> int:
    return sum(each.tally.get(name, 0) for each in runs)


def tiers(client: Jochi) -> dict[str, str]:
    return {key: found.properties["tier"] for key, found in graph.state(client.database).items()}


def tokens(client: Jochi) -> dict[tuple[str, str], int]:
    rows = client.database.run(
        "MATCH (m:Curated) RETURN m.scope AS scope, m.tier AS tier, sum(m.token_count) AS n", write=False
    )
    return {(row["scope"], row["tier"]): row["n"] for row in rows}


def reported(client: Jochi) -> list[str]:
    return [row["s"] for row in client.database.run("MATCH (c:JochiScopeChange) RETURN c.scope AS s ORDER BY s")]


def over(client: Jochi) -> dict[tuple[str, str], int]:
    return {key: n for key, n in tokens(client).items() if key[1] in budgets.SEED and n > budgets.SEED[key[1]]}


@pytest.fixture
def checked(jochi: Jochi) -> Jochi:
    """Every scope was looked at just now, so only what is reported is worked until tomorrow."""
    run(jochi)
    return jochi


STORES: dict[str, list[Memory]] = {
    "it fits exactly": [note(i, 100) for i in range(16)],
    "one token too many": [*(note(i, 100) for i in range(16)), note(16, 1)],
    "one goes down all the way": [note(1, 1600), note(2, 400), note(3, 200), note(4, 200)],
    "the newest is the one that is kept": [note(1, 1000), note(2, 1000)],
    "last access counts before creation": [note(1, 1000), note(2, 1000, last_accessed_at=NOW)],
    "larger than any budget": [note(1, 1601), note(2, 1600)],
    "larger than a budget pushes nobody out": [note(1, 5000), *(note(i, 100) for i in range(2, 18))],
    "of the same moment the first id goes": [note(i, 1000, age=1) for i in range(3)],
    "what comes down pushes out what is older there": [
        note(1, 1600),
        note(2, 300),
        note(3, 300, "WARM"),
        note(4, 150, "COLD"),
    ],
    "what comes down is older than what is there": [
        note(2, 1600),
        note(3, 300),
        note(1, 300, "WARM"),
        note(4, 200, "COLD"),
    ],
    "a smaller older one doesn't slip in": [note(1, 1600), note(2, 300), note(3, 300), note(4, 50)],
    "no count: a quarter of the characters": [note(1, None, content="x" * 6400), note(2, None, content="x")],
    "a count that is none": [note(1, -5, content="x" * 6400), note(2, "12", content="x" * 4)],
    "nothing to count weighs nothing": [note(1, 1600), *(note(i, None) for i in range(2, 9))],
    "weighs nothing, but is older than what goes": [note(1, 1600), note(2, 1), note(3, 0)],
    "pinned weighs first": [note(9, 1500, pinned=True), note(1, 100), note(2, 100)],
    "pinned overflows": [note(8, 1000, pinned=True), note(9, 1000, pinned="perhaps"), note(1, 1), note(2, 0)],
    "pinned false is not pinned": [note(1, 1600), note(2, 1600, pinned=False)],
    "unknown times go first": [note(0, 900), note(1, 900, last_accessed_at="yesterday")],
    "other tiers stay": [note(1, 9000, "ARCHIVE"), note(2, 9000, "LUKEWARM"), note(3, 9000, None)],
    "each scope by itself": [note(i, 1000, scope=scope) for i in range(2) for scope in ("a", "b")],
}


def test_what_goes_down_and_how_far(jochi: Jochi) -> None:
    """Each store in scopes of its own."""
    stores = {
        name: [replace(memory, scope=f"{number}{memory.scope}") for memory in store]
        for number, (name, store) in enumerate(STORES.items())
    }
    graph.write(jochi.database, [memory for store in stores.values() for memory in store], due=NOW + DAY)
    run(jochi)
    found = graph.state(jochi.database)
    for name, store in stores.items():
        wanted = budgets.enforce(store)
        assert [found[m.key].properties.get("tier") for m in store] == [wanted.tier(m) for m in store], name
        for memory in store:
            now = to_python(found[memory.key].properties)
            move = wanted.moves.get(memory.key)
            assert now["next_due"] == NOW + DAY
            if move is None:
                assert not {"tier_from", "tier_reason", "tier_at", "curation_action"} & now.keys()
            else:
                assert (now["tier_from"], now["tier_reason"], now["tier_at"]) == (move.start, move.reason, NOW)
                assert (now["curation_action"], now["last_curated_at"]) == ("DEMOTE", NOW)
    assert sum(each.changed for each in run(jochi, NOW + HOUR)) == 0


def test_it_needs_no_go_and_no_access_data(jochi: Jochi) -> None:
    """Moves are no prunes; budgets go on by created_at where nobody reports accesses."""
    graph.write(jochi.database, [note(i, 800) for i in range(3)], due=NOW)
    state = next(job for job in jochi.jobs() if job.name == "enforce_budgets")
    assert (state.destructive, state.every) == (False, timedelta(minutes=5))
    assert tally(run(jochi), "HOT_to_ARCHIVE") == 1


def test_the_record_tells_what_was_moved(jochi: Jochi) -> None:
    graph.write(jochi.database, [note(1, 1600), note(2, 400), note(3, 900), note(4, 1, scope="b")], due=NOW)
    run(jochi)
    (audit,) = graph.audits(jochi.database, lists=True)
    assert (audit["action"], audit["rule"], audit["scope"], audit["n"]) == ("demote", "budget", "a", 2)
    moves = sorted(zip(audit["keys"], audit["before"], audit["after"], strict=True))
    assert moves == [("a/m002", "HOT", "WARM"), ("a/m003", "HOT", "ARCHIVE")]
    assert {"action": "demote", "kind": None, "rule": "budget", "n": 2} in jochi.pruned()


def test_budgets_of_nothing_and_of_another_order(
    install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith
) -> None:
    client = install_once(policy_with("[tiers]\nHOT = 0\nWARM = 0\nCOLD = 500"))
    store = [note(1, 1), note(2, 300), note(3, 300, "WARM"), note(4, 0), note(5, 600), note(6, 10, pinned=True)]
    graph.write(client.database, store, due=NOW)
    wanted = budgets.enforce(store, {"HOT": 0, "WARM": 0, "COLD": 500})
    run(client)
    assert tiers(client) == {m.key: wanted.tier(m) for m in store}
    assert wanted.tier(store[0]) == "COLD"
    assert wanted.overflow == {("a", "HOT"): 10}
    # Looked at under another policy: all scopes are looked at again, though none has changed.
    graph.write(client.database, [note(7, 500)], due=NOW)
    mark = "MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.checked_at = $now, j.check_mark = coalesce($mark, j.check_mark)"
    for mine, tier in ((None, "HOT"), ("0/0/100", "ARCHIVE")):
        client.database.run(mark, {"now": NOW, "mark": mine})
        run(client)
        assert tiers(client)["a/m007"] == tier


# -- overflow --------------------------------------------------------------------------------------------------------


def test_what_is_pinned_above_a_budget_is_named_until_it_fits(jochi: Jochi, server: TestServer) -> None:
    store = [note(i, 300, pinned=True, scope=scope) for i in range(6) for scope in ("a", "b")]
    graph.write(jochi.database, [*store, *(note(i, 300, scope="c") for i in range(6))], due=NOW)
    runs = run(jochi)
    assert (tally(runs, "overflowing"), sum(each.changed for each in runs)) == (2, 1)
    found = overview(jochi).budgets
    assert found is not None
    assert [(o.scope, o.tier, o.budget, o.held, o.above, o.at) for o in found.overflows] == [
        ("a", "HOT", 1600, 1800, 200, NOW),
        ("b", "HOT", 1600, 1800, 200, NOW),
    ]
    assert (found.overflowing, found.waiting) == (2, 0)
    named = jochi.database.run(
        "MATCH (r:JochiJobRun) WHERE r.overflowing_scopes IS NOT NULL RETURN r.overflowing_scopes AS s"
    )
    assert [row["s"] for row in named] == [["a", "b"]]
    (plan,) = jochi.plan_budgets("a").overflows
    assert (plan.scope, plan.tier, plan.above) == ("a", "HOT", 200)
    options = ["--uri", server.uri, "--user", server.user]
    shown = CliRunner().invoke(app, [*options, "budgets"], env={"JOCHI_PASSWORD": server.password})
    assert shown.exit_code == 0, shown.output
    assert "2 scopes are above a budget by what is pinned" in " ".join(shown.stdout.split())
    jochi.database.run("MATCH (m:Curated {key: 'a/m000'}) SET m.pinned = false")
    jochi.database.run("MATCH (m:Curated {scope: 'b'}) DETACH DELETE m")
    run(jochi, NOW + DAY)
    found = overview(jochi).budgets
    assert found is not None
    assert found.overflows == []


# -- which scopes are looked at --------------------------------------------------------------------------------------


def test_plain_cypher_is_noticed_by_the_daily_check_and_not_before(checked: Jochi) -> None:
    graph.write(checked.database, [note(1, 1000), note(2, 1000)], due=NOW)
    assert sum(each.changed for each in run(checked, NOW + DAY - HOUR)) == 0
    assert sum(each.changed for each in run(checked, NOW + DAY)) == 1
    # A clock that went back doesn't put the check off for good.
    graph.write(checked.database, [note(3, 1000, scope="b"), note(4, 1000, scope="b")], due=NOW)
    assert sum(each.changed for each in run(checked, NOW - 30 * DAY)) == 1


def test_the_check_walks_all_scopes_in_batches(jochi: Jochi) -> None:
    """Scopes of one memory and of very many, archived ones between them."""
    store = [note(i, 900, scope=f"s{s:02d}") for s in range(25) for i in range(2)]
    store += [note(i, 0, "ARCHIVE", scope="s07x") for i in range(300)]
    graph.write(jochi.database, store, due=NOW)
    jochi.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.batch_size = 4")
    runs = run(jochi)
    jochi.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.batch_size = 100")
    assert (tally(runs, "scopes"), sum(each.changed for each in runs), over(jochi)) == (26, 25, {})


@pytest.fixture
def reports(checked: Jochi) -> Callable[[Callable[[], object], list[str]], None]:
    """Whether what it is given reports just these scopes."""

    def check(work: Callable[[], object], wanted: list[str]) -> None:
        checked.database.run("MATCH (c:JochiScopeChange) DELETE c")
        work()
        assert sorted(set(reported(checked))) == wanted
        assert all(
            row["z"]
            for row in checked.database.run("MATCH (c:JochiScopeChange) RETURN c.at IS :: ZONED DATETIME NOT NULL AS z")
        )

    return check


def test_whoever_writes_tells_the_scopes(
    checked: Jochi, reports: Callable[[Callable[[], object], list[str]], None], tmp_path: Path
) -> None:
    database = checked.database
    rows = [{"kind": "Note", "scope": s, "content": f"words {n}"} for n in range(4) for s in ("r1", "r2")]
    reports(lambda: checked.remember(rows), ["r1", "r2"])
    assert len(reported(checked)) == 2, "one record a scope and call"
    reports(lambda: checked.remember([{**rows[0]}, {"kind": "Nonsense", "scope": "r3"}]), [])
    made = importing.MemoryRecord(
        kind="Note", id="i1", scope="imported", properties={"content": "x", "created_at": NOW}
    )
    reports(lambda: importing.write(database, [made], now=NOW), ["imported"])
    reports(lambda: importing.write(database, [made], now=NOW), [])
    database.run("CREATE (:Note {id: 'e1', scope: 'enrolled', content: 'y'})")
    reports(lambda: checked.enrol("Note"), ["enrolled"])
    database.run("CREATE (:Letter {id: 'l1', scope: 'taken_in', text: 'dear all'})")
    reports(lambda: checked.run("intake", now=NOW, drain=True), ["taken_in"])
    graph.write(
        database, [Memory("t", ("Notification",), {"read": True, "created_at": NOW - 90 * DAY}, scope="back")], due=NOW
    )
    say_go(checked)
    checked.run("curate_due", now=NOW, drain=True)
    reports(lambda: checked.restore(["back/t"]), ["back"])


def test_models_tell_the_scope(
    checked: Jochi, reports: Callable[[Callable[[], object], list[str]], None], driver: neo4j.Driver
) -> None:
    from neomodel import db

    db.set_connection(driver=driver)
    belief = Belief(uid="b1", scope="modelled", content="the sky is blue", confidence=0.8)
    reports(belief.save, ["modelled"])
    belief.pinned = True
    reports(belief.save, ["modelled"])
    reports(belief.save, [])


def test_a_new_token_count_tells_the_scope(
    checked: Jochi, reports: Callable[[Callable[[], object], list[str]], None]
) -> None:
    checked.remember([{"kind": "Note", "scope": "w", "id": "1", "content": "some words here", "token_count": 3}])

    def finish(count: int | None) -> None:
        checked.database.run(
            "MERGE (w:JochiWork {id: 'prepare/w/1'}) SET w.derivation = 'prepare', w.key = 'w/1', w.lease = 't', w.due = $until",
            {"until": NOW + HOUR},
        )
        result = {
            "key": "w/1",
            "scope": "w",
            "kind": "Note",
            "content": "some words here",
            "content_hash": "v2:" + "0" * 64,
        }
        done = checked.engine.call(
            "derive/prepare/store",
            {"now": NOW, "token": "t", "results": [{**result, "token_count": count, "token_counter": "test"}]},
        )
        assert done["stored"] == ["w/1"]

    reports(lambda: finish(3), [])
    reports(lambda: finish(None), [])
    reports(lambda: finish(5), ["w"])


# -- kill switches ---------------------------------------------------------------------------------------------------


def test_a_paused_scope_waits_and_is_worked_when_it_is_resumed(checked: Jochi) -> None:
    graph.write(checked.database, [note(i, 1000, scope=s) for i in range(2) for s in ("a", "b")], due=NOW)
    checked.pause(Switch("scope", "a"))
    checked.database.run("UNWIND ['a', 'b'] AS s CREATE (:JochiScopeChange {scope: s, at: $now})", {"now": NOW})
    runs = run(checked)
    assert (tally(runs, "waiting"), over(checked), reported(checked)) == (1, {("a", "HOT"): 2000}, [])
    checked.resume(Switch("scope", "a"))
    run(checked)
    assert over(checked) == {}


def test_a_paused_kind_stays_and_is_worked_when_it_is_resumed(checked: Jochi) -> None:
    graph.write(checked.database, [note(i, 1000) for i in range(2)], due=NOW)
    checked.pause(Switch("kind", "Note"))
    checked.database.run("CREATE (:JochiScopeChange {scope: 'a', at: $now})", {"now": NOW})
    assert sum(each.changed for each in run(checked)) == 0
    checked.resume(Switch("kind", "Note"))
    run(checked)
    assert over(checked) == {}


# -- one large scope -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_large_scope_goes_in_several_transactions_and_ends_as_in_one(jochi: Jochi) -> None:
    """More than one transaction takes; in the middle somebody writes, and a memory of the rest is used."""
    most = jochi.policy.policy.budgets.batch_moves
    n = most * 2 + 500
    jochi.database.run(
        "UNWIND range(1, $n) AS i CREATE (:Curated:Note {scope: 'a', id: toString(i), key: 'a/' + i, tier: 'HOT', "
        "token_count: 1 + i * 7919 % 60, created_at: $now - duration({seconds: i * 104729 % 999983})})",
        {"n": n, "now": NOW},
    )
    stored = [
        Memory(k.split("/")[1], ("Note",), to_python(f.properties), scope="a")
        for k, f in graph.state(jochi.database).items()
    ]
    wanted = budgets.enforce(stored)
    jochi.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.max_batches = 1")
    (first,) = jochi.run("enforce_budgets", now=NOW)
    assert first.changed == most + 1
    assert reported(jochi) == ["a"]
    (second,) = jochi.run("enforce_budgets", now=NOW + HOUR)
    jochi.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.max_batches = 100")
    assert second.changed == most + 1
    rest = run(jochi, NOW + HOUR)
    assert first.changed + second.changed + sum(each.changed for each in rest) == len(wanted.moves)
    found = graph.state(jochi.database)
    assert {m.key: found[m.key].properties["tier"] for m in stored} == {m.key: wanted.tier(m) for m in stored}
    assert {found[key].properties["tier_reason"] for key in wanted.moves} == {"budget.HOT"}
    assert jochi.database.run("MATCH (b:JochiBudget) RETURN b") == []


@pytest.mark.slow
def test_what_is_written_in_the_middle_of_it_is_weighed_at_the_end(jochi: Jochi) -> None:
    most = jochi.policy.policy.budgets.batch_moves
    jochi.database.run(
        "UNWIND range(1, $n) AS i CREATE (:Curated:Note {scope: 'a', id: toString(i), key: 'a/' + i, tier: 'HOT', "
        "token_count: 10, created_at: $now - duration({seconds: i})})",
        {"n": most + 500, "now": NOW},
    )
    jochi.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.max_batches = 1")
    jochi.run("enforce_budgets", now=NOW)
    jochi.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.max_batches = 100")
    graph.write(jochi.database, [note(0, 100, age=-1)], due=NOW)
    # Used just now, though its move was decided: it stays, as one of the newest.
    left = jochi.database.run("MATCH (m:Curated {tier: 'HOT'}) RETURN m.key AS key ORDER BY m.created_at LIMIT 1")[0][
        "key"
    ]
    jochi.database.run("MATCH (m:Curated {key: $key}) SET m.last_accessed_at = $now", {"key": left, "now": NOW})
    run(jochi)
    assert over(jochi) == {}
    assert {tiers(jochi)[key] for key in (left, "a/m000")} == {"HOT"}
    assert tokens(jochi)["a", "HOT"] == 1600


# -- others at the same time -----------------------------------------------------------------------------------------


def blocked(client: Jochi) -> bool:
    rows = client.database.run(
        "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status", write=False
    )
    return bool(rows)


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"


def test_what_somebody_pins_while_it_is_being_moved_stays(checked: Jochi) -> None:
    """The decision is made before the lock is had, so everything is looked at again behind it."""
    graph.write(checked.database, [note(i, 1000) for i in range(3)], due=NOW)
    checked.database.run("CREATE (:JochiScopeChange {scope: 'a', at: $now})", {"now": NOW})
    with ThreadPoolExecutor(1) as pool, checked.database.driver.session() as session:
        transaction = session.begin_transaction()
        transaction.run("MATCH (m:Curated {key: 'a/m002'}) SET m.pinned = true").consume()
        running = pool.submit(run, checked)
        until(lambda: blocked(checked) or running.done())
        transaction.commit()
        runs = running.result(60)
    assert tally(runs, "moved_meanwhile") >= 1
    # Weighed again with what is pinned now: it takes 1,000 of the 1,600 itself.
    assert tiers(checked) == {"a/m000": "ARCHIVE", "a/m001": "ARCHIVE", "a/m002": "HOT"}


@pytest.mark.slow
def test_no_memory_that_is_remembered_during_runs_is_overlooked(checked: Jochi) -> None:
    """Without the daily check: each write tells of itself, and a run never takes a report whose memory it hasn't seen."""
    done = threading.Event()
    scopes = ["x", "y", "z"]

    def agent(number: int) -> None:
        for i in range(25):
            checked.remember(
                [
                    {
                        "kind": "Task",
                        "scope": scope,
                        "id": f"{number}-{i}",
                        "content": f"{number} {i}",
                        "token_count": 90,
                    }
                    for scope in scopes
                ]
            )

    def janitor() -> int:
        moved = 0
        while not done.is_set():
            moved += sum(each.changed for each in checked.run("enforce_budgets", now=NOW))
        return moved

    with ThreadPoolExecutor(4) as pool:
        cleaning = pool.submit(janitor)
        agents = [pool.submit(agent, number) for number in range(3)]
        for each in agents:
            each.result(300)
        done.set()
        moved = cleaning.result(300)
    run(checked)
    assert moved > 0
    assert over(checked) == {}
    assert reported(checked) == []
    assert sum(tokens(checked).values()) == 3 * 25 * 3 * 90
