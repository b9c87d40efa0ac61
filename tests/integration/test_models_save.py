"""Models against a real database: what a save writes, what it refuses, and that it never undoes what the engine did."""

from __future__ import annotations

import runpy
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from io import StringIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import neo4j
import pytest
from neomodel import StringProperty, StructuredNode, db
from neomodel.exceptions import DeflateError, NodeClassNotDefined
from tests.conftest import TestServer
from tests.oracle import graph

from jochi import Jochi, clock
from jochi.database.database import Database
from jochi.errors import ConnectionFailed, Refused, UsageError
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy, load_policy
from jochi.text.content import content_hash
from jochi.write.newborn import SHIPPED
from jochi_models import (
    Agent,
    Belief,
    CompressedContext,
    ContentKnown,
    Curated,
    EngineOwned,
    Fact,
    Gone,
    HeartbeatTask,
    KeyTaken,
    LostUpdate,
    MemoryEntry,
    Notification,
    NotOffered,
    NotSaved,
    Person,
    Pruned,
    SessionContext,
    SummarizedTo,
    Task,
    Tombstone,
    saving,
)
from jochi_models.properties import ChoiceProperty, ListProperty, Owned, TypedProperty, ZonedDateTimeProperty
from jochi_models.relationships import RelationshipProperties

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("connected")]

DAY = timedelta(days=1)
KINDS = runpy.run_path(str(Path(__file__).parents[2] / "docs/models.py"))["kinds"]()


def stored(key: str) -> dict[str, Any]:
    rows, _ = db.cypher_query(
        "MATCH (m {key: $key}) WHERE NOT m:CurationAudit RETURN properties(m), labels(m)", {"key": key}
    )
    assert len(rows) == 1
    return {**rows[0][0], "labels": set(rows[0][1])}


def as_the_engine(key: str, **values: Any) -> None:
    """What a job of the engine writes: no revision."""
    db.cypher_query("MATCH (m:Curated {key: $key}) SET m += $values", {"key": key, "values": values})


def prune(client: Jochi, at: datetime) -> None:
    run_job(client.engine, "curate_due", now=at, drain=True)


def read_long_ago(**more: Any) -> Notification:
    return Notification(read=True, created_at=clock.now() - 40 * DAY, **more).save()


# -- create ------------------------------------------------------------------------------------------------------------


def test_a_new_memory_has_what_the_engine_needs(jochi: Jochi) -> None:
    before = clock.now()
    belief = Belief(uid="b1", scope="s", content="Ünïcode, 東京.", confidence=0.8).save()
    row = stored("s/b1")
    assert row["labels"] == {"Belief", "Curated"}
    assert (row["id"], row["scope"], row["tier"], row["revision"]) == ("b1", "s", "HOT", 1)
    assert row["content_hash"] == content_hash("Ünïcode, 東京.")
    assert row["content_key"] == f"s/Belief/{row['content_hash']}"
    assert row["token_count"] > 0
    assert ("prepare_due" in row) == row["token_counter"].startswith("estimate")
    assert row["embed_due"].to_native() >= before
    assert row["next_due"].to_native() >= before
    assert row["confidence_at"].to_native() >= before
    assert (belief.key, belief.tier, belief.revision) == ("s/b1", "HOT", 1)
    assert not {"uid", "salience", "expires_at", "mvs", "element_id_property"} & row.keys()


def test_kinds_that_the_policy_leaves_out_wait_for_no_embedding_and_own_no_content(jochi: Jochi) -> None:
    first = Notification(uid="n1", content="The build is red.").save()
    second = Notification(uid="n2", content="The build is red.").save()
    assert (first.embed_due, first.content_key) == (None, None)
    assert first.content_hash == second.content_hash


def test_every_kind_can_be_saved_found_and_resolved(jochi: Jochi) -> None:
    kinds: list[Any] = [kind for kind in KINDS if issubclass(kind, Curated)]
    for kind in kinds:
        name = kind.__name__
        kind(uid=name, content="something").save()
        assert stored(f"default/{name}")["labels"] == {name, "Curated"}
        found = kind.nodes.get(key=f"default/{name}")
        assert type(found) is type(Curated.nodes.get(key=f"default/{name}")) is kind
        assert found._changed() == {}
    assert len(kinds) > 20


