"""The tier rules on both sides of their thresholds (seed 000, Tier Demotion and Promotion Rules; DESIGN §8, §9).

Numbers and moments are typed out from the seed. What a budget does is tested elsewhere; here it is a reason that stands there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.curation_looks import DAY, HAIR, HOUR, NOW, OLD, curate, due_again, look, look_on, write
from tests.oracle import Link, Memory, graph

from jochi import Jochi
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

TODAY = NOW.date()
MADE = {"created_at": NOW - 300 * DAY}
MINUTE = timedelta(minutes=1)


@pytest.fixture
def jochi(install_once: Callable[[LoadedPolicy], Jochi], rules_alone: LoadedPolicy) -> Jochi:
    """What rules do by themselves: what the score makes of that is for test_score."""
    return install_once(rules_alone)


def entry(id: str, tier: Any, *links: Link, kind: str = "MemoryEntry", **properties: Any) -> Memory:
    known = {name: value for name, value in (MADE | {"tier": tier} | properties).items() if value is not None}
    return Memory(id, (kind,), known, links=links)


def session(active: Any = True, direction: str = "out", *more: str) -> Link:
    return Link("IN", direction, ("SessionContext", *more), {"active": active})


def task(status: Any = "in_progress", direction: str = "in", *more: str) -> Link:
    return Link("FOR", direction, ("Task", *more), {"status": status})


def days(*counts: int, ago: int = 0) -> dict[str, Any]:
    """Day buckets, the newest first, whose newest day is so many days ago."""
    held = [*counts, *([0] * 7)][:7]
    return {"access_days": held, "access_day": TODAY - timedelta(days=ago), "access_count_7d": sum(held)}


DEMOTIONS: list[tuple[str, str, str, timedelta]] = [
    ("tier.hot_idle", "HOT", "WARM", 12 * HOUR),
    ("tier.warm_idle", "WARM", "COLD", 48 * HOUR),
    ("tier.cold_idle", "COLD", "ARCHIVE", 90 * DAY),
]


def test_a_demotion_at_its_threshold(applied: Jochi) -> None:
    kinds = ("MemoryEntry", "Belief", "Task", "SomebodyElses")
    idle = {"hair": HAIR, "exact": timedelta(0), "late": -MINUTE}
    known = {"status": "in_progress", "confidence": 0.95}
    write(
        applied,
        [
            entry(f"{kind} {rule} {id}", from_, kind=kind, last_accessed_at=NOW - after + offset, **known)
            for kind in kinds
            for rule, from_, _to, after in DEMOTIONS
            for id, offset in idle.items()
        ],
    )
    planned = [(g.rule, g.n) for g in applied.plan(NOW).groups if g.outcome == "demote"]
    assert Counter({rule: sum(n for of, n in planned if of == rule) for rule, _ in planned}) == {
        rule: 2 * len(kinds) for rule, *_ in DEMOTIONS
    }
    left = look(applied)
    later = look(applied, NOW + 15 * MINUTE)
    for kind in kinds:
        for rule, from_, to, _after in DEMOTIONS:
            hair, exact, late = (left[f"{kind} {rule} {id}"] for id in idle)
            assert hair.moved == (from_, None, None, None)
            assert exact.moved == (to, rule, from_, NOW)
            # What a clock alone says is dated by it, what the accesses of a week say as well by the look.
            week = rule == "tier.warm_idle"
            assert late.moved == (to, rule, from_, NOW if week else NOW - MINUTE)
            assert exact["state"] is None  # a tier is no state
            assert hair["next_due"] == NOW + 15 * MINUTE
            after_look = 15 * MINUTE if week else HAIR
            assert later[f"{kind} {rule} hair"].moved == (to, rule, from_, NOW + after_look)
    assert [a for a in graph.audits(applied.database) if a["action"] in ("prune", "archive")] == []


def test_created_at_stands_in_for_an_access_that_never_was(applied: Jochi) -> None:
    sides = {"hair": HAIR, "exact": timedelta(0)}
    left = curate(
        applied,
        *(
            entry(f"{rule} {id}", from_, created_at=NOW - after + offset)
            for rule, from_, _to, after in DEMOTIONS[:2]
            for id, offset in sides.items()
        ),
    )
    for rule, from_, to, _after in DEMOTIONS[:2]:
        assert left[f"{rule} hair"]["tier"] == from_
        assert left[f"{rule} exact"].moved == (to, rule, from_, NOW)


def test_what_was_never_accessed_is_archived_when_it_is_older_than_seven_days(applied: Jochi) -> None:
    """The seed's "OR never accessed" archives newborns (DESIGN §9)."""
    left = curate(
        applied,
        entry("newborn", "COLD", created_at=NOW),
        entry("hair", "COLD", created_at=NOW - 7 * DAY + HAIR),
        entry("exact", "COLD", created_at=NOW - 7 * DAY),
        entry("used", "COLD", last_accessed_at=NOW - 89 * DAY),
        entry("odd use", "COLD", last_accessed_at="never"),
        entry("odd date", "COLD", created_at="2020-01-01"),
        entry("no date", "COLD", created_at=None),
    )
    assert {id for id, memory in left.items() if memory["tier"] != "COLD"} == {"exact"}
    assert left["exact"].moved == ("ARCHIVE", "tier.cold_never", "COLD", NOW)


