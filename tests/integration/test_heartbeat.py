"""Tasks of agents: written, claimed once, reported, shown in a file of bounded size (seed 001, Lazy Loading for Heartbeat)."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.agent_imports import agent_paths
from tests.conftest import TestServer
from tests.faults.support import within
from tests.tally import examples
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import JochiError, Refused, UsageError
from jochi.forgetting import Request
from jochi.forgetting.forget_key import VARIABLE
from jochi.heartbeat import Heartbeat, NewTask, StaleClaim
from jochi.heartbeat.heartbeat import LEASE
from jochi.heartbeat.migration import migrate
from jochi_workers.heartbeat_files import HeartbeatFiles, read_table

NOON = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Words:
    """Counts words."""

    name = "tiktoken:test"

    def count(self, text: str) -> int:
        return len(text.split())


def words(n: int) -> str:
    return " ".join(["word"] * n)


@pytest.fixture
def heartbeat(jochi: Jochi) -> Heartbeat:
    return Heartbeat(jochi.engine, Words())


def add(
    heartbeat: Heartbeat,
    id: str,
    schedule: str | None = "every 15min",
    n: int = 5,
    *,
    now: datetime = NOON,
    **more: Any,
) -> str:
    return heartbeat.add(NewTask(id, words(n), schedule, **more), scope="s", now=now)


def node(heartbeat: Heartbeat, id: str) -> dict[str, Any]:
    rows = heartbeat.engine.database.run(
        "MATCH (t {key: $key}) RETURN properties(t) AS p, labels(t) AS l", {"key": f"s/{id}"}
    )
    return {**rows[0]["p"], "labels": set(rows[0]["l"])} if rows else {}


def test_a_task_is_a_memory_that_no_rule_prunes_and_that_takes_no_budget(heartbeat: Heartbeat) -> None:
    assert add(heartbeat, "t", n=99) == "added"
    task = node(heartbeat, "t")
    assert task["labels"] == {"Curated", "HeartbeatTask"}
    assert (task["tier"], task["ttl_policy"], task["revision"], task["token_count"]) == (
        "ARCHIVE",
        "keep_forever",
        1,
        99,
    )
    assert "prepare_due" not in task
    for id in ("t", "heartbeat_registry"):
        heartbeat.engine.database.run(
            "MATCH (t {key: $key}) SET t.created_at = datetime('2000-01-01')", {"key": f"s/{id}"}
        )
        why = Jochi(heartbeat.engine.database.driver).explain(f"s/{id}")
        assert "keep_forever" in {rail.rail for rail in why.rails if rail.blocks}


def test_what_is_given_of_a_task_is_written_and_the_rest_stays(heartbeat: Heartbeat) -> None:
    add(heartbeat, "t", "0 9 * * *", 99, time_zone="Europe/Berlin", task_name="Report")
    assert heartbeat.add(NewTask("t", definition=words(100)), scope="s", now=NOON + HOUR) == "changed"
    task = heartbeat.task("t", scope="s")
    assert (task.task_name, task.schedule, task.time_zone, task.quick) == (
        "Report",
        "0 9 * * *",
        "Europe/Berlin",
        False,
    )
    assert task.next_due == datetime(2026, 6, 2, 7, tzinfo=timezone.utc)
    assert task.revision == 2
    assert (
        heartbeat.add(NewTask("t", words(100), "0 9 * * *", "Europe/Berlin", "Report"), scope="s", now=NOON)
        == "unchanged"
    )
    assert heartbeat.add(NewTask("t", schedule="every 1h"), scope="s", now=NOON + HOUR) == "changed"
    assert heartbeat.task("t", scope="s").next_due == NOON + 2 * HOUR
    # Without a schedule it is never due, until it gets one.
    add(heartbeat, "u", None)
    with pytest.raises(UsageError, match="no schedule"):
        heartbeat.resume("u", scope="s", now=NOON)
    assert not heartbeat.task("u", scope="s").is_active
    heartbeat.add(NewTask("u", schedule="every 1h"), scope="s", now=NOON)
    assert heartbeat.task("u", scope="s").next_due == NOON + HOUR


def test_a_task_that_an_app_wrote_is_due_once_it_is_scheduled(heartbeat: Heartbeat) -> None:
    text = "CREATE (:Curated:HeartbeatTask {key: 's/a', id: 'a', scope: 's', content: 'x', schedule: 'every 1h', is_active: true})"
    heartbeat.engine.database.run(text)
    [task] = heartbeat.ls(scope="s")
    assert (task.task_name, task.next_due, task.quick) == ("a", None, False)
    assert heartbeat.add(NewTask("a", schedule="every 1h"), scope="s", now=NOON) == "changed"
    [claim] = heartbeat.due("x", scope="s", now=NOON + HOUR)
    assert heartbeat.load("a", scope="s", now=NOON) == "x"
    assert heartbeat.done("a", claim.token, scope="s", now=NOON + HOUR).next_due == NOON + 2 * HOUR


ODD = {
    "a number": 15,
    "a word": "yes",
    "a flag": True,
    "a list": ["a", "b"],
    "a local time": NOON.replace(tzinfo=None),
    "a share": 0.5,
    "beyond counting": 2**63 - 1,
    "a date": date(2026, 1, 1),
}
ODD = dict(list(ODD.items())[: examples(5, len(ODD))])
FITS = {"text": {"a word"}, "count": {"a number"}, "flag": {"a flag"}, "moment": set[str]()}
FORMS = {
    "text": [
        "task_name", "schedule", "time_zone", "definition_hash", "content_hash", "last_error", "claimed_by", "content",
    ],
    "count": ["token_count", "revision", "execution_count", "error_count", "error_streak"],
    "flag": ["is_active", "quick"],
    "moment": [
        "scheduled_at", "task_next_due", "last_executed", "claimed_until", "claimable_at", "last_definition_load",
    ],
}  # fmt: skip


def test_odd_values_of_an_app_stop_no_task_and_ls_says_what_is_wrong(heartbeat: Heartbeat, tmp_path: Path) -> None:
    """Each value in the place of each property, before and after a claim, a lost lease and a report."""
    odd = {
        f"{name}-{what.replace(' ', '_')}": (name, what, form)
        for form, names in FORMS.items()
        for name in names
        for what in ODD
    } | {f"id-{what.replace(' ', '_')}": ("id", what, "id") for what in ODD}
    run = heartbeat.engine.database.run

    def spoil() -> None:
        run(
            "UNWIND $rows AS row MATCH (t:Curated {key: 's/' + row[0]}) SET t[row[1]] = row[2]",
            {"rows": [[id, name, ODD[what]] for id, (name, what, _) in odd.items()]},
        )

    heartbeat.add_all([NewTask(id, "do it", "every 15min") for id in (*odd, "good")], scope="s", now=NOON)
    run("CREATE (:HeartbeatTask {key: 's/not_ours', id: 'not_ours', scope: 's', claimable_at: $now})", {"now": NOON})
    spoil()
    problems = {task.id: task.problem for task in heartbeat.ls(scope="s")}
    assert problems.keys() == {*odd, "good"}
    assert problems["good"] is None
    for id, (name, what, form) in odd.items():
        if form == "id" or what in FITS[form]:
            unread = {"schedule": "is no schedule", "time_zone": "no time zone"}.get(name)
            assert unread in problems[id] if unread else problems[id] is None, (id, problems[id])  # type: ignore[operator]
        else:
            assert f"{name} is n" in str(problems[id]), (id, problems[id])
    assert "good" in [task.id for task, _ in heartbeat.start(scope="s", limit=1000).quick]
    assert sync(heartbeat, tmp_path / "f")
    now, claimed = NOON, {}
    for _ in range(2):
        now += HOUR
        claimed = {claim.task.id: claim for claim in heartbeat.due("x", scope="s", limit=1000, now=now)}
        never = {
            id
            for id, (name, what, _) in odd.items()
            if name in ("claimable_at", "is_active", "content") and problems[id]
        }
        assert claimed.keys() == {*odd, "good"} - never
        assert all(claim.task.execution_count < 20 for claim in claimed.values())
        spoil()  # the lease is lost: what is counted then is odd, too
    for id, claim in claimed.items():
        assert heartbeat.load(id, scope="s", now=now) == ("yes" if id == "content-a_word" else "do it")
        due = heartbeat.done(id, claim.token, scope="s", now=now).next_due
        name = odd[id][0] if id in odd else None
        never_again = id == "time_zone-a_word" or (name in ("schedule", "scheduled_at") and bool(problems[id]))
        assert (due is None) == never_again, (id, due)
    with pytest.raises(JochiError, match="no text"):
        heartbeat.load("content-a_number", scope="s", now=now)
    spoil()
    # A person mends them all.
    now += HOUR
    heartbeat.add_all([NewTask(id, "do that", "every 1h") for id in odd], scope="s", now=now)
    assert all(heartbeat.pause(id, scope="s", now=now) and heartbeat.resume(id, scope="s", now=now) for id in odd)
    assert {claim.task.id for claim in heartbeat.due("x", scope="s", limit=1000, now=now + 2 * HOUR)} >= odd.keys()


REFUSED = [
    (NewTask("", "x"), "id"),
    (NewTask("x" * 1001, "x"), "id"),
    (NewTask("n", "  "), "empty"),
    (NewTask("n", schedule="every 1h"), "no task 'n'"),
    (NewTask("n", "x", "61 * * * *"), "minute"),
    (NewTask("n", "x", "every 1h", "Nowhere"), "Nowhere"),
    (NewTask("belief", "x", "every 1h"), "another kind"),
]


def test_what_cannot_be_written_takes_nothing_with_it(heartbeat: Heartbeat) -> None:
    heartbeat.engine.database.run("CREATE (:Curated:Belief {key: 's/belief', id: 'belief', scope: 's'})")
    for task, says in REFUSED:
        with pytest.raises(JochiError, match=says):
            heartbeat.add_all([NewTask("good", "x", "every 1h"), task], scope="s", now=NOON)
    with pytest.raises(UsageError, match="scope"):
        heartbeat.add(NewTask("good", "x", "every 1h"), scope="s/t", now=NOON)
    assert node(heartbeat, "good") == {}
    assert node(heartbeat, "heartbeat_registry") == {}
    assert heartbeat.engine.database.run("MATCH (n:Curated) RETURN count(n) AS n")[0]["n"] == 1


def test_what_was_forgotten_is_no_task(
    jochi: Jochi, heartbeat: Heartbeat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    jochi.remember({"kind": "MemoryEntry", "id": "m", "scope": "s", "content": "water the ferns of Ada"})
    jochi.forget(Request(keys=("s/m",)))
    with pytest.raises(Refused, match="forgotten"):
        heartbeat.add(NewTask("t", "water the ferns of Ada", "every 1h"), scope="s", now=NOON)
    assert node(heartbeat, "t") == {}


def test_names_of_any_length_and_leases_of_any(heartbeat: Heartbeat) -> None:
    long = "\U0001f600" * 1000
    heartbeat.add(NewTask(long, "quick", "every 1h", task_name=long), scope=long, now=NOON)
    assert [task.id for task, _ in heartbeat.start(scope=long).quick] == [long]
    assert [claim.task.id for claim in heartbeat.due("x", scope=long, now=NOON + HOUR)] == [long]
    with pytest.raises(UsageError, match="9999"):
        heartbeat.due("x", scope=long, lease=timedelta(days=3_000_000), now=NOON + HOUR)
    with pytest.raises(UsageError, match="9999"):
        add(heartbeat, "t", "every 3000000d")


def test_a_file_and_a_start_show_what_their_reader_may_see(heartbeat: Heartbeat, tmp_path: Path) -> None:
    tiers = {"none": None, "PUBLIC": "PUBLIC", "SENSITIVE": "SENSITIVE", "PRIVATE": "PRIVATE", "odd": 7}
    for quick in (True, False):
        tasks = [NewTask(f"{tier}-{quick}", f"of {tier}" if quick else words(150), "every 1h") for tier in tiers]
        heartbeat.add_all(tasks, scope="s", now=NOON)
        for tier, value in tiers.items():
            text = "MATCH (t:Curated {key: $key}) SET t.access_tier = $value"
            heartbeat.engine.database.run(text, {"key": f"s/{tier}-{quick}", "value": value})
    heartbeat.add(NewTask("by-text", "Say the PIN: 4711", "every 1h"), scope="s", now=NOON)
    for open, shown in ((False, {"none", "PUBLIC"}), (True, {"none", "PUBLIC", "SENSITIVE"})):
        file = tmp_path / f"{open}.md"
        started = heartbeat.start(scope="s", include_sensitive=open)
        private = {"by-text"} if open else set()
        assert {task.id for task, _ in started.quick} == {f"{tier}-True" for tier in shown} | private
        assert {*started.pending} == {f"{tier}-{quick}" for tier in shown for quick in (True, False)} | private
        for most in (120, 1000):
            sync(heartbeat, file, max_tokens=most, include_sensitive=open, overwrite=True)
            text = file.read_text()
            assert {tier for tier in tiers if f"{tier}-" in text or f"of {tier}" in text} <= shown
        assert {tier for tier in tiers if f"- {tier}-False" in text and f"> of {tier}" in text} == shown
        assert ("4711" in text) == open
        assert "more:" not in text
        heartbeat.engine.database.run(
            "MATCH (r:HeartbeatTaskRegistry) SET r.pending_changes = $ids",
            {"ids": ["by-text", *(f"{tier}-{quick}" for tier in tiers for quick in (True, False))]},
        )


def test_what_nobody_sees_is_not_in_the_file(heartbeat: Heartbeat, tmp_path: Path) -> None:
    hidden = "\u202e\u2066\u200b\U000e0041\x1b"
    heartbeat.add(NewTask(f"i{hidden}", f"  do{hidden} it\u2028now", "every 1h", task_name=f"na{hidden}me"), scope="s")
    sync(heartbeat, tmp_path / "f")
    text = (tmp_path / "f").read_text()
    assert not set(hidden) & set(text)
    assert ": name (every 1h, UTC)\n>   do it\n> now\n" in text


def test_due_moments_and_the_lease(heartbeat: Heartbeat) -> None:
    add(heartbeat, "a", "every 15min")
    add(heartbeat, "b", "every 10min")
    assert heartbeat.due("x", scope="s", now=NOON + 10 * MINUTE - SECOND) == []
    both = heartbeat.due("x", scope="s", now=NOON + 15 * MINUTE)
    assert [claim.task.id for claim in both] == ["b", "a"]
    token, end = both[1].token, both[1].until
    assert end == NOON + 15 * MINUTE + LEASE
    assert heartbeat.due("y", scope="s", now=end - SECOND) == []
    # Its agent is killed: after the lease another has both, and the first one's token is worth nothing.
    again = {claim.task.id: claim for claim in heartbeat.due("y", scope="s", now=end)}
    assert {id: claim.task.error_count for id, claim in again.items()} == {"a": 1, "b": 1}
    with pytest.raises(StaleClaim, match="y has it until"):
        heartbeat.done("a", token, scope="s", now=end + SECOND)
    with pytest.raises(StaleClaim, match="y has it until"):
        heartbeat.failed("a", token, "late", scope="s", now=end + SECOND)
    assert heartbeat.done("a", again["a"].token, scope="s", now=end + MINUTE).next_due == NOON + 30 * MINUTE
    # What got no answer is reported again and counts once.
    assert heartbeat.done("a", again["a"].token, scope="s", now=end + 2 * MINUTE).repeated
    task = heartbeat.task("a", scope="s")
    assert (task.execution_count, task.error_count, task.claimed_by) == (2, 1, None)
    assert task.last_executed == end + MINUTE


def test_a_lease_that_ended_can_be_reported_until_another_has_it(heartbeat: Heartbeat) -> None:
    add(heartbeat, "a")
    [claim] = heartbeat.due("x", scope="s", now=NOON + 15 * MINUTE)
    assert heartbeat.done("a", claim.token, scope="s", now=claim.until + HOUR).next_due == NOON + 90 * MINUTE


def test_what_was_missed_is_due_once(heartbeat: Heartbeat) -> None:
    add(heartbeat, "a", "0 * * * *")
    later = NOON + 50 * HOUR + MINUTE
    [claim] = heartbeat.due("x", scope="s", now=later)
    assert heartbeat.done("a", claim.token, scope="s", now=later).next_due == NOON + 51 * HOUR
    assert heartbeat.due("x", scope="s", now=later + MINUTE) == []


def test_failures_wait_twice_as_long_each_time_up_to_the_policys_longest(heartbeat: Heartbeat, jochi: Jochi) -> None:
    work = jochi.policy.policy.work
    add(heartbeat, "a", "every 30s")
    now, waits = NOON + MINUTE, []
    for _ in range(20):
        [claim] = heartbeat.due("x", scope="s", now=now)
        due = heartbeat.failed("a", claim.token, "é" * 1000, scope="s", now=now).next_due
        assert due is not None
        waits.append(due - now)
        assert heartbeat.due("x", scope="s", now=due - SECOND) == []
        now = due
    assert waits[:3] == [work.retry_min, 2 * work.retry_min, 4 * work.retry_min]
    assert waits[-1] == work.retry_max == max(waits)
    task = heartbeat.task("a", scope="s")
    assert (task.execution_count, task.error_count, task.last_error) == (20, 20, "é" * 500)
    [claim] = heartbeat.due("x", scope="s", now=now)
    assert heartbeat.done("a", claim.token, scope="s", now=now).next_due - now <= 30 * SECOND  # type: ignore[operator]
    [claim] = heartbeat.due("x", scope="s", now=now + MINUTE)
    assert heartbeat.failed("a", claim.token, "", scope="s", now=now).next_due == now + work.retry_min


def test_two_agents_at_once_run_each_due_moment_once(heartbeat: Heartbeat, jochi: Jochi) -> None:
    heartbeat.add_all([NewTask(f"t{n:02}", "do it", "every 1h") for n in range(10)], scope="s", now=NOON)
    ran: list[tuple[str, datetime]] = []
    together = threading.Barrier(4)

    def work(agent: str) -> None:
        mine = Heartbeat(jochi.engine, Words())
        for hour in range(1, 4):
            now = NOON + hour * HOUR
            together.wait()
            while claims := mine.due(agent, scope="s", now=now, limit=3):
                for claim in claims:
                    assert claim.task.next_due is not None
                    ran.append((claim.task.id, claim.task.next_due))
                    mine.done(claim.task.id, claim.token, scope="s", now=now)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, "abcd"))
    assert sorted(ran) == sorted((f"t{n:02}", NOON + hour * HOUR) for n in range(10) for hour in (1, 2, 3))


def test_who_claims_while_the_last_claim_is_reported_finds_it_done(heartbeat: Heartbeat) -> None:
    """The lease has ended, and its agent reports all the same: who waits for it looks again."""
    database = heartbeat.engine.database
    add(heartbeat, "a", "every 1h")
    [claim] = heartbeat.due("x", scope="s", now=NOON + HOUR)
    with database.driver.session() as session, ThreadPoolExecutor(1) as pool:
        transaction = session.begin_transaction()
        transaction.run("MATCH (t:HeartbeatTask {key: 's/a'}) REMOVE t.curation_lock").consume()
        late = pool.submit(heartbeat.due, "y", scope="s", now=claim.until)
        blocked = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
        within(5, lambda: bool(database.run(blocked)), "the other agent waits")
        text = "MATCH (t:HeartbeatTask {key: 's/a'}) SET t.claimable_at = $next, t.task_next_due = $next REMOVE t.claimed_until"
        transaction.run(text, {"next": NOON + 2 * HOUR}).consume()
        transaction.commit()
        assert late.result(20) == []
    assert heartbeat.task("a", scope="s").error_count == 0


def test_paused_changed_and_pruned_while_it_is_claimed(heartbeat: Heartbeat) -> None:
    for id in ("paused", "changed", "gone"):
        add(heartbeat, id)
    now = NOON + 20 * MINUTE
    token = heartbeat.due("x", scope="s", now=now)[0].token
    assert heartbeat.pause("paused", scope="s", now=now) == "changed"
    assert heartbeat.pause("paused", scope="s", now=now) == "unchanged"
    heartbeat.add(NewTask("changed", schedule="every 1min"), scope="s", now=now)
    # Its lease still holds, though it would be due before that ends.
    assert heartbeat.due("y", scope="s", now=now + 5 * MINUTE) == []
    assert heartbeat.done("paused", token, scope="s", now=now + MINUTE).next_due is None
    assert heartbeat.done("changed", token, scope="s", now=now + 90 * SECOND).next_due == now + 2 * MINUTE
    heartbeat.engine.database.run(
        "MATCH (t {key: 's/gone'}) REMOVE t:Curated:HeartbeatTask SET t:Tombstone, t.tombstone = true"
    )
    with pytest.raises(UsageError, match="no task 'gone'"):
        heartbeat.done("gone", token, scope="s", now=now)
    assert {claim.task.id for claim in heartbeat.due("x", scope="s", now=now + 10 * HOUR)} == {"changed"}
    assert heartbeat.resume("paused", scope="s", now=now + HOUR) == "changed"
    assert heartbeat.task("paused", scope="s").next_due == NOON + 90 * MINUTE
    assert heartbeat.resume("paused", scope="s", now=now + HOUR) == "unchanged"


def test_a_definition_is_loaded_once_a_session_and_again_when_it_is_another(heartbeat: Heartbeat, jochi: Jochi) -> None:
    add(heartbeat, "a", n=200)
    assert heartbeat.load("a", scope="s", now=NOON) == words(200)
    assert heartbeat.task("a", scope="s").last_definition_load == NOON
    other = Heartbeat(jochi.engine, Words())
    other.add(NewTask("a", definition="another"), scope="s", now=NOON)
    assert heartbeat.load("a", scope="s", now=NOON + HOUR) == words(200)
    assert heartbeat.load("a", scope="s", now=NOON + HOUR, fresh=True) == "another"
    other.add(NewTask("a", definition="a third"), scope="s", now=NOON)
    heartbeat.due("x", scope="s", now=NOON + HOUR)
    assert heartbeat.load("a", scope="s", now=NOON + 2 * HOUR) == "a third"
    with pytest.raises(UsageError, match="no task 'nothing'"):
        heartbeat.load("nothing", scope="s", now=NOON)


def sync(heartbeat: Heartbeat, file: Path, now: datetime = NOON, **more: Any) -> bool:
    return heartbeat.sync(file, scope="s", now=now, **more).rewritten


def test_the_file_is_bounded_whatever_there_is(heartbeat: Heartbeat, tmp_path: Path) -> None:
    file = tmp_path / "HEARTBEAT.md"
    quick = [
        NewTask(f"q{n:02}", f"quick{n} > # ```\n--> {words(60)}", "every 1h", task_name="n\n# x") for n in range(30)
    ]
    heartbeat.add_all([*quick, *(NewTask(f"z{n:03}", words(150), "every 1h") for n in range(100))], scope="s", now=NOON)
    add(heartbeat, "aaa", None)
    for most in (100, 300, 1000, 5000):
        sync(heartbeat, file, max_tokens=most)
        text = file.read_text()
        assert most * 0.7 < Words().count(text) <= most or "more:" not in text
        shown = [n for n in range(30) if f"> quick{n} " in text]
        ids = [line[2:] for line in text.splitlines() if line.startswith("- ")]
        assert shown == list(range(len(shown)))
        assert ids[: 30 - len(shown)] == [f"q{n:02}" for n in range(len(shown), 30)][: len(ids)]
        left = 130 - len(shown) - len(ids)
        assert (f"… and {left:,} more: `jochi heartbeat ls" in text) == (left > 0)
        assert "aaa" not in text
    assert "more:" not in text
    with pytest.raises(UsageError, match="head"):
        sync(heartbeat, file, max_tokens=20, overwrite=True)


def test_a_file_is_only_rewritten_for_something_new_and_pending_changes_are_cleared(
    heartbeat: Heartbeat, tmp_path: Path
) -> None:
    file = tmp_path / "HEARTBEAT.md"

    def pending() -> list[str]:
        return list(heartbeat.start(scope="s").pending)

    add(heartbeat, "a")
    add(heartbeat, "b", n=100)
    assert pending() == ["a", "b"]
    assert sync(heartbeat, file)
    assert pending() == []
    before = file.read_text()
    assert not sync(heartbeat, file, NOON + MINUTE)
    assert file.read_text() == before
    digest = heartbeat.start(scope="s").definitions_hash
    assert f'"{digest}"' in before
    changes: list[Callable[[], str]] = [
        lambda: add(heartbeat, "b", n=101),
        lambda: heartbeat.pause("a", scope="s", now=NOON),
        lambda: heartbeat.resume("a", scope="s", now=NOON),
        lambda: heartbeat.add(NewTask("a", task_name="A"), scope="s", now=NOON),
    ]
    for change in changes:
        assert change() == "changed"
        assert len(pending()) == 1
        assert sync(heartbeat, file, NOON + HOUR)
        assert digest != (digest := heartbeat.start(scope="s").definitions_hash)
    # What went by another way is seen.
    heartbeat.engine.database.run("MATCH (t {key: 's/b'}) REMOVE t:Curated:HeartbeatTask SET t:Tombstone")
    assert sync(heartbeat, file, NOON + HOUR)
    # A run is no change of a definition; the file says once when it was.
    digest = heartbeat.start(scope="s").definitions_hash
    [claim, *_] = heartbeat.due("x", scope="s", now=NOON + HOUR)
    heartbeat.done(claim.task.id, claim.token, scope="s", now=NOON + HOUR)
    assert (pending(), heartbeat.start(scope="s").definitions_hash) == ([], digest)
    assert sync(heartbeat, file, NOON + 2 * HOUR)
    assert not sync(heartbeat, file, NOON + 2 * HOUR)


def test_what_changes_during_a_sync_stays_pending(
    heartbeat: Heartbeat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(heartbeat, "a")
    entries = heartbeat._entries

    def meanwhile(*given: Any) -> Any:
        found = entries(*given)
        add(heartbeat, "a", n=6)
        return found

    monkeypatch.setattr(heartbeat, "_entries", meanwhile)
    sync(heartbeat, tmp_path / "f")
    monkeypatch.undo()
    assert heartbeat.start(scope="s").pending == ["a"]
    assert sync(heartbeat, tmp_path / "f")
    assert heartbeat.start(scope="s").pending == []


def test_a_file_of_somebody_else_is_not_overwritten(heartbeat: Heartbeat, tmp_path: Path) -> None:
    add(heartbeat, "a")
    file = tmp_path / "HEARTBEAT.md"
    file.write_text("# My own\n- every hour: look\n")
    with pytest.raises(Refused, match="didn't write"):
        sync(heartbeat, file)
    assert sync(heartbeat, file, overwrite=True)
    file.write_text(file.read_text() + "\nmine\n")
    with pytest.raises(Refused, match="edited"):
        sync(heartbeat, file)
    assert file.read_text().endswith("mine\n")
    assert sync(heartbeat, file, overwrite=True)
    with pytest.raises(Refused, match="tasks of scope 's', not of 't'"):
        heartbeat.sync(file, scope="t", now=NOON)
    with pytest.raises(Refused, match="tasks of scope 's', not of 't'"):
        migrate(heartbeat, file, scope="t", time_zone="UTC", max_tokens=1000, dry_run=False)
    assert heartbeat.sync(file, scope="t", now=NOON, overwrite=True).rewritten
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(JochiError, match="UTF-8"):
        sync(heartbeat, file)


@pytest.mark.parametrize("how", ["sync", "overwrite", "migrate"])
def test_who_edits_the_file_meanwhile_is_not_overwritten(
    heartbeat: Heartbeat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """At the last moment, when the new file is on the disk already."""
    file = tmp_path / "HEARTBEAT.md"
    if how == "migrate":
        file.write_text("- every hour: look\n")
    else:
        sync(heartbeat, file)
    add(heartbeat, "a")
    fsync, left = os.fsync, [2]

    def meanwhile(number: int) -> None:
        fsync(number)
        if (
            left[0]
            and stat.S_ISREG(os.fstat(number).st_mode)
            and ("pre-migration" in str([*tmp_path.iterdir()])) == (how == "migrate")
        ):
            left[0] -= 1
            file.write_text(file.read_text() + "mine\n")

    monkeypatch.setattr(os, "fsync", meanwhile)
    if how == "overwrite":  # asked for: but what is overwritten was read before
        assert sync(heartbeat, file, overwrite=True)
        assert left == [0]
        assert "mine" not in file.read_text()
        return
    if how == "sync":
        with pytest.raises(Refused, match="edited this file"):
            sync(heartbeat, file)
    else:
        with pytest.raises(Refused, match="changed the file meanwhile"):
            migrate(heartbeat, file, scope="s", time_zone="UTC", max_tokens=1000, dry_run=False)
    assert file.read_text().endswith("mine\n")
    assert len(list(heartbeat.ls(scope="s"))) == (2 if how == "migrate" else 1)


def test_a_file_that_is_a_mount_or_a_link(
    heartbeat: Heartbeat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written in its place; what somebody appends meanwhile isn't lost; no file loads another, whatever a task says."""
    (tmp_path / "far").mkdir()
    real, file = tmp_path / "far" / "HEARTBEAT.md", tmp_path / "HEARTBEAT.md"
    file.symlink_to(real)
    with pytest.raises(JochiError, match="and there is no such file"):
        sync(heartbeat, file)
    real.write_text("")
    inode, replace_file, fsync, left = real.stat().st_ino, Path.replace, os.fsync, [0]

    def stuck(source: Path, target: Path) -> Path:
        if target == real:
            raise OSError(16, "Device or resource busy")
        return replace_file(source, target)

    def meanwhile(number: int) -> None:
        fsync(number)
        if left[0] and (real.parent / ".HEARTBEAT.md.jochi-copy").exists():
            left[0] -= 1
            real.write_text(real.read_text() + "mine\n")

    monkeypatch.setattr(Path, "replace", stuck)
    monkeypatch.setattr(os, "fsync", meanwhile)
    heartbeat.add(NewTask("@NOTES.md", "@/etc/hostname says **who**@here\n@ann", "every 1h"), scope="s", now=NOON)
    assert sync(heartbeat, file)
    assert not agent_paths(real.read_text())
    assert "> \\@/etc/hostname says **who**\\@here\n> \\@ann\n" in real.read_text()
    add(heartbeat, "a")
    left[0] = 1
    with pytest.raises(Refused, match="edited this file"):
        sync(heartbeat, file)
    assert real.read_text().endswith("mine\n")
    assert sync(heartbeat, file, overwrite=True)
    # An editor that ends lines in another way has edited nothing.
    real.write_bytes(b"\xef\xbb\xbf" + real.read_bytes().replace(b"\n", b"\r\n"))
    assert sync(heartbeat, file)
    assert b"\r" not in real.read_bytes()
    assert real.stat().st_ino == inode
    assert [each.name for each in real.parent.iterdir()] == ["HEARTBEAT.md"]


