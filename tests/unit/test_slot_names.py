"""Names of slots: what is one slot and one value is so for the oracle, and the other way round."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from typing import Any

import neo4j.time
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.supersession import normal

from jochi.text.slot_names import (
    SLOT_NAME,
    SLOT_VALUE,
    attribute_mark,
    normal_text,
    slot_name,
    slot_name_of,
    slot_value,
)

texts = st.text(alphabet="aAbB \t\u00a0\u2003éE\u0301İıß東", max_size=6)
values = st.one_of(
    *(texts, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)),
    *(st.lists(texts, max_size=3), st.lists(st.integers(0, 2), max_size=3), st.dates()),
    *(st.sampled_from([1, 1.0, True, "1", "true", 0, -0.0, False, 2**53, float(2**53), 2**53 + 1]),),
)


@given(values, values)
def test_values_are_the_same_where_the_oracle_says_so(one: object, other: object) -> None:
    assert (slot_value(one) == slot_value(other)) is (normal(one) == normal(other))


@given(texts, texts)
def test_texts_are_the_same_where_the_oracle_says_so(one: str, other: str) -> None:
    assert normal_text(one) == normal(one)
    if normal_text(one) and normal_text(other):
        assert (slot_name("a", one) == slot_name("a", other)) is (normal(one) == normal(other))
        assert (slot_name(one, "a") == slot_name(other, "a")) is (normal(one) == normal(other))


def test_subject_and_attribute_do_not_run_into_each_other() -> None:
    assert slot_name("a b", "c") != slot_name("a", "b c")
    assert str(slot_name("Ann", "Home City")).endswith(attribute_mark(" home  city"))


def test_names_are_as_the_procedures_expect_them() -> None:
    slot = slot_name_of({"subject": "Zoe\u0308", "attribute": "C++", "value": ["x"], "beside": 1})
    assert slot is not None
    assert re.fullmatch(SLOT_NAME, slot.name)
    assert re.fullmatch(SLOT_VALUE, slot.value)


def test_moments_are_compared_as_instants() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
    other = noon.astimezone(timezone(timedelta(hours=2)))
    assert slot_value(noon) == slot_value(other) == slot_value(neo4j.time.DateTime.from_native(noon))
    assert slot_value(noon) != slot_value(noon + timedelta(microseconds=1))
    assert slot_value(date(2026, 1, 1)) == slot_value(neo4j.time.Date(2026, 1, 1))
    assert slot_value(date(2026, 1, 1)) != slot_value(datetime(2026, 1, 1, tzinfo=timezone.utc))


@pytest.mark.parametrize(
    "said",
    [
        {"subject": ""},
        {"subject": " \u2003"},
        {"subject": 1},
        {"subject": None},
        {"attribute": "\t"},
        {"attribute": None},
        {"value": None},
        {"value": float("nan")},
        {"value": float("inf")},
        {"value": datetime(2026, 1, 1)},  # noqa: DTZ001
        {"value": timedelta(1)},
        {"value": b"x"},
        {"value": [1, b"x"]},
        {"value": {"a": 1}},
    ],
    ids=str,
)
def test_what_is_in_no_slot(said: dict[str, Any]) -> None:
    assert slot_name_of({"subject": "Ann", "attribute": "city", "value": "Rome"}) is not None
    assert slot_name_of({"subject": "Ann", "attribute": "city", "value": "Rome", **said}) is None
