"""The oracle's rules and tiers against verdicts worked out by hand from seed 000."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Link, Memory, judge, latest_look, left_by

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
LONG_AGO = NOW - 1000 * DAY


def told(memory: Memory, first: datetime | None = LONG_AGO, now: datetime = NOW) -> list[tuple[Any, ...]]:
    """The outcome with its rule, then each change."""
    verdict = judge(memory, now, first=first)
    changes = [(c.action, c.rule, c.due, c.from_, c.to) for c in verdict.changes]
    return [(verdict.outcome, verdict.met.rule if verdict.met else None), *changes]


def tiered(tier: str, *, idle: timedelta, links: tuple[Link, ...] = (), **properties: Any) -> Memory:
    return Memory(
        "m",
        ("MemoryEntry",),
        {"tier": tier, "created_at": NOW - 300 * DAY, "last_accessed_at": NOW - idle} | properties,
        links=links,
    )


@pytest.mark.parametrize(
    ("tier", "idle", "move"),
    [
        ("HOT", 11 * HOUR, None),
        ("HOT", 12 * HOUR, ("demote", "tier.hot_idle", NOW, "HOT", "WARM")),
        ("HOT", 48 * HOUR, ("demote", "tier.hot_idle", NOW - 36 * HOUR, "HOT", "WARM")),
        ("WARM", 49 * HOUR, ("demote", "tier.warm_idle", NOW, "WARM", "COLD")),
        ("COLD", 91 * DAY, ("demote", "tier.cold_idle", NOW - DAY, "COLD", "ARCHIVE")),
        ("COLD", 89 * DAY, None),
        ("COLD", 90 * DAY, ("demote", "tier.cold_idle", NOW, "COLD", "ARCHIVE")),
        ("ARCHIVE", 900 * DAY, None),
        ("hot", 900 * DAY, None),
    ],
)
def test_demotions_are_one_step_a_look_dated_by_their_clock(
    tier: str, idle: timedelta, move: tuple[Any, ...] | None
) -> None:
    memory = tiered(tier, idle=idle)
    assert told(memory)[1:] == ([move] if move else [])
    assert told(memory, first=None)[1:] == []


@pytest.mark.parametrize(
    ("properties", "moves"),
    [
        ({"access_count_7d": 3}, [("promote", "tier.cold_used", NOW, "COLD", "WARM")]),
        ({"access_count_7d": 2}, []),
        ({"access_count_7d": 10}, [("promote", "tier.warm_used", NOW, "COLD", "HOT")]),
        ({"access_count_7d": 10, "tier_at": NOW - HOUR}, []),  # not used since it was moved
        ({"access_count_7d": 3, "tier_at": NOW - 2 * HOUR}, [("promote", "tier.cold_used", NOW, "COLD", "WARM")]),
        ({"access_count_7d": 3, "pinned": True}, []),
        ({"access_count_7d": 3, "ttl_policy": "keep_forever"}, [("promote", "tier.cold_used", NOW, "COLD", "WARM")]),
    ],
)
def test_promotions_by_use(properties: dict[str, Any], moves: list[tuple[Any, ...]]) -> None:
    assert told(tiered("COLD", idle=HOUR, **properties))[1:] == moves


@pytest.mark.parametrize("direction", ["in", "out"])
def test_a_session_and_a_task_promote_without_access_data(direction: str) -> None:
    session = Link("X", direction, ("SessionContext",), {"active": True})
    task = Link("X", direction, ("Task",), {"status": "in_progress"})
    assert told(tiered("COLD", idle=80 * DAY, links=(session,)), None)[1:] == [
        ("promote", "tier.cold_in_session", NOW, "COLD", "WARM")
    ]
    assert told(tiered("ARCHIVE", idle=80 * DAY, links=(session, task)), None)[1:] == [
        ("promote", "tier.warm_in_task", NOW, "ARCHIVE", "HOT")
    ]
    pushed_out = {"tier_reason": "budget.HOT", "tier_at": NOW - DAY}
    assert told(tiered("COLD", idle=80 * DAY, links=(session,), **pushed_out), None)[1:] == []


def test_a_net_move_of_nothing_is_none() -> None:
    """Ten uses this week, and idle for half a day: up and down again."""
    assert told(tiered("WARM", idle=13 * HOUR, access_count_7d=10))[1:] == []


def test_weak_beliefs_are_archived_first_and_pruned_later() -> None:
    """0.8 falls below 0.3 a second after 57 idle days; 60 idle days make it due, and 30 more once it is archived."""
    made = NOW - 60 * DAY
    belief = Memory("b", ("Belief",), {"state": "active", "confidence": 0.8, "created_at": made, "tier": "HOT"})
    assert told(belief) == [("keep", None), ("archive", "belief.weak", NOW, "HOT", "ARCHIVE")]
    left = left_by(belief, judge(belief, NOW, first=LONG_AGO), NOW)
    assert (left.get("state"), left.get("archived_at"), left.get("tier")) == ("archived", NOW, "ARCHIVE")
    assert told(left) == [("keep", None)]
    assert told(left, now=NOW + 30 * DAY) == [("prune", "belief.archived")]
    assert latest_look(left, NOW, LONG_AGO) == NOW + 6 * DAY  # a tenth of its age
    assert latest_look(left, NOW + 29 * DAY, LONG_AGO) == NOW + 30 * DAY  # its clock
    assert latest_look(belief, NOW, LONG_AGO) == NOW + HOUR  # its tier changes
    referred = Memory("b", left.labels, left.properties, links=(Link("X", "in", ("Belief",), {"state": "core"}),))
    assert told(referred, now=NOW + 30 * DAY) == [("keep", None)]


def test_the_next_look_comes_by_the_class_of_what_changes_next() -> None:
    made = NOW - timedelta(minutes=1)
    entry = Memory("m", ("Analysis",), {"created_at": made, "severity": "low", "tier": "HOT"})
    assert latest_look(entry, NOW, LONG_AGO) == NOW + 12 * HOUR  # a quarter of an hour for tiers
    warm = Memory(
        "m", ("Analysis",), {"created_at": NOW - 59 * DAY, "severity": "low", "tier": "ARCHIVE", "token_count": 1000}
    )
    assert latest_look(warm, NOW, LONG_AGO) == NOW + DAY
    sure = Memory("m", ("Analysis",), {"created_at": NOW - 100 * DAY, "tier": "ARCHIVE"})
    assert latest_look(sure, NOW, LONG_AGO) == NOW + 10 * DAY
    assert latest_look(Memory("m", ("Fact",), sure.properties), NOW, LONG_AGO) == NOW + DAY


def test_rails_stop_a_prune_but_not_a_tier() -> None:
    many = {"agents": ["a", "b", "c", "d"], "expires_at": NOW}
    assert told(tiered("HOT", idle=12 * HOUR, **many)) == [
        ("protected", "any.expires_at"),
        ("demote", "tier.hot_idle", NOW, "HOT", "WARM"),
    ]
    assert told(tiered("HOT", idle=12 * HOUR, expires_at=NOW)) == [("prune", "any.expires_at")]


def test_what_is_paused_changes_nothing() -> None:
    verdict = judge(tiered("HOT", idle=12 * HOUR), NOW, frozenset({"scope/default"}), LONG_AGO)
    assert (verdict.outcome, verdict.changes) == ("paused", ())
