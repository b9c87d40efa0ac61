"""The oracle's slots: what holds now, and what held before (seed 003, Memory States; peers A3, Temporal supersession)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import Memory
from tests.oracle.supersession import Slot, Stretch, current, histories, normal, slot_of, supersedes

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
SLOT = ("default", "ann", "city")
NOW = MADE + 100 * DAY


def fact(id: str, value: Any, day: int, scope: str = "default", **properties: Any) -> Memory:
    said = {"subject": "Ann", "attribute": "city", "value": value, "valid_from": MADE + day * DAY}
    return Memory(id, ("Fact",), {"created_at": NOW} | said | properties, scope=scope)


def told(history: list[Stretch]) -> list[tuple[object, int, int | None, tuple[str, ...]]]:
    """In days and ids."""
    return [
        (
            s.value,
            (s.valid_from - MADE).days,
            (s.valid_to - MADE).days if s.valid_to else None,
            tuple(key.removeprefix("default/") for key in s.keys),
        )
        for s in history
    ]


def test_a_newer_value_replaces_an_older_one() -> None:
    history = histories([fact("1", "Rome", 1), fact("2", "Oslo", 5)])[SLOT]
    assert told(history) == [("rome", 1, 5, ("1",)), ("oslo", 5, None, ("2",))]
    assert [s.value for s in current(history, NOW)] == ["oslo"]
    assert supersedes(history) == [("default/2", "default/1")]


def test_an_older_fact_that_arrives_late_does_not_win() -> None:
    history = histories([fact("1", "Oslo", 5), fact("2", "Rome", 1)])[SLOT]
    assert told(history) == [("rome", 1, 5, ("2",)), ("oslo", 5, None, ("1",))]


def test_there_and_back_again() -> None:
    history = histories([fact("1", "Rome", 1), fact("2", "Oslo", 5), fact("3", "Rome", 9)])[SLOT]
    assert told(history) == [("rome", 1, 5, ("1",)), ("oslo", 5, 9, ("2",)), ("rome", 9, None, ("3",))]


def test_a_late_one_splits_the_stretch_it_falls_into() -> None:
    same = [fact("1", "Rome", 1), fact("2", "Rome", 9)]
    assert told(histories(same)[SLOT]) == [("rome", 1, None, ("1", "2"))]
    split = histories([*same, fact("3", "Oslo", 5)])[SLOT]
    assert told(split) == [("rome", 1, 5, ("1",)), ("oslo", 5, 9, ("3",)), ("rome", 9, None, ("2",))]


def test_the_same_value_confirms() -> None:
    history = histories([fact("1", "Rome", 5), fact("2", " ROME", 1)])[SLOT]
    assert told(history) == [("rome", 1, None, ("2", "1"))]
    assert supersedes(history) == []


def test_at_one_instant_the_greater_key_wins() -> None:
    history = histories([fact("b", "Oslo", 5), fact("a", "Rome", 5)])[SLOT]
    assert told(history) == [("rome", 5, 5, ("a",)), ("oslo", 5, None, ("b",))]
    assert [s.value for s in current(history, MADE + 5 * DAY)] == ["oslo"]


def test_both_sides_of_a_change() -> None:
    history = histories([fact("1", "Rome", 1), fact("2", "Oslo", 5)])[SLOT]
    tick = timedelta(microseconds=1)
    assert current(history, MADE + DAY - tick) == []
    assert [s.value for s in current(history, MADE + DAY)] == ["rome"]
    assert [s.value for s in current(history, MADE + 5 * DAY - tick)] == ["rome"]
    assert [s.value for s in current(history, MADE + 5 * DAY)] == ["oslo"]


def test_many_values_hold_at_once() -> None:
    facts = [fact("1", "Rome", 1), fact("2", "Oslo", 5), fact("3", "Rome", 9)]
    history = histories(facts, many={"city"})[SLOT]
    assert told(history) == [("rome", 1, None, ("1", "3")), ("oslo", 5, None, ("2",))]
    assert len(current(history, NOW)) == 2


@pytest.mark.parametrize(
    ("changed", "slot"),
    [
        ({}, SLOT),
        ({"subject": "  ANN "}, SLOT),
        ({"attribute": "Home  City"}, ("default", "ann", "home city")),
        ({"subject": "Zoe\u0308"}, ("default", "zoë", "city")),
        ({"subject": "東京"}, ("default", "東京", "city")),
        ({"subject": "C++"}, ("default", "c++", "city")),
        ({"subject": ""}, None),
        ({"subject": None}, None),
        ({"attribute": 3}, None),
        ({"value": None}, None),
        ({"valid_from": "then"}, None),
        ({"valid_from": None}, SLOT),
        ({"valid_from": None, "created_at": None}, None),
    ],
)
def test_the_slot(changed: dict[str, Any], slot: Slot | None) -> None:
    said: dict[str, Any] = {"id": "1", "value": "Rome", "day": 1} | changed
    assert slot_of(fact(**said)) == slot


def test_scopes_and_attributes_do_not_mix() -> None:
    facts = [fact("1", "Rome", 1), fact("1", "Oslo", 5, scope="other"), fact("2", "Bonn", 5, attribute="birthplace")]
    assert {slot: len(history) for slot, history in histories(facts).items()} == {
        SLOT: 1,
        ("other", "ann", "city"): 1,
        ("default", "ann", "birthplace"): 1,
    }


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Rome", "rome ", True),
        ("Zoë", "Zoe\u0308", True),
        ("C++", "C", False),
        ("東京", "京都", False),
        (1, 1.0, True),
        (1, True, False),
        (1, "1", False),
        ([1, "A"], [1, "a"], True),
        ([1, 2], [2, 1], False),
    ],
)
def test_when_values_are_the_same(one: object, other: object, same: bool) -> None:
    assert (normal(one) == normal(other)) is same


said = st.lists(
    st.tuples(st.sampled_from(["A", "B", "C"]), st.integers(0, 6), st.sampled_from(["x", "y"])), min_size=1, max_size=12
)


@given(said, st.randoms(use_true_random=False), st.booleans())
@settings(deadline=None)
def test_any_order_of_arrival_gives_the_same(told: list[tuple[str, int, str]], random: Any, many: bool) -> None:
    facts = [fact(f"{i:02}", value, day, subject=subject) for i, (value, day, subject) in enumerate(told)]
    declared = {"city"} if many else set()
    expected = histories(facts, declared)
    random.shuffle(facts)
    assert histories(facts, declared) == expected


@given(said)
@settings(deadline=None)
def test_a_history_has_no_gaps_and_one_end(told: list[tuple[str, int, str]]) -> None:
    facts = [fact(f"{i:02}", value, day) for i, (value, day, _subject) in enumerate(told)]
    history = histories(facts)[SLOT]
    assert sorted(key for stretch in history for key in stretch.keys) == sorted(f.key for f in facts)
    assert [stretch.valid_to for stretch in history] == [s.valid_from for s in history[1:]] + [None]
    assert all(older.value != newer.value for older, newer in pairwise(history))
    for day in range(7):
        now = MADE + day * DAY
        before = [f for f in facts if f.get("valid_from") <= now]
        last = max(before, key=lambda f: (f.get("valid_from"), f.key), default=None)
        assert [s.value for s in current(history, now)] == ([normal(last.get("value"))] if last else [])
