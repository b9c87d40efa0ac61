"""The oracle's score over TTLs and tiers, by hand (seed 000, Phase 2; DESIGN §8, Order of precedence)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import Link, Memory, blocking_rails, judge, left_by
from tests.oracle.rules import KINDS
from tests.oracle.strategies import firsts, memories, nows
from tests.oracle.tiers import TIERS
from tests.oracle.value import TABLE, kind_of
from tests.oracle.value_and_ttl import SPANS, WITHOUT_TTL, kept, low_since
from tests.oracle.value_bands import PROFILES
from tests.tally import examples

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
    """What becomes of it, by which rule, and the TTLs that its score holds back."""
    seen = judge(held, MADE + age, first=first, profile=profile)
    archived = next((change.rule for change in seen.changes if change.action == "archive"), None)
    rule = seen.met.rule if seen.met else archived
    return "archive" if archived else seen.outcome, rule, tuple(kept(held, MADE + age, first, profile))


def test_above_the_keep_band_a_memory_outlives_its_ttl_until_its_score_falls() -> None:
    """7 + 3 · 0.5^(age/60) is below 8 after 95 days; its TTL is 60."""
    held = memory("Analysis", severity="low")
    assert outcome(held, 60 * DAY - SECOND) == ("keep", None, ())
    assert outcome(held, 60 * DAY) == ("keep", None, ("analysis.minor",))
    assert outcome(held, 95 * DAY) == ("keep", None, ("analysis.minor",))
    assert outcome(held, 96 * DAY) == ("prune", "analysis.minor", ())
    seen = judge(held, MADE + 96 * DAY, first=LONG_AGO)
    assert seen.met
    assert seen.met.at == MADE + 60 * DAY  # its clock
    assert outcome(memory("Analysis", severity="low", token_count=1000), 60 * DAY) == ("prune", "analysis.minor", ())


def test_but_for_one_ttl_more_at_most() -> None:
    """7 + 1 of confidence 0.5 never falls below 8."""
    held = memory("Analysis", severity="low", confidence=0.5)
    assert outcome(held, 120 * DAY - SECOND)[0] == "keep"
    assert outcome(held, 120 * DAY) == ("prune", "analysis.minor", ())


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
    last = (
        at_most if held.labels == ("Notification",) else days
    ) * DAY - SECOND  # it must be fresh enough to be worth it
    held = Memory("m", held.labels, held.properties | {"confidence_at": MADE}, links=held.links)
    assert outcome(held, max(last, days * DAY)) == ("keep", None, (rule,))
    assert outcome(held, at_most * DAY)[1] == rule
    state = {name: held.get(name) for name in ("status", "consolidated", "read", "compression_level") if held.has(name)}
    poor = memory(held.labels[0], **state, token_count=10**6)
    assert ("keep", None, (rule,)) != outcome(poor, days * DAY + SECOND)


def test_expires_at_and_rails_win_over_the_score() -> None:
    rich = memory("Analysis", *LINKS, severity="low", **RICH, expires_at=MADE + 2 * DAY)
    assert outcome(rich, 2 * DAY - SECOND)[0] == "keep"
    assert outcome(rich, 2 * DAY) == ("prune", "any.expires_at", ())
    kept = memory("Analysis", severity="low", ttl_policy="keep_forever", expires_at=MADE + 2 * DAY)
    assert outcome(kept, 900 * DAY) == ("protected", "any.expires_at", ())
    pinned = judge(memory("Notification", read=True, pinned=True), MADE + 900 * DAY, first=LONG_AGO)
    assert pinned.met
    assert (pinned.outcome, pinned.met.rule, pinned.rails) == ("protected", "notification.read", frozenset({"pinned"}))


def test_a_low_score_cuts_a_ttl_to_half_of_it() -> None:
    """A notification is worth less than 1.5 after 19 hours; read, it lives 7 days, unread 30."""
    for properties, days in (
        ({"read": True}, 3.5),
        ({"read": False, "priority": "low"}, 15),
        ({"read": True, "read_at": MADE + 10 * DAY}, 13.5),
    ):
        held = memory("Notification", **properties)
        assert outcome(held, days * DAY - SECOND)[0] == "keep"
        assert outcome(held, days * DAY) == ("prune", "score.prunes", ())


def test_below_half_notifications_and_sessions_go_at_once() -> None:
    """0.5 + 3 · 0.5^(age/12h) - 1.5 is below 0.5 after 12 hours; the grace of rail 9 still holds it."""
    junk = memory("Notification", read=False, priority="low", token_count=200)
    assert outcome(junk, 12 * HOUR) == ("keep", None, ())
    assert outcome(junk, 12 * HOUR + SECOND) == ("protected", "score.prunes", ())
    assert outcome(junk, 24 * HOUR) == ("prune", "score.prunes", ())
    session = memory("SessionContext", active=False, last_active_at=MADE + 20 * DAY)
    assert outcome(session, 3 * DAY, "relative") == ("prune", "score.prunes", ())  # 3 · 0.5^3
    assert outcome(session, 3 * DAY) == ("keep", None, ())
    assert outcome(session, 21 * DAY) == ("prune", "session.inactive", ())


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
        assert outcome(memory(kind), half_life, "relative")[0] == "keep"
        assert outcome(memory(kind), half_life + SECOND, "relative")[:2] == ("prune", "score.prunes")
        assert outcome(memory(kind), 4000 * DAY)[0] == "keep"
    assert outcome(memory("Recommendation", token_count=10**6), 4000 * DAY)[0] == "keep"  # 3.5 in the seed's bands
    assert {kind for kind in TABLE if kind not in KINDS} == WITHOUT_TTL
    assert {rule.split(".")[0] for rule in SPANS} == {
        *("notification", "session", "task", "belief", "reflection", "analysis", "synthesis", "context"),
    }


def test_where_nobody_reports_accesses_a_score_takes_nothing() -> None:
    for profile in PROFILES:
        held = memory("MemoryEntry", token_count=10**6, tier="HOT")
        assert judge(held, MADE + 4000 * DAY, profile=profile).changes == ()
        assert outcome(held, 4000 * DAY, profile, None)[0] == "keep"
        assert outcome(memory("Notification", read=True), 6 * DAY, profile, None)[0] == "keep"
    late = MADE + 100 * DAY
    assert outcome(memory("MemoryEntry"), 145 * DAY, "relative", late)[0] == "keep"
    assert outcome(memory("MemoryEntry"), 145 * DAY + SECOND, "relative", late)[1] == "score.prunes"


def tier(held: Memory, age: timedelta, profile: str = "seed", first: datetime | None = LONG_AGO) -> tuple[Any, ...]:
    """Where a look takes it, by which rule, and since when."""
    changes = judge(held, MADE + age, first=first, profile=profile).changes
    return next(((c.to, c.rule, c.due and c.due - MADE) for c in changes if c.to in TIERS), (None, None, None))


LOW = 27 * DAY
"""2.5 + 3 · 0.5^(age/45) - 1.5 is below 3 after 26.3 days."""


def test_below_the_demote_band_it_goes_down_a_tier_faster() -> None:
    """COLD → ARCHIVE takes 90 days without."""
    long = memory("MemoryEntry", token_count=400, tier="COLD", last_accessed_at=MADE)
    assert tier(long, 26 * DAY) == (None, None, None)
    assert tier(long, LOW) == ("ARCHIVE", "score.demotes", LOW)
    short = memory("MemoryEntry", tier="COLD", last_accessed_at=MADE)
    assert tier(short, LOW) == (None, None, None)
    assert tier(short, 90 * DAY)[:2] == ("ARCHIVE", "tier.cold_idle")


def steps(held: Memory, now: datetime, profile: str = "seed") -> list[Any]:
    """The rules of the looks that follow each other at once."""
    found = []
    while (seen := judge(held, now, first=LONG_AGO, profile=profile)).changes:
        low = {"mvs_low_at": low_since(held, now, LONG_AGO, profile)}
        held = left_by(held, seen, now, LONG_AGO)
        held = Memory(held.id, held.labels, held.properties | low, links=held.links)
        found.append(seen.changes[0].rule)
        now += SECOND
    return [*found, held.get("tier")]


def test_tier_rules_go_first_and_the_score_takes_one_step_of_its_own() -> None:
    """What a clock moved down was moved before a look found it low; what the look moved down wasn't."""
    fresh = memory("MemoryEntry", tier="HOT", last_accessed_at=MADE)
    assert steps(fresh, MADE + 24 * HOUR, "relative") == ["tier.hot_idle", "score.demotes", "COLD"]
    long = memory("MemoryEntry", token_count=400, tier="HOT", last_accessed_at=MADE)
    assert steps(long, MADE + LOW) == ["tier.hot_idle", "tier.warm_idle", "COLD"]
    warm = memory("MemoryEntry", token_count=400, tier="WARM", last_accessed_at=MADE)
    assert steps(warm, MADE + LOW) == ["tier.warm_idle", "score.demotes", "ARCHIVE"]
    up = {"token_count": 400, "tier": "COLD", "last_accessed_at": MADE + 8 * HOUR, "access_count_7d": 3}
    assert steps(memory("MemoryEntry", **up), MADE + 80 * DAY)[:2] == ["tier.cold_used", "WARM"]