def test_a_late_look_takes_one_step_and_is_followed_by_the_next_at_once(applied: Jochi) -> None:
    first = curate(
        applied,
        entry("two", "HOT", last_accessed_at=NOW - 3 * DAY),
        entry("three", "HOT", last_accessed_at=NOW - 100 * DAY),
        entry("never", "HOT", created_at=NOW - 8 * DAY),
        entry("warm", "WARM", last_accessed_at=NOW - 90 * DAY),
    )
    assert first["three"].moved == ("WARM", "tier.hot_idle", "HOT", NOW - 100 * DAY + 12 * HOUR)
    assert {one["next_due"] for one in first.values()} == {NOW + 15 * MINUTE}
    left = look_on(applied, NOW + 15 * MINUTE)
    assert left["two"].moved == ("COLD", "tier.warm_idle", "WARM", NOW + 15 * MINUTE)
    assert left["three"].moved == ("ARCHIVE", "tier.cold_idle", "COLD", NOW - 10 * DAY)
    assert left["never"].moved == ("ARCHIVE", "tier.cold_never", "COLD", NOW - DAY)
    assert left["warm"].moved == ("ARCHIVE", "tier.cold_idle", "COLD", NOW)
    assert all(one["next_due"] > NOW + HOUR for one in left.values())


def test_nothing_is_idle_where_nobody_reports_accesses(applied: Jochi) -> None:
    memories = [entry(tier, tier) for tier in ("HOT", "WARM", "COLD")]
    memories += [entry(f"{tier} used", tier, last_accessed_at=OLD) for tier in ("HOT", "WARM", "COLD")]
    memories += [entry("often", "COLD", last_accessed_at=NOW, **days(10))]
    left = curate(applied, *memories, first=None)
    assert all(memory["tier_reason"] is None for memory in left.values())


def test_idleness_counts_from_the_first_report(applied: Jochi) -> None:
    """Each in a scope of its own, which began to report a hair too late, or just in time."""
    rules = [*DEMOTIONS, ("tier.cold_never", "COLD", "ARCHIVE", 7 * DAY)]
    memories, firsts = [], {}
    for rule, from_, _to, after in rules:
        never = {} if rule == "tier.cold_never" else {"last_accessed_at": NOW - 200 * DAY}
        for id, offset in (("hair", HAIR), ("exact", timedelta(0))):
            memories.append(replace(entry(f"{rule} {id}", from_, **never), scope=f"{rule} {id}"))
            firsts[f"{rule} {id}"] = NOW - after + offset
    write(applied, memories, first=None)
    graph.write_scopes(applied.database, firsts)
    left = look(applied)
    for rule, from_, to, _after in rules:
        assert left[f"{rule} hair"]["tier"] == from_
        assert left[f"{rule} exact"].moved == (to, rule, from_, NOW)


LINKS: dict[str, tuple[tuple[Link, ...], tuple[str, str, str]]] = {
    # what hangs on it: where an idle HOT, WARM and COLD memory of 100 days end
    "nothing": ((), ("ARCHIVE", "ARCHIVE", "ARCHIVE")),
    "active session": ((session(),), ("HOT", "WARM", "WARM")),
    "active session, the other way": ((session(True, "in"),), ("HOT", "WARM", "WARM")),
    "inactive session": ((session(False),), ("ARCHIVE", "ARCHIVE", "ARCHIVE")),
    "odd session": ((session("true"),), ("ARCHIVE", "ARCHIVE", "ARCHIVE")),
    "dead session": ((session(True, "out", "Tombstone"),), ("ARCHIVE", "ARCHIVE", "ARCHIVE")),
    "task in progress": ((task(),), ("HOT", "HOT", "ARCHIVE")),
    "task in progress, the other way": ((task("in_progress", "out"),), ("HOT", "HOT", "ARCHIVE")),
    "pending task": ((task("pending"),), ("ARCHIVE", "ARCHIVE", "ARCHIVE")),
    "dead task": ((task("in_progress", "in", "Tombstone"),), ("ARCHIVE", "ARCHIVE", "ARCHIVE")),
    "both": ((session(), task()), ("HOT", "HOT", "HOT")),
}


