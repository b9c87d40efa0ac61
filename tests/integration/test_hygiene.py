"""The walk of hygiene: each fault is repaired or reported, nothing is lost, nothing throws (docs/reference/hygiene.md)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest
from tests.curation_looks import set_batches
from tests.oracle import Memory, graph
from tests.oracle.strategies import WRONG_TYPES

from jochi import Jochi
from jochi.database.database import in_one_map
from jochi.graph.driver_values import to_python
from jochi.jobs.results import Switch
from jochi.jobs.runner import Run, run_job
from jochi.operate.check import Level
from jochi.operate.checks_memories import check_hygiene
from jochi.operate.results import Hygiene
from jochi.operate.status import overview
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
OLD = NOW - 40 * DAY
SOON = NOW + DAY
JOB = "hygiene"
shape = partial(set_batches, job=JOB)

GOOD: dict[str, Any] = {
    "created_at": OLD,
    "content": "remembered",
    "tier": "WARM",
    "token_count": 3,
    "token_counter": "given",
}


@pytest.fixture
def ready(jochi: Jochi, test_policy: LoadedPolicy) -> Iterator[Jochi]:
    """Nobody has said go: hygiene needs none."""
    yield jochi
    job = test_policy.policy.jobs[JOB]
    shape(jochi, job.batch_size, job.max_batches)


def write(client: Jochi, id: str = "m", *labels: str, without: tuple[str, ...] = (), **changed: Any) -> None:
    properties = {name: value for name, value in {**GOOD, **changed}.items() if name not in without}
    due = properties.pop("next_due", SOON)
    graph.write(client.database, [Memory(id, labels or ("Note",), properties)], due=due)


def clean(client: Jochi, now: datetime = NOW) -> dict[str, int]:
    """What a walk counted, by name."""
    runs: list[Run] = run_job(client.engine, JOB, now=now, drain=True)
    assert [(run.error, run.quarantined) for run in runs if run.error or run.quarantined] == []
    names = {name for run in runs for name in run.tally}
    return {name: sum(run.tally.get(name, 0) for run in runs) for name in sorted(names)}


def again(client: Jochi, now: datetime = NOW) -> dict[str, int]:
    client.database.run("MATCH (j:JochiJob {name: $job}) SET j.walked_at = null", {"job": JOB})
    return clean(client, now)


def properties(client: Jochi, id: str = "m") -> dict[str, Any]:
    return to_python(graph.state(client.database)[f"default/{id}"].properties)  # type: ignore[no-any-return]


def repairs(client: Jochi) -> list[dict[str, Any]]:
    return [to_python(audit) for audit in graph.audits(client.database)]


def test_nothing_is_wrong_with_good_memories(ready: Jochi) -> None:
    write(ready, "a")
    write(ready, "b", "Notification", read=True, read_at=OLD, expires_at=NOW + 900 * DAY, hold_until=NOW + 900 * DAY)
    ready.remember({"kind": "MemoryEntry", "content": "through the door", "id": "c"}, now=NOW)
    before = graph.state(ready.database)
    assert clean(ready) == {}
    assert graph.state(ready.database) == before
    assert repairs(ready) == []


# ---- next_due ----------------------------------------------------------------------------------------------------------


def test_without_a_place_in_the_queue(ready: Jochi) -> None:
    write(ready, next_due=None)
    assert clean(ready) == {"repaired_next_due_missing": 1}
    assert properties(ready)["next_due"] == NOW
    (audit,) = repairs(ready)
    assert {name: audit.get(name) for name in ("action", "rule", "key", "at", "repaired", "before_next_due")} == {
        "action": "repair",
        "rule": "hygiene.next_due_missing",
        "key": "default/m",
        "at": NOW,
        "repaired": ["next_due_missing"],
        "before_next_due": None,
    }
    assert again(ready) == {}


def test_a_place_absurdly_far_ahead(ready: Jochi, test_policy: LoadedPolicy) -> None:
    longest = test_policy.policy.longest_wait()
    assert longest > timedelta(days=60)
    write(ready, "near", next_due=NOW + longest)
    write(ready, "far", next_due=NOW + longest + SECOND)
    assert clean(ready) == {"repaired_next_due_far": 1}
    assert properties(ready, "near")["next_due"] == NOW + longest
    assert properties(ready, "far")["next_due"] == NOW
    assert repairs(ready)[0]["before_next_due"] == NOW + longest + SECOND


# ---- tokens ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"token_count": None}, "missing"),
        ({"token_count": -1}, "wrong"),
        ({"token_count": 3.0}, "wrong"),
        ({"token_count": 0}, None),
    ],
)
def test_token_counts_are_estimated_and_counted_anew(ready: Jochi, changed: dict[str, Any], fault: str | None) -> None:
    write(ready, **changed)
    assert clean(ready) == ({f"repaired_token_count_{fault}": 1} if fault else {})
    now = properties(ready)
    if fault:
        assert (now["token_count"], now["token_counter"], now["prepare_due"]) == (3, "estimate:chars/4", NOW)
        assert repairs(ready)[0].get("before_token_count") == changed["token_count"]
    else:
        assert (now["token_count"], now["token_counter"], now.get("prepare_due")) == (0, "given", None)
    assert again(ready) == {}


def test_what_has_no_text_has_no_tokens(ready: Jochi) -> None:
    write(ready, "a", without=("content", "token_count", "token_counter"))
    write(ready, "b", content=[1, 2], token_count="many")
    assert clean(ready) == {"repaired_token_count_wrong": 1}
    assert {"token_count", "token_counter", "prepare_due"} & set(properties(ready, "b")) == set()
    assert again(ready) == {}


@pytest.mark.parametrize("queue", ["prepare_due", "embed_due"])
def test_work_that_no_worker_would_find(ready: Jochi, queue: str) -> None:
    write(ready, **{queue: "soon"})
    assert clean(ready) == {f"repaired_{queue}_wrong": 1}
    assert properties(ready)[queue] == NOW


# ---- tier --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tier", "becomes", "fault"),
    [
        (None, "HOT", "repaired_tier_missing"),
        ("hot", "HOT", "repaired_tier_respelled"),
        (" Archive ", "ARCHIVE", "repaired_tier_respelled"),
        ("LUKEWARM", "COLD", "repaired_tier_unknown"),
        (["HOT"], "COLD", "repaired_tier_unknown"),
        ("COLD", "COLD", None),
    ],
)
def test_tiers(ready: Jochi, tier: Any, becomes: str, fault: str | None) -> None:
    write(ready, tier=tier)
    assert clean(ready) == ({fault: 1} if fault else {})
    now = properties(ready)
    assert now["tier"] == becomes
    assert (now.get("tier_at") == NOW) == (fault == "repaired_tier_unknown")
    if fault:
        assert repairs(ready)[0].get("before_tier") == tier
    assert again(ready) == {}


@pytest.mark.parametrize("pinned", [True, "yes"])
def test_a_pinned_memory_is_not_moved(ready: Jochi, pinned: Any) -> None:
    write(ready, "m", tier="LUKEWARM", pinned=pinned)
    write(ready, "n", tier=None, pinned=pinned)
    assert clean(ready) == {"found_tier_unknown": 1, "repaired_tier_missing": 1}
    assert properties(ready)["tier"] == "LUKEWARM"


# ---- times -------------------------------------------------------------------------------------------------------------

EARLIEST = datetime(1990, 1, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize("name", ["created_at", "last_accessed_at", "read_at", "confidence_at"])
def test_times_that_cannot_be_right_are_reported_and_left(ready: Jochi, name: str, test_policy: LoadedPolicy) -> None:
    latest = NOW + test_policy.policy.content.date_ahead
    values: dict[str, Any] = {
        "text": "2026-01-01",
        "early": EARLIEST - SECOND,
        "first": EARLIEST,
        "last": latest,
        "late": latest + SECOND,
    }
    for id, value in values.items():
        write(ready, id, **{name: value})
    assert clean(ready) == {f"found_time_ahead_{name}": 1, f"found_time_early_{name}": 1, f"found_time_wrong_{name}": 1}
    assert all(properties(ready, id)[name] == value for id, value in values.items())
    assert repairs(ready) == []


def test_deadlines_may_lie_far_ahead(ready: Jochi) -> None:
    write(ready, expires_at=datetime(9999, 12, 31, tzinfo=timezone.utc), hold_until=NOW + 9_000 * DAY)
    assert clean(ready) == {}


def test_an_absent_creation_time(ready: Jochi) -> None:
    write(ready, without=("created_at",))
    assert clean(ready) == {"found_time_missing_created_at": 1}


def test_a_kind_with_names_of_its_own_is_read_by_these(ready: Jochi) -> None:
    opened = int(OLD.timestamp() * 1000)
    # Standard names mean nothing on it.
    write(ready, "good", "Ticket", opened=opened, body="text", without=("content", "created_at"))
    write(ready, "standard", "Ticket", opened=opened, created_at="then")
    write(ready, "bad", "Ticket", opened="then", without=("created_at",))
    assert clean(ready) == {"found_time_wrong_created_at": 1}
    (fault,) = ready.hygiene().reported
    assert fault.samples == ["default/bad"]


def test_a_wrong_last_look_is_forgotten(ready: Jochi) -> None:
    write(ready, last_curated_at="yesterday")
    assert clean(ready) == {"repaired_last_curated_at_wrong": 1}
    assert "last_curated_at" not in properties(ready)


def test_keys_that_are_not_scope_and_id(ready: Jochi) -> None:
    write(ready, "a")
    ready.database.run("MATCH (m:Curated) SET m.id = 'another'")
    assert clean(ready) == {"found_key_odd": 1}
    ready.database.run("MATCH (m:Curated) SET m.id = 'a', m.scope = 7")
    assert again(ready) == {"found_key_odd": 1}
    ready.database.run("MATCH (m:Curated) SET m.scope = 'default'")
    assert again(ready) == {}


# ---- what is left over -------------------------------------------------------------------------------------------------


def test_locks_of_agents_that_are_long_over(ready: Jochi) -> None:
    write(ready, "old", locked_by="kublai", locked_at=NOW - 7 * DAY)
    write(ready, "recent", locked_by="kublai", locked_at=NOW - 7 * DAY + SECOND)
    write(ready, "odd", locked_by="kublai", locked_at="then")
    write(ready, "undated", locked_by="kublai")
    assert clean(ready) == {"found_time_wrong_locked_at": 1, "repaired_lock_left_over": 1}
    assert {"locked_by", "locked_at"} & set(properties(ready, "old")) == set()
    assert properties(ready, "recent")["locked_by"] == "kublai"
    (audit,) = repairs(ready)
    assert (audit["before_locked_by"], audit["before_locked_at"]) == ("kublai", NOW - 7 * DAY)


def test_pauses_after_failures(ready: Jochi, test_policy: LoadedPolicy) -> None:
    longest = test_policy.policy.scheduler.quarantine_max
    write(ready, "over", quarantined_until=NOW - 7 * DAY, curation_failures=3)
    write(ready, "recent", quarantined_until=NOW - 7 * DAY + SECOND, curation_failures=3)
    write(ready, "live", quarantined_until=NOW + longest, curation_failures=3)
    write(ready, "far", quarantined_until=NOW + longest + SECOND, curation_failures=3)
    write(ready, "wrong", quarantined_until="soon", curation_failures=3)
    assert clean(ready) == {
        "repaired_quarantined_until_far": 1,
        "repaired_quarantined_until_left_over": 1,
        "repaired_quarantined_until_wrong": 1,
    }
    assert {"quarantined_until", "curation_failures"} & set(properties(ready, "over")) == set()
    assert properties(ready, "recent")["curation_failures"] == 3
    # Still protected, but not for ever.
    assert properties(ready, "wrong")["quarantined_until"] == NOW + longest
    assert properties(ready, "far")["quarantined_until"] == NOW + longest


def test_marks_of_the_engine(ready: Jochi) -> None:
    write(ready, curation_lock=True, purge_started_at=OLD)
    assert clean(ready) == {"repaired_curation_lock_left_over": 1, "repaired_purge_left_over": 1}
    assert {"curation_lock", "purge_started_at"} & set(properties(ready)) == set()
    assert again(ready) == {}


def test_what_somebody_gave_its_label_back_comes_back_whole(ready: Jochi) -> None:
    ready.apply()
    write(ready, "m", "Notification", "Draft", read=True, next_due=NOW, content_key="default/Notification/x")
    run_job(ready.engine, "curate_due", now=NOW)
    ready.database.run("MATCH (t:Tombstone) SET t:Curated:Notification")  # as a stale object of an app does
    later = NOW + 10 * DAY
    assert clean(ready, later) == {"repaired_half_pruned": 1}
    (stored,) = graph.state(ready.database).values()
    assert stored.labels == {"Curated", "Notification", "Draft"}
    now = properties(ready)
    assert {"tombstone", "deleted_at", "tombstone_labels", "duplicate_of"} & set(now) == set()
    assert (now["hold_until"], now["next_due"], now["content_key"]) == (
        later + 30 * DAY,
        later,
        "default/Notification/x",
    )
    (audit,) = (entry for entry in repairs(ready) if entry["action"] == "repair")
    assert audit["before_deleted_at"] == NOW
    assert again(ready, later) == {}


def test_a_label_tombstone_of_others_is_theirs(ready: Jochi) -> None:
    write(ready, "m", "Note", "Tombstone")
    assert clean(ready) == {}


def test_touches_of_memories_that_vanished_are_the_folds_to_forget(ready: Jochi) -> None:
    ready.database.run("CREATE (:JochiAccess {key: 'default/never', at: $now, used: true})", {"now": NOW})
    (run,) = run_job(ready.engine, "fold_accesses", now=NOW)
    assert run.tally["unknown"] == 1
    assert ready.database.run("MATCH (a:JochiAccess) RETURN count(a) AS n") == [{"n": 0}]


# ---- how it works ------------------------------------------------------------------------------------------------------

CHECKED = (
    "next_due", "tier", "token_count", "token_counter", "prepare_due", "embed_due", "last_curated_at", "quarantined_until",
    "curation_failures", "locked_by", "locked_at", "curation_lock", "purge_started_at", "tombstone", "tombstone_labels",
    "deleted_at", "created_at", "updated_at", "last_accessed_at", "prev_accessed_at", "last_recalled_at", "read_at",
    "last_active_at", "expires_at", "hold_until", "confidence_at", "content", "pinned", "id", "scope",
)  # fmt: skip


def test_no_value_of_any_property_makes_it_throw(ready: Jochi) -> None:
    """A memory for each value of each property: what is found once is found again."""
    odd = {f"{name}-{i}": {name: value} for name in CHECKED for i, value in enumerate(WRONG_TYPES.values())}
    graph.write(ready.database, [Memory(id, ("Note",), GOOD) for id in odd], due=SOON)
    ready.database.run(
        "UNWIND $rows AS row MATCH (m:Curated {key: row.key}) SET m += row.changed",
        {"rows": [{"key": f"default/{id}", "changed": changed} for id, changed in odd.items()]},
    )
    first = clean(ready)
    assert graph.pruned(ready.database) == set()
    second = again(ready)
    assert {fault for fault in second if fault.startswith("repaired_")} == set()
    assert {fault: n for fault, n in first.items() if fault.startswith("found_")} == {
        fault: n for fault, n in second.items() if fault.startswith("found_")
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKED)
def test_nor_where_everything_else_is_broken_besides(ready: Jochi, name: str) -> None:
    broken = {"next_due": "x", "tier": 7, "token_count": -1, "quarantined_until": [1], "tombstone": "yes", "read_at": 5}
    for number, value in enumerate(WRONG_TYPES.values()):
        write(ready, f"m{number}")
        ready.database.run(
            "MATCH (m:Curated {key: $key}) SET m += $changed",
            {"key": f"default/m{number}", "changed": broken | {name: value}},
        )
    clean(ready)
    assert {fault for fault in again(ready) if fault.startswith("repaired_")} == set()


def test_paused_ones_and_those_that_an_agent_holds_wait(ready: Jochi) -> None:
    write(ready, "note", next_due=None)
    write(ready, "held", "Person", next_due=None, locked_by="kublai", locked_at=NOW - timedelta(minutes=10) + SECOND)
    write(ready, "free", "Person", next_due=None, locked_by="kublai", locked_at=NOW - timedelta(minutes=10))
    ready.pause(Switch("kind", "Note"))
    try:
        assert clean(ready) == {"repaired_next_due_missing": 1, "waiting": 2}
    finally:
        ready.resume(Switch("kind", "Note"))
    assert ready.hygiene().waiting == 2
    assert properties(ready, "free")["next_due"] == NOW
    assert again(ready, NOW + DAY) == {"repaired_next_due_missing": 2}


def test_several_faults_are_one_record(ready: Jochi) -> None:
    write(ready, next_due=None, tier="LUKEWARM", token_count=-5)
    clean(ready)
    (audit,) = repairs(ready)
    assert audit["repaired"] == ["next_due_missing", "tier_unknown", "token_count_wrong"]
    assert (audit["before_tier"], audit["before_token_count"]) == ("LUKEWARM", -5)


def test_a_walk_over_several_runs_adds_up_what_it_found(ready: Jochi) -> None:
    shape(ready, 2, 1)
    for number in range(7):
        write(ready, f"m{number}", tier=None, created_at="then")
    seen = []
    for _ in range(4):
        (run,) = run_job(ready.engine, JOB, now=NOW)
        found = ready.hygiene()
        seen.append((run.selected, found.walking, found.walked_at is not None))
    assert seen == [(2, True, False), (2, True, False), (2, True, False), (1, False, True)]
    found = ready.hygiene()
    assert [(fault.name, fault.n, fault.samples) for fault in found.repairs] == [
        ("tier_missing", 7, ["default/m0", "default/m1", "default/m2"])
    ]
    assert [(fault.name, fault.n) for fault in found.reported] == [("time_wrong_created_at", 7)]
    assert (found.walked_at, found.repaired) == (NOW, 7)


def test_the_last_whole_walk_is_shown_while_the_next_goes_on(ready: Jochi) -> None:
    for number in range(4):
        write(ready, f"m{number}", created_at="then")
    clean(ready)
    shape(ready, 2, 1)
    run_job(ready.engine, JOB, now=NOW + DAY)
    found = ready.hygiene()
    assert (found.walking, found.walked_at, [fault.n for fault in found.reported]) == (True, NOW, [4])


def test_one_that_is_written_between_the_look_and_the_lock_is_looked_at_again(ready: Jochi) -> None:
    """Two walks of the same page at once: one of them repairs it."""
    write(ready, next_due=None)
    given = in_one_map({"now": NOW, "keys": ["default/m"], "run": "test/1", "policy": "test", "job": {"name": JOB}})
    text = ready.engine.text("hygiene/hygiene", "act")
    with ready.database.driver.session(database=ready.database.name) as session:
        other = session.begin_transaction()
        other.run("MATCH (m:Curated {key: 'default/m'}) SET m.next_due = $due", {"due": SOON}).consume()
        from threading import Thread

        results: list[Any] = []
        walking = Thread(target=lambda: results.extend(ready.database.run(text, given)))
        walking.start()
        waiting = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n"
        while walking.is_alive() and not ready.database.run(waiting, write=False)[0]["n"]:
            pass
        other.commit()
        walking.join()
    assert results[0]["changed"] == 0
    assert properties(ready)["next_due"] == SOON
    assert repairs(ready) == []


def test_doctor_and_status_say_what_it_found(ready: Jochi) -> None:
    assert check_hygiene(ready.hygiene()).level is Level.OK
    write(ready, "a", created_at="then")
    write(ready, "b", tier=None)
    clean(ready)
    check = check_hygiene(ready.hygiene())
    assert check.level is Level.WARN
    assert "repaired 1 fault;" in check.found
    assert "1 time_wrong_created_at (such as default/a)" in check.found
    seen = overview(ready, tiers=False).hygiene
    assert isinstance(seen, Hygiene)
    assert seen.walked_at == NOW
    ready.database.run("MATCH (m:Curated {key: 'default/a'}) DETACH DELETE m")
    clean(ready, NOW + DAY)
    assert check_hygiene(ready.hygiene()).level is Level.OK
