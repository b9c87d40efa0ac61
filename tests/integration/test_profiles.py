"""Profiles of scopes (seed 003, Consolidation Pass: behavioral profile): out of which facts, when, and anew."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PolicyWith, say_go

from jochi import Jochi, Turn
from jochi.forgetting import VARIABLE, Request
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
MOST_BYTES = 100


@pytest.fixture(scope="session")
def profiling(policy_with: PolicyWith) -> Any:
    numbers = "{ least = 3.0, newest = 5.0, lines = 4.0, tokens = 200.0, every_days = 1.0 }"
    profile = f"[derive.profile]\nderiving = true\nnumbers = {numbers}\n"
    numbers = f"{{ bytes = {MOST_BYTES}.0, most = 10.0, tokens = 20.0, every_days = 1.0 }}"
    return policy_with(f"{profile}[derive.identity]\nderiving = true\nnumbers = {numbers}")


@pytest.fixture
def client(install_once: Any, profiling: Any) -> Jochi:
    ready: Jochi = install_once(profiling)
    say_go(ready)
    return ready


def say(client: Jochi, *facts: tuple[str, str, str], scope: str = "s", at: datetime) -> None:
    """Facts as (id, category, content), each a second newer than the one before."""
    rows = [
        {
            "kind": "Fact",
            "id": id,
            "scope": scope,
            "content": content,
            "properties": {"category": category, "created_at": at + timedelta(seconds=n)},
        }
        for n, (id, category, content) in enumerate(facts)
    ]
    assert client.remember(rows, now=at + DAY / 24, on_refused="raise").written == len(facts)


def night(client: Jochi, now: datetime) -> int:
    """The job, then a worker until nothing is left; how many profiles the job wanted."""
    wanted = sum(run.changed for run in run_job(client.engine, "consolidate_profiles", now=now, drain=True))
    work(client)
    return wanted


def work(client: Jochi) -> None:
    told = [derivation(name) for name in ("learn", "profile", "identity")]
    worker = Worker(
        client.engine,
        [PrepareHandler(Estimate()), *(DeriveHandler(one, OfflineMaker(one, Estimate()), Estimate()) for one in told)],
    )
    worker.run(once=True)
    assert not any(each.failed for each in worker.progress.values()), worker.progress


def profile(client: Jochi, scope: str = "s") -> list[str] | None:
    found = client.database.run(
        "MATCH (p:BehaviourProfile {key: $key}) RETURN p.content AS content", {"key": f"{scope}/profile"}
    )
    return found[0]["content"].splitlines() if found else None


def test_a_profile_is_made_of_the_newest_and_made_anew(client: Jochi, now: datetime) -> None:
    begin = now - 10 * DAY
    say(client, ("a", "preference", "Ann likes tea."), ("b", "skill", "Ann writes Rust."), at=begin)
    say(client, ("c", "fact", "Ann lives in Rome."), ("d", "moment", "Ann met Bob."), at=begin)
    assert night(client, now) == 0, "two are too few"
    say(client, ("e", "principle", "Ann never works on Fridays."), at=begin + DAY)
    say(client, *((f"o{n}", "preference", f"Bob likes song {n}.") for n in range(3)), scope="other", at=begin)
    assert night(client, now + DAY) == 2
    assert profile(client) == ["Ann never works on Fridays.", "Ann writes Rust.", "Ann likes tea."]
    assert profile(client, "other") == ["Bob likes song 2.", "Bob likes song 1.", "Bob likes song 0."]
    assert night(client, now + 2 * DAY) == 0, "nothing is new"
    say(
        client,
        ("f", "correction", "Ann likes coffee now."),
        ("g", "preference", "Ann wants short answers."),
        at=begin + 2 * DAY,
    )
    assert night(client, now + 3 * DAY) == 1
    assert profile(client) == [
        "Ann wants short answers.",
        "Ann likes coffee now.",
        "Ann never works on Fridays.",
        "Ann writes Rust.",
    ], "4 lines at most"
    (made,) = client.database.run(
        "MATCH (p:BehaviourProfile {key: 's/profile'}) RETURN p.derived_by AS by, COUNT { (p)-[:DERIVED_FROM]->(:Fact) } AS n"
    )
    assert (made["by"], made["n"]) == ("profile", 5)


def reflections(client: Jochi, scope: str = "s") -> dict[str, tuple[str, bool | None, str | None]]:
    """By their ids: content, whether they are consolidated, and by what they were made."""
    rows = client.database.run(
        "MATCH (m:Curated:Reflection {scope: $scope}) "
        "RETURN m.id AS id, m.content AS said, m.consolidated AS done, m.derived_by AS by",
        {"scope": scope},
    )
    return {row["id"]: (row["said"], row["done"], row["by"]) for row in rows}


def reflect(client: Jochi, scope: str, *said: str, at: datetime, **more: Any) -> None:
    rows = [
        {
            "kind": "Reflection",
            "id": f"r{at.day}-{n}",
            "scope": scope,
            "content": text,
            "properties": {"created_at": at, **more},
        }
        for n, text in enumerate(said)
    ]
    assert client.remember(rows, now=at + DAY / 24, on_refused="raise").written == len(said)


def test_reflections_above_so_many_bytes_become_one(client: Jochi, now: datetime) -> None:
    begin = now - 10 * DAY
    long = "I plan before I write. ü".ljust(MOST_BYTES // 2 - 1, ".")
    assert len(long.encode()) == MOST_BYTES // 2
    reflect(client, "full", long, long.replace("plan", "read"), at=begin)
    reflect(client, "over", long, long.replace("plan", "read") + "!", at=begin)
    reflect(client, "alone", long + long + "!", at=begin)
    reflect(client, "done", long + "!", at=begin)
    reflect(client, "done", long.replace("plan", "read"), at=begin + DAY, consolidated=True)

    def job(at: datetime) -> int:
        return sum(run.changed for run in run_job(client.engine, "consolidate_identity", now=at, drain=True))

    assert job(now) == 1, "only of what is over it"
    work(client)
    made = {id: row for id, row in reflections(client, "over").items() if row[2]}
    [(said, done, by)] = made.values()
    assert (done, by) == (None, "identity")
    assert said
    assert Estimate().count(said) <= 20
    assert [row[1] for id, row in reflections(client, "over").items() if id not in made] == [True, True]
    assert [row[1] for row in reflections(client, "full").values()] == [None, None]
    # What it became is itself one of those that are consolidated with what comes.
    assert job(now + DAY) == 0
    reflect(client, "over", long.replace("plan", "walk"), long.replace("plan", "swim"), at=begin + 2 * DAY)
    assert job(now + 2 * DAY) == 1
    work(client)
    assert sum(row[1] is None for row in reflections(client, "over").values()) == 1


def test_what_workers_make_of_a_pass_is_undone_with_it(client: Jochi, now: datetime) -> None:
    begin = now - 10 * DAY
    say(client, *((f"o{n}", "preference", f"Ann likes song {n}.") for n in range(3)), at=begin)
    reflect(client, "s", "I plan. " * 8, "I read. " * 8, at=begin)
    before = reflections(client)
    client.database.run("MERGE (s:JochiPass {scope: 's'}) SET s = {scope: 's', due: $now}", {"now": now})
    for _ in range(2):
        run_job(client.engine, "consolidate_scopes", now=now, drain=True)
    work(client)
    assert profile(client) is not None
    assert len(reflections(client)) == 3
    [one] = [run for run in client.runs(limit=100) if run.job == "pass" and run.scope == "s"][:1]
    assert {step.step: step.changed for step in one.steps if step.step in ("profile", "identity")} == {
        "profile": 1,
        "identity": 1,
    }
    undone = client.undo(one.id)
    assert undone.left == 0, undone
    assert profile(client) is None
    assert reflections(client) == before


def test_a_replaced_statement_is_said_again_once_that_is_undone(client: Jochi, now: datetime) -> None:
    at = now - 3 * DAY
    say(client, ("a", "skill", "Ann writes Rust and lives in Lyon."), ("b", "skill", "Ann cooks."), at=at)
    say(client, ("c", "preference", "Ann likes tea."), at=at + DAY)
    assert night(client, now) == 1
    first = profile(client)
    assert first == ["Ann likes tea.", "Ann cooks.", "Ann writes Rust and lives in Lyon."]
    done = client.supersede("lives in Lyon", "Ann lives in Oslo.", scope="s", now=now)
    assert (done.remade, profile(client)) == (("s/profile",), None)
    work(client)
    assert profile(client) == [*first[:2], "Ann writes Rust. Ann lives in Oslo."]
    assert done.run is not None
    assert client.undo(done.run, now=now).left == 0
    work(client)
    assert profile(client) == first


def test_what_a_cut_takes_is_in_no_slot_and_no_profile_and_the_rest_is(
    client: Jochi, now: datetime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a compound fact, and of a turn that facts were learned from: one in a slot, and one that the profile says."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    at = now - 3 * DAY
    turn = "I live in Lyon and I work at Acme. I prefer tea and I live in Lyon."
    client.observe(Turn(turn, speaker="Ann", scope="s", at=at), now=at)
    say(client, ("a", "skill", "Ann writes Rust and lives in Lyon."), ("b", "skill", "Ann cooks."), at=at)
    run_job(client.engine, "flush_buffers", now=now, drain=True)

    def told() -> tuple[list[list[str]], set[str]]:
        """The values of two slots, and the lines of the profile."""
        work(client)
        run_job(client.engine, "settle_slots", now=datetime.now(timezone.utc), drain=True)
        values = [[each.value for each in client.history_of("s", "Ann", what)] for what in ("home", "employer")]
        return values, set(profile(client) or ())

    work(client)
    assert night(client, now) == 1
    stays = {"Ann cooks.", "Ann writes Rust."}
    both = {"Ann cooks.", "Ann writes Rust and lives in Lyon.", "Ann: I prefer tea and I live in Lyon."}
    assert told() == ([["Lyon"], []], both)
    done = client.forget(Request(phrase="Lyon", scope="s"), verify=True)
    assert (done.left, done.asked, profile(client)) == ((), (), None)
    values, lines = told()
    assert (values, stays - lines) == ([[], ["Acme"]], set()), "at once, without the job"
    night(client, now + DAY)
    assert told() == ([[], ["Acme"]], stays | {"Ann: I prefer tea."})
    assert client.verify_forgotten(Request(phrase="Lyon", scope="s")) == []


def test_reflections_of_which_one_is_cut_are_said_again(
    client: Jochi, now: datetime, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    at = now - 3 * DAY
    said = (
        "I plan before I write and I live in Lyon.",
        "I read what I wrote the day before.",
        "I ask before I change a plan.",
    )
    reflect(client, "s", *said, at=at)

    def marked(at: datetime) -> list[bool]:
        run_job(client.engine, "consolidate_identity", now=at, drain=True)
        work(client)
        return sorted(row[1] is True for row in reflections(client).values())

    assert marked(now) == [False, True, True, True]
    client.forget(Request(phrase="Lyon", scope="s"), verify=True)
    left = ("I plan before I write.", *said[1:])
    assert set(reflections(client).values()) == {(text, False, None) for text in left}
    assert marked(now + 2 * DAY) == [False] * 3, "no more than so many bytes: each says it by itself"
    reflect(client, "s", "I sleep before I decide.", at=at + DAY)
    assert marked(now + 4 * DAY) == [False, True, True, True, True]