def test_what_hangs_on_a_memory_keeps_it_near(applied: Jochi) -> None:
    idle = {"last_accessed_at": NOW - 100 * DAY}
    tiers = ("HOT", "WARM", "COLD")
    write(
        applied, [entry(f"{name} {tier}", tier, *links, **idle) for name, (links, _) in LINKS.items() for tier in tiers]
    )
    left = look_on(applied)
    ends = {name: tuple(left[f"{name} {tier}"]["tier"] for tier in tiers) for name in LINKS}
    assert ends == {name: wanted for name, (_links, wanted) in LINKS.items()}


USED: list[tuple[dict[str, Any], str]] = [
    (days(1), "COLD"),
    (days(2), "WARM"),
    (days(1, 0, 0, 0, 0, 0, 1), "WARM"),
    (days(1, 0, 0, 0, 0, 1, ago=1), "WARM"),
    (days(1, 0, 0, 0, 0, 0, 1, ago=1), "COLD"),  # the older bucket is eight days old today
    (days(9, ago=6), "WARM"),
    (days(9, ago=7), "COLD"),
    ({"access_count_7d": 1}, "COLD"),
    ({"access_count_7d": 2}, "WARM"),
    ({}, "COLD"),
    ({"access_count_7d": "0"}, "WARM"),  # unknown
    ({"access_count_7d": -1}, "WARM"),
    ({"access_days": [0] * 7}, "WARM"),
    ({"access_days": [0] * 6, "access_day": TODAY}, "WARM"),
    ({"access_days": [0] * 7, "access_day": NOW}, "WARM"),
]


def test_a_warm_memory_that_was_used_twice_this_week_stays(applied: Jochi) -> None:
    idle = {"last_accessed_at": NOW - 49 * HOUR}
    left = curate(applied, *(entry(str(i), "WARM", **idle, **counts) for i, (counts, _) in enumerate(USED)))
    assert [left[str(i)]["tier"] for i in range(len(USED))] == [tier for _, tier in USED]


def test_it_becomes_cold_at_the_midnight_on_which_the_week_is_over(applied: Jochi) -> None:
    """Buckets fall out as days pass, with nobody counting anew. A look before finds them, and the next one is at the horizon."""
    used = NOW - 3 * DAY  # the 12th; its bucket falls out on the 19th
    left = curate(applied, entry("m", "WARM", last_accessed_at=used, **days(5, ago=3)))
    midnight = datetime(2026, 6, 19, tzinfo=timezone.utc)
    assert left["m"]["tier"] == "WARM"
    horizon = left["m"]["next_due"] - NOW
    assert DAY < horizon <= 30 * DAY
    due_again(applied, midnight - HAIR)
    left = look(applied, midnight - HAIR)
    assert left["m"]["tier"] == "WARM"
    due_again(applied, midnight)
    assert look(applied, midnight)["m"].moved == ("COLD", "tier.warm_idle", "WARM", midnight)


PROMOTIONS: list[tuple[str, str, str, int]] = [
    ("tier.archive_used", "ARCHIVE", "WARM", 3),
    ("tier.cold_used", "COLD", "WARM", 3),
    ("tier.warm_used", "WARM", "HOT", 10),
]


def used(uses: int) -> dict[str, dict[str, Any]]:
    """What of a memory's uses takes it up, and what doesn't."""
    at, moved = {"last_accessed_at": NOW - HOUR}, NOW - 2 * HOUR
    return {
        "enough": {**at, **days(uses)},
        "by days": {**at, **days(1, *[0] * 5, uses - 1)},
        "one less": {**at, **days(uses - 1)},
        "gone by": {**at, **days(1, *[0] * 5, uses - 1, ago=1)},
        "by number": {**at, "access_count_7d": uses},
        "unknown": {**at, "access_count_7d": str(uses)},
        "in all": {**at, "access_count": uses},
        "since": {**at, **days(uses), "tier_at": moved},
        "not since": {**at, **days(uses), "tier_at": NOW - HOUR},
        "odd tier_at": {**at, **days(uses), "tier_at": "yesterday"},
        "odd use": {"last_accessed_at": "today", **days(uses), "tier_at": moved},
    }