def test_datetimes_are_native_and_keep_their_moment(jochi: Jochi) -> None:
    at = datetime(2026, 3, 29, 3, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    Task(uid="t", expires_at=at).save()
    rows, _ = db.cypher_query("MATCH (t:Task) RETURN valueType(t.expires_at), t.expires_at.epochMillis", {})
    assert list(rows[0]) == ["ZONED DATETIME NOT NULL", at.timestamp() * 1000]
    found = Task.nodes.get(key="default/t")
    assert found.expires_at == at
    assert found.expires_at.astimezone(timezone.utc) == at.astimezone(timezone.utc)
    assert Task.nodes.filter(expires_at__lte=at).all() == [found]
    with pytest.raises(DeflateError, match="has no zone"):
        Task.nodes.filter(expires_at__lte=datetime(2026, 1, 1)).all()  # noqa: DTZ001


def test_a_key_lives_once(jochi: Jochi) -> None:
    Belief(uid="b", content="one").save()
    with pytest.raises(KeyTaken, match="default/b"):
        Belief(uid="b", content="two").save()
    with pytest.raises(KeyTaken):
        Task(uid="b").save()
    assert stored("default/b")["content"] == "one"


def test_known_content_is_told_and_not_doubled(jochi: Jochi) -> None:
    Belief(uid="b1", content="The sky is blue.").save()
    with pytest.raises(ContentKnown) as known:
        Belief(uid="b2", content="the sky is BLUE").save()
    assert known.value.known == "default/b1"
    Belief(uid="b3", content="The sky is blue.", scope="other").save()
    MemoryEntry(uid="m", content="The sky is blue.").save()
    assert len(Belief.nodes) == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"content": "  \n "}, "content is empty"),
        ({"content": "\u200b\u2060"}, "content is empty"),
        ({"content": "x" * 1_000_001}, "1,000,001 characters"),
        ({"created_at": clock.now() + 367 * DAY}, "too far ahead"),
    ],
)
def test_implausible_values_are_refused(given: dict[str, Any], told: str, jochi: Jochi) -> None:
    with pytest.raises(UsageError, match=told):
        Belief(uid="b", **given).save()
    assert len(Curated.nodes) == 0


def test_values_just_inside_are_taken(jochi: Jochi) -> None:
    belief = Belief(
        content="x" * 1_000_000, created_at=clock.now() + 365 * DAY, expires_at=clock.now() + 9000 * DAY
    ).save()
    assert belief.revision == 1
    assert belief.content == "x" * 1_000_000


class Appointment(Task):
    """A kind of an app's own, with plans beside its past."""

    due_at = ZonedDateTimeProperty("by when")
    deadline_at = ZonedDateTimeProperty("by when at the latest")
    remind_at = ZonedDateTimeProperty("when to speak of it")
    booked_until = ZonedDateTimeProperty("until when the room is taken")
    asked_at = ZonedDateTimeProperty("when it was asked for")


PLANS = ("due_at", "deadline_at", "remind_at", "booked_until", "expires_at")


def test_plans_may_lie_years_ahead_as_remember_takes_them(jochi: Jochi) -> None:
    plans = dict.fromkeys(PLANS, clock.now() + 730 * DAY)
    taken = Appointment(uid="new", **plans).save()
    later = Appointment(uid="later").save()
    for name, at in plans.items():
        setattr(later, name, at)
    later.save()
    assert {name: getattr(taken, name) for name in PLANS} == {name: getattr(later, name) for name in PLANS} == plans
    # What has happened can't: a year is the edge (366 days).
    just = Appointment(uid="just", asked_at=clock.now() + 365 * DAY).save()
    with pytest.raises(UsageError, match=r"asked_at is .* too far ahead"):
        Appointment(uid="far", asked_at=clock.now() + 367 * DAY).save()
    just.asked_at = clock.now() + 367 * DAY
    with pytest.raises(UsageError, match=r"asked_at is .* too far ahead"):
        just.save()
    assert len(Task.nodes) == 3
    row = {"kind": "Task", "properties": {**plans, "task_next_due": clock.now() + 730 * DAY}}
    assert jochi.remember(row).refusals == []
    assert HeartbeatTask(uid="h", task_next_due=clock.now() + 730 * DAY).save().revision == 1
    with pytest.raises(UsageError, match=r"last_executed is .* too far ahead"):
        HeartbeatTask(uid="i", last_executed=clock.now() + 367 * DAY).save()


# -- update ------------------------------------------------------------------------------------------------------------


def test_a_save_writes_only_what_changed(jochi: Jochi) -> None:
    Belief(uid="b", content="one", confidence=0.8).save()
    as_the_engine("default/b", next_due=clock.now() + 20 * DAY, odd="kept", confidence_at=clock.now() - DAY)
    belief = Belief.nodes.get(key="default/b")
    was = stored("default/b")
    belief.pinned = True
    belief.save()
    row = stored("default/b")
    changed = {name for name in row if row[name] != was.get(name)}
    assert changed == {"pinned", "revision", "updated_at", "next_due"}
    assert row["revision"] == 2
    assert row["next_due"].to_native() <= clock.now()
    assert belief.revision == 2
    assert belief.updated_at is not None
    as_the_engine("default/b", tier="WARM")
    belief.pinned = None
    belief.save()
    assert "pinned" not in stored("default/b")
    assert belief.tier == "WARM"  # what the engine wrote meanwhile is seen


