"""The walk of hygiene: each fault is repaired or reported, nothing is lost, nothing throws (docs/reference/hygiene.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest
from tests.conftest import say_go
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


def write_changed(client: Jochi, changes: dict[str, dict[str, Any]]) -> None:
    """Good memories by id, and what was changed on each."""
    graph.write(client.database, [Memory(id, ("Note",), GOOD) for id in changes], due=SOON)
    client.database.run(
        "UNWIND $rows AS row MATCH (m:Curated {key: row.key}) SET m += row.changed",
        {"rows": [{"key": f"default/{id}", "changed": changed} for id, changed in changes.items()]},
    )


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


# ---- each fault --------------------------------------------------------------------------------------------------------

EARLIEST = datetime(1990, 1, 1, tzinfo=timezone.utc)
WEEK = 7 * DAY
ESTIMATED = {"token_count": 3, "token_counter": "estimate:chars/4", "prepare_due": NOW}
HELD = {"locked_by": "kublai"}
FAILED = {"curation_failures": 3}


def faults(longest_wait: timedelta, longest_pause: timedelta, latest: datetime) -> Iterator[tuple[Any, ...]]:
    """What a good memory was changed to, the faults of that, and what it has afterwards besides what it had. None is absent."""
    yield {"next_due": None}, ["repaired_next_due_missing"], {"next_due": NOW}
    yield {"next_due": NOW + longest_wait}, [], {}
    yield {"next_due": NOW + longest_wait + SECOND}, ["repaired_next_due_far"], {"next_due": NOW}
    yield {"token_count": None}, ["repaired_token_count_missing"], ESTIMATED
    for wrong in (-1, 3.0):
        yield {"token_count": wrong}, ["repaired_token_count_wrong"], ESTIMATED
    yield {"token_count": 0}, [], {"prepare_due": None}
    no_tokens = {"token_count": None, "token_counter": None}
    yield {"content": None, **no_tokens}, [], {"prepare_due": None}
    yield {"content": [1, 2], "token_count": "many"}, ["repaired_token_count_wrong"], {"prepare_due": None, **no_tokens}
    for queue in ("prepare_due", "embed_due"):
        yield {queue: "soon"}, [f"repaired_{queue}_wrong"], {queue: NOW}
    for tier, becomes, how in (
        (None, "HOT", "missing"),
        ("hot", "HOT", "respelled"),
        (" Archive ", "ARCHIVE", "respelled"),
    ):
        yield {"tier": tier}, [f"repaired_tier_{how}"], {"tier": becomes, "tier_at": None}
    for unknown in ("LUKEWARM", ["HOT"]):
        yield {"tier": unknown}, ["repaired_tier_unknown"], {"tier": "COLD", "tier_at": NOW}
    yield {"tier": "COLD"}, [], {"tier_at": None}
    for pinned in (True, "yes"):  # is not moved
        yield {"tier": "LUKEWARM", "pinned": pinned}, ["found_tier_unknown"], {}
        yield {"tier": None, "pinned": pinned}, ["repaired_tier_missing"], {"tier": "HOT"}
    several = ["repaired_next_due_missing", "repaired_tier_unknown", "repaired_token_count_wrong"]  # in one record
    yield (
        {"next_due": None, "tier": "LUKEWARM", "token_count": -5},
        several,
        {"next_due": NOW, "tier": "COLD", **ESTIMATED},
    )
    for name in ("created_at", "last_accessed_at", "read_at", "confidence_at"):  # reported and left
        yield {name: "2026-01-01"}, [f"found_time_wrong_{name}"], {}
        yield {name: EARLIEST - SECOND}, [f"found_time_early_{name}"], {}
        yield {name: latest + SECOND}, [f"found_time_ahead_{name}"], {}
        for right in (EARLIEST, latest):
            yield {name: right}, [], {}
    # Deadlines may lie far ahead.
    yield {"expires_at": datetime(9999, 12, 31, tzinfo=timezone.utc), "hold_until": NOW + 9_000 * DAY}, [], {}
    yield {"created_at": None}, ["found_time_missing_created_at"], {}
    yield {"last_curated_at": "yesterday"}, ["repaired_last_curated_at_wrong"], {"last_curated_at": None}
    for odd in ({"id": "another"}, {"id": "another", "scope": 7}):
        yield odd, ["found_key_odd"], {}
    yield {**HELD, "locked_at": NOW - WEEK}, ["repaired_lock_left_over"], {"locked_by": None, "locked_at": None}
    yield {**HELD, "locked_at": NOW - WEEK + SECOND}, [], {}
    yield {**HELD, "locked_at": "then"}, ["found_time_wrong_locked_at"], {}
    yield HELD, [], {}
    over = {"quarantined_until": None, "curation_failures": None}
    yield {**FAILED, "quarantined_until": NOW - WEEK}, ["repaired_quarantined_until_left_over"], over
    for until in (NOW - WEEK + SECOND, NOW + longest_pause):
        yield {**FAILED, "quarantined_until": until}, [], {}
    # Still protected, but not for ever.
    for until, how in ((NOW + longest_pause + SECOND, "far"), ("soon", "wrong")):
        yield (
            {**FAILED, "quarantined_until": until},
            [f"repaired_quarantined_until_{how}"],
            {"quarantined_until": NOW + longest_pause},
        )
    gone = {"curation_lock": None, "purge_started_at": None}
    marks = ["repaired_curation_lock_left_over", "repaired_purge_left_over"]
    yield {"curation_lock": True, "purge_started_at": OLD}, marks, gone


def test_each_fault_is_repaired_or_reported(ready: Jochi, test_policy: LoadedPolicy) -> None:
    policy = test_policy.policy
    assert policy.longest_wait() > timedelta(days=60)
    cases = list(faults(policy.longest_wait(), policy.scheduler.quarantine_max, NOW + policy.content.date_ahead))
    write_changed(ready, {str(i): changed for i, (changed, _names, _after) in enumerate(cases)})
    found = Counter(name for _changed, names, _after in cases for name in names)
    assert clean(ready) == found
    stored = {key: to_python(one.properties) for key, one in graph.state(ready.database).items()}
    records = {audit["key"]: audit for audit in repairs(ready)}
    for i, (changed, names, after) in enumerate(cases):
        for name, value in {**GOOD, "next_due": SOON, **changed, **after}.items():
            assert stored[f"default/{i}"].get(name) == value, (changed, name)
        record = records.pop(f"default/{i}", {})
        repaired = [name.removeprefix("repaired_") for name in names if name.startswith("repaired_")]
        assert record.get("repaired", []) == repaired, changed
        if repaired:
            assert (record["action"], record["rule"], record["at"]) == ("repair", f"hygiene.{repaired[0]}", NOW)
            before = {"next_due", "tier", "token_count", "locked_by", "locked_at"} & changed.keys() & after.keys()
            assert {name: record.get(f"before_{name}") for name in before} == {name: changed[name] for name in before}
    assert records == {}
    assert again(ready) == {name: n for name, n in found.items() if name.startswith("found_")}


# ---- kinds and labels --------------------------------------------------------------------------------------------------


def test_a_kind_with_names_of_its_own_is_read_by_these(ready: Jochi) -> None:
    opened = int(OLD.timestamp() * 1000)
    # Standard names mean nothing on it.
    write(ready, "good", "Ticket", opened=opened, body="text", without=("content", "created_at"))
    write(ready, "standard", "Ticket", opened=opened, created_at="then")
    write(ready, "bad", "Ticket", opened="then", without=("created_at",))
    assert clean(ready) == {"found_time_wrong_created_at": 1}
    (fault,) = ready.hygiene().reported
    assert fault.samples == ["default/bad"]


def test_what_somebody_gave_its_label_back_comes_back_whole(ready: Jochi) -> None:
    say_go(ready)
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
    write_changed(ready, odd)
    first = clean(ready)
    assert graph.pruned(ready.database) == set()
    second = again(ready)
    assert {fault for fault in second if fault.startswith("repaired_")} == set()
    assert {fault: n for fault, n in first.items() if fault.startswith("found_")} == {
        fault: n for fault, n in second.items() if fault.startswith("found_")
    }


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
