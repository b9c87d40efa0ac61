"""The oracle's score over TTLs and tiers, by hand (seed 000, Phase 2; DESIGN §8, Order of precedence)."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import Link, Memory, blocking_rails, judge
from tests.oracle.rules import KINDS
from tests.oracle.strategies import firsts, memories, nows
from tests.oracle.value import TABLE, kind_of
from tests.oracle.value_and_ttl import SPANS, WITHOUT_TTL, left_by, look, moved, next_change
from tests.oracle.value_bands import PROFILES

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
LONG_AGO = MADE - 4000 * DAY
RICH: dict[str, Any] = {"access_count": 99, "agents": ["a", "b", "c"], "confidence": 1}
LINKS = tuple(Link("ABOUT", "in", ("Concept",)) for _ in range(10))


def memory(kind: str, *links: Link, **properties: Any) -> Memory:
    return Memory("m", (kind,), {"created_at": MADE} | properties, links=links)


def outcome(held: Memory, age: timedelta, profile: str = "seed", first: datetime | None = LONG_AGO) -> tuple[Any, ...]:
    seen = look(held, MADE + age, first, profile)
    return seen.outcome, seen.rule, seen.kept


def when(held: Memory, profile: str = "seed", first: datetime | None = LONG_AGO) -> tuple[str, timedelta] | None:
    """What takes it first, and at what age."""
    found = min(moved(held, first, profile), key=lambda due: due.at, default=None)
    return found and (found.rule, found.at - MADE)


def after_half_lives(half_life: timedelta, ratio: float) -> timedelta:
    return timedelta(seconds=math.floor(round(half_life.total_seconds() * math.log2(ratio), 3)) + 1)


def test_above_the_keep_band_a_memory_outlives_its_ttl_until_its_score_falls() -> None:
    """7 + 3 · 0.5^(age/60) is below 8 after 95 days; its TTL is 60."""
    held = memory("Analysis", severity="low")
    falls = after_half_lives(60 * DAY, 3)
    assert outcome(held, 60 * DAY - SECOND) == ("keep", None, ())
    assert outcome(held, 60 * DAY) == ("keep", None, ("analysis.minor",))
    assert outcome(held, falls - SECOND) == ("keep", None, ("analysis.minor",))
    assert outcome(held, falls) == ("prune", "analysis.minor", ())
    assert look(held, MADE + falls, LONG_AGO).due == MADE + falls
    assert outcome(memory("Analysis", severity="low", token_count=1000), 60 * DAY) == ("prune", "analysis.minor", ())


def test_but_for_one_ttl_more_at_most() -> None:
    """7 + 1 of confidence 0.5 never falls below 8."""
    held = memory("Analysis", severity="low", confidence=0.5)
    assert outcome(held, 120 * DAY - SECOND)[0] == "keep"
    assert outcome(held, 120 * DAY) == ("prune", "analysis.minor", ())
    sooner = memory("Analysis", severity="low", confidence=0.1)
    assert when(sooner) == ("analysis.minor", after_half_lives(60 * DAY, 3 / 0.8))


@pytest.mark.parametrize(
    ("held", "rule", "days", "at_most"),
    [
        (memory("Task", *LINKS, status="completed", **RICH), "task.completed", 14, 28),
        (memory("Synthesis", *LINKS, access_count=3, confidence=1), "synthesis.old", 120, 240),
        (memory("Reflection", consolidated=True), "reflection.consolidated", 90, 180),
        (
            memory("Notification", *LINKS, read=True, **RICH, last_accessed_at=MADE + 13 * DAY),
            "notification.read",
            7,
            14,
        ),
        (memory("CompressedContext", *LINKS, compression_level="keywords", **RICH), "context.keywords", 45, 90),
    ],
)
def test_every_ttl_of_the_seed_can_be_outlived(held: Memory, rule: str, days: int, at_most: int) -> None:
    assert outcome(held, days * DAY) == ("keep", None, (rule,))
    assert when(held) == (rule, at_most * DAY)
    state = {name: held.get(name) for name in ("status", "consolidated", "read", "compression_level") if held.has(name)}
    poor = memory(held.labels[0], **state, token_count=10**6)
    assert ("keep", None, (rule,)) != outcome(poor, days * DAY + SECOND)


def test_expires_at_and_rails_win_over_the_score() -> None:
    rich = memory("Analysis", *LINKS, severity="low", **RICH, expires_at=MADE + 2 * DAY)
    assert outcome(rich, 2 * DAY - SECOND)[0] == "keep"
    assert outcome(rich, 2 * DAY) == ("prune", "any.expires_at", ())
    kept = memory("Analysis", severity="low", ttl_policy="keep_forever", expires_at=MADE + 2 * DAY)
    assert outcome(kept, 900 * DAY) == ("protected", "any.expires_at", ())
    pinned = look(memory("Notification", read=True, pinned=True), MADE + 900 * DAY, LONG_AGO)
    assert (pinned.outcome, pinned.rule, pinned.rails) == ("protected", "notification.read", frozenset({"pinned"}))


def test_a_low_score_cuts_a_ttl_to_half_of_it() -> None:
    """A notification is worth less than 1.5 after 19 hours; read, it lives 7 days, unread 30."""
    assert when(memory("Notification", read=True)) == ("score.prunes", 3.5 * DAY)
    assert when(memory("Notification", read=False, priority="low")) == ("score.prunes", 15 * DAY)
    assert outcome(memory("Notification", read=True), 3.5 * DAY - SECOND)[0] == "keep"
    assert outcome(memory("Notification", read=True), 3.5 * DAY) == ("prune", "score.prunes", ())
    read_late = memory("Notification", read=True, read_at=MADE + 10 * DAY)
    assert when(read_late) == ("score.prunes", 13.5 * DAY)


def test_below_half_notifications_and_sessions_go_at_once() -> None:
    """0.5 + 3 · 0.5^(age/12h) - 1.5 is below 0.5 after 12 hours; the grace of rail 9 still holds it."""
    junk = memory("Notification", read=False, priority="low", token_count=200)
    assert when(junk) == ("score.prunes", 12 * HOUR + SECOND)
    assert outcome(junk, 24 * HOUR - SECOND) == ("protected", "score.prunes", ())
    assert outcome(junk, 24 * HOUR) == ("prune", "score.prunes", ())
    unread = memory("Notification", read=False, priority="low")
    assert when(unread, "relative") == ("score.prunes", after_half_lives(12 * HOUR, 6))
    session = memory("SessionContext", active=False, last_active_at=MADE + 20 * DAY)
    assert when(session, "relative") == ("score.prunes", after_half_lives(DAY, 6))
    assert when(session) == ("session.inactive", 21 * DAY)
    minor = memory("Analysis", severity="low")
    assert when(minor, "relative") == ("analysis.minor", 60 * DAY)  # 1.5 at 60 days: its TTL is first


@pytest.mark.parametrize(
    "held",
    [
        memory("Notification", read=False, priority="critical"),
        memory("Notification"),
        memory("SessionContext", active=True),
        memory("Task", status="completed"),
        memory("Task", status="pending"),
        memory("Reflection", consolidated=False),
        memory("Reflection", consolidated=True, access_count=6),
        memory("Analysis", Link("X", "in", ("Recommendation",)), severity="low"),
        memory("Belief", state="active", confidence=0.2),
        memory("CompressedContext", compression_level="full"),
        memory("Synthesis", access_count=4),
        memory("Fact", importance=0.5),
        memory("KnowledgeChunk"),
        memory("Invoice"),
    ],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_no_score_prunes_what_its_ttl_rules_would_keep(held: Memory, profile: str) -> None:
    bloated = Memory(held.id, held.labels, held.properties | {"token_count": 10**6}, links=held.links)
    assert outcome(bloated, 4000 * DAY, profile)[:2] != ("prune", "score.prunes")


def test_entries_and_recommendations_have_their_score_alone() -> None:
    for kind, half_life in (("MemoryEntry", 45 * DAY), ("Recommendation", 30 * DAY)):
        assert when(memory(kind), "relative") == ("score.prunes", half_life + SECOND)
        assert when(memory(kind)) is None
    assert when(memory("MemoryEntry", token_count=400)) == ("score.prunes", after_half_lives(45 * DAY, 6))
    assert when(memory("Recommendation", token_count=10**6)) is None  # 3.5 in the seed's bands
    assert {kind for kind in TABLE if kind not in KINDS} == WITHOUT_TTL
    assert {rule.split(".")[0] for rule in SPANS} == {
        *("notification", "session", "task", "belief", "reflection", "analysis", "synthesis", "context"),
    }


def test_where_nobody_reports_accesses_a_score_takes_nothing() -> None:
    for profile in PROFILES:
        held = memory("MemoryEntry", token_count=10**6, tier="HOT")
        seen = look(held, MADE + 4000 * DAY, None, profile)
        assert (seen.outcome, seen.tier) == ("keep", None)
        assert when(memory("Notification", read=True), profile, None) == ("notification.read", 7 * DAY)
    assert when(memory("Analysis", severity="low"), "seed", None) == ("analysis.minor", after_half_lives(60 * DAY, 3))
    late = MADE + 100 * DAY
    assert when(memory("MemoryEntry"), "relative", late) == ("score.prunes", 145 * DAY + SECOND)


def tier(held: Memory, age: timedelta, profile: str = "seed", first: datetime | None = LONG_AGO) -> tuple[Any, ...]:
    seen = look(held, MADE + age, first, profile)
    return seen.tier, seen.tier_rule, seen.tier_at and seen.tier_at - MADE


def test_below_the_demote_band_it_goes_down_a_tier_faster() -> None:
    """2.5 + 3 · 0.5^(age/45) - 1.5 is below 3 after 26 days; COLD → ARCHIVE takes 90 without."""
    falls = after_half_lives(45 * DAY, 1.5)
    long = memory("MemoryEntry", token_count=400, tier="COLD", last_accessed_at=MADE)
    assert tier(long, falls - SECOND) == (None, None, None)
    assert tier(long, falls) == ("ARCHIVE", "score.demotes", falls)
    assert tier(memory("MemoryEntry", tier="COLD", last_accessed_at=MADE), falls) == (None, None, None)
    assert tier(memory("MemoryEntry", tier="COLD", last_accessed_at=MADE), 90 * DAY)[:2] == (
        "ARCHIVE",
        "tier.cold_idle",
    )


def test_the_step_starts_from_where_the_tier_rules_have_it() -> None:
    falls = after_half_lives(45 * DAY, 1.5)
    long = memory("MemoryEntry", token_count=400, tier="HOT", last_accessed_at=MADE)
    assert tier(long, falls - SECOND) == ("COLD", "tier.warm_idle", 2 * DAY)
    assert tier(long, falls) == ("ARCHIVE", "score.demotes", falls)


def test_one_step_for_each_fall() -> None:
    falls = after_half_lives(45 * DAY, 1.5)
    often = {"access_count_7d": 2}  # holds it in WARM
    long = memory("MemoryEntry", token_count=400, tier="WARM", last_accessed_at=MADE, **often)
    assert tier(long, falls) == ("COLD", "score.demotes", falls)
    for since, steps in ((-SECOND, True), (timedelta(0), False), (5 * DAY, False)):
        moved_since = memory(
            "MemoryEntry", token_count=400, tier="WARM", last_accessed_at=MADE, tier_at=MADE + falls + since, **often
        )
        assert (tier(moved_since, falls + 9 * DAY)[0] == "COLD") is steps
    used_again = memory(
        "MemoryEntry", token_count=400, tier="WARM", last_accessed_at=MADE + 50 * DAY, tier_at=MADE + falls, **often
    )
    assert tier(used_again, 50 * DAY + falls) == ("COLD", "score.demotes", 50 * DAY + falls)
    assert tier(memory("MemoryEntry", token_count=400, tier="WARM", tier_at="then", **often), 80 * DAY)[0] is None


def test_nothing_goes_down_in_its_first_day() -> None:
    """A fresh memory is worth 3.0 above its floor, and less at once."""
    fresh = memory("MemoryEntry", tier="HOT", last_accessed_at=MADE)
    assert tier(fresh, 12 * HOUR - SECOND, "relative") == (None, None, None)
    assert tier(fresh, 24 * HOUR - SECOND, "relative") == ("WARM", "tier.hot_idle", 12 * HOUR)
    assert tier(fresh, 24 * HOUR, "relative") == ("COLD", "score.demotes", 24 * HOUR)


def test_what_stops_the_step() -> None:
    falls = after_half_lives(45 * DAY, 1.5)
    held: dict[str, Any] = {"token_count": 400, "tier": "COLD", "last_accessed_at": MADE}
    session = Link("X", "in", ("SessionContext",), {"active": True})
    busy = Link("X", "in", ("Task",), {"status": "in_progress"})
    idle = Link("X", "in", ("Task",), {"status": "pending"})
    assert tier(memory("MemoryEntry", session, **held | {"tier": "HOT"}), 80 * DAY)[0] is None
    assert tier(memory("MemoryEntry", busy, **held), 80 * DAY)[0] is None
    assert tier(memory("MemoryEntry", idle, **held), 80 * DAY)[:2] == ("ARCHIVE", "score.demotes")
    pinned = look(memory("MemoryEntry", **held, pinned=True), MADE + falls, LONG_AGO)
    assert (pinned.tier, pinned.rails) == (None, frozenset({"pinned"}))
    assert tier(memory("MemoryEntry", **held, ttl_policy="keep_forever"), falls)[0] == "ARCHIVE"
    assert tier(memory("KnowledgeChunk", **held | {"token_count": 2000}), 80 * DAY)[0] is None
    assert tier(memory("MemoryEntry", **held | {"tier": "ARCHIVE"}), falls)[0] is None
    assert tier(memory("MemoryEntry", **held | {"tier": "cold"}), falls)[0] is None
    assert tier(memory("MemoryEntry", **held | {"created_at": "then"}), falls)[0] is None


def test_what_is_protected_from_pruning_goes_down_all_the_same() -> None:
    agreed = memory("Notification", read=True, agents=list("abcd"), token_count=400, tier="COLD", last_accessed_at=MADE)
    seen = look(agreed, MADE + 30 * DAY, LONG_AGO)
    assert (seen.outcome, seen.rails, seen.tier) == ("protected", frozenset({"consensus"}), "ARCHIVE")


def test_the_next_change() -> None:
    held = memory("Analysis", severity="low", tier="ARCHIVE")
    assert next_change(held, MADE, LONG_AGO, "seed") == MADE + DAY  # rail 9 ends
    assert next_change(held, MADE + DAY, LONG_AGO, "seed") == MADE + after_half_lives(60 * DAY, 3)
    pinned = memory("Belief", state="active", confidence=0.95, tier="ARCHIVE", last_accessed_at=MADE)
    assert next_change(pinned, MADE + 900 * DAY, LONG_AGO, "seed") is None


def after(held: Memory, ages: list[timedelta], profile: str) -> tuple[Any, ...]:
    """The tier and what took it, after looks at these ages."""
    for age in sorted(ages):
        seen = look(held, MADE + age, LONG_AGO, profile)
        if seen.outcome in ("prune", "archive"):
            return (seen.outcome,)
        held = left_by(held, seen)
    return held.get("tier"), held.get("tier_reason"), held.get("tier_at")


_ages = st.integers(0, 200 * 24).map(lambda hours: timedelta(hours=hours))


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(sorted(TABLE)),
    properties=st.fixed_dictionaries(
        {
            "tier": st.sampled_from(["HOT", "WARM", "COLD"]),
            "token_count": st.sampled_from([0, 150, 300, 600, 2000]),
            "read": st.booleans(),
            "priority": st.just("low"),
            "severity": st.sampled_from(["low", "high"]),
            "consolidated": st.booleans(),
            "confidence": st.sampled_from([0, 0.5]),
            "agents": st.sampled_from([[], ["a"], ["a", "b", "c"]]),
        },
        optional={"last_accessed_at": _ages.map(lambda age: MADE + age / 4)},
    ),
    ages=st.lists(_ages, max_size=4),
    last=st.integers(50 * 24, 300 * 24).map(lambda hours: timedelta(hours=hours)),
    profile=st.sampled_from(PROFILES),
)
def test_a_late_look_leaves_what_looks_in_time_leave(
    kind: str, properties: dict[str, Any], ages: list[timedelta], last: timedelta, profile: str
) -> None:
    """None before it was last used: a use is no change that time makes."""
    used = properties.get("last_accessed_at", MADE) - MADE
    held = memory(kind, **properties)
    in_time = after(held, [*(max(age, used, DAY) for age in ages if age < last), last], profile)
    assert in_time == after(held, [last], profile)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), now=nows, profile=st.sampled_from(PROFILES))
def test_the_score_breaks_no_rail_and_touches_no_other_kind(data: st.DataObject, now: datetime, profile: str) -> None:
    held = data.draw(memories(now, 0))
    first = data.draw(firsts(now))[held.scope]
    seen, plain = look(held, now, first, profile), judge(held, now, first=first, profile=None)
    if seen.outcome == "prune":
        assert not blocking_rails(held, now)
    if kind_of(held) is None:
        assert (seen.outcome == "prune") is (plain.outcome == "prune")
        assert not seen.kept
    if first is None:
        assert seen.rule != "score.prunes"
        assert seen.tier_rule != "score.demotes"
    if plain.outcome == "prune" and seen.outcome != "prune":
        assert seen.kept
    if seen.next:
        assert seen.next > now