def test_a_save_without_a_change_writes_nothing(jochi: Jochi) -> None:
    belief = Belief(uid="b", content="one").save()
    was = stored("default/b")
    belief.save()
    assert stored("default/b") == was


def test_new_content_gives_the_old_one_up_and_waits_for_workers_again(jochi: Jochi) -> None:
    belief = Belief(uid="b", content="one").save()
    db.cypher_query(
        "MATCH (m:Belief) SET m.embedding = [0.1], m.embedding_hash = m.content_hash REMOVE m.embed_due, m.prepare_due"
    )
    MemoryEntry(uid="copy", content="one").save()
    db.cypher_query("MATCH (m:MemoryEntry) SET m.duplicate_of = 'default/b' REMOVE m.prepare_due")
    belief.content = "two words or more"
    belief.save()
    row = stored("default/b")
    assert row["content_hash"] == content_hash("two words or more")
    assert row["content_key"].endswith(row["content_hash"])
    assert row["token_count"] > 1
    assert "embed_due" in row
    assert row["embedding_hash"] == content_hash("one")  # the vector stays until there is a new one
    assert "prepare_due" in stored("default/copy")
    Belief(uid="c", content="one").save()
    belief.content = "One!"
    with pytest.raises(ContentKnown) as known:
        belief.save()
    assert known.value.known == "default/c"
    assert stored("default/b") == row
    belief.content = None
    belief.save()
    assert (
        not {"content", "content_hash", "content_key", "token_count", "embedding", "embed_due"}
        & stored("default/b").keys()
    )


def test_a_changed_confidence_is_dated(jochi: Jochi) -> None:
    belief = Belief(uid="b", confidence=0.8).save()
    first = belief.confidence_at
    belief.pinned = True
    belief.save()
    assert belief.confidence_at == first
    belief.confidence = 0.9
    belief.save()
    assert belief.confidence_at is not None
    assert first is not None
    assert belief.confidence_at > first


def test_a_lost_update_is_told_with_what_differs(jochi: Jochi) -> None:
    one = Task(uid="t", content="one").save()
    other = Task.nodes.get(key="default/t")
    other.status = "completed"
    other.save()
    one.priority = "high"
    with pytest.raises(LostUpdate, match="status") as lost:
        one.save()
    assert lost.value.changed == ("status",)
    row = stored("default/t")
    assert (row["status"], row["revision"], "priority" in row) == ("completed", 2, False)
    one.refresh()
    one.priority = "high"
    assert one.save().revision == 3


def test_what_plain_cypher_changed_is_not_overwritten_even_without_a_revision(jochi: Jochi) -> None:
    belief = Belief(uid="b", state="active").save()
    as_the_engine("default/b", state="archived")
    belief.state = "validated"
    with pytest.raises(LostUpdate, match="state"):
        belief.save()
    assert stored("default/b")["state"] == "archived"
    belief.refresh()
    assert belief.state == "archived"


def test_a_zone_written_in_another_way_is_no_change(jochi: Jochi) -> None:
    Task(uid="t").save()
    db.cypher_query("MATCH (t:Task) SET t.completed_at = datetime('2026-01-01T00:00:00Z'), t.revision = null")
    task = Task.nodes.get(key="default/t")
    task.completed_at = clock.now()
    assert task.save().revision == 1


def test_of_ten_threads_one_wins_each_revision(jochi: Jochi) -> None:
    Task(uid="t", content="shared").save()
    for revision in range(1, 4):
        loaded = [Task.nodes.get(key="default/t") for _ in range(10)]

        def save(number: int, loaded: list[Task] = loaded) -> str:
            loaded[number].assigned_to = f"agent {number} of revision {loaded[number].revision}"
            try:
                loaded[number].save()
            except LostUpdate:
                return "lost"
            return str(loaded[number].assigned_to)

        with ThreadPoolExecutor(10) as pool:
            outcomes = list(pool.map(save, range(10)))
        assert outcomes.count("lost") == 9
        row = stored("default/t")
        assert row["assigned_to"] in outcomes
        assert row["revision"] == revision + 1


def test_of_ten_threads_one_creates_a_key_and_one_a_content(jochi: Jochi) -> None:
    def create(number: int) -> str:
        try:
            Belief(uid="same", content=f"text {number}").save()
            return "created"
        except (KeyTaken, ContentKnown):
            return "taken"

    def create_content(number: int) -> str:
        try:
            Belief(uid=f"b{number}", content="the same text").save()
            return "created"
        except ContentKnown:
            return "taken"

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(create, range(10))).count("created") == 1
        assert list(pool.map(create_content, range(10))).count("created") == 1
    assert len(Belief.nodes) == 2


