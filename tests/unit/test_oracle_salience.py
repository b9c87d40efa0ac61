"""The oracle's salience against values worked out by hand from seed 002, Memory Lifecycle & Decay."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import Memory
from tests.oracle.salience import alpha, candidate_factor, decay_rate, is_faint, rate_of, reinforced, salience_now
from tests.oracle.spacing import gradient_after, interval, spaced

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
LONG_AGO = MADE - 400 * DAY


def concept(**properties: Any) -> Memory:
    return Memory("c", ("Concept",), {"created_at": MADE, "salience": 0.5, "state": "active"} | properties)


@pytest.mark.parametrize(
    ("recalls", "gradient", "expected"),
    [
        (0, 1.0, 0.02),
        (1, 1.0, 0.01),
        (9, 1.0, 0.002),
        (1, 7.5, 0.01),  # one recall halves it, whatever the gradient
        (5, 1.5, 0.02 / 12.180339887498949),  # 5^1.5 = 5·√5; the seed: about 0.0015
        (4, 0.5, 0.02 / 3),
        (4, 0.4, 0.02 / 3),  # the floor
        (4, -3.0, 0.02 / 3),
        (4, 0.6, 0.02 / 3.2973967099940698),
        (10**15, 100.0, 0.0),  # more than a double can hold
    ],
)
def test_the_rate(recalls: float, gradient: float, expected: float) -> None:
    assert decay_rate(recalls, gradient) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("confidence", "factor"),
    [(0.4, 2.2), (0.7, 1.6), (0.5, 2.0), (0.0, 3.0), (0.79, 1.42), (0.8, 0.0), (0.85, 0.0), (1.0, 0.0), (None, 1.0)],
)
def test_a_candidates_confidence(confidence: float | None, factor: float) -> None:
    assert candidate_factor(confidence) == pytest.approx(factor, abs=1e-12)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0, 0.5),
        (35, 0.2482926518957047),  # 0.5·e^-0.7: the seed's half-life, not its 8 nights of compounding
        (70, 0.1232984819708032),
        (105, 0.0612282141264910),
        (8, 0.4260718944831059),
        (100, 0.0676676416183064),  # the seed says 0.01
        (196, 0.0099205473721851),
        (195, 0.0101209557229022),
        (-5, 0.5),
    ],
)
def test_the_curve_of_a_memory_that_nobody_recalls(days: float, expected: float) -> None:
    assert salience_now(concept(), MADE + days * DAY, LONG_AGO) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("days", "expected"), [(35, 0.944150534860), (70, 0.891420232477)])
def test_the_curve_of_one_recalled_five_times(days: float, expected: float) -> None:
    memory = concept(salience=1.0, recall_frequency=5, decay_gradient=1.5)
    assert salience_now(memory, MADE + days * DAY, LONG_AGO) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("properties", "rate"),
    [
        ({}, 0.02),
        ({"confidence": 0.4}, 0.02),  # "Confidence no longer matters (only affects candidates)"
        ({"state": "candidate", "confidence": 0.4}, 0.044),
        ({"state": "candidate", "confidence": 0.7}, 0.032),
        ({"state": "candidate", "confidence": 0.85}, 0.0),
        ({"state": "candidate"}, 0.02),
        ({"state": "candidate", "confidence": "0.9"}, None),
        ({"state": "candidate", "confidence": 1.1}, None),
        ({"state": None, "confidence": 0.5}, 0.04),
        ({"state": "core", "recall_frequency": 9}, 0.002),
        ({"state": "archived", "confidence": 0.4}, 0.02),
        ({"state": "archived", "recall_frequency": 1}, 0.01),
        ({"access_count": 1}, 0.01),
        ({"access_count": 4, "recall_frequency": 1}, 0.01),
        ({"recall_frequency": -1}, None),
        ({"recall_frequency": "3"}, None),
        ({"access_count": -1}, None),
        ({"access_count": -1, "recall_frequency": 1}, 0.01),
        ({"decay_gradient": True}, None),
        ({"state": 7}, None),
        ({"ttl_policy": "keep_forever", "state": "candidate", "confidence": 0.1}, 0.0),
    ],
)
def test_the_rate_of_a_memory(properties: dict[str, Any], rate: float | None) -> None:
    assert rate_of(concept(**properties)) == (rate if rate is None else pytest.approx(rate, abs=1e-15))


@pytest.mark.parametrize(
    ("properties", "first", "start"),
    [
        ({}, LONG_AGO, MADE),
        ({"last_accessed_at": MADE + 5 * DAY}, LONG_AGO, MADE + 5 * DAY),
        ({"salience_at": MADE + 3 * DAY, "last_accessed_at": MADE + 5 * DAY}, LONG_AGO, MADE + 3 * DAY),
        ({"salience_at": MADE - 3 * DAY}, LONG_AGO, MADE - 3 * DAY),
        ({}, MADE + 11 * DAY, MADE + 11 * DAY),
    ],
)
def test_it_falls_from_its_anchor(properties: dict[str, Any], first: datetime, start: datetime) -> None:
    memory = concept(**properties)
    assert salience_now(memory, start, first) == 0.5
    assert salience_now(memory, start + 35 * DAY, first) == pytest.approx(0.2482926518957047, abs=1e-12)


def test_absent_is_what_the_seed_begins_with() -> None:
    bare = Memory("s", ("Source",), {"created_at": MADE})
    assert salience_now(bare, MADE + 35 * DAY, LONG_AGO) == pytest.approx(0.2482926518957047, abs=1e-12)


def test_without_reported_accesses_nothing_falls() -> None:
    assert salience_now(concept(), MADE + 4000 * DAY, None) == 0.5
    assert not is_faint(concept(salience=0.001), MADE + 4000 * DAY, None)


@pytest.mark.parametrize("name", ["salience", "salience_at", "created_at", "recall_frequency", "decay_gradient"])
@pytest.mark.parametrize("value", ["2026-01-01", True, float("nan"), datetime(2026, 1, 1), [0.5]])  # noqa: DTZ001
def test_what_cannot_be_read_is_unknown(name: str, value: Any) -> None:
    memory = concept(**{name: value})
    assert salience_now(memory, MADE + 400 * DAY, LONG_AGO) is None
    assert not is_faint(memory, MADE + 4000 * DAY, LONG_AGO)


@pytest.mark.parametrize("salience", [-0.1, 1.1])
def test_out_of_range_is_unknown(salience: float) -> None:
    assert salience_now(concept(salience=salience), MADE, LONG_AGO) is None


@pytest.mark.parametrize(
    ("properties", "seconds"),
    [
        ({}, 16_899_940),  # ln 50 / 0.02 = 195.60 days: the seed says 100
        ({"state": "candidate", "confidence": 0.4}, 7_681_791),  # 88.91 days: the seed says 50
        ({"state": "candidate", "confidence": 0.5}, 8_449_970),  # 97.80 days
        ({"state": "candidate", "confidence": 0.7}, 10_562_463),  # 122.25 days
        ({"salience": 0.01}, 1),
        ({"recall_frequency": 1}, 33_799_879),  # twice as long
    ],
)
def test_when_it_is_below_a_hundredth(properties: dict[str, Any], seconds: int) -> None:
    memory, expected = concept(**properties), MADE + timedelta(seconds=seconds)
    assert is_faint(memory, expected, LONG_AGO)
    assert (salience_now(memory, expected - timedelta(seconds=1), LONG_AGO) or 0) >= 0.01 - 1e-15


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"salience": 0.0099}, True),
        ({"salience": 0}, True),
        ({"salience": 0.0099, "recall_frequency": 10**15, "decay_gradient": 100.0}, True),
        ({"recall_frequency": 10**15, "decay_gradient": 100.0}, False),
        ({"state": "candidate", "confidence": 0.8}, False),
        ({"state": "candidate", "confidence": 0.8, "salience": 0.001}, False),
        ({"ttl_policy": "keep_forever", "salience": 0.001}, False),
    ],
)
def test_what_has_faded_already_and_what_never_does(properties: dict[str, Any], expected: bool) -> None:
    assert is_faint(concept(**properties), MADE, LONG_AGO) is expected


@pytest.mark.parametrize(("salience", "added"), [(0, 0.1), (0.5, 0.075), (1, 0.05), (0.2, 0.09)])
def test_what_a_used_recall_adds(salience: float, added: float) -> None:
    assert alpha(salience) == pytest.approx(added, abs=1e-12)


@pytest.mark.parametrize(
    ("salience", "expected"), [(0.0, 0.1), (0.5, 0.575), (0.9, 0.955), (0.95, 1.0), (0.94, 0.993), (1.0, 1.0)]
)
def test_reinforced(salience: float, expected: float) -> None:
    assert reinforced(salience) == pytest.approx(expected, abs=1e-12)


@given(st.floats(0, 1), st.floats(0, 1))
@settings(deadline=None)
def test_reinforcing_keeps_the_range_and_the_order(low: float, high: float) -> None:
    assert 0.05 <= alpha(low) <= 0.1
    assert low <= reinforced(low) <= 1
    assert low > high or reinforced(low) <= reinforced(high)


@given(st.floats(0.02, 1), st.integers(0, 50), st.floats(0.5, 3), st.lists(st.floats(0, 100), max_size=30))
@settings(deadline=None)
def test_one_step_or_many(salience: float, recalls: int, gradient: float, steps: list[float]) -> None:
    """Anchored anew at any moments on the way, it comes to the same."""
    memory = concept(salience=salience, recall_frequency=recalls, decay_gradient=gradient)
    end = MADE + sum(steps) * DAY
    stepwise, now = memory, MADE
    for step in steps:
        now = min(end, now + step * DAY)
        value = salience_now(stepwise, now, LONG_AGO)
        assert value is not None
        stepwise = concept(salience=value, salience_at=now, recall_frequency=recalls, decay_gradient=gradient)
    assert salience_now(stepwise, end, LONG_AGO) == pytest.approx(salience_now(memory, end, LONG_AGO), rel=1e-6)


@pytest.mark.parametrize(
    ("gradient", "last", "new", "expected"),
    [
        (1.0, 7, 8, 1.1),
        (1.0, 7, 6, 0.95),
        (1.0, 7, 7, 1.0),
        (1.0, 0, 1, 1.1),
        (0.5, 7, 6, 0.5),
        (0.52, 7, 6, 0.5),
        (0.55, 7, 6, 0.5),
        (0.56, 7, 6, 0.51),
        (0.2, 7, 8, 0.5),
        (30.0, 7, 8, 30.1),
    ],
)
def test_the_spacing_effect(gradient: float, last: float, new: float, expected: float) -> None:
    assert gradient_after(gradient, last, new) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("before", "at", "expected"),
    [
        (None, MADE, None),
        (MADE, MADE + 7 * DAY, 7.0),
        (MADE, MADE + timedelta(hours=12), 0.5),
        (MADE, MADE + timedelta(days=7, milliseconds=999), 7.0),
        (MADE, MADE, None),
        (MADE, MADE - DAY, None),
        ("yesterday", MADE, None),
    ],
)
def test_intervals_lie_between_two_uses(before: Any, at: datetime, expected: float | None) -> None:
    assert interval(concept(last_accessed_at=before), at) == expected


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, {}),
        ({"last_accessed_at": MADE}, {"last_recall_interval": 7.0, "decay_gradient": 1.1}),
        ({"last_accessed_at": MADE, "last_recall_interval": 7.0}, {"last_recall_interval": 7.0, "decay_gradient": 1.0}),
        (
            {"last_accessed_at": MADE, "last_recall_interval": 8.0},
            {"last_recall_interval": 7.0, "decay_gradient": 0.95},
        ),
        ({"last_accessed_at": MADE, "last_recall_interval": "x"}, {"last_recall_interval": 7.0, "decay_gradient": 1.0}),
        ({"last_accessed_at": MADE, "decay_gradient": "x"}, {"last_recall_interval": 7.0}),
        ({"last_accessed_at": MADE, "decay_gradient": -2.0}, {"last_recall_interval": 7.0, "decay_gradient": 0.5}),
    ],
)
def test_what_a_use_a_week_later_changes(properties: dict[str, Any], expected: dict[str, float]) -> None:
    assert spaced(concept(**properties), MADE + 7 * DAY) == expected
