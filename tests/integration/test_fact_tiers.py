"""Facts move between HOT and COLD by value (seed 003, Hot/Cold Tier Routing Signals; docs/reference/facts.md)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.curation_looks import DAY, HAIR, HOUR, NOW, OLD, SECOND, curate, due_again, look, write
from tests.oracle import Link, Memory
from tests.oracle.fact_tiers import value

from jochi import Jochi

pytestmark = pytest.mark.server

USED = {"last_accessed_at": NOW - HOUR, "created_at": OLD}


def memory(id: str, kind: str = "Fact", links: tuple[Link, ...] = (), **properties: Any) -> Memory:
    given = {"created_at": NOW - 14 * DAY, "confidence": 0.8, "category": "fact"} | properties
    return Memory(id, (kind,), {name: value for name, value in given.items() if value is not None}, links=links)


def test_what_is_of_value_comes_up_after_a_use(applied: Jochi) -> None:
    """0.24 + 0.26 · ln(1 + n) / ln 21 + 0.20 + 0.20 · importance + 0.05, and 0.08 for a correction; an hour after its use."""
    worth = {"tier": "COLD", "confidence": 0.95, "category": "correction", "importance": 0.651} | USED
    left = curate(
        applied,
        memory("at it", **worth),
        memory("below it", **worth | {"importance": 0.65}),
        memory("far above", **worth | {"access_count": 20}),
        memory("not used since", **worth | {"tier_at": NOW - HOUR}),
        memory("used since", **worth | {"tier_at": NOW - HOUR - HAIR}),
        memory("never moved, idle", **worth | {"last_accessed_at": NOW - 60 * DAY}),
        memory("archived", **worth | {"tier": "ARCHIVE"}),
        memory("near", **worth | {"tier": "WARM"}),
        memory("pinned", **worth | {"pinned": True}),
        memory("no fact", "MemoryEntry", **worth),
        memory("disputed", **worth | {"verification_state": "disputed"}),
    )
    tiers = {id: one["tier"] for id, one in left.items()}
    assert tiers == {
        "at it": "HOT",
        "below it": "COLD",
        "far above": "HOT",
        "not used since": "COLD",
        "used since": "HOT",
        "never moved, idle": "COLD",
        "archived": "ARCHIVE",
        "near": "WARM",
        "pinned": "COLD",
        "no fact": "COLD",
        "disputed": "COLD",
    }
    assert left["at it"].moved == ("HOT", "tier.fact_of_value", "COLD", NOW)


def test_what_is_of_little_value_goes_down_after_fourteen_days(applied: Jochi) -> None:
    """0.24 · 0.35 + 0.20 + 0.05 = 0.334 at its best."""
    poor = {"tier": "HOT", "confidence": 0.1, "confirmed_at": OLD, "importance": 0, "last_accessed_at": NOW - HOUR}
    session = (Link("X", "in", ("SessionContext",), {"active": True}),)
    task = (Link("X", "out", ("Task",), {"status": "in_progress"}),)
    left = curate(
        applied,
        memory("old enough", **poor),
        memory("nearly", **poor | {"created_at": NOW - 14 * DAY + HAIR}),
        memory("changed since", **poor | {"updated_at": NOW - 13 * DAY}),
        memory("of some value", **poor | {"importance": 0.1}),
        memory("in a session", links=session, **poor),
        memory("in a task", links=task, **poor),
        memory("pinned", **poor | {"pinned": True}),
        memory("no fact", "MemoryEntry", **poor),
    )
    assert left["old enough"].moved == ("COLD", "tier.fact_of_little_value", "HOT", NOW)
    assert {id for id, one in left.items() if one["tier"] == "HOT"} == left.keys() - {"old enough"}


def test_value_means_nothing_where_no_access_was_ever_reported(applied: Jochi) -> None:
    poor = {"tier": "HOT", "confidence": 0.1, "confirmed_at": OLD, "importance": 0}
    worth = {"tier": "COLD", "confidence": 1.0, "access_count": 20, "importance": 1}
    left = curate(applied, memory("poor", **poor), memory("worth", **worth | USED), first=None)
    assert {id: one["tier"] for id, one in left.items()} == {"poor": "HOT", "worth": "COLD"}


def test_value_that_falls_is_seen_at_the_look(applied: Jochi) -> None:
    some = memory("f", tier="HOT", created_at=NOW - 20 * DAY, last_accessed_at=NOW - 10 * DAY, category="entity")
    sunk = next(at for at in (NOW + days * DAY for days in range(60, 200)) if value(some, at) <= 0.35)
    write(applied, [some])
    for at, met in ((NOW, False), (sunk - DAY, False), (sunk, True)):
        told = {rule.rule: rule for rule in applied.explain("default/f", at=at).rules}
        assert told["tier.fact_of_little_value"].due == (at if met else None)
        now, up = (
            next(condition for condition in told[name].conditions if condition["property"] == "tier_value")
            for name in ("tier.fact_of_little_value", "tier.fact_of_value")
        )
        assert now["current"] == up["current"] == pytest.approx(value(some, at), abs=1e-12)
        assert now["met"] is met


def test_what_idle_hours_took_down_does_not_come_back_by_itself(applied: Jochi) -> None:
    worth = {"tier": "HOT", "confidence": 1.0, "access_count": 20, "verification_state": "user_confirmed"}
    write(applied, [memory("f", **worth | USED)])
    look(applied, NOW)
    for day, tier in ((1, "WARM"), (3, "COLD"), (4, "COLD"), (30, "COLD")):
        due_again(applied, NOW)
        assert look(applied, NOW + day * DAY)["f"]["tier"] == tier
    applied.touch(["default/f"], agent="ada", now=NOW + 31 * DAY)
    applied.run("fold_accesses", now=NOW + 31 * DAY + SECOND, drain=True)
    due_again(applied, NOW)
    left = look(applied, NOW + 31 * DAY + SECOND)["f"]
    assert left.moved[:3] == ("HOT", "tier.fact_of_value", "COLD")