@pytest.mark.exhaustive
def test_ten_threads_that_link_and_save_the_same_memories_never_see_a_deadlock(jochi: Jochi) -> None:
    for number in range(4):
        Belief(uid=f"b{number}", content=f"text {number}").save()

    def work(number: int) -> int:
        saved = 0
        for turn in range(6):
            one = Belief.nodes.get(key=f"default/b{(number + turn) % 4}")
            other = Belief.nodes.get(key=f"default/b{(number * 3 + turn + 1) % 4}")
            one.evidence.connect(other)
            before = one.revision
            one.content = f"text {number % 5}, {turn}"
            try:
                one.save()
                saved += one.revision != before
            except (LostUpdate, ContentKnown):
                pass
        return saved

    with ThreadPoolExecutor(10) as pool:
        saved = sum(pool.map(work, range(10)))
    rows, _ = db.cypher_query("MATCH (b:Belief) RETURN sum(b.revision - 1), count(b), count(DISTINCT b.content_key)")
    assert rows == [[saved, 4, 4]]
    assert saved >= 3


# -- the engine's work stays -------------------------------------------------------------------------------------------


def test_a_stale_save_leaves_tier_counts_and_bookkeeping_as_the_engine_left_them(applied: Jochi) -> None:
    belief = Belief(uid="b", content="loaded long ago", confidence=0.5).save()
    at = clock.now()
    engines = {
        "tier": "ARCHIVE",
        "access_count": 7,
        "access_count_7d": 3,
        "access_days": [1, 2, 0, 0, 0, 0, 0],
        "agents": ["kublai", "mongke"],
        "last_accessed_at": at,
        "prev_accessed_at": at - DAY,
        "hold_until": at + 30 * DAY,
        "mvs": 4.5,
        "embedding": [0.5, 0.25],
        "embedding_model": "m",
        "quarantined_until": at + DAY,
    }
    as_the_engine("default/b", **engines)
    prune(applied, at + DAY)
    was = stored("default/b")
    assert was["curation_action"] == "PROTECTED" or was["last_curated_at"]
    belief.pinned = True
    belief.importance = 0.9
    belief.save()
    row = stored("default/b")
    assert {name for name in row if row[name] != was.get(name)} == {
        "pinned",
        "importance",
        "revision",
        "updated_at",
        "next_due",
    }
    assert (belief.tier, belief.access_count, belief.agents) == ("ARCHIVE", 7, ["kublai", "mongke"])


def test_a_stale_save_leaves_what_was_archived_and_moved_as_the_engine_left_it(applied: Jochi) -> None:
    now = clock.now()
    graph.write_scopes(
        applied.database, {"default": now - 60 * DAY}
    )  # accesses are reported, so none means that nobody asked
    done = {"status": "completed", "created_at": now - 20 * DAY, "completed_at": now - 15 * DAY}
    loaded = {
        "archived": Task(uid="archived", content="done", **done).save(),
        "not yet": Task(uid="not yet", content="just done", **{**done, "completed_at": now - 13 * DAY}).save(),
        "idle": MemoryEntry(uid="idle", content="long ago", created_at=now - 40 * DAY).save(),
    }
    for number in range(3):  # HOT holds 1,600 tokens of them
        loaded[f"big {number}"] = Belief(uid=f"big {number}", scope="full", content=f"text {number}").save()
        as_the_engine(f"full/big {number}", token_count=700)
    before = {name: stored(one.key) for name, one in loaded.items()}
    prune(applied, clock.now())
    run_job(applied.engine, "enforce_budgets", now=clock.now(), drain=True)
    was = {name: stored(one.key) for name, one in loaded.items()}

    assert (was["archived"]["state"], was["archived"]["revision"]) == ("archived", 2)
    assert "state" not in was["not yet"]
    assert (before["idle"]["tier"], was["idle"]["tier"]) == ("HOT", "WARM")
    moved = [name for name in loaded if name.startswith("big") and was[name]["tier"] != "HOT"]
    assert len(moved) == 1
    for name, one in loaded.items():
        one.importance = 0.9
        if name == "archived":
            with pytest.raises(LostUpdate, match="default/archived: somebody changed it"):
                one.save()
            assert stored(one.key) == was[name]
            continue
        one.save()
        row = stored(one.key)
        changed = {
            property for property in row.keys() | was[name].keys() if row.get(property) != was[name].get(property)
        }
        assert changed - {"next_due"} == {"importance", "revision", "updated_at"}, name
        assert (one.tier, row["revision"]) == (was[name]["tier"], 2)


def test_a_stale_save_never_brings_a_pruned_memory_back(applied: Jochi) -> None:
    stale = read_long_ago(uid="n", content="done")
    unchanged = Notification.nodes.get(key="default/n")
    prune(applied, clock.now())
    was = stored("default/n")
    assert was["labels"] == {"Tombstone"}
    stale.pinned = True
    with pytest.raises(Pruned, match="jochi restore default/n") as pruned:
        stale.save()
    assert pruned.value.deleted_at == was["deleted_at"].to_native()
    with pytest.raises(Pruned):
        unchanged.save()
    with pytest.raises(Pruned):
        unchanged.refresh()
    assert stored("default/n") == was
    [restored] = applied.restore(["default/n"])
    assert restored.outcome == "restored"
    stale.save()
    row = stored("default/n")
    assert row["labels"] == {"Notification", "Curated"}
    assert row["pinned"] is True
    assert "hold_until" in row


