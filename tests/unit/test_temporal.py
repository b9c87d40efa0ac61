"""Moments as the driver can take them, and rows as what they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import neo4j.time
import pytest

from jochi.errors import JochiError
from jochi.graph import property_values as values
from jochi.graph.driver_values import fixed_offset, read_as


def test_a_zone_with_a_name_gives_way_to_its_offset_and_the_moment_stays() -> None:
    for month, hours in ((1, 1), (7, 2)):
        named = datetime(2026, month, 10, 12, tzinfo=ZoneInfo("Europe/Berlin"))
        fixed = fixed_offset(named)
        assert fixed == named
        assert type(fixed.tzinfo) is timezone
        assert fixed.utcoffset() == timedelta(hours=hours)
        assert type(values.instant(named).tzinfo) is timezone


def test_what_has_an_offset_or_no_zone_stays_as_it_is() -> None:
    for value in (datetime(2026, 1, 1, tzinfo=timezone.utc), datetime(2026, 1, 1)):  # noqa: DTZ001
        assert fixed_offset(value) is value


@dataclass(frozen=True)
class Part:
    n: int
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Whole:
    at: datetime
    parts: list[Part]
    name: str | None = None


def test_a_row_is_read_with_all_that_is_nested_in_it() -> None:
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    row = {"at": neo4j.time.DateTime.from_native(at), "parts": [{"n": 1, "keys": ["a"]}, {"n": 2}], "other": 1}
    assert read_as(Whole, row, name="x") == Whole(at, [Part(1, ("a",)), Part(2)], "x")


@pytest.mark.parametrize(("row", "where"), [({"parts": []}, "Whole.at"), ({"parts": [{"n": "?"}]}, "Whole.parts.0.n")])
def test_a_row_of_another_version_is_said_so(row: dict[str, object], where: str) -> None:
    given = {"at": datetime(2026, 1, 1, tzinfo=timezone.utc)} if "parts.0" in where else {}
    with pytest.raises(JochiError, match="than this version expects") as caught:
        read_as(Whole, row | given)
    assert (caught.value.where, caught.value.fix) == (where, "run `jochi install`")
