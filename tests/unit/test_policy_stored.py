"""A policy that comes back from the database is the same policy, order of kinds and rules included."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from jochi.errors import UsageError
from jochi.facts import ServerFacts
from jochi.policy import load_policy, stored_policy
from jochi.policy.load import JOBS_ADDED_LATER, KEYS_ADDED_LATER
from jochi.rendering import render_all

SERVER = ServerFacts("5.26.30", "community", "5.26.19", frozenset(), "CYPHER_5", 5.0, False, True)


def test_a_stored_policy_renders_the_same_procedures() -> None:
    shipped = load_policy()
    stored = stored_policy(shipped.canonical)
    assert (stored.sha256, stored.verdict_sha256) == (shipped.sha256, shipped.verdict_sha256)
    assert list(stored.policy.kinds) == list(shipped.policy.kinds)
    assert render_all(stored.policy, SERVER) == render_all(shipped.policy, SERVER)


def test_keys_that_an_older_version_did_not_know_are_those_shipped() -> None:
    shipped = load_policy()
    old = json.loads(shipped.canonical)
    for table, keys in KEYS_ADDED_LATER.items():
        for key in keys:
            del old[table][key]
    for entry in old["edges"]["types"]:
        del entry["lifecycle"]
    old["edges"]["types"] = old["edges"]["types"][:3]
    found = stored_policy(json.dumps(old)).policy
    assert found.facts == shipped.policy.facts
    assert (found.edges.faded, found.edges.ephemeral) == (shipped.policy.edges.faded, shipped.policy.edges.ephemeral)
    assert found.edges.living == []
    render_all(found, SERVER)


def test_jobs_that_an_older_version_did_not_have_are_those_shipped() -> None:
    shipped = load_policy()
    old = json.loads(shipped.canonical)
    for job in JOBS_ADDED_LATER:
        del old["jobs"][job]
    found = stored_policy(json.dumps(old))
    assert found.policy.jobs == shipped.policy.jobs
    assert found.verdict_sha256 == shipped.verdict_sha256, "nobody has to say go again"
    old["jobs"]["requeue_hashes"] = json.loads(shipped.canonical)["jobs"]["requeue_hashes"] | {"enabled": False}
    assert not stored_policy(json.dumps(old)).policy.jobs["requeue_hashes"].enabled


def test_a_breaker_that_an_earlier_version_let_somebody_loosen_is_brought_to_the_bound() -> None:
    old = json.loads(load_policy().canonical)
    old["limits"] |= {"breaker_share": 0.5, "breaker_floor": 5000, "breaker_window": "1h", "breaker_run_share": 0.02}
    limits = stored_policy(json.dumps(old)).policy.limits
    assert (limits.breaker_share, limits.breaker_floor) == (0.1, 100)
    assert (limits.breaker_window, limits.breaker_run_share) == (timedelta(hours=24), 0.02)


def test_what_bounds_a_run_asks_nobody_to_say_go_again() -> None:
    shipped = load_policy()
    old = json.loads(shipped.canonical)
    old["limits"] |= {"breaker_run_share": 0.02, "breaker_run_floor": 7, "plan_keep": "1d"}
    assert stored_policy(json.dumps(old)).verdict_sha256 == shipped.verdict_sha256
    old["limits"]["breaker_floor"] = 7
    assert stored_policy(json.dumps(old)).verdict_sha256 != shipped.verdict_sha256


def test_a_stored_policy_of_another_version_is_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match="can't read the policy in the database") as refused:
        stored_policy('{"policy": {"name": "old"}}')
    assert "--policy" in str(refused.value)
