"""The oracle's access counts against values worked out by hand (DESIGN §4: seven UTC day buckets)."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Memory
from tests.oracle.counts import access_count, uses_in_7_days

DAY = date(2026, 3, 10)
NOON = datetime(2026, 3, 10, 12, tzinfo=timezone.utc)


def memory(**properties: Any) -> Memory:
    return Memory("m", ("Note",), properties)


@pytest.mark.parametrize(
    ("days_on", "expected"), [(0, 28), (1, 21), (2, 15), (3, 10), (4, 6), (5, 3), (6, 1), (7, 0), (400, 0)]
)
def test_buckets_fall_out_as_days_pass(days_on: int, expected: int) -> None:
    held = memory(access_day=DAY, access_days=[1, 2, 3, 4, 5, 6, 7], access_count_7d=28)
    assert uses_in_7_days(held, NOON + timedelta(days=days_on)) == expected


def test_a_day_is_one_of_utc() -> None:
    held = memory(access_day=DAY, access_days=[0, 0, 0, 0, 0, 0, 5])
    late = datetime(2026, 3, 11, 1, tzinfo=timezone(timedelta(hours=2)))  # 23:00 of the 10th
    assert uses_in_7_days(held, late) == 5
    assert uses_in_7_days(held, late + timedelta(hours=1)) == 0


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, 0),
        ({"access_count_7d": 4}, 4),
        ({"access_count_7d": -1}, None),
        ({"access_count_7d": 4.0}, None),
        ({"access_count_7d": "4"}, None),
        ({"access_count_7d": 4, "access_day": DAY}, None),
        ({"access_count_7d": 4, "access_days": [1] * 7}, None),
        ({"access_day": DAY, "access_days": [1] * 6}, None),
        ({"access_day": DAY, "access_days": [-1, 1, 1, 1, 1, 1, 1]}, None),
        ({"access_day": DAY, "access_days": [True] * 7}, None),
        ({"access_day": NOON, "access_days": [1] * 7}, None),
        ({"access_day": DAY, "access_days": [1] * 7, "access_count_7d": "x"}, 7),
    ],
)
def test_where_the_count_comes_from(properties: dict[str, Any], expected: int | None) -> None:
    assert uses_in_7_days(memory(**properties), NOON) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(None, 0), (0, 0), (7, 7), (5.0, 5.0), (-1, None), ("7", None), (True, None)]
)
def test_all_accesses(value: Any, expected: float | None) -> None:
    assert access_count(memory(**({} if value is None else {"access_count": value}))) == expected
