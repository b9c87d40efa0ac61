"""Profiles of scopes (seed 003, Consolidation Pass: behavioral profile): out of which facts, when, and anew."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.conftest import PolicyWith

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import Offline
from jochi_workers.derive.handler import Derive
from jochi_workers.prepare import Prepare
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

DAY = timedelta(days=1)


@pytest.fixture(scope="session")
def profiling(policy_with: PolicyWith) -> Any:
    numbers = "{ least = 3.0, newest = 5.0, lines = 4.0, tokens = 200.0, every_days = 1.0 }"
    return policy_with(f"[derive.profile]\nderiving = true\nnumbers = {numbers}")


@pytest.fixture
def client(install_once: Any, profiling: Any) -> Jochi:
    ready: Jochi = install_once(profiling)
    ready.apply()
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
    told = derivation("profile")
    handlers = [Prepare(Estimate()), Derive(told, Offline(told, Estimate()), Estimate())]
    worker = Worker(client.engine, handlers)
    worker.run(once=True)
    assert not any(each.failed for each in worker.progress.values()), worker.progress
    return wanted


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
