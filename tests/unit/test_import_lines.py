"""What a line of a JSON Lines file may hold: both sides of each rule."""

from __future__ import annotations

import json
import math
import re
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jochi.text.tokens import ESTIMATE_COUNTER, estimate
from jochi.write.importing import KNOWN_KINDS
from jochi.write.importing.line import record
from jochi.write.record import MemoryRecord, Relationship

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def read(**line: Any) -> MemoryRecord:
    return record({"kind": "Task", "id": "t1", **line}, now=NOW, kinds=KNOWN_KINDS)


def reason(**line: Any) -> str:
    with pytest.raises(ValueError, match=r".+") as caught:
        read(**line)
    return str(caught.value)


def test_smallest_line_gets_the_defaults() -> None:
    found = read()
    assert (found.key, found.kind) == ("default/t1", "Task")
    assert found.stored(NOW) == {"tier": "HOT", "revision": 1, "created_at": NOW, "next_due": NOW}


def test_given_values_win_over_defaults() -> None:
    found = read(tier="COLD", access_count=3, created_at="2026-01-02T03:04:05+01:00", token_count=7, content="abcdefgh")
    stored = found.stored(NOW)
    assert (stored["tier"], stored["access_count"], stored["token_count"]) == ("COLD", 3, 7)
    assert stored["token_counter"] == "given"
    assert stored["created_at"] == datetime(2026, 1, 2, 2, 4, 5, tzinfo=timezone.utc)