def test_a_file_that_cannot_be_written_stays_and_what_is_pending_too(
    heartbeat: Heartbeat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "HEARTBEAT.md"

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    for id, broken in (("b", (os, "open")), ("c", (os, "fsync")), ("d", (Path, "replace"))):
        sync(heartbeat, file)
        before = file.read_bytes()
        add(heartbeat, id)
        with monkeypatch.context() as patch:
            patch.setattr(*broken, full)
            with pytest.raises(JochiError, match="No space left"):
                sync(heartbeat, file)
        assert file.read_bytes() == before
        assert [each.name for each in tmp_path.iterdir()] == ["HEARTBEAT.md"]
        assert heartbeat.start(scope="s").pending == [id]
    assert sync(heartbeat, file)


def test_all_pages_of_a_scope_are_listed_and_no_other_scope(
    heartbeat: Heartbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jochi.heartbeat.heartbeat.PAGE", 3)
    for scope in ("s", "s0", "r", "s-"):
        heartbeat.add_all([NewTask(f"{scope}{n}", "x", "every 1h") for n in range(7)], scope=scope, now=NOON)
    assert [task.id for task in heartbeat.ls(scope="s")] == [f"s{n}" for n in range(7)]


FILES = Path(__file__).parents[1] / "heartbeat_files"


@pytest.mark.parametrize(
    "make", ["headings", *(pytest.param(make, marks=pytest.mark.exhaustive) for make in ("list", "table"))]
)
def test_a_migrated_file_is_kept_and_a_second_run_changes_nothing(jochi: Jochi, tmp_path: Path, make: str) -> None:
    old = (FILES / f"{make}.md").read_bytes()
    file, kept = tmp_path / "HEARTBEAT.md", tmp_path / "HEARTBEAT.md.pre-migration"
    file.write_bytes(old)
    file.chmod(0o600)
    planned = jochi.migrate_heartbeat(file, scope="s", time_zone="Europe/Berlin", dry_run=True)
    assert list(jochi.heartbeat.ls(scope="s")) == []
    assert [each.name for each in tmp_path.iterdir()] == ["HEARTBEAT.md"]
    kept.write_text("an earlier one")
    found = jochi.migrate_heartbeat(file, scope="s", time_zone="Europe/Berlin")
    assert [replace(task, outcome="added") for task in planned.tasks] == list(found.tasks)
    assert kept.read_text() == "an earlier one"
    assert found.kept == f"{kept}-2"
    assert Path(found.kept).read_bytes() == old
    assert {path.stat().st_mode & 0o777 for path in (file, Path(found.kept))} == {0o600}
    stored = {task.id: task for task in jochi.heartbeat.ls(scope="s")}
    assert {task.id: (task.schedule, task.is_active) for task in stored.values()} == {
        task.id: (task.schedule, task.schedule is not None) for task in found.tasks
    }
    assert all(jochi.heartbeat.load(task.id, scope="s") == task.definition for task in found.tasks)
    text = file.read_text()
    assert jochi.heartbeat.counter.count(text) <= 1000
    before = node(jochi.heartbeat, "heartbeat_registry")
    assert jochi.migrate_heartbeat(file, scope="s").already
    assert file.read_text() == text
    assert node(jochi.heartbeat, "heartbeat_registry") == before
    assert len(list(tmp_path.iterdir())) == 3


def test_a_file_that_nobody_has_written_into_is_kept_byte_for_byte(jochi: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "HEARTBEAT.md"
    old = "---\ntitle: A bare pulse\n---\n\n# A bare pulse\n\n```markdown\n# Leave this page bare.\n```\n\n- [ ]\n"
    old += "\n## See also\n\n- [How often](/manual/pulse)\n"
    file.write_bytes(raw := b"\xef\xbb\xbf" + old.replace("\n", "\r\n").encode())
    found = jochi.migrate_heartbeat(file, scope="s")
    assert found.tasks == ()
    assert found.kept is not None
    assert Path(found.kept).read_bytes() == raw
    assert list(jochi.heartbeat.ls(scope="s")) == []


def test_a_migration_that_was_cut_off_goes_on(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "HEARTBEAT.md"
    old = (FILES / "list.md").read_bytes()
    file.write_bytes(old)

    def stops(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    for broken in ((os, "open"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(*broken, stops)
            with pytest.raises(JochiError, match="No space left"):
                jochi.migrate_heartbeat(file, scope="s")
        assert file.read_bytes() == old
    # Meanwhile a person says when: what is there stays so.
    jochi.heartbeat.add(NewTask("meditate-5-min", schedule="every 1d"), scope="s")
    found = jochi.migrate_heartbeat(file, scope="s")
    assert {task.outcome for task in found.tasks} == {"there"}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["HEARTBEAT.md", "HEARTBEAT.md.pre-migration"]
    tasks = {task.id: task for task in jochi.heartbeat.ls(scope="s")}
    assert len(tasks) == len(found.tasks)
    assert tasks["meditate-5-min"].schedule == "every 1d"


def test_who_adds_a_task_while_a_file_is_migrated_keeps_it(
    heartbeat: Heartbeat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "HEARTBEAT.md"
    file.write_text("- **Backup** every 2h: theirs\n- **Look** every 2h: around\n")
    add_all = heartbeat.add_all

    def meanwhile(*given: Any, **more: Any) -> dict[str, str]:
        monkeypatch.undo()
        heartbeat.add(NewTask("backup", "mine", "every 1d"), scope="s")
        return add_all(*given, **more)

    monkeypatch.setattr(heartbeat, "add_all", meanwhile)
    found = migrate(heartbeat, file, scope="s", time_zone="UTC", max_tokens=1000, dry_run=False)
    assert {task.id: task.outcome for task in found.tasks} == {"backup-2": "added", "look": "added"}
    assert heartbeat.load("backup", scope="s") == "mine"
    assert "theirs" in heartbeat.load("backup-2", scope="s")


def test_a_task_of_the_same_name_is_not_overwritten(jochi: Jochi, tmp_path: Path) -> None:
    jochi.heartbeat.add(NewTask("backup", "mine", "every 1d"), scope="s")
    file = tmp_path / "HEARTBEAT.md"
    file.write_text("- **Backup** every 2h: theirs\n")
    [task] = jochi.migrate_heartbeat(file, scope="s").tasks
    assert (task.id, jochi.heartbeat.load("backup", scope="s")) == ("backup-2", "mine")
    file.write_text(file.read_text() + "- and more\n")
    with pytest.raises(Refused, match="edited"):
        jochi.migrate_heartbeat(file, scope="s")
    with pytest.raises(UsageError, match="Nowhere"):
        jochi.migrate_heartbeat(file, scope="s", time_zone="Nowhere")
    with pytest.raises(JochiError, match="no such file"):
        jochi.migrate_heartbeat(tmp_path / "none", scope="s")
    for wrong in (b"\xff", b""):
        file.write_bytes(wrong)
        if wrong:
            with pytest.raises(JochiError, match="UTF-8"):
                jochi.migrate_heartbeat(file, scope="s")
        else:
            assert jochi.migrate_heartbeat(file, scope="s").tasks == ()


def test_the_command_line_takes_a_task_through_its_day(
    jochi: Jochi, server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOCHI_URI", server.uri)
    monkeypatch.setenv("JOCHI_USER", server.user)
    monkeypatch.setenv("JOCHI_PASSWORD", server.password)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, ["heartbeat", *words])
        assert done.exit_code == code, (done.output, done.exception)
        return done.output

    (tmp_path / "d.md").write_text("Look at [red] things\n")
    assert "added; next due" in run("add", "t", "--file", "d.md", "--schedule", "every 1s")
    assert "added; never due" in run("add", "u", "--definition", "x")
    assert "written" in run("sync")
    assert "up to date" in run("sync")
    assert "Look at [red] things" in run("load", "t")
    jochi.database.run("MATCH (t {key: 'default/t'}) SET t.claimable_at = t.created_at")
    [claim] = json.loads(run("due", "--agent", "a", "--json"))
    assert "nothing is due" in run("due", "--agent", "b")
    assert "counted; next due" in run("failed", "t", "--token", claim["token"], "--error", "boom")
    assert "was reported before" in run("done", "t", "--token", claim["token"])
    assert "paused" in run("pause", "t")
    listed = {task["id"]: task for task in json.loads(run("ls", "--json"))}
    assert (listed["t"]["error_count"], listed["t"]["pending"], listed["u"]["schedule"]) == (1, True, None)
    assert "paused" in run("ls")
    assert "next due" in run("resume", "t")
    (tmp_path / "old.md").write_text("- look every 5 minutes\n- muse\n")
    assert "planned" in run("migrate", "old.md", "--dry-run")
    said = run("migrate", "old.md")
    assert "1 task has no schedule" in said
    assert "old.md.pre-migration" in said
    assert "nothing was changed" in run("migrate", "old.md")
    for wrong in (
        ["add", "t", "--definition", "x", "--file", "d.md"],
        ["due", "--agent", "a", "--lease", "soon"],
        ["load", "n"],
    ):
        assert isinstance(CliRunner().invoke(app, ["heartbeat", *wrong]).exception, UsageError)


def test_a_worker_keeps_the_file_current_and_it_says_when_a_task_was_last_executed(
    heartbeat: Heartbeat, tmp_path: Path
) -> None:
    table, path = tmp_path / "heartbeats.toml", tmp_path / "HEARTBEAT.md"
    table.write_text('[[files]]\nscope = "s"\nfile = "HEARTBEAT.md"\nmax_tokens = 300\n')
    add(heartbeat, "quick", "every 1h")
    add(heartbeat, "long", "every 1h", 150)
    running = HeartbeatFiles(read_table(table), heartbeat.sync)
    assert running.work(all_of_them=True)
    assert "last executed" not in path.read_text()
    assert not running.work(all_of_them=True)
    for claim in heartbeat.due("x", scope="s", now=NOON + HOUR):
        heartbeat.done(claim.task.id, claim.token, scope="s", now=NOON + HOUR)
    assert running.work(all_of_them=True)
    assert "\n- long (last executed 2026-06-01 13:00 UTC)\n" in path.read_text()
    assert path.read_text().count("(last executed 2026-06-01 13:00 UTC)\n") == 2
    path.write_text(path.read_text() + "mine\n")
    assert not running.work(all_of_them=True)
    assert running.note is not None
    assert "somebody has edited this file" in running.note