def waits_for_a_lock(client: Jochi) -> bool:
    rows = client.database.run(
        "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n", write=False
    )
    return bool(rows[0]["n"])


def test_a_save_that_waits_while_the_memory_is_pruned_finds_it_pruned(jochi: Jochi) -> None:
    task = Task(uid="t", content="x").save()
    task.pinned = True
    with jochi.database.driver.session() as session, ThreadPoolExecutor(1) as pool:
        engine = session.begin_transaction()
        engine.run("MATCH (t:Task) REMOVE t.curation_lock SET t.last_curated_at = datetime.realtime()").consume()
        saving_it = pool.submit(task.save)
        deadline = time.monotonic() + 4
        while not waits_for_a_lock(jochi):
            assert time.monotonic() < deadline, "the save doesn't wait"
        engine.run(
            "MATCH (t:Task) SET t:Tombstone, t.tombstone = true, t.deleted_at = datetime.realtime(), "
            "t.tombstone_labels = ['Task', 'Curated'] REMOVE t:Task:Curated"
        ).consume()
        engine.commit()
        with pytest.raises(Pruned) as pruned:
            saving_it.result()
    assert pruned.value.deleted_at is not None
    row = stored("default/t")
    assert (row["labels"], "pinned" in row, row["revision"]) == ({"Tombstone"}, False, 1)


@pytest.mark.slow
def test_a_stale_save_while_the_pump_runs_by_itself(
    install_once: Callable[[LoadedPolicy], Jochi], test_policy: LoadedPolicy
) -> None:
    client = install_once(test_policy)
    client.apply()
    stale = [read_long_ago(uid=f"n{i}") for i in range(20)]
    kept = Belief(uid="b", content="kept").save()
    now = clock.now()
    graph.write_scopes(client.database, {"default": now - 60 * DAY})
    task = Task(uid="t", status="completed", created_at=now - 20 * DAY, completed_at=now - 15 * DAY).save()
    idle = MemoryEntry(uid="m", created_at=now - 40 * DAY).save()
    client.database.run("MATCH (p:JochiPump) SET p.armed = true, p.last_tick = datetime.realtime()")
    client.ensure_jobs()
    refused = saved = 0
    deadline = time.monotonic() + 60
    while refused < len(stale) and time.monotonic() < deadline:
        refused = 0
        for number, one in enumerate(stale):
            one.content = f"{number} {saved}"
            try:
                one.save()
                saved += 1
            except Pruned:
                refused += 1
        kept.importance = (saved % 10) / 10
        kept.save()
    assert refused == len(stale)
    while "state" not in stored("default/t") or stored("default/m")["tier"] == "HOT":
        assert time.monotonic() < deadline, "neither archived nor moved"
    task.priority = "high"
    with pytest.raises(LostUpdate):
        task.save()
    idle.pinned = True
    idle.save()
    assert (stored("default/t")["state"], stored("default/m")["tier"]) == ("archived", "ARCHIVE")
    rows, _ = db.cypher_query("MATCH (n) WHERE n.tombstone RETURN DISTINCT labels(n), n:Curated")
    assert rows == [[["Tombstone"], False]]
    assert len(Tombstone.nodes) == len(stale)


def test_a_purged_memory_is_gone(jochi: Jochi) -> None:
    task = Task(uid="t").save()
    db.cypher_query("MATCH (t:Task) DETACH DELETE t")
    task.status = "completed"
    with pytest.raises(Gone, match="no Task"):
        task.save()
    Belief(uid="t", content="another kind with the key").save()
    with pytest.raises(Gone):
        task.save()


def test_a_pruned_key_can_be_written_again_beside_its_tombstone(applied: Jochi) -> None:
    read_long_ago(uid="n")
    prune(applied, clock.now())
    Notification(uid="n", content="another one").save()
    rows, _ = db.cypher_query("MATCH (n {key: 'default/n'}) WHERE NOT n:CurationAudit RETURN labels(n) AS l ORDER BY l")
    assert [set(row[0]) for row in rows] in (
        [{"Tombstone"}, {"Notification", "Curated"}],
        [{"Notification", "Curated"}, {"Tombstone"}],
    )


