"""What a procedure is run with."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from unittest.mock import Mock

from jochi.database.engine import Engine


def test_a_clock_of_any_zone_is_given_in_utc() -> None:
    # To Cypher one moment in two zones is two, of which one is later: a job compared them, and never ended.
    there = datetime(2026, 3, 2, 9, tzinfo=timezone(timedelta(hours=8)))
    given = Engine(Mock()).given(
        "RETURN $in.now, $in.clock, $in.valid_from", dict.fromkeys(("now", "clock", "valid_from"), there)
    )
    assert {name: moment.utcoffset() for name, moment in given["in"].items() if moment} == {
        "now": timedelta(0),
        "clock": timedelta(0),
        "valid_from": timedelta(hours=8),  # what a person said of it keeps its zone
    }