def test_one_step_for_each_fall() -> None:
    """Down once from when a look found it low; not where it was moved since."""
    held = {"token_count": 400, "tier": "WARM", "last_accessed_at": MADE, "access_count_7d": 2}  # tier rules leave it
    assert tier(memory("MemoryEntry", **held), LOW) == ("COLD", "score.demotes", LOW)
    assert steps(memory("MemoryEntry", **held), MADE + LOW) == ["score.demotes", "COLD"]
    for since, step in ((-SECOND, True), (timedelta(0), False), (5 * DAY, False)):
        moved = memory("MemoryEntry", **held, mvs_low_at=MADE + LOW, tier_at=MADE + LOW + since)
        assert (tier(moved, LOW + 9 * DAY)[0] == "COLD") is step
    again = memory("MemoryEntry", **held, tier_at=MADE + LOW)  # it was used since, and a look found it above
    assert tier(again, 2 * LOW) == ("COLD", "score.demotes", 2 * LOW)
    assert tier(memory("MemoryEntry", **held, tier_at="then"), 80 * DAY)[0] is None


def test_nothing_goes_down_in_its_first_day() -> None:
    """A fresh memory is worth 3.0 above its floor, and less at once."""
    fresh = memory("MemoryEntry", tier="WARM", access_count_7d=2)
    assert tier(fresh, 24 * HOUR - SECOND, "relative") == (None, None, None)
    assert tier(fresh, 24 * HOUR, "relative") == ("COLD", "score.demotes", 24 * HOUR)