def test_live_kinds_never_yield_a_tombstone_and_a_tombstone_is_one(applied: Jochi) -> None:
    read_long_ago(uid="n", content="gone")
    Notification(uid="live", content="here").save()
    session = SessionContext(uid="s").save()
    prune(applied, clock.now())
    # A stale object of plain neomodel gave a tombstone its labels back.
    read_long_ago(uid="odd")
    prune(applied, clock.now())
    db.cypher_query("MATCH (t:Tombstone {id: 'odd'}) SET t:Notification:Curated")
    assert [found.uid for found in Notification.nodes] == ["live"]
    assert Notification.nodes.get_or_none(key="default/n") is None
    assert {found.uid for found in Curated.nodes} == {"live", "s"}
    rows, _ = db.cypher_query("MATCH (t {key: 'default/n'}) WHERE NOT t:CurationAudit RETURN t", resolve_objects=True)
    tombstone = rows[0][0]
    assert type(tombstone) is Tombstone
    assert (tombstone.uid, tombstone.content, set(tombstone.tombstone_labels)) == (
        "n",
        "gone",
        {"Notification", "Curated"},
    )
    assert tombstone.deleted_at.utcoffset() == timedelta(0)
    with pytest.raises(NotOffered, match="jochi restore default/n"):
        tombstone.save()
    with pytest.raises(EngineOwned):
        tombstone.content = "x"
    assert session.refresh() is None


