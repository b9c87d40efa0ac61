"""The oracle's edges against seed 003, Graph Edge Lifecycle, by hand (peers A3, Edge confidence)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.edges import Edge, confidence_of, decayed, due, reinforced

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)


def edge(confidence: Any = 0.8, anchor: Any = MADE, **properties: Any) -> Edge:
    return Edge("a", "b", confidence, last_reinforced_at=anchor, **properties)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [(None, 1.0), (0.4, 0.4), (0, 0.0), (1.7, 1.0), (-1, 0.0), ("0.4", None), (True, None), (float("nan"), None)],
)
def test_its_confidence(stored: Any, expected: float | None) -> None:
    assert confidence_of(edge(stored)) == expected


@pytest.mark.parametrize(
    ("stored", "days", "left", "anchor"),
    [
        (0.8, 90, 0.8, 0),
        (0.8, 179, 0.8, 0),
        (0.8, 180, 0.7, 90),
        (0.8, 269, 0.7, 90),
        (0.8, 270, 0.6, 180),
        (0.8, 720, 0.1, 630),
        (0.8, 9000, 0.1, 630),  # the seven windows that took something
        (0.15, 180, 0.1, 90),
        (0.15, 9000, 0.1, 90),
        (0.1, 9000, 0.1, 0),
        (0.05, 9000, 0.05, 0),  # never raised
        (None, 179, None, 0),
        (None, 180, 0.9, 90),
        (None, 900, 0.1, 810),
        (0.4, 450, 0.1, 270),  # (0.4 - 0.1) / 0.1 is a little more than 3 in doubles
        ("x", 9000, "x", 0),
    ],
)
def test_windows(stored: Any, days: int, left: Any, anchor: int) -> None:
    assert decayed(edge(stored), MADE + days * DAY) == edge(left, MADE + anchor * DAY)


def test_a_window_is_charged_when_it_has_ended() -> None:
    assert decayed(edge(), MADE + 180 * DAY - TICK) == edge()
    assert decayed(edge(), MADE + 180 * DAY).confidence == 0.7
    assert due(edge()) == MADE + 180 * DAY
    assert due(decayed(edge(), MADE + 200 * DAY)) == MADE + 270 * DAY
    assert due(edge(0.1)) is None
    assert due(edge(0.1 + 1e-12)) is None  # within the rounding: no window would take anything from it
    assert due(edge("x")) is None
    assert due(edge(0.11)) == MADE + 180 * DAY


@pytest.mark.parametrize(
    ("reinforced_at", "created_at", "confidence"),
    [
        (None, MADE, 0.7),
        (MADE + DAY, MADE, 0.8),
        (MADE, MADE + DAY, 0.7),
        (None, None, 0.8),
        ("then", MADE, 0.8),
        (datetime(2026, 1, 1), MADE, 0.8),  # noqa: DTZ001
    ],
)
def test_the_anchor(reinforced_at: Any, created_at: Any, confidence: float) -> None:
    held = edge(anchor=reinforced_at, created_at=created_at)
    assert decayed(held, MADE + 180 * DAY).confidence == confidence


@pytest.mark.parametrize(
    ("stored", "expected"), [(0.8, 0.85), (0.95, 1.0), (0.96, 1.0), (1.0, 1.0), (None, 1.0), (0.05, 0.1)]
)
def test_reinforced(stored: Any, expected: float) -> None:
    assert reinforced(edge(stored), MADE + DAY) == edge(expected, MADE + DAY)


def test_what_cannot_be_read_is_not_reinforced() -> None:
    assert reinforced(edge("x"), MADE + DAY) == edge("x")


def test_a_late_observation_leaves_the_anchor() -> None:
    assert reinforced(edge(), MADE - DAY) == edge(0.85)


def test_an_observation_comes_after_what_time_took() -> None:
    assert reinforced(edge(), MADE + 180 * DAY) == edge(0.75, MADE + 180 * DAY)
    assert reinforced(edge(), MADE + 179 * DAY) == edge(0.85, MADE + 179 * DAY)
    assert reinforced(edge(anchor=None), MADE) == edge(0.85)


@given(
    st.one_of(st.none(), st.integers(0, 100).map(lambda n: n / 100)),
    st.lists(st.integers(0, 2000), max_size=30),
    st.lists(st.integers(0, 2000), max_size=5),
)
@settings(deadline=None)
def test_any_cadence_takes_the_same(stored: float | None, looks: list[int], seen: list[int]) -> None:
    def after(looks: list[int]) -> Edge:
        held = edge(stored)
        for day, what in sorted(
            [*((look, "decay") for look in looks), *((at, "seen") for at in seen), (2001, "decay")]
        ):
            held = (decayed if what == "decay" else reinforced)(held, MADE + day * DAY)
        return held

    assert after(looks) == after([])


@given(st.integers(0, 100), st.integers(0, 4000))
@settings(deadline=None)
def test_the_anchor_advances_by_exactly_the_windows_charged(percent: int, days: int) -> None:
    now, left = MADE + days * DAY, decayed(edge(percent / 100), MADE + days * DAY)
    advanced = left.last_reinforced_at - MADE
    assert advanced % (90 * DAY) == timedelta(0)
    assert percent / 100 - left.confidence <= advanced / (90 * DAY) * 0.1 + 1e-9
    assert percent / 100 - left.confidence > (advanced / (90 * DAY) - 1) * 0.1 - 1e-9
    assert left.confidence == percent / 100 or left.confidence >= 0.1
    assert decayed(left, now) == left
