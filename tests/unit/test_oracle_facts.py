"""The oracle's facts against values worked out by hand: tiers, heat, decay, lifecycle, hot and cold (seed 003; peers A3)."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Memory
from tests.oracle.fact_states import is_protected, next_state, status_of, transition
from tests.oracle.fact_tiers import is_little, old_from, value
from tests.oracle.facts import Signals, age_days, confidence_tier, decay, heat, idle_days, inputs
from tests.oracle.tiers import step

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
NOW = MADE + 3 * DAY
LONG_AGO = MADE - 400 * DAY
ONE_ACCESS = math.log(2) / math.log(21)


def fact(**properties: Any) -> Memory:
    """Implied: its confidence weighs 0.8."""
    return Memory("f", ("Fact",), {"created_at": MADE, "confidence": 0.8, "category": "fact"} | properties)


@pytest.mark.parametrize(
    ("properties", "tier"),
    [
        ({"confidence": 1}, "explicit"),
        ({"confidence": 0.95}, "explicit"),
        ({"confidence": 0.949}, "implied"),
        ({"confidence": 0.7}, "implied"),
        ({"confidence": 0.699}, "inferred"),
        ({"confidence": 0.4}, "inferred"),
        ({"confidence": 0.399}, "speculative"),
        ({"confidence": 0}, "speculative"),
        ({"confidence": 0.3, "confidence_tier": "explicit"}, "speculative"),
        ({"confidence": None, "confidence_tier": "explicit"}, "explicit"),
        ({"confidence": "0.3", "confidence_tier": "inferred"}, "inferred"),
        ({"confidence": None, "confidence_tier": "sure"}, None),
        ({"confidence": None}, None),
    ],
)
def test_the_confidence_tier(properties: dict[str, Any], tier: str | None) -> None:
    assert confidence_tier(fact(**properties)) == tier


@pytest.mark.parametrize(
    ("properties", "name", "expected"),
    [
        ({"confidence": 0.95}, "confidence", 1.0),
        ({"confidence": 0.7}, "confidence", 0.8),
        ({"confidence": 0.4}, "confidence", 0.6),
        ({"confidence": 0.1}, "confidence", 0.35),
        ({"confidence": None}, "confidence", 0.5),
        ({}, "access", 0.0),
        ({"access_count": 1}, "access", ONE_ACCESS),
        ({"access_count": 20}, "access", 1.0),
        ({"access_count": 19}, "access", math.log(20) / math.log(21)),
        ({"access_count": 500}, "access", 1.0),
        ({"access_count": -3}, "access", 0.0),
        ({"access_count": "9"}, "access", 0.0),
        ({}, "recency", 0.5),  # looked at after 45 days
        ({"updated_at": MADE + 9 * DAY}, "recency", 0.6),
        ({"updated_at": MADE + 9 * DAY, "last_accessed_at": MADE + 36 * DAY}, "recency", 0.9),
        ({"last_accessed_at": MADE - 45 * DAY}, "recency", 0.0),
        ({"last_accessed_at": MADE + 50 * DAY}, "recency", 1.0),
        ({"created_at": None}, "recency", 0.0),
        ({"last_accessed_at": "x"}, "recency", 0.5),
        ({}, "importance", 0.5),
        ({"importance": 0.2}, "importance", 0.2),
        ({"importance": 7}, "importance", 1.0),
        ({"importance": "high"}, "importance", 0.5),
        ({}, "feedback", 0.5),
        ({}, "disputed", 0.0),
        ({"verification_state": "disputed"}, "disputed", 0.2),
    ],
)
def test_the_value_inputs(properties: dict[str, Any], name: str, expected: float) -> None:
    assert getattr(inputs(fact(**properties), MADE + 45 * DAY), name) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("feedback", "prior", "expected"),
    [(0, 0, 0.5), (1, 0, 1.0), (-1, 0, 0.0), (0.5, 0.25, 0.875), (1, 1, 1.0), (-1, -1, 0.0)],
)
def test_feedback_with_its_prior(feedback: float, prior: float, expected: float) -> None:
    assert inputs(fact(), MADE, Signals(feedback, prior)).feedback == expected


@pytest.mark.parametrize(
    ("properties", "days", "expected"),
    [
        ({}, 0, 0.2 + 0 + 0.2 + 0.075 + 0.05),
        ({}, 45, 0.425),
        ({}, 90, 0.325),
        ({}, 9000, 0.325),
        ({"access_count": 20}, 0, 0.825),
        ({"access_count": 20, "confidence": 1, "importance": 1}, 0, 0.95),
        ({"verification_state": "disputed"}, 0, 0.325),
        ({"verification_state": "disputed", "confidence": 0.1, "importance": 0}, 90, 0.0),  # 0.0875 + 0.05 - 0.2
    ],
)
def test_heat(properties: dict[str, Any], days: float, expected: float) -> None:
    assert heat(fact(**properties), MADE + days * DAY) == pytest.approx(expected, abs=1e-9)


def test_heat_counts_from_the_last_use() -> None:
    used = fact(access_count=1, last_accessed_at=MADE + 9 * DAY)
    assert heat(used, MADE + 9 * DAY) == heat(used, MADE) == heat(fact(access_count=1), MADE)
    unknown = fact(access_count=1, created_at=None)
    assert heat(unknown, MADE) == pytest.approx(heat(fact(access_count=1), MADE) - 0.2)


def test_heat_by_signals() -> None:
    assert heat(fact(), MADE, Signals(causal=1)) == pytest.approx(0.575)
    assert heat(fact(), MADE, Signals(causal=9)) == pytest.approx(0.575)
    assert heat(fact(), MADE, Signals(feedback=-1)) == pytest.approx(0.475)


@pytest.mark.parametrize(
    ("properties", "days", "expected"),
    [
        ({}, 0, 0.04 + 0.05 + 0.15 * 0.475),
        ({}, 90, 0.15 + 0.1875 + 0.04 + 0.05 + 0.15 * 0.675),
        ({}, 120, 0.2 + 0.25 + 0.04 + 0.05 + 0.10125),
        ({}, 180, 0.3 + 0.25 + 0.04 + 0.05 + 0.10125),
        ({}, 9000, 0.74125),
        ({"confidence": 0.1}, 180, 0.848125),  # so a speculative fact alone never reaches 0.85
        ({"confidence": 0.1, "importance": 0}, 180, 0.859375),
        ({"updated_at": MADE + 90 * DAY}, 90, 0 + 0.1875 + 0.04 + 0.05 + 0.15 * 0.475),
        ({"last_accessed_at": MADE + 90 * DAY}, 90, 0.15 + 0 + 0.04 + 0.05 + 0.15 * 0.475),
        ({"created_at": None}, 0, 0.3 + 0.25 + 0.04 + 0.05 + 0.10125),
    ],
)
def test_decay(properties: dict[str, Any], days: float, expected: float) -> None:
    assert decay(fact(**properties), MADE + days * DAY, LONG_AGO) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("properties", "first", "end"),
    [
        ({"confidence": 0.4, "importance": 0}, LONG_AGO, 0.80),
        ({"confidence": None, "importance": 0}, LONG_AGO, 0.82375),
        ({"confidence": 0.39, "importance": 0}, LONG_AGO, 0.859375),
        ({"confidence": 0.39, "importance": 0.41}, LONG_AGO, 0.85015),
        ({"confidence": 0.39, "importance": 0.42}, LONG_AGO, 0.849925),
        ({"confidence": 0.39, "importance": 0, "access_count": 1}, LONG_AGO, 0.859375 - 0.045 * ONE_ACCESS),
        ({"confidence": 0.39, "importance": 0}, None, 0.609375),
    ],
)
def test_what_decay_alone_archives(properties: dict[str, Any], first: datetime | None, end: float) -> None:
    """Speculative facts that were never used and matter little, where accesses are reported (docs/reference/facts.md)."""
    given = fact(**properties, confirmed_at=MADE)
    assert decay(given, MADE + 9000 * DAY, first) == pytest.approx(end, abs=1e-9)
    state = next_state(given, MADE + 9000 * DAY, first)
    assert state == ("archived" if end >= 0.85 else "stale" if end >= 0.65 else "candidate")


def test_decay_by_feedback() -> None:
    assert decay(fact(), MADE, LONG_AGO, Signals(feedback=-1)) == pytest.approx(0.04 + 0.1 + 0.15 * 0.525)
    assert decay(fact(), MADE, LONG_AGO, Signals(feedback=1)) == pytest.approx(0.04 + 0 + 0.15 * 0.425)


def test_idle_means_something_only_where_accesses_are_reported() -> None:
    now = MADE + 60 * DAY
    assert idle_days(fact(), now, LONG_AGO) == 60
    assert idle_days(fact(), now, MADE + 20 * DAY) == 40
    assert idle_days(fact(), now, None) == 0
    assert idle_days(fact(last_accessed_at=MADE + 50 * DAY), now, LONG_AGO) == 10
    assert idle_days(fact(created_at=None), now, LONG_AGO) == 365
    assert idle_days(fact(created_at=None), now, None) == 0
    assert age_days(fact(), now) == 60
    assert age_days(fact(updated_at=MADE + 50 * DAY), now) == 10
    assert age_days(fact(created_at=MADE + 61 * DAY), now) == 0
    assert decay(fact(), MADE + 180 * DAY, None) == pytest.approx(0.49125)


@pytest.mark.parametrize("verification", [None, "unverified", "user_confirmed", "system_inferred", "disputed", 3])
@pytest.mark.parametrize("protected", [False, True])
@pytest.mark.parametrize("state", ["candidate", "validated", "active", "stale"])
def test_the_order_of_the_lifecycle(state: str, protected: bool, verification: object) -> None:
    def to(decayed: float, heated: float) -> str:
        return transition(state, decayed, heated, protected=protected, verification=verification)

    if verification == "disputed":
        assert {to(d, h) for d in (0, 0.65, 0.85, 1) for h in (0, 0.55, 1)} == {"stale"}
        return
    promoted = "active" if verification in ("user_confirmed", "system_inferred") else "validated"
    assert to(0.85, 1) == ("stale" if protected else "archived")
    assert to(0.849999999, 1) == "stale"
    assert to(0.65, 1) == "stale"
    assert to(0.649999999, 0.55) == promoted
    assert to(0.649999999, 0.549999999) == state


def test_archived_is_terminal() -> None:
    assert transition("archived", 0, 1, protected=True, verification="user_confirmed") == "archived"
    assert transition("archived", 0, 1, protected=False, verification="disputed") == "archived"
    assert next_state(fact(status="archived", state="active", access_count=20), MADE, LONG_AGO) == "archived"


@pytest.mark.parametrize(
    ("properties", "days", "expected"),
    [
        ({}, 0, "candidate"),  # heat 0.525
        ({"access_count": 1}, 0, "validated"),  # 0.593
        ({"access_count": 1}, 80, "candidate"),  # 0.415 by now
        ({"access_count": 1, "verification_state": "user_confirmed"}, 0, "active"),
        ({"access_count": 1, "verification_state": "system_inferred"}, 0, "active"),
        ({"access_count": 1, "verification_state": "disputed"}, 0, "stale"),
        ({"state": "active"}, 125, "active"),
        ({"state": "active"}, 126, "stale"),
        ({"state": "stale"}, 0, "stale"),
        ({"confidence": 0.1, "importance": 0}, 174, "stale"),
        ({"confidence": 0.1, "importance": 0}, 175, "archived"),
        ({"confidence": 0.1, "importance": 0, "category": "decision"}, 9000, "stale"),
        ({"confidence": 0.1}, 9000, "stale"),
        ({"state": 3}, 9000, None),
        ({"state": "core"}, 9000, None),
        ({"state": "superseded"}, 9000, None),
        ({"status": "superseded"}, 9000, None),
        ({"status": 3}, 9000, None),
    ],
)
def test_the_next_state(properties: dict[str, Any], days: int, expected: str | None) -> None:
    assert next_state(fact(**properties), MADE + days * DAY, LONG_AGO) == expected


def test_when_a_score_reaches_its_threshold() -> None:
    """0.2 + 0.25 + 0.04 + 0.05 + 0.10125 at 120 days; 0.00875 more at 0.3/180 a day: 5.25 days."""
    assert decay(fact(), MADE + 125.25 * DAY - SECOND, LONG_AGO) < 0.65 == decay(fact(), MADE + 125.25 * DAY, LONG_AGO)
    assert decay(fact(), MADE + 900 * DAY, LONG_AGO) < 0.85


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        *(({"category": name}, True) for name in ("decision", "principle", "commitment", "preference", "procedure")),
        *(({"category": name}, False) for name in ("fact", "correction", "entity", "relationship", "moment", "skill")),
        ({"category": None}, False),
        ({"category": 3}, True),
        ({"policy_class": "protected"}, True),
        ({"policy_class": "durable"}, False),
        ({"policy_class": "ephemeral"}, False),
        ({"policy_class": ["protected"]}, True),
    ],
)
def test_what_is_protected(properties: dict[str, Any], expected: bool) -> None:
    assert is_protected(fact(**properties)) is expected


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, "active"),
        ({"status": "superseded"}, "superseded"),
        ({"status": "archived"}, "archived"),
        ({"state": "archived"}, "archived"),
        ({"state": "superseded", "status": "active"}, "superseded"),
        ({"status": "gone"}, None),
        ({"status": 1}, None),
    ],
)
def test_the_storage_status(properties: dict[str, Any], expected: str | None) -> None:
    assert status_of(fact(**properties)) == expected


@pytest.mark.parametrize(
    ("properties", "days", "expected"),
    [
        ({}, 0, 0.192 + 0 + 0.2 + 0.1 + 0.05),
        ({}, 90, 0.342),
        ({"confidence": 1}, 90, 0.39),
        ({"confidence": 1, "access_count": 20}, 90, 0.65),
        ({"confidence": 1, "access_count": 20, "verification_state": "user_confirmed"}, 90, 0.70),
        ({"category": "correction"}, 90, 0.422),
        ({"verification_state": "disputed"}, 90, 0.242),
        ({"verification_state": "disputed", "category": "correction"}, 90, 0.322),
        ({"confidence": 1, "access_count": 20, "importance": 1, "category": "correction"}, 0, 1 - 0.05 + 0.08 - 0.03),
    ],
)
def test_the_tier_value(properties: dict[str, Any], days: float, expected: float) -> None:
    assert value(fact(**properties), MADE + days * DAY) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("properties", "days"),
    [
        ({}, 86.4),  # 0.342 without recency, which is 0.04 by then
        ({"last_accessed_at": MADE + 10 * DAY}, 96.4),
        ({"confidence": 0.1, "importance": 0}, 0),  # 0.334 from the first
        ({"confidence": 1}, None),  # 0.39 for ever
        ({"confidence": 1, "verification_state": "disputed"}, 63),  # 0.29, and recency of 0.3
    ],
)
def test_when_it_is_of_little_value(properties: dict[str, Any], days: float | None) -> None:
    some = fact(**properties)
    assert is_little(some, MADE + 9000 * DAY) is (days is not None)
    if days:
        assert [is_little(some, MADE + days * DAY + late) for late in (-SECOND, timedelta(0))] == [False, True]


def test_from_when_it_is_old_enough_for_that() -> None:
    assert old_from(fact(), LONG_AGO) == MADE + 14 * DAY
    assert old_from(fact(updated_at=MADE + 50 * DAY), LONG_AGO) == MADE + 64 * DAY
    assert old_from(fact(), MADE + 5 * DAY) == MADE + 19 * DAY  # age counts from the first reported access
    for unknown in (fact(created_at=None), fact(updated_at="x")):
        assert old_from(unknown, LONG_AGO) is None
    assert old_from(fact(), None) is None


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"access_count": 20}, ("tier.fact_of_value", "HOT")),
        ({"access_count": 20, "tier": "ARCHIVE"}, None),
        ({"access_count": 20, "tier": "WARM"}, None),
        ({"access_count": 20, "state": "archived"}, None),
        ({"access_count": 20, "tier_at": NOW - 2 * HOUR}, ("tier.fact_of_value", "HOT")),
        ({"access_count": 20, "tier_at": NOW - HOUR}, None),  # not used since the move
        ({"access_count": 20, "last_accessed_at": NOW - 12 * HOUR}, ("tier.hot_idle", "WARM")),
        ({"confidence": 0.95, "importance": 1, "category": "correction"}, ("tier.fact_of_value", "HOT")),  # 0.77
        ({"confidence": 0.95, "importance": 0.651, "category": "correction"}, ("tier.fact_of_value", "HOT")),  # 0.70
        ({"confidence": 0.95, "importance": 0.65, "category": "correction"}, None),
    ],
)
def test_what_is_of_value_comes_up(properties: dict[str, Any], expected: tuple[str, str] | None) -> None:
    some = fact(**{"tier": "COLD", "last_accessed_at": NOW - HOUR} | properties)
    found = step(some, NOW, LONG_AGO)
    assert (found and (found.rule, found.to)) == expected
    assert step(some, NOW, None) is None


def test_what_is_of_little_value_goes_down() -> None:
    poor = fact(tier="HOT", confidence=0.1, importance=0, last_accessed_at=MADE + 14 * DAY - HOUR)
    for late, expected in ((-SECOND, None), (timedelta(0), ("tier.fact_of_little_value", "COLD"))):
        found = step(poor, MADE + 14 * DAY + late, LONG_AGO)
        assert (found and (found.rule, found.to)) == expected