def test_a_label_of_the_apps_own_has_to_be_named_once(jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/how-to/use-the-models.md says: else neomodel doesn't know what class such a node is."""
    Belief(uid="b", content="x").save()
    Belief(uid="plain", content="y").save()
    db.cypher_query("MATCH (m:Belief {id: 'b'}) SET m:Urgent")
    by_hand = "MATCH (m:Curated {key: 'default/b'}) RETURN m"
    with pytest.raises(NodeClassNotDefined, match="Urgent"):
        Belief.nodes.get(key="default/b")
    with pytest.raises(NodeClassNotDefined, match="Urgent"):
        db.cypher_query(by_hand, resolve_objects=True)
    assert Belief.nodes.get(key="default/plain").uid == "plain"

    monkeypatch.setattr(Curated, "__optional_labels__", ["Urgent"])
    belief = Belief.nodes.get(key="default/b")
    assert type(belief) is Belief
    assert type(Curated.nodes.get(key="default/b")) is Belief
    rows, _ = db.cypher_query(by_hand, resolve_objects=True)
    assert rows == [[belief]]
    belief.pinned = True
    belief.save()
    row = stored("default/b")
    assert (row["labels"], row["pinned"]) == ({"Belief", "Curated", "Urgent"}, True)
    Belief(uid="new", content="z").save()
    assert stored("default/new")["labels"] == {"Belief", "Curated"}


def test_nodes_that_nobody_enrolled_are_passed_over(jochi: Jochi) -> None:
    db.cypher_query("CREATE (:Belief {id: 'plain'})")
    Belief(uid="ours", content="x").save()
    assert [found.uid for found in Belief.nodes] == ["ours"]


def test_a_query_by_key_is_an_index_seek(jochi: Jochi) -> None:
    for number in range(30):
        Belief(uid=f"b{number}", content=f"text {number}").save()
    # Not a plan made for the empty store of the test before, nor one from statistics that are behind.
    db.cypher_query("CALL db.prepareForReplanning()")
    builder = Belief.nodes.filter(key="default/b7")
    query = builder.query_cls(builder).build_ast()
    rows, _ = db.cypher_query("EXPLAIN " + query.build_query(), query._query_params)
    assert rows == []
    with db.driver.session() as session:  # type: ignore[union-attr]
        plan = session.run("EXPLAIN " + query.build_query(), query._query_params).consume().plan
    assert "IndexSeek" in str(plan)
    assert "LabelScan" not in str(plan)


# -- transactions, other ways to write ---------------------------------------------------------------------------------


def test_saves_join_the_apps_transaction(jochi: Jochi) -> None:
    kept = Belief(uid="kept", content="kept").save()

    def fail() -> None:
        with db.transaction:
            new = Belief(uid="new", content="new").save()
            kept.pinned = True
            kept.save()
            kept.evidence.connect(new)
            assert len(Belief.nodes) == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [found.uid for found in Belief.nodes] == ["kept"]
    row = stored("default/kept")
    assert (row["revision"], "pinned" in row) == (1, False)
    with db.transaction:
        Belief(uid="new", content="new").save()
    assert len(Belief.nodes) == 2


def test_after_a_rollback_the_object_can_be_refreshed_and_saved(jochi: Jochi) -> None:
    belief = Belief(uid="b", content="x").save()

    def fail() -> None:
        with db.transaction:
            belief.pinned = True
            belief.save()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    belief.importance = 0.5
    with pytest.raises(LostUpdate):  # its revision is one that was never committed
        belief.save()
    belief.refresh()
    belief.importance = 0.5
    assert belief.save().revision == 2


def test_relationships_carry_their_properties_and_wake_both_ends(jochi: Jochi) -> None:
    full = CompressedContext(uid="full", compression_level="full").save()
    short = CompressedContext(uid="short", compression_level="summary").save()
    for key in ("default/full", "default/short"):
        as_the_engine(key, next_due=clock.now() + 20 * DAY)
    full.summarized_to.connect(short, {"compression_ratio": 0.1})
    held = full.summarized_to.relationship(short)
    assert isinstance(held, SummarizedTo)
    assert held.compression_ratio == 0.1
    assert short.summary_of.all() == [full]
    rows, _ = db.cypher_query("MATCH (a:Curated)-[r]->(b) RETURN a.id, type(r), properties(r), b.id")
    assert rows == [["full", "SUMMARIZED_TO", {"compression_ratio": 0.1}, "short"]]
    for key in ("default/full", "default/short"):
        assert stored(key)["next_due"].to_native() <= clock.now()
    with pytest.raises(DeflateError, match="not between"):
        full.summarized_to.connect(short, {"compression_ratio": -1})


ENDS: dict[str, tuple[Any, str]] = {
    "SummarizedTo": (CompressedContext, "summarized_to"),
    "Edge": (Fact, "same_entity"),
    "Semantic": (Person, "related_to"),
}


def sample(made: Any) -> Any:
    """A value of a property's type."""
    if isinstance(made, ListProperty):
        return [sample(made.item), sample(made.item)]
    if isinstance(made, ChoiceProperty):
        return made.words[-1]
    samples = {"STRING": "東京", "FLOAT": 0.75, "INTEGER": 3, "BOOLEAN": True, "ZONED DATETIME": clock.now()}
    return samples[made.stored_type]


@pytest.mark.parametrize("carried", RelationshipProperties.__subclasses__(), ids=lambda carried: carried.__name__)
def test_every_property_of_a_relationship_keeps_its_type(carried: Any, jochi: Jochi) -> None:
    kind, name = ENDS[carried.__name__]
    made = {n: p for n, p in vars(carried).items() if isinstance(p, TypedProperty) and not isinstance(p, Owned)}
    given = {n: sample(p) for n, p in made.items()}
    one, other = kind(uid="one", content="one").save(), kind(uid="other", content="other").save()
    manager = getattr(one, name)
    manager.connect(other, given)
    held = manager.relationship(other)
    assert isinstance(held, carried)
    assert {n: getattr(held, n) for n in made} == given
    rows, _ = db.cypher_query("MATCH ({id: 'one'})-[r]->() UNWIND keys(r) AS name RETURN name, valueType(r[name])")
    assert {name: type.replace(" NOT NULL", "") for name, type in rows} == {n: p.stored_type for n, p in made.items()}

    wrong = [(n, float("nan"), "finite") for n, p in made.items() if p.stored_type == "FLOAT"]
    wrong += [(n, [0.5, float("nan")], "finite") for n, p in made.items() if p.stored_type == "LIST<FLOAT>"]
    wrong += [(n, datetime(2026, 1, 1), "zone") for n, p in made.items() if p.stored_type == "ZONED DATETIME"]  # noqa: DTZ001
    assert wrong
    third = kind(uid="third", content="third").save()
    for n, value, told in wrong:
        with pytest.raises(DeflateError, match=told):
            manager.connect(third, {n: value})
    assert not manager.is_connected(third)


def test_no_relationship_leads_to_a_tombstone(applied: Jochi) -> None:
    gone = read_long_ago(uid="n")
    person = Person(uid="p", content="somebody").save()
    belief = Belief(uid="b", content="x").save()
    prune(applied, clock.now())
    with pytest.raises(Pruned):
        belief.evidence.connect(gone)
    with pytest.raises(NotSaved):
        belief.evidence.connect(Belief(uid="new"))
    belief.evidence.connect(person)
    belief.evidence.connect(belief)
    rows, _ = db.cypher_query("MATCH (a:Curated)-[r]->(b) RETURN b.id AS id ORDER BY id")
    assert rows == [["b"], ["p"]]


def test_ways_past_the_engine_are_not_offered(jochi: Jochi) -> None:
    belief = Belief(uid="b", content="x").save()
    for call in (
        lambda: Belief.nodes.bulk_create({"uid": "x"}),
        lambda: Belief.nodes.bulk_create_or_update({"uid": "x"}),
        lambda: Belief.nodes.bulk_get_or_create({"uid": "x"}),
        lambda: Belief.nodes.bulk_save([belief]),
        lambda: Belief.bulk_save([belief]),
        belief.delete,
    ):
        with pytest.raises(NotOffered) as told:
            call()
        assert told.value.fix
    with pytest.raises(EngineOwned, match="stays"):
        belief.uid = "c"
    with pytest.raises(EngineOwned, match="stays"):
        belief.scope = "c"
    with pytest.raises(UsageError, match="has a kind"):
        Curated(uid="x").save()
    with pytest.raises(NotSaved):
        Belief().refresh()
    assert len(Curated.nodes) == 1


def test_expire_lets_the_engine_prune_it_so_that_it_can_be_restored(applied: Jochi) -> None:
    task = Task(uid="t", status="completed", created_at=clock.now() - 2 * DAY, completed_at=clock.now()).save()
    task.expire()
    assert stored("default/t")["labels"] == {"Task", "Curated"}
    prune(applied, clock.now())
    assert stored("default/t")["labels"] == {"Tombstone"}
    assert applied.restore(["default/t"])[0].outcome == "restored"


def test_hooks_of_a_subclass_run(jochi: Jochi) -> None:
    class Hooked(Task):
        __label__ = "Task"
        ran: list[str] = []  # noqa: RUF012

        def pre_save(self) -> None:
            self.ran.append("pre")

        def post_save(self) -> None:
            self.ran.append(f"post {self.revision}")

    Hooked(uid="t").save()
    assert Hooked.ran == ["pre", "post 1"]
    assert stored("default/t")["labels"] == {"Task", "Curated"}


def test_protected_kinds_are_plain_nodes(jochi: Jochi) -> None:
    agent = Agent(uid="a1", name="jochi").save()
    rows, _ = db.cypher_query("MATCH (a:Agent) RETURN labels(a), a.id, a.name, valueType(a.created_at)")
    assert rows == [[["Agent"], "a1", "jochi", "ZONED DATETIME NOT NULL"]]
    assert Agent.nodes.get(uid="a1") == agent
    agent.delete()
    assert len(Agent.nodes) == 0


# -- schema, policy, connection ----------------------------------------------------------------------------------------


def schema(database: Database) -> tuple[list[Any], list[Any]]:
    constraints = database.run("SHOW CONSTRAINTS YIELD name, type RETURN name, type ORDER BY name", write=False)
    indexes = database.run("SHOW INDEXES YIELD name, type RETURN name, type ORDER BY name", write=False)
    return constraints, indexes


def made(told: StringIO, module: str) -> list[str]:
    """What neomodel says that it creates for the classes of a module."""
    return [
        line for line in told.getvalue().splitlines() if line.startswith(" + Creating") and f"class {module}" in line
    ]


def test_neomodels_schema_installer_finds_nothing_to_do(jochi: Jochi) -> None:
    was = schema(jochi.database)
    told = StringIO()
    db.install_all_labels(stdout=told)
    assert schema(jochi.database) == was
    assert made(told, "jochi_models.") == []
    assert "Found jochi_models.team.Belief" in told.getvalue()

    class Indexed(StructuredNode):
        """Not ours: what it declares is made, and said."""

        name = StringProperty(index=True)

    told = StringIO()
    try:
        db.install_labels(Indexed, quiet=False, stdout=told)
        assert len(made(told, f"{__name__}.")) == 1
        assert schema(jochi.database) != was
    finally:
        db.cypher_query("DROP INDEX index_Indexed_name IF EXISTS")
    assert schema(jochi.database) == was


@pytest.mark.slow
def test_another_policy_is_noticed_at_the_next_save(
    jochi: Jochi, install_once: Callable[[LoadedPolicy], Jochi], tmp_path: Any, test_policy: LoadedPolicy
) -> None:
    assert Belief(uid="a", content="same").save().embed_due is not None
    file = tmp_path / "policy.toml"
    file.write_text(
        '[policy]\nname = "other"\nextends = "default"\n[kinds.Belief]\nunique_content = false\nembed = false\n',
        encoding="utf-8",
    )
    install_once(load_policy(file))
    first = Belief(uid="a", content="same").save()
    assert (first.embed_due, first.content_key) == (None, None)
    Belief(uid="b", content="same").save()
    install_once(test_policy)
    assert Belief(uid="a", content="same").save().content_key is not None


def test_without_jochi_a_save_says_so(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db, "driver", database.driver)
    for known in (None, saving.InstalledPolicy("0" * 64, load_policy().policy, SHIPPED)):
        saving._known = known
        with pytest.raises(Refused, match="not installed") as told:
            Belief(uid="b", content="x").save()
        assert "jochi install" in str(told.value.fix)
    assert database.run("MATCH (n) RETURN count(n) AS n")[0]["n"] == 0


def test_without_a_server_a_save_says_so(server: TestServer) -> None:
    with neo4j.GraphDatabase.driver(
        "bolt://127.0.0.1:1", auth=("neo4j", "x"), max_transaction_retry_time=0, connection_timeout=1
    ) as nobody:
        before = db.driver
        db.driver = nobody
        try:
            with pytest.raises(ConnectionFailed, match="no answer"):
                Belief(content="x").save()
        finally:
            db.driver = before
    with neo4j.GraphDatabase.driver(server.uri, auth=("neo4j", "wrong password")) as refused:
        db.driver = refused
        try:
            with pytest.raises(ConnectionFailed, match="refuses this user name") as told:
                Belief(content="x").save()
            assert "wrong password" not in str(told.value)
        finally:
            db.driver = before
