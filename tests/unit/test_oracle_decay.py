"""The oracle's confidence against values worked out by hand (DESIGN §9: -0.01 a day after 7 idle days, below 0.9, floor 0.2)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Memory
from tests.oracle.decay import confidence

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
LONG_AGO = MADE - 400 * DAY


def belief(**properties: Any) -> Memory:
    return Memory("b", ("Belief",), {"created_at": MADE, "confidence": 0.8} | properties)


@pytest.mark.parametrize(
    ("stored", "days", "expected"),
    [
        (0.8, 0, 0.8),
        (0.8, 7, 0.8),
        (0.8, 8, 0.79),
        (0.8, 7.5, 0.795),
        (0.8, 57, 0.3),
        (0.8, 67, 0.2),
        (0.8, 400, 0.2),
        (0.9, 400, 0.9),  # steady from 0.9 on
        (0.89, 17, 0.79),
        (1, 400, 1.0),
        (0.2, 400, 0.2),  # at and below the floor nothing falls
        (0.1, 400, 0.1),
        (-0.5, 400, -0.5),
    ],
)
def test_confidence_falls_in_a_straight_line_to_its_floor(stored: float, days: float, expected: float) -> None:
    assert confidence(belief(confidence=stored), MADE + days * DAY, LONG_AGO) == pytest.approx(expected, abs=1e-12)


def test_it_falls_a_day_at_a_time_and_not_an_hour_at_a_time() -> None:
    """The bug of the first implementation: -0.01 at every hourly run."""
    value = confidence(belief(), MADE + 7 * DAY + timedelta(hours=24), LONG_AGO)
    assert value == pytest.approx(0.79)


@pytest.mark.parametrize(
    ("properties", "first", "idle_from"),
    [
        ({}, LONG_AGO, MADE),
        ({"last_accessed_at": MADE + 5 * DAY}, LONG_AGO, MADE + 5 * DAY),
        ({"last_accessed_at": MADE - 5 * DAY}, LONG_AGO, MADE),
        ({"confidence_at": MADE + 3 * DAY}, LONG_AGO, MADE + 3 * DAY),
        (
            {"confidence_at": MADE - 3 * DAY},
            LONG_AGO,
            MADE - 3 * DAY,
        ),  # the anchor is where it is, before created_at too
        ({"confidence_at": MADE + 3 * DAY, "last_accessed_at": MADE + 2 * DAY}, LONG_AGO, MADE + 3 * DAY),
        ({}, MADE + 11 * DAY, MADE + 11 * DAY),  # idleness before reporting began is unknown
    ],
)
def test_it_is_idle_from_the_newest_of_anchor_access_and_first_report(
    properties: dict[str, Any], first: datetime, idle_from: datetime
) -> None:
    memory = belief(**properties)
    assert confidence(memory, idle_from + 7 * DAY, first) == 0.8
    assert confidence(memory, idle_from + 17 * DAY, first) == pytest.approx(0.7)


def test_without_access_data_nothing_falls() -> None:
    assert confidence(belief(), MADE + 4000 * DAY, None) == 0.8


@pytest.mark.parametrize("name", ["created_at", "confidence", "confidence_at", "last_accessed_at"])
@pytest.mark.parametrize("value", ["2026-01-01", True, float("nan"), datetime(2026, 1, 1)])  # noqa: DTZ001
def test_a_wrong_type_is_unknown(name: str, value: Any) -> None:
    memory = belief(**{name: value})
    assert confidence(memory, MADE + 400 * DAY, LONG_AGO) is None
