"""The oracle's expiry, archival and recall of facts against seed 003, Expiry and Archival and Retrieval Integration."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Memory
from tests.oracle.fact_expiry import expires, is_to_archive, outcome
from tests.oracle.fact_recall import delta, is_found

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
LONG_AGO = MADE - 400 * DAY
LATER = MADE + 10 * DAY


def fact(**properties: Any) -> Memory:
    return Memory("f", ("Fact",), {"created_at": MADE, "confidence": 0.8, "category": "fact"} | properties)


@pytest.mark.parametrize(
    ("properties", "days"),
    [
        ({"confidence": 0.39}, 30),
        ({"confidence": 0.4}, None),
        ({"confidence": None, "confidence_tier": "speculative"}, 30),
        ({"confidence": 0.8, "confidence_tier": "speculative"}, None),
        ({"confidence": None}, None),
        ({"confidence": 0.1, "confirmed_at": LATER}, None),
        ({"confidence": 0.1, "confirmed_at": "yes"}, None),
        ({"confidence": 0.1, "verification_state": "user_confirmed"}, None),
        ({"confidence": 0.1, "verification_state": "system_inferred"}, 30),
        ({"confidence": 0.1, "verification_state": "disputed"}, 30),
        ({"confidence": 0.1, "category": "decision"}, 30),
        ({"confidence": 0.1, "policy_class": "protected"}, None),
        ({"confidence": 0.1, "policy_class": 3}, None),
        ({"confidence": 0.1, "created_at": "then"}, None),
        ({"category": "commitment", "resolved": True, "resolved_at": LATER}, 100),
        ({"category": "commitment", "resolved": True, "updated_at": LATER}, 100),
        ({"category": "commitment", "resolved": True, "resolved_at": "x", "updated_at": LATER}, None),
        ({"category": "commitment", "resolved": True}, None),
        ({"category": "commitment", "resolved": False, "resolved_at": LATER}, None),
        ({"category": "commitment", "resolved": "true", "resolved_at": LATER}, None),
        ({"category": "commitment", "resolved_at": LATER}, None),
        ({"category": "decision", "resolved": True, "resolved_at": LATER}, None),
        ({"category": "commitment", "resolved": True, "resolved_at": LATER, "policy_class": "protected"}, None),
        ({"category": "commitment", "resolved": True, "resolved_at": LATER, "confidence": 0.1}, 30),
    ],
)
def test_what_is_removed_and_when(properties: dict[str, Any], days: int | None) -> None:
    held = fact(importance=0.9, **properties)
    assert expires(held) == (None if days is None else MADE + days * DAY)
    if days is None:
        assert outcome(held, MADE + 9000 * DAY, LONG_AGO) == "keep"
    else:
        assert outcome(held, MADE + days * DAY - TICK, LONG_AGO) == "keep"
        assert outcome(held, MADE + days * DAY, LONG_AGO) == "prune"


OLD = MADE + 90 * DAY + TICK


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, True),
        ({"importance": 0.3}, False),
        ({"importance": 0.299}, True),
        ({"importance": 0}, True),
        ({"importance": None}, False),
        ({"importance": "low"}, False),
        ({"importance": -1}, False),
        ({"access_count": 2}, True),
        ({"access_count": 3}, False),
        ({"access_count": "2"}, False),
        ({"access_count": -1}, False),
        *(({"category": name}, False) for name in ("commitment", "preference", "decision", "principle", "procedure")),
        *(({"category": name}, True) for name in ("entity", "relationship", "moment", "skill")),
        ({"category": "correction"}, False),
        ({"category": None}, True),
        ({"category": 3}, False),
        ({"policy_class": "protected"}, False),
        ({"policy_class": "durable"}, True),
        ({"status": "active"}, True),
        ({"status": "superseded"}, False),
        ({"status": "archived"}, False),
        ({"status": 1}, False),
        ({"state": "stale"}, True),
        ({"state": "archived"}, False),
        ({"state": "superseded"}, False),
        ({"created_at": None}, False),
        ({"updated_at": OLD}, True),
    ],
)
def test_what_is_archived(properties: dict[str, Any], expected: bool) -> None:
    held = fact(**({"importance": 0.1} | properties))
    assert is_to_archive(held, OLD, LONG_AGO) is expected
    assert outcome(held, OLD, LONG_AGO) == ("archive" if expected else "keep")


def test_ninety_days_after_it_was_made_or_the_first_access_was_reported() -> None:
    hair = timedelta(microseconds=1)
    for first in (LONG_AGO, MADE + 5 * DAY):
        over = max(MADE, first) + 90 * DAY
        assert not is_to_archive(fact(importance=0.1), over - hair, first)
        assert is_to_archive(fact(importance=0.1), over, first)


def test_archival_needs_reported_accesses() -> None:
    assert not is_to_archive(fact(importance=0.1), OLD, None)
    assert outcome(fact(confidence=0.1), OLD, None) == "prune"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"confidence": 0.1, "pinned": True}, "protected"),
        ({"confidence": 0.1, "agents": ["a", "b", "c", "d"]}, "protected"),
        ({"importance": 0.1, "pinned": True}, "protected"),
        ({"importance": 0.1, "agents": ["a", "b", "c", "d"]}, "archive"),  # consensus stops pruning only
        ({"importance": 0.1, "ttl_policy": "keep_forever"}, "protected"),
        ({"importance": 0.1, "confidence": 0.1}, "prune"),
    ],
)
def test_rails(properties: dict[str, Any], expected: str) -> None:
    assert outcome(fact(**properties), OLD, LONG_AGO) == expected


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"state": "active"}, 0.05),
        ({"state": "validated"}, 0.03),
        ({"state": "candidate"}, -0.01),
        ({"state": "stale"}, -0.06),
        ({"state": "archived"}, -0.08),
        ({"state": "active", "status": "archived"}, -0.08),
        ({"state": "core"}, 0.0),
        ({"state": 3}, 0.0),
        ({}, 0.0),
        ({"verification_state": "disputed"}, -0.12),
        ({"verification_state": "disputed", "state": "stale"}, -0.18),
        ({"verification_state": "disputed", "state": "archived"}, -0.20),
        ({"verification_state": "user_confirmed", "state": "active"}, 0.05),
        ({"verification_state": "unverified"}, 0.0),
    ],
)
def test_what_its_states_add_to_a_score(properties: dict[str, Any], expected: float) -> None:
    assert delta(fact(**properties)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("properties", "plain", "filtered", "archived", "superseded"),
    [
        ({"state": "active"}, True, True, True, True),
        ({"state": "candidate"}, True, True, True, True),
        ({}, True, True, True, True),
        ({"state": 3, "status": 3}, True, True, True, True),
        ({"state": "stale"}, True, False, True, True),
        ({"state": "archived"}, False, False, True, False),
        ({"status": "archived"}, False, False, True, False),
        ({"status": "superseded"}, False, False, False, True),
        ({"status": "superseded", "state": "stale"}, False, False, False, True),
    ],
)
def test_what_recall_leaves_out(
    properties: dict[str, Any], plain: bool, filtered: bool, archived: bool, superseded: bool
) -> None:
    held = fact(**properties)
    assert is_found(held) is plain
    assert is_found(held, filter_stale=True) is filtered
    assert is_found(held, include_archived=True) is archived
    assert is_found(held, include_superseded=True) is superseded
    assert not is_found(fact(state="archived"), filter_stale=True, include_archived=True)