def test_tokens_are_estimated_and_marked() -> None:
    stored = read(content="abcde").stored(NOW)
    assert (stored["token_count"], stored["token_counter"]) == (2, ESTIMATE_COUNTER)
    assert [estimate(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]


@pytest.mark.parametrize("kind", ["Agent", "AgentKey", "SystemConfig", "Migration"])
def test_protected_kinds_are_refused_even_if_the_policy_names_them(kind: str) -> None:
    with pytest.raises(ValueError, match=f"{kind} is protected"):
        record({"kind": kind, "id": "x"}, now=NOW, kinds=KNOWN_KINDS | {kind})


def test_unknown_kind_names_the_known_ones() -> None:
    assert "known are Ticket" in _reason_of({"kind": "Task", "id": "x"}, kinds=frozenset(("Ticket",)))
    assert record({"kind": "Ticket", "id": "x"}, now=NOW, kinds=frozenset(("Ticket",))).kind == "Ticket"


def _reason_of(line: object, kinds: frozenset[str] = KNOWN_KINDS) -> str:
    with pytest.raises(ValueError, match=r".+") as caught:
        record(line, now=NOW, kinds=kinds)
    return str(caught.value)


@pytest.mark.parametrize("line", [[], "text", 3, None])
def test_a_line_must_be_an_object(line: object) -> None:
    assert "no JSON object" in _reason_of(line)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"id": ""}, "id: is empty"),
        ({"id": " "}, "id: is empty"),
        ({"id": 5}, "id: 5 is no text: put it in quotes"),
        ({"id": "x" * 1001}, "1001 characters"),
        ({"scope": "a/b"}, "must not hold '/'"),
        ({"scope": 4}, "scope: "),
        ({"scope": None}, "scope: null is no text: put it in quotes"),
        ({"scope": ""}, "scope: is empty"),
        ({"kind": None}, "kind: "),
        ({"created_at": "2026-01-01T00:00:00"}, "has no zone"),
        ({"created_at": 1767225600}, "ISO 8601"),
        ({"created_at": "1767225600"}, "ISO 8601"),
        ({"created_at": "2026-02-30T00:00:00Z"}, "'2026-02-30T00:00:00Z' is no date and time that there is"),
        ({"created_at": "1989-12-31T23:59:59Z"}, "before 1990"),
        ({"created_at": "2027-03-03T00:00:00Z"}, "more than a year ahead"),
        ({"reviewed_at": "2026-01-01"}, "reviewed_at: "),
        ({"reviewed_at": True}, "reviewed_at: "),
        ({"expires_at": "1980-01-01T00:00:00Z"}, "before 1990"),
        ({"date_added": 1767225600}, "date_added: must be ISO 8601"),
        ({"date_added": "1970-01-21T00:00:00Z"}, "before 1990"),
        ({"date_added": "2027-03-03T00:00:00Z"}, "more than a year ahead"),
        ({"confidence": 1.01}, "confidence: 1.01 is more than 1.0: write 1.0 or less"),
        ({"confidence": -0.01}, "confidence: -0.01 is less than 0.0: write 0.0 or more"),
        ({"confidence": "0.5"}, 'confidence: "0.5" is no number: write one, without quotes'),
        ({"confidence": True}, "confidence: "),
        ({"confidence": math.nan}, "confidence: NaN is no finite number: write another, or leave it out"),
        ({"importance": 2}, "importance: "),
        ({"salience": 2}, "salience: "),
        ({"pinned": "true"}, 'pinned: "true" is neither true nor false: write true or false, without quotes'),
        ({"read": 1}, "read: "),
        (
            {"tier": "warm"},
            "tier: \"warm\" is none of the words that are known here: write 'HOT', 'WARM', 'COLD' or 'ARCHIVE'",
        ),
        ({"content": 5}, "content: "),
        ({"content": "\ud800"}, "surrogate"),
        ({"agents": "kublai"}, 'agents: "kublai" is no list: write it in square brackets'),
        ({"access_count": -1}, "access_count: -1 is less than 0: write 0 or more"),
        ({"access_count": "1"}, 'access_count: "1" is no whole number: write one, without quotes or a fraction'),
        ({"access_day": "soon"}, "access_day: must be a date, such as 2026-01-31"),
        ({"access_count": 1.5}, "access_count: 1.5 is no whole number: write one, without quotes or a fraction"),
        ({"access_days": [1, 2]}, "access_days: has 2 entries: write 7 or more"),
        ({"access_days": [0] * 8}, "access_days: has 8 entries: write 7 or fewer"),
        ({"embedding": [0.1, "x"]}, "embedding.1: "),
        ({"embedding": []}, "embedding: "),
        ({"key": "other/t1"}, "key must be scope/id"),
        ({"extra": {"a": 1}}, "extra: is nested"),
        ({"extra": [[1]]}, "extra: is nested"),
        ({"extra": [1, "a"]}, "extra: mixes types"),
        ({"extra": [None]}, "extra: "),
        ({"extra": 2**63}, "64-bit"),
        ({"extra": math.inf}, "finite"),
        ({"": 1}, "is empty"),
        ({"relationships": [{"type": "part of", "to": "x"}]}, "no relationship type"),
        ({"relationships": [{"type": "PART_OF"}]}, "relationships.0.to: is missing: add it"),
        (
            {"relationships": [{"type": "PART_OF", "to": 5}]},
            "relationships.0.to: 5 is no JSON object: write it in braces",
        ),
        (
            {"relationships": [{"type": "PART_OF", "to": "x", "from": "y"}]},
            "relationships.0.from: has no meaning here: leave it out",
        ),
        (
            {"relationships": [{"type": "PART_OF", "to": "x", "properties": 1}]},
            "properties: 1 is no JSON object: write it in braces",
        ),
        ({"relationships": [{"type": "PART_OF", "to": ""}]}, "is empty"),
        ({"relationships": [{"type": "PART_OF", "to": {"scope": "a/b", "id": "x"}}]}, "must not hold '/'"),
        ({"relationships": [{"type": "PART_OF", "to": "x", "properties": {"a": {}}}]}, "a: is nested"),
        ({"relationships": {}}, "relationships: "),
    ],
)
def test_a_bad_value_is_named(line: dict[str, Any], words: str) -> None:
    assert words in reason(**line)


