"""Slots on a server: what replaces what, in whatever order it arrives (seed 003, Memory States; peers A3)."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ConstraintError
from tests.conftest import TestServer
from tests.oracle import graph
from tests.oracle.memory import Memory
from tests.slot_looks import DAY, MADE, NOW, fact, look, prune, remember, restore, row, settle
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.compile.rendering import render_one
from jochi.database.database import in_one_map
from jochi.database.server_facts import read_facts
from jochi.errors import UsageError
from jochi.policy import load_policy
from jochi.text.slot_names import slot_name, slot_value
from jochi.write import importing
from jochi_models import EngineOwned, Fact
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue

pytestmark = pytest.mark.server

TICK = timedelta(microseconds=1)


def outcomes(results: Any) -> list[str | None]:
    return [each.slot for each in results]


def props(client: Jochi, key: str) -> dict[str, Any]:
    return dict(graph.state(client.database)[key].properties)


def test_a_constraint_says_that_one_value_holds(jochi: Jochi) -> None:
    """Whoever writes, and whatever the engine did wrong: the server itself refuses a second one."""
    with jochi.database.driver.session() as session:
        session.run("CREATE (:Curated {slot_key: 'x'})").consume()
        with pytest.raises(ConstraintError, match="slot_key"):
            session.run("CREATE (:Curated {slot_key: 'x'})").consume()
        session.run("CREATE (:Curated {slot_key: 'y'}) CREATE (:Other {slot_key: 'x'}) CREATE (:Curated)").consume()
    (found,) = jochi.database.run(
        "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties WHERE 'slot_key' IN properties RETURN *",
        write=False,
    )
    assert (found["name"], found["labelsOrTypes"], found["properties"]) == (
        "curated_slot_key",
        ["Curated"],
        ["slot_key"],
    )
    assert "UNIQUE" in found["type"]


def test_a_newer_value_replaces_an_older_one(jochi: Jochi) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 5)]
    assert outcomes(remember(jochi, facts[:1])) == ["current"]
    assert outcomes(remember(jochi, facts[1:])) == ["current"]
    look(jochi, facts)


def test_an_older_one_that_arrives_late_does_not_win(jochi: Jochi) -> None:
    facts = [fact("1", "Oslo", 5), fact("2", "Rome", 1)]
    remember(jochi, facts[:1])
    assert outcomes(remember(jochi, facts[1:])) == ["superseded"]
    look(jochi, facts)


def test_there_and_back_again_in_any_order(jochi: Jochi) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 5), fact("3", " ROME", 9)]
    for i, order in enumerate(itertools.permutations(facts)):
        scoped = [fact(held.id, held.get("value"), None, f"s{i}", valid_from=held.get("valid_from")) for held in order]
        for held in scoped:
            remember(jochi, [held])
    look(
        jochi,
        [
            fact(held.id, held.get("value"), None, f"s{i}", valid_from=held.get("valid_from"))
            for i in range(6)
            for held in facts
        ],
    )


def test_the_same_value_confirms_and_a_late_one_splits(jochi: Jochi) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Rome", 9), fact("3", "Oslo", 5), fact("0", "rome", 0)]
    assert outcomes(remember(jochi, facts[:2])) == ["current", "confirms"]
    look(jochi, facts[:2])
    assert outcomes(remember(jochi, facts[2:3])) == ["superseded"]
    look(jochi, facts[:3])
    assert outcomes(remember(jochi, facts[3:])) == ["superseded"]
    look(jochi, facts)


def test_at_one_instant_the_greater_key_wins_also_beyond_the_basic_plane(jochi: Jochi) -> None:
    facts = [fact(id, value, 5) for id, value in zip(["b", "a", "\uff01", "😀", "10", "9"], "pqrstu", strict=True)]
    remember(jochi, facts)
    look(jochi, facts)
    assert [held.key for held in facts if "slot_key" in props(jochi, held.key)] == ["default/😀"]


def test_moments_in_different_zones_are_the_same(jochi: Jochi) -> None:
    east = timezone(timedelta(hours=9))
    facts = [fact("1", "Rome", None, valid_from=(MADE + DAY).astimezone(east)), fact("2", "Oslo", 1 + 1 / 24)]
    remember(jochi, facts)
    look(jochi, facts)


def test_a_batch_is_in_no_order(jochi: Jochi) -> None:
    facts = [
        fact(f"{i:02}", value, day)
        for i, (value, day) in enumerate(zip("abbaacbaab", [3, 1, 3, 2, 5, 5, 1, 9, 8, 7], strict=True))
    ]
    remember(jochi, facts)
    look(jochi, facts)
    keys = [held.key for held in facts]
    before = [props(jochi, key) for key in keys]
    assert {placed.outcome for placed in jochi.supersede(keys[::-1], now=NOW)} == {"superseded", "confirms", "current"}
    assert [props(jochi, key) for key in keys] == before, "once more changes nothing"
    look(jochi, facts)


def test_what_begins_in_the_future_waits_and_takes_over_in_its_time(jochi: Jochi) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 110), fact("3", "Bonn", 120)]
    assert outcomes(remember(jochi, facts)) == ["current", "future", "future"]
    look(jochi, facts)
    begins = MADE + 110 * DAY
    assert sum(run.changed for run in settle(jochi, begins - TICK)) == 0
    look(jochi, facts, begins - TICK)
    assert sum(run.changed for run in settle(jochi, begins)) == 1
    look(jochi, facts, begins)
    settle(jochi, MADE + 400 * DAY)
    look(jochi, facts, MADE + 400 * DAY)


def test_two_that_begin_while_nobody_looks(jochi: Jochi) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 110), fact("3", "Bonn", 120), fact("4", "Rome", 121)]
    remember(jochi, facts)
    settle(jochi, MADE + 200 * DAY)
    look(jochi, facts, MADE + 200 * DAY)


def test_a_clock_that_is_a_little_behind_takes_nothing_back(jochi: Jochi) -> None:
    tolerance = jochi.policy.policy.scheduler.clock_tolerance
    remember(jochi, [fact("1", "Rome", 1), fact("2", "Oslo", 100)])
    remember(jochi, [fact("3", "Bonn", 2)], NOW - tolerance)
    assert props(jochi, "default/2")["status"] == "active"
    remember(jochi, [fact("4", "Kiel", 3)], NOW - tolerance - TICK)
    assert "status" not in props(jochi, "default/2")
    settle(jochi)
    look(jochi, [fact("1", "Rome", 1), fact("2", "Oslo", 100), fact("3", "Bonn", 2), fact("4", "Kiel", 3)])


def test_many_values_hold_at_once(jochi: Jochi) -> None:
    days = {"Rome": 1, "Oslo": 5, "rome ": 9, "Kiel": 110}
    facts = [fact(str(i), value, day, attribute=" hobby") for i, (value, day) in enumerate(days.items(), 1)]
    facts += [fact("5", 1, 1, attribute="floor"), fact("6", 2, 2, attribute="floor")]
    assert outcomes(remember(jochi, facts)) == ["current", "current", "confirms", "future", "superseded", "current"]
    look(jochi, facts, many={"hobby"})
    prune_go(jochi)
    prune(jochi, ["default/1"])
    settle(jochi)
    look(jochi, facts[1:], many={"hobby"})


@pytest.mark.exhaustive
def test_an_attribute_that_turns_into_one_with_many_values_and_back(jochi: Jochi, tmp_path: Path) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 5), fact("3", "Rome", 9), fact("4", 1, 1, attribute="floor")]
    remember(jochi, facts)
    for many in (["city"], [], ["floor", "CITY"]):
        file = tmp_path / "many.toml"
        file.write_text(f'[policy]\nname = "many"\nextends = "default"\n[slots]\nmany = {json.dumps(many)}\n')
        policy, server = load_policy(file).policy, read_facts(jochi.database)
        stages = [
            {"name": name, "body": render_one(name, policy, server).sections["body"]}
            for name in ("slots/settle", "slots/target")
        ]
        asked = {"now": NOW, "limit": 2, "skip": [], "run": "r", "policy": "p", "stages": stages}
        for name in ("slots/requeue_slots", "slots/settle_slots"):
            select, act = (render_one(name, policy, server).sections[section] for section in ("select", "act"))
            changed = 0
            for _ in range(5):
                job = jochi.database.run("MATCH (j:JochiJob {name: 'requeue_slots'}) RETURN properties(j) AS p")[0]["p"]
                keys = jochi.database.run(select, in_one_map({**asked, "job": job}))[0]["keys"]
                changed += jochi.database.run(act, in_one_map({**asked, "job": job, "keys": keys}))[0]["changed"]
            assert changed == len(facts)
        look(jochi, facts, many={attribute.lower() for attribute in many})


def prune_go(client: Jochi) -> None:
    client.apply()


def test_what_was_pruned_leaves_its_slot_and_comes_back(jochi: Jochi) -> None:
    facts = [
        fact("1", "Rome", 1),
        fact("2", "Oslo", 5),
        fact("3", "oslo", 6),
        fact("4", "Rome", 9),
        fact("5", "Rome", 10),
    ]
    remember(jochi, facts)
    prune_go(jochi)
    for gone in (["4"], ["2"], ["2", "3"], ["1"], ["5"], ["1", "2", "3", "4"]):
        keys = [f"default/{id}" for id in gone]
        left = [held for held in facts if held.id not in gone]
        prune(jochi, keys)
        settle(jochi)
        look(jochi, left)
        assert jochi.database.run("MATCH (c:JochiSlotChange) RETURN c", write=False) == []
        restore(jochi, keys)
        settle(jochi)
        look(jochi, facts)


def test_never_two_current_between_a_restore_and_its_settling(jochi: Jochi) -> None:
    remember(jochi, [fact("1", "Rome", 1), fact("2", "Oslo", 5)])
    prune_go(jochi)
    prune(jochi, ["default/2"])
    settle(jochi)
    restore(jochi, ["default/2"])
    assert [hit.key for hit in jochi.recall(vector=None, text="nothing")] == []
    held = jochi.database.run("MATCH (m:Curated) WHERE m.slot_key IS NOT NULL RETURN m.key AS key", write=False)
    assert [each["key"] for each in held] == ["default/1"]
    settle(jochi)
    look(jochi, [fact("1", "Rome", 1), fact("2", "Oslo", 5)])


def test_restore_puts_it_back_at_once(jochi: Jochi) -> None:
    remember(jochi, [fact("1", "Rome", 1), fact("2", "Oslo", 5)])
    prune_go(jochi)
    prune(jochi, ["default/2"])
    settle(jochi)
    assert jochi.restore(["default/2"])[0].outcome == "restored"
    assert props(jochi, "default/2")["status"] == "active"
    assert props(jochi, "default/1")["status"] == "superseded"


def test_what_was_purged_leaves_nothing(jochi: Jochi) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 5), fact("3", "Rome", 9)]
    remember(jochi, facts)
    prune_go(jochi)
    prune(jochi, ["default/2"])
    jochi.run("purge_tombstones", now=NOW + 31 * DAY, drain=True)
    settle(jochi)
    look(jochi, [facts[0], facts[2]])


def test_a_half_pruned_one_is_left_alone_and_comes_back(jochi: Jochi) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 5), fact("3", "Bonn", 6)]
    remember(jochi, facts[:2])
    prune_go(jochi)
    prune(jochi, ["default/2"])
    jochi.database.run("MATCH (t:Tombstone {key: 'default/2'}) SET t:Curated:Fact")
    settle(jochi)
    before = props(jochi, "default/2")
    (placed,) = jochi.supersede(["default/2"], now=NOW)
    assert (placed.outcome, placed.reason) == ("refused", "pruned")
    remember(jochi, facts[2:])
    assert props(jochi, "default/2") == before
    jochi.run("hygiene", now=NOW, drain=True)
    settle(jochi)
    look(jochi, facts)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"subject": None}, "no_subject"),
        ({"subject": " \u2003"}, "no_subject"),
        ({"subject": 7}, "no_subject"),
        ({"attribute": None}, "no_attribute"),
        ({"attribute": ["city"]}, "no_attribute"),
        ({"value": None}, "no_value"),
        ({"value": timedelta(days=1)}, "wrong_type"),
        ({"value": b"raw"}, "wrong_type"),
        ({"valid_from": "then"}, "not_a_datetime"),
        ({"valid_from": 1_700_000_000}, "not_a_datetime"),
        ({"valid_from": datetime(1989, 12, 31, 23, 59, 59, tzinfo=timezone.utc)}, "implausible_datetime"),
        ({"valid_from": datetime(1990, 1, 1, tzinfo=timezone.utc)}, None),
    ],
    ids=str,
)
def test_what_belongs_in_no_slot_is_written_and_says_why(
    jochi: Jochi, said: dict[str, Any], reason: str | None
) -> None:
    held = Memory("1", ("Fact",), fact("1", "Rome", 1).properties | said)
    (result,) = remember(jochi, [held])
    assert result.outcome == "written"
    (placed,) = jochi.supersede(["default/1"], now=NOW)
    assert placed.reason == reason
    assert placed.outcome == ("refused" if reason else "current")
    if "valid_from" in said:
        assert (result.slot, result.reason) == (placed.outcome, reason)
    else:
        assert result.slot is None
    settle(jochi)
    if reason not in ("wrong_type", "implausible_datetime"):  # of these the oracle knows nothing
        look(jochi, [held])
    else:
        assert "slot_line" not in props(jochi, "default/1")


def test_refusals_of_the_whole_call_and_of_other_keys(jochi: Jochi) -> None:
    remember(jochi, [fact("1", "Rome", 1)])
    jochi.remember(
        {"kind": "Note", "id": "n", "properties": {"subject": "Ann", "attribute": "city", "value": "Oslo"}}, now=NOW
    )
    placed = jochi.supersede(["default/none", "default/n", "default/1"], now=NOW)
    assert [(each.outcome, each.reason) for each in placed] == [
        ("refused", "unknown"),
        ("refused", "no_slots"),
        ("current", None),
    ]
    assert "status" not in props(jochi, "default/n")
    with pytest.raises(UsageError, match="one text"):
        jochi.supersede("default/1")
    asked: dict[str, Any]
    name, value = slot_name("Ann", "city"), slot_value("Oslo")
    for asked, told in (
        ({"now": "today", "facts": []}, "now is not a datetime"),
        ({"now": datetime(1980, 1, 1, tzinfo=timezone.utc), "facts": []}, "before 1990"),
        ({"now": NOW, "facts": None}, "not a list"),
        ({"now": NOW, "facts": [{"key": 1}]}, "no key"),
        ({"now": NOW, "facts": [{"key": "default/1", "slot_name": name}]}, "together"),
        ({"now": NOW, "facts": [{"key": "default/1", "slot_name": "x", "slot_value": value}]}, "slot_name is not"),
        ({"now": NOW, "facts": [{"key": "default/1", "slot_name": name, "slot_value": 1}]}, "slot_value is not"),
    ):
        found = jochi.engine.call("memory/supersede", asked)
        assert told in found["problem"]
        assert found["results"] == []
    changed = {"key": "default/1", "slot_name": name, "slot_value": value, "was": ["Ann", "city", "Oslo"]}
    (result,) = jochi.engine.call("memory/supersede", {"now": NOW, "facts": [changed]})["results"]
    assert result["reason"] == "changed"
    assert jochi.engine.call("memory/supersede", {"now": NOW, "facts": []})["results"] == []


@pytest.mark.slow
def test_eight_writers_of_one_slot(jochi: Jochi) -> None:
    facts = [fact(f"{i:03}", "abc"[i * 7 % 3], i * 37 % 50) for i in range(80)]

    def write(part: int) -> None:
        client = Jochi(jochi.database.driver)
        for held in facts[part::8]:
            remember(client, [held])
        client.supersede([held.key for held in facts[part::8]], now=NOW)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    settle(jochi)
    look(jochi, facts)


@pytest.mark.exhaustive
def test_writers_and_the_janitor_at_once(jochi: Jochi) -> None:
    facts = [fact(f"{i:03}", "abc"[i % 3], i) for i in range(60)]
    remember(jochi, facts[:30])
    prune_go(jochi)
    gone = {held.key for held in facts[:30:3]}

    def write() -> None:
        for held in facts[30:]:
            remember(Jochi(jochi.database.driver), [held])

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        for key in sorted(gone):
            prune(jochi, [key])
            settle(jochi)
        writing.result()
    settle(jochi)
    look(jochi, [held for held in facts if held.key not in gone])


@pytest.mark.slow
def test_one_more_fact_costs_the_same_in_a_long_history(jochi: Jochi) -> None:
    def hits(subject: str, id: str, value: str, day: float) -> int:
        jochi.remember([row(fact(id, value, day, subject=subject))], now=NOW)
        jochi.database.run(
            "MATCH (m:Curated {key: $key}) SET m.slot_line = null, m.slot_place = null, m.slot_stands = null, m.slot_key = null",
            {"key": f"default/{id}"},
        )
        with jochi.database.driver.session() as session:
            asked = {"now": NOW, "facts": [{"key": f"default/{id}"}]}
            text = jochi.engine.text("memory/supersede")
            profile = session.run("PROFILE " + text, in_one_map(asked)).consume().profile
        return _hits(profile)

    few, lots = 20, 10_000
    for subject, n in (("few", few), ("lots", lots)):
        facts = [
            row(fact(f"{subject}{i}", "ab"[i % 2] if i < n / 2 else "c", 50 * i / n, subject=subject)) for i in range(n)
        ]
        jochi.remember(facts, now=NOW)
    jochi.database.run("CALL db.awaitIndexes()")
    for value, day in (("b", 10.1), ("a", 10.1), ("c", 40.1), ("d", 40.1), ("d", 60.0)):
        small, large = hits("few", f"f{value}{day}", value, day), hits("lots", f"l{value}{day}", value, day)
        assert large <= 1.3 * small, (value, day, small, large)


def _hits(plan: dict[str, Any]) -> int:
    return int(plan.get("dbHits", 0)) + sum(_hits(child) for child in plan.get("children", []))


def test_the_job_reads_what_is_due_and_no_more(jochi: Jochi) -> None:
    remember(jochi, [fact(f"{i}", f"{i}", i, subject=f"s{i % 50}") for i in range(100)])
    with jochi.database.driver.session() as session:
        asked = in_one_map({"now": NOW, "limit": 10, "skip": [], "job": {"name": "settle_slots"}})
        profile = session.run("PROFILE " + jochi.engine.text("slots/settle_slots", "select"), asked).consume().profile
    assert _hits(profile) < 10


def test_recall_leaves_out_what_holds_no_more(jochi: Jochi) -> None:
    said = [("1", "Rome", 1), ("2", "Rome", 2), ("3", "Oslo", 5), ("4", "oslo", 6), ("5", "Bonn", 110)]
    embedding = jochi.policy.policy.embedding
    vector = [1.0] + [0.0] * (embedding.dimensions - 1)
    embedded = {"embedding": vector, "embedding_model": embedding.model}
    rows = [row(fact(id, value, day)) | {"content": f"Ann lives in {value}, says {id}"} for id, value, day in said]
    rows.append({"kind": "Note", "id": "n", "content": "Ann is tall"})
    jochi.remember([each | embedded for each in rows], now=NOW)
    jochi.database.run("CALL db.awaitIndexes()")
    jochi.database.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")

    def found(**asked: Any) -> set[str]:
        ways = ({"text": "Ann"}, {"vector": vector}, {"text": "Ann", "vector": vector})
        by_words, *others = ({hit.key.removeprefix("default/") for hit in jochi.recall(**way, **asked)} for way in ways)
        assert others == [by_words] * 2
        return by_words

    assert found() == {"3", "4", "n"}
    assert found(include_superseded=True) == {"1", "2", "3", "4", "5", "n"}
    settle(jochi, MADE + 110 * DAY)
    assert found() == {"5", "n"}
    jochi.remember(
        {"kind": "Belief", "id": "b", "content": "Ann is old", "properties": {"state": "superseded"}} | embedded,
        now=NOW,
    )
    jochi.database.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    assert found() == {"5", "n"}
    assert "b" in found(include_superseded=True)
    with pytest.raises(UsageError, match="include_superseded"):
        jochi.recall("Ann", include_superseded="yes")  # type: ignore[arg-type]


def test_through_the_models(jochi: Jochi) -> None:
    from neomodel import db

    db.set_connection(driver=jochi.database.driver)
    first = Fact(uid="1", subject="Ann", attribute="city", value="Rome", valid_from=MADE + DAY, created_at=MADE).save()
    second = Fact(
        uid="2", subject="Ann", attribute="city", value="Oslo", valid_from=MADE + 5 * DAY, created_at=MADE
    ).save()
    later = datetime.now(timezone.utc) + DAY
    settle(jochi, later)
    first.refresh()
    assert (first.status, first.valid_to) == ("superseded", MADE + 5 * DAY)
    assert first.superseded_at == later
    second.tags = ["checked"]
    second.save()
    second.value = "Bonn"
    second.save()
    settle(jochi, later)
    assert [s.value for s in jochi.history_of("default", "ann", "city")] == ["Rome", "Bonn"]
    second.valid_from = MADE
    second.save()
    settle(jochi, later)
    assert [s.value for s in jochi.history_of("default", "ann", "city")] == ["Bonn", "Rome"]
    second.subject = "Zoe"
    second.save()
    settle(jochi, later)
    assert [s.value for s in jochi.history_of("default", "ann", "city")] == ["Rome"]
    assert [s.value for s in jochi.history_of("default", "zoe", "city")] == ["Bonn"]
    second.value = None
    second.save()
    settle(jochi, later)
    assert jochi.history_of("default", "zoe", "city") == []
    with pytest.raises(EngineOwned, match="slot of the fact"):
        second.status = "active"


def test_what_others_wrote_gets_its_name_from_a_worker(jochi: Jochi) -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 5)]
    asked = {"now": NOW, "agent": None, "memories": [row(held) for held in facts]}
    asked["memories"][1]["content"] = "Ann moved to Oslo"  # type: ignore[index]
    assert jochi.engine.call("memory/remember", asked)["written"] == 2
    queue = Queue(jochi.engine, "prepare", clock=lambda: NOW)
    batch = queue.lease()
    outcome = PrepareHandler().handle(batch.rows)
    assert queue.finish(batch, outcome.done).done == 2
    assert queue.lease().rows == ()
    settle(jochi)
    look(jochi, facts)


def test_what_was_imported_is_settled(jochi: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    lines = [
        {
            "kind": "Fact",
            "id": id,
            "subject": "Ann",
            "attribute": "city",
            "value": value,
            "valid_from": f"2026-01-0{day}T00:00:00Z",
        }
        for id, value, day in (("1", "Rome", 2), ("2", "Oslo", 6), ("3", "Rome", 9))
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert importing.import_files(jochi.database, [file], now=NOW).written == 3
    settle(jochi)
    look(jochi, [fact("1", "Rome", 1), fact("2", "Oslo", 5), fact("3", "Rome", 8)])


def test_the_history_of_nothing_and_of_wrong_questions(jochi: Jochi) -> None:
    assert jochi.history_of("default", "Ann", "city") == []
    assert jochi.history_of("default", "Ann", "city", NOW) == []
    with pytest.raises(UsageError, match="blank"):
        jochi.history_of("default", " ", "city")
    with pytest.raises(UsageError, match="no zone"):
        jochi.history_of("default", "Ann", "city", datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.exhaustive
def test_a_history_of_many_pages(jochi: Jochi) -> None:
    facts = [fact(f"{i:04}", "ab"[i // 3 % 2], i / 100) for i in range(1_003)]
    remember(jochi, facts)
    look(jochi, facts)


def test_on_the_command_line(jochi: Jochi, server: TestServer) -> None:
    remember(jochi, [fact("1", "Rome", 1), fact("2", "Oslo", 5), fact("3", "Oslo", 6)])
    options = ["--uri", server.uri, "--user", server.user]
    environment = {"JOCHI_PASSWORD": server.password}

    def said(*arguments: str) -> str:
        done = CliRunner().invoke(app, [*options, "memory", "history", *arguments], env=environment)
        assert done.exit_code == 0, done.output
        return done.output

    assert [each["keys"] for each in json.loads(said("default", "ann", "city", "--json"))] == [
        ["default/1"],
        ["default/2", "default/3"],
    ]
    assert "Rome" in said("default", "Ann", "city", "--at", "2026-01-03T00:00:00Z")
    assert "Oslo" not in said("default", "Ann", "city", "--at", "2026-01-03T00:00:00Z")