def test_what_stops_the_step() -> None:
    held: dict[str, Any] = {"token_count": 400, "tier": "COLD", "last_accessed_at": MADE}
    session = Link("X", "in", ("SessionContext",), {"active": True})
    busy = Link("X", "in", ("Task",), {"status": "in_progress"})
    idle = Link("X", "in", ("Task",), {"status": "pending"})
    assert tier(memory("MemoryEntry", session, **held | {"tier": "HOT"}), 80 * DAY)[0] is None
    assert tier(memory("MemoryEntry", busy, **held), 80 * DAY)[0] is None
    assert tier(memory("MemoryEntry", idle, **held), 80 * DAY)[:2] == ("ARCHIVE", "score.demotes")
    pinned = judge(memory("MemoryEntry", **held, pinned=True), MADE + LOW, first=LONG_AGO)
    assert (pinned.changes, pinned.rails) == ((), frozenset({"pinned"}))
    assert tier(memory("MemoryEntry", **held, ttl_policy="keep_forever"), LOW)[0] == "ARCHIVE"
    assert tier(memory("KnowledgeChunk", **held | {"token_count": 2000}), 80 * DAY)[0] is None
    assert tier(memory("MemoryEntry", **held | {"tier": "ARCHIVE"}), LOW)[0] is None
    assert tier(memory("MemoryEntry", **held | {"tier": "cold"}), LOW)[0] is None
    assert tier(memory("MemoryEntry", **held | {"created_at": "then"}), LOW)[0] is None


def test_what_is_protected_from_pruning_goes_down_all_the_same() -> None:
    agreed = memory("Notification", read=True, agents=list("abcd"), token_count=400, tier="COLD", last_accessed_at=MADE)
    assert outcome(agreed, 30 * DAY)[0] == "protected"
    assert tier(agreed, 30 * DAY)[0] == "ARCHIVE"


@settings(max_examples=examples(50, 200), deadline=None)
@given(data=st.data(), now=nows, profile=st.sampled_from(PROFILES))
def test_the_score_breaks_no_rail_and_touches_no_other_kind(data: st.DataObject, now: datetime, profile: str) -> None:
    held = data.draw(memories(now, 0))
    first = data.draw(firsts(now))[held.scope]
    seen, plain = (judge(held, now, first=first, profile=of) for of in (profile, None))
    rules = {change.rule for change in seen.changes} | {seen.met.rule if seen.met else None}
    if seen.outcome == "prune":
        assert not blocking_rails(held, now)
    if kind_of(held) is None:
        assert seen == plain
    if first is None:
        assert not rules & {"score.prunes", "score.demotes"}
    if plain.outcome == "prune" and seen.outcome != "prune":
        assert kept(held, now, first, profile)