def test_a_promotion_by_use_at_its_threshold(applied: Jochi) -> None:
    write(
        applied,
        [
            entry(f"{rule} {id}", from_, **properties)
            for rule, from_, _to, uses in PROMOTIONS
            for id, properties in used(uses).items()
        ],
    )
    for rule, from_, to, _uses in PROMOTIONS:
        said = applied.explain(f"{rule} enough", at=NOW)
        assert [(c.action, c.rule, c.due, c.from_, c.to) for c in said.changes] == [("promote", rule, NOW, from_, to)]
    left = look(applied)
    for rule, from_, to, _uses in PROMOTIONS:
        promoted = {id for id, memory in left.items() if memory["tier_reason"] == rule}
        assert promoted == {f"{rule} {id}" for id in ("enough", "by days", "by number", "since")}
        assert left[f"{rule} enough"].moved == (to, rule, from_, NOW)


def test_use_takes_a_memory_up_as_far_as_it_goes(applied: Jochi) -> None:
    left = curate(
        applied,
        entry("cold", "COLD", last_accessed_at=NOW - HOUR, **days(10)),
        entry("archive", "ARCHIVE", last_accessed_at=NOW - HOUR, **days(12)),
        entry("nine", "ARCHIVE", last_accessed_at=NOW - HOUR, **days(9)),
        entry("up and down", "WARM", last_accessed_at=NOW - 13 * HOUR, **days(10)),
    )
    assert left["cold"].moved == ("HOT", "tier.warm_used", "COLD", NOW)
    assert left["archive"].moved == ("HOT", "tier.warm_used", "ARCHIVE", NOW)
    assert left["nine"].moved == ("WARM", "tier.archive_used", "ARCHIVE", NOW)
    assert left["up and down"].moved == ("WARM", None, None, None)


TAKEN_UP = [
    ("COLD", session(), "tier.cold_in_session", "WARM"),
    ("ARCHIVE", session(), "tier.archive_in_session", "WARM"),
    ("WARM", task(), "tier.warm_in_task", "HOT"),
]


def test_a_session_or_a_task_takes_it_up(applied: Jochi) -> None:
    """Whether its scope reports accesses or not."""
    moved = NOW - 2 * HOUR
    memories = []
    for tier, link, rule, to in TAKEN_UP:
        budget = {"tier_reason": f"budget.{to}", "tier_at": moved}
        for scope in ("reports", "silent"):
            for id, properties in {
                "plain": {},
                "by a rule": {"tier_reason": "tier.hot_idle", "tier_at": moved},
                "pushed out": {**budget, "last_accessed_at": moved - HOUR},
                "pushed out, never used": budget,
                "pushed out, used at that moment": {**budget, "last_accessed_at": moved},
                "pushed out, used since": {**budget, "last_accessed_at": moved + HAIR},
            }.items():
                memories.append(replace(entry(f"{scope} {rule} {id}", tier, link, **properties), scope=scope))
    write(applied, memories, first=None)
    graph.write_scopes(applied.database, {"reports": OLD})
    left = look(applied)
    for tier, _link, rule, to in TAKEN_UP:
        promoted = {
            f"{scope} {rule} {id}"
            for scope in ("reports", "silent")
            for id in ("plain", "by a rule", "pushed out, used since")
        }
        assert {id for id, memory in left.items() if rule in id and memory["tier"] == to} == promoted
        assert {left[id].moved for id in promoted} == {(to, rule, tier, NOW)}


def test_a_tier_that_nobody_knows_is_left_alone(applied: Jochi) -> None:
    tiers = [None, "hot", "Hot", "FROZEN", "", 7, True, ["HOT"]]
    odd = [entry(str(i), tier, session(), task(), last_accessed_at=OLD, **days(12)) for i, tier in enumerate(tiers)]
    left = curate(applied, *odd)
    assert [left[str(i)].moved for i in range(len(tiers))] == [(tier, None, None, None) for tier in tiers]
    assert all(memory.live for memory in left.values())


