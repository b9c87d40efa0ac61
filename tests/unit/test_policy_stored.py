"""A policy that comes back from the database is the same policy, order of kinds and rules included."""

from __future__ import annotations

import json

import pytest

from jochi.compile.rendering import render_all
from jochi.database.server_facts import ServerFacts
from jochi.errors import UsageError
from jochi.policy import load_policy, stored_policy

SERVER = ServerFacts("5.26.30", "community", "5.26.19", frozenset(), "CYPHER_5", 5.0, False, True)


def test_a_stored_policy_renders_the_same_procedures() -> None:
    shipped = load_policy()
    stored = stored_policy(shipped.canonical)
    assert (stored.sha256, stored.verdict_sha256) == (shipped.sha256, shipped.verdict_sha256)
    assert list(stored.policy.kinds) == list(shipped.policy.kinds)
    assert render_all(stored.policy, SERVER) == render_all(shipped.policy, SERVER)


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