@pytest.mark.parametrize(
    "name",
    [
        "next_due",
        "revision",
        "curation_action",
        "curation_failures",
        "curation_rails",
        "curation_anything",
        "tombstone",
        "tombstone_labels",
        "deleted_at",
        "mvs",
        "last_curated_at",
        "hold_until",
        "quarantined_until",
        "content_hash",
    ],
)
def test_what_the_engine_owns_is_refused(name: str) -> None:
    assert f"{name} belongs to the engine" in reason(**{name: None})


def test_good_values_of_every_sort_come_through() -> None:
    given = {
        "scope": "team a",
        "content": "text",
        "confidence": 1,
        "importance": 0,
        "pinned": True,
        "agents": ["kublai"],
        "embedding": [1, 0.5],
        "locked_by": "jochi",
        "extra": ["a", "b"],
        "flag": False,
        "number": -(2**63),
        "empty": [],
    }
    found = read(
        **given,
        access_day="2026-02-28",
        expires_at="2031-01-01T00:00:00Z",
        task_next_due="2031-01-01T00:00:00Z",
        date_added="2026-01-01T00:00:00Z",
        checked_at="2026-01-01T00:00:00.5Z",
        key="team a/t1",
        nothing=None,
        updated_at=None,
    )
    assert found.scope == "team a"
    del given["scope"]
    assert found.properties == given | {
        "embedding": [1.0, 0.5],
        "access_day": date(2026, 2, 28),
        "expires_at": datetime(2031, 1, 1, tzinfo=timezone.utc),
        "task_next_due": datetime(2031, 1, 1, tzinfo=timezone.utc),
        "date_added": datetime(2026, 1, 1, tzinfo=timezone.utc),
        "checked_at": datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=timezone.utc),
    }
    assert isinstance(found.properties["confidence"], float)


def test_edges_of_the_plausible_dates() -> None:
    assert read(created_at="1990-01-01T00:00:00Z").properties["created_at"].year == 1990
    assert read(created_at=(NOW + timedelta(days=366)).isoformat()).properties["created_at"] > NOW


def test_relationships_find_their_scope() -> None:
    found = read(
        scope="a",
        relationships=[
            {"type": "PART_OF", "to": "x/1"},
            {"type": "EVIDENCE", "to": {"id": "y"}, "properties": {"since_at": "2026-01-01T00:00:00Z", "n": 1}},
            {"type": "EVIDENCE", "to": {"id": "z", "scope": "b"}},
        ],
    )
    since = datetime(2026, 1, 1, tzinfo=timezone.utc)
    assert found.relationships == (
        Relationship("PART_OF", "a", "x/1"),
        Relationship("EVIDENCE", "a", "y", {"since_at": since, "n": 1}),
        Relationship("EVIDENCE", "b", "z"),
    )


def test_several_faults_are_told_together_in_one_line() -> None:
    told = reason(confidence=2, pinned="no")
    assert "confidence: " in told
    assert "pinned: " in told
    assert "\n" not in told


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
names = st.sampled_from(["created_at", "confidence", "tier", "agents", "relationships", "x", "y_at", "scope"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(names, json_values, max_size=4))
def test_any_object_is_a_record_or_a_reason(line: dict[str, Any]) -> None:
    """Nothing but ValueError comes out, and what is let through can be stored."""
    told, properties = "", {}
    try:
        properties = read(**line).properties
    except ValueError as error:
        told = str(error)
    assert not re.search(r"Input should|Field required|Extra inputs|can't be stored here", told), "pydantic's own words"
    for name, value in properties.items():
        assert not name.endswith("_at") or (isinstance(value, datetime) and value.utcoffset() is not None)
        json.dumps(value, allow_nan=False, default=str).encode()
        assert value is not None
        assert not isinstance(value, dict)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.datetimes(datetime.fromisoformat("1991-01-01"), datetime.fromisoformat("2026-12-31")),
    st.integers(-14 * 60, 14 * 60),
)
def test_a_zoned_datetime_keeps_its_instant(naive: datetime, minutes: int) -> None:
    meant = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert read(created_at=meant.isoformat()).properties["created_at"] == meant
    assert "no zone" in reason(created_at=naive.isoformat())