BLOCKS: dict[str, dict[str, Any]] = {
    "pinned": {"pinned": True},
    "odd pin": {"pinned": 0},
    "hold": {"hold_until": NOW + HAIR},
    "odd hold": {"hold_until": NOW.date()},
    "locked": {"locked_by": "kublai", "locked_at": NOW},
    "odd lock": {"locked_at": "now"},
    "quarantined": {"quarantined_until": NOW + HAIR},
    "odd quarantine": {"quarantined_until": True},
}
LETS: dict[str, dict[str, Any]] = {
    "keep_forever": {"ttl_policy": "keep_forever"},
    "odd ttl_policy": {"ttl_policy": 7},
    "many agents": {"agents": ["a", "b", "c", "d"]},
    "hold that is over": {"hold_until": NOW},
    "lock that is over": {"locked_by": "kublai", "locked_at": NOW - timedelta(minutes=10)},
}


def test_what_blocks_a_move_and_what_does_not(applied: Jochi) -> None:
    ways: dict[str, dict[str, Any]] = {
        "up": {"tier": "COLD", "last_accessed_at": NOW, **days(3)},
        "down": {"tier": "HOT", "last_accessed_at": NOW - DAY},
    }
    memories = [
        entry(f"{way} {id}", **properties | more)
        for way, properties in ways.items()
        for id, more in (BLOCKS | LETS).items()
    ]
    memories += [
        Memory(f"{way} touched", ("MemoryEntry",), MADE | properties, touched=True) for way, properties in ways.items()
    ]
    left = curate(applied, *memories)
    moved = {id for id, memory in left.items() if memory["tier_reason"]}
    assert moved == {f"{way} {id}" for way in ways for id in LETS}
    assert left["down hold"]["next_due"] == NOW + 15 * MINUTE
    assert look(applied, NOW + 15 * MINUTE)["down hold"].moved == ("WARM", "tier.hot_idle", "HOT", NOW - 12 * HOUR)


def test_a_memory_of_a_rule_and_a_tier_is_looked_at_for_whichever_comes_first(applied: Jochi) -> None:
    """An Analysis is of the hour, its tier of the quarter of an hour."""
    at = NOW + 5 * MINUTE
    left = curate(
        applied,
        Memory("tier", ("Analysis",), MADE | {"tier": "HOT", "last_accessed_at": at - 12 * HOUR, "severity": "x"}),
        Memory("rule", ("Analysis",), {"tier": "ARCHIVE", "created_at": at - 60 * DAY, "severity": "low"}),
    )
    assert left["tier"]["next_due"] == NOW + 15 * MINUTE
    assert left["rule"]["next_due"] == NOW + HOUR


def test_accesses_that_were_reported_take_a_memory_up_and_keep_it_there(applied: Jochi) -> None:
    """From the touch to the tier: three uses in three windows of an hour, folded, and an hour later it is WARM."""
    write(applied, [entry("m", "COLD")], first=None, now=NOW - 5 * HOUR)
    look(applied, NOW - 5 * HOUR)
    for hours in (3, 2, 1):
        applied.touch(["default/m"], used=True, now=NOW - hours * HOUR)
    runs = applied.run("fold_accesses", drain=True, now=NOW)
    assert [run.error for run in runs if run.error] == []
    left = look(applied, NOW + HOUR)["m"]
    assert (left["tier"], left["tier_reason"], left["access_count_7d"]) == ("WARM", "tier.cold_used", 3)
    left = look(applied, NOW + 47 * HOUR)["m"]
    assert left["tier"] == "WARM"


def test_a_day_bucket_is_a_date(applied: Jochi) -> None:
    """Buckets of another year, as an import might bring them: nothing that reads them throws."""
    old = {"access_days": [9] * 7, "access_day": date(1999, 12, 31)}
    assert curate(applied, entry("m", "COLD", last_accessed_at=NOW, **old))["m"]["tier"] == "COLD"


def test_when_a_rail_ends_moves_come_by_their_own_schedule(applied: Jochi) -> None:
    """Down within a quarter of an hour of the end, as without the rail; an archive by the hour of its kind."""
    held = {"created_at": OLD, "hold_until": NOW + 2 * MINUTE}
    down = Memory("down", ("Belief",), {"state": "active", "confidence": 0.95, "tier": "HOT"} | held)
    weak = Memory("weak", ("Belief",), {"state": "active", "confidence": 0.1} | held)
    left = curate(applied, down, weak, now=NOW + MINUTE)
    assert {id: (one["curation_rails"], one["next_due"]) for id, one in left.items()} == {
        "down": (["hold"], NOW + 15 * MINUTE),
        "weak": (["hold"], NOW + HOUR),
    }
    assert look(applied, NOW + 15 * MINUTE)["down"]["tier"] == "WARM"
    assert look_on(applied, NOW + 30 * MINUTE)["down"]["tier"] == "ARCHIVE"
