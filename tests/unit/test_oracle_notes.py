"""The oracle's notes against seed 002, Nightly Note Cleanup and Note Retention."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Link, Memory
from tests.oracle.notes import expiry, goes, outcome

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)


def note(*links: Link, **properties: Any) -> Memory:
    return Memory("n", ("Note",), {"created_at": MADE} | properties, links=links)


def owner(label: str = "Person", type: str = "HAS_NOTE", direction: str = "in", **properties: Any) -> Link:
    return Link(type, direction, (label,), properties)


@pytest.mark.parametrize(
    ("properties", "days"),
    [
        ({"lifetime": "week"}, 7),
        ({"lifetime": "month"}, 30),
        ({}, None),
        ({"lifetime": "year"}, 365),
        ({"lifetime": "forever"}, None),
        ({"lifetime": "decade"}, None),
        ({"lifetime": 7}, None),
        ({"created_at": "then"}, None),
        ({"lifetime": "year", "expires_at": MADE + 2 * DAY}, 2),
        ({"lifetime": "forever", "expires_at": MADE + 2 * DAY}, 2),
        ({"expires_at": "soon"}, None),
    ],
)
def test_how_long_it_lives(properties: dict[str, Any], days: int | None) -> None:
    held = note(**properties)
    assert expiry(held) == (None if days is None else MADE + days * DAY)
    if days is None:
        assert outcome(held, MADE + 9000 * DAY) == "keep"
    else:
        assert outcome(held, MADE + days * DAY - TICK) == "keep"
        assert outcome(held, MADE + days * DAY) == "prune"


@pytest.mark.parametrize(
    ("links", "days"),
    [
        ([owner(is_dirty=True)], 37),
        ([owner(is_dirty=False)], 30),
        ([owner()], 30),
        ([], 30),
        ([owner(is_dirty="true")], 37),
        ([owner(is_dirty=False), owner("Concept", is_dirty=True)], 37),
        ([owner("Tombstone", is_dirty=True)], 30),
        ([owner("Source", "ADDED_IN", "out", is_dirty=True)], 30),
        ([owner(direction="out", is_dirty=True)], 30),
    ],
)
def test_it_waits_for_a_dirty_owner_for_seven_days_at_most(links: list[Link], days: int) -> None:
    held = note(*links, lifetime="month")
    assert goes(held) == MADE + days * DAY
    assert outcome(held, MADE + days * DAY - TICK) == "keep"
    assert outcome(held, MADE + days * DAY) == "prune"


def test_waiting_counts_from_its_expiry() -> None:
    assert goes(note(owner(is_dirty=True), lifetime="week")) == MADE + 14 * DAY


def test_rails_hold_it() -> None:
    assert outcome(note(lifetime="month", pinned=True), MADE + 30 * DAY) == "protected"
    assert outcome(note(lifetime="month", ttl_policy="keep_forever"), MADE + 30 * DAY) == "protected"
