"""What must not matter to rules of time: how often jobs run, in what order and by what portions, what else is stored, in which
zone a moment is written, and what the calendar does (DESIGN §8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from random import Random
from typing import Any

import pytest
from tests.conftest import say_go
from tests.curation_looks import DAY, HAIR, HOUR, NOW, OLD, archived, curate, due_again, look, look_on, pruned, write
from tests.oracle import Link, Memory, graph

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import replay
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

UTC = timezone.utc


@pytest.fixture
def jochi(install_once: Callable[[LoadedPolicy], Jochi], rules_alone: LoadedPolicy) -> Jochi:
    """What rules do by themselves: what the score makes of that is for test_score."""
    return install_once(rules_alone)


@pytest.fixture
def applied(jochi: Jochi) -> Iterator[Jochi]:
    say_go(jochi)
    yield jochi
    set_batch_size(jochi, jochi.policy.policy.jobs["curate_due"].batch_size)


def set_batch_size(client: Jochi, size: int) -> None:
    client.database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.batch_size = $size", {"size": size})


def a_life(start: datetime) -> list[Memory]:
    """A few of every kind with a rule, of different ages, idle for different times, linked and not."""
    kinds: dict[str, dict[str, Any]] = {
        "Notification": {"read": False, "priority": "low"},
        "SessionContext": {"active": False},
        "Task": {"status": "completed"},
        "Belief": {"state": "active", "confidence": 0.6},
        "Reflection": {"consolidated": True, "access_count": 2},
        "Analysis": {"severity": "low"},
        "Synthesis": {"access_count": 3},
        "CompressedContext": {"compression_level": "keywords"},
        "MemoryEntry": {},
        "Fact": {"confidence": 0.75, "access_count": 2},
    }
    lives = [
        # age, idle for (None: never used), tier, what hangs on it
        (timedelta(hours=3), None, "HOT", ()),
        (timedelta(hours=11, minutes=59, seconds=31), None, "HOT", ()),
        (5 * DAY, 2 * HOUR, "WARM", ()),
        (60 * DAY, 40 * DAY, "COLD", (Link("X", "in", ("Note",)),)),
        (90 * DAY, timedelta(days=89, hours=23), "COLD", ()),
        (20 * DAY, 5 * DAY, "HOT", (Link("X", "in", ("SessionContext",), {"active": True}),)),
    ]
    memories = []
    for kind, properties in kinds.items():
        for i, (age, idle, tier, links) in enumerate(lives):
            moments = {"created_at": start - age} | ({} if idle is None else {"last_accessed_at": start - idle})
            buckets: dict[str, Any] = {}
            if idle is not None and idle < 7 * DAY:
                buckets = {"access_day": (start - idle).date(), "access_days": [4, 0, 0, 0, 0, 0, 0]}
            memories.append(
                Memory(f"{kind}{i}", (kind,), properties | moments | buckets | {"tier": tier}, links=tuple(links))
            )
    for id, properties in {
        "warm for two weeks": {"confidence": 0.6, "access_count": 2, "importance": 0.5, "created_at": start - HOUR},
        "warm, then cool": {"access_count": 20, "created_at": start - 95 * DAY, "last_accessed_at": start - DAY},
        "fading": {"confidence": 0.1, "confirmed_at": start, "importance": 0.3, "created_at": start - 2 * DAY},
        "unimportant": {"confidence": 0.8, "importance": 0.1, "created_at": start - 2 * DAY, "updated_at": start},
        "speculative": {"confidence": 0.2, "created_at": start - 2 * DAY},
        "vouched for": {"verification_state": "user_confirmed", "confidence": 1.0, "access_count": 3}
        | {"created_at": start - 40 * DAY, "last_accessed_at": start - 30 * DAY},
    }.items():
        memories.append(Memory(id, ("Fact",), {"tier": "WARM"} | properties))
    return memories


@pytest.mark.slow
def test_ticking_every_hour_and_once_a_month_end_in_the_same_graph(applied: Jochi) -> None:
    """Once a month from the start on, and from a month later. A late look does what holds by then, one tier at a time (DESIGN §8):
    when and why a memory got where it is may differ, which memories live and in which tier may not."""
    start = datetime(2026, 6, 1, 9, 30, tzinfo=UTC)
    month, end = 30 * DAY, start + 400 * DAY
    ends = []
    for since, steps in (
        (start, [(HOUR, start + 3 * DAY), (3 * DAY, end)]),
        (start, [(month, end)]),
        (start + month, [(month, end)]),
    ):
        graph.clear(applied.database)
        write(applied, a_life(start), now=start)
        for interval, until in steps:
            replay(applied.engine, {"curate_due": interval}, start=since, end=until)
            since = until
        ends.append({id: left["tier"] if left.live else "gone" for id, left in look_on(applied, end).items()})
    often = ends[0]
    for seldom in ends[1:]:
        assert {id: (left, seldom[id]) for id, left in often.items() if left != seldom[id]} == {}
    assert {*often.values()} >= {"HOT", "ARCHIVE", "gone"}  # sessions keep some near
    assert 10 < list(often.values()).count("gone") < len(often) - 10


@pytest.mark.exhaustive
def test_order_batches_and_other_data_do_not_matter(applied: Jochi) -> None:
    now = NOW + 45 * DAY
    ends = []
    for size, seed, others in ((1000, 1, False), (7, 2, False), (1, 3, True)):
        graph.clear(applied.database)
        set_batch_size(applied, size)
        memories = a_life(NOW)
        Random(seed).shuffle(memories)
        if others:
            unrelated(applied)
        write(applied, memories, now=now)
        look(applied, now)
        ends.append(
            {
                key: (stored.labels, to_python(stored.properties))
                for key, stored in graph.state(applied.database).items()
                if key.startswith("default/")
            }
        )
        applied.database.run("MATCH (n:Unrelated) DETACH DELETE n")
    assert ends[0] == ends[1] == ends[2]


def unrelated(client: Jochi) -> None:
    """Another scope with the same ids, and nodes that no memory is linked to."""
    same = [Memory(m.id, m.labels, {"created_at": OLD, "tier": "HOT"}, scope="elsewhere") for m in a_life(NOW)]
    write(client, same, first=None)
    client.database.run(
        "UNWIND range(1, 200) AS i CREATE (a:Unrelated:Belief {state: 'active'})-[:LEARNED_FROM]->(b:Unrelated:Task "
        "{status: 'in_progress'}) CREATE (b)-[:X]->(:Unrelated:SessionContext {active: true})"
    )


def test_a_clock_that_was_set_back_undoes_nothing(applied: Jochi) -> None:
    idle = {"created_at": OLD, "tier": "HOT", "last_accessed_at": NOW - DAY}
    memories = [
        Memory("tier", ("MemoryEntry",), idle),
        Memory("task", ("Task",), {"status": "completed", "created_at": NOW - 14 * DAY}),
        Memory("gone", ("Analysis",), {"severity": "low", "created_at": NOW - 60 * DAY}),
        Memory("flag", ("Reflection",), {"consolidated": False, "created_at": NOW - HOUR}),
    ]
    left = curate(applied, *memories)
    for back in (HAIR, HOUR, 2 * DAY, 300 * DAY):
        due_again(applied, NOW - back)
        again = look(applied, NOW - back)
        for id in ("tier", "task", "gone", "flag"):
            assert again[id].live == left[id].live
            assert again[id].moved == left[id].moved
            assert again[id]["state"] == left[id]["state"]
            assert again[id]["archived_at"] == left[id]["archived_at"]
            assert again[id]["needs_consolidation"] == left[id]["needs_consolidation"]


def test_what_is_dated_ahead_of_the_clock_waits_for_it(applied: Jochi) -> None:
    ahead = NOW + DAY
    memories = [
        Memory("m", ("MemoryEntry",), {"created_at": ahead, "tier": "HOT"}),
        Memory("task", ("Task",), {"status": "completed", "created_at": OLD, "completed_at": ahead}),
        Memory(
            "used",
            ("CompressedContext",),
            {"compression_level": "keywords", "created_at": OLD, "last_accessed_at": ahead},
        ),
        Memory("flag", ("Reflection",), {"consolidated": False, "created_at": ahead}),
    ]
    left = curate(applied, *memories)
    assert pruned(left) == archived(left) == set()
    assert (left["m"]["tier"], left["flag"]["needs_consolidation"]) == ("HOT", None)
    due_again(applied, ahead + 12 * HOUR)
    left = look(applied, ahead + 12 * HOUR)
    assert left["m"].moved == ("WARM", "tier.hot_idle", "HOT", ahead + 12 * HOUR)
    assert left["flag"]["needs_consolidation"] is True


@pytest.mark.parametrize(
    ("made", "kind", "properties", "due"),
    [
        # 29 February 2028 + 120 days; 31 January + 60 days with and without one in between; 90 days back to a 29th
        (datetime(2028, 2, 29, 12, tzinfo=UTC), "Synthesis", {}, datetime(2028, 6, 28, 12, tzinfo=UTC)),
        (datetime(2028, 1, 31, tzinfo=UTC), "Analysis", {"severity": "low"}, datetime(2028, 3, 31, tzinfo=UTC)),
        (datetime(2027, 1, 31, tzinfo=UTC), "Analysis", {"severity": "low"}, datetime(2027, 4, 1, tzinfo=UTC)),
        (datetime(2027, 12, 1, tzinfo=UTC), "Task", {"status": "failed"}, datetime(2028, 2, 29, tzinfo=UTC)),
        (datetime(2028, 2, 22, tzinfo=UTC), "MemoryEntry", {"tier": "COLD"}, datetime(2028, 2, 29, tzinfo=UTC)),
    ],
)
def test_a_day_is_24_hours_over_a_leap_day(
    applied: Jochi, made: datetime, kind: str, properties: dict[str, Any], due: datetime
) -> None:
    write(applied, [Memory("m", (kind,), properties | {"created_at": made})], first=datetime(2020, 1, 1, tzinfo=UTC))
    due_again(applied, due - HAIR)
    before = look(applied, due - HAIR)["m"]
    assert (before.live, before["state"], before["tier"]) == (True, None, properties.get("tier"))
    due_again(applied, due)
    after = look(applied, due)["m"]
    assert (after.live, after["tier"]) == ((False, None) if kind in ("Synthesis", "Analysis") else (True, "ARCHIVE"))


def test_day_buckets_over_a_leap_day(applied: Jochi) -> None:
    """A use on 29 February is of the last seven days up to 6 March."""
    used = datetime(2028, 2, 29, 12, tzinfo=UTC)
    entry = Memory(
        "m",
        ("MemoryEntry",),
        {
            "created_at": OLD,
            "tier": "WARM",
            "last_accessed_at": used,
            "access_day": date(2028, 2, 29),
            "access_days": [2, 0, 0, 0, 0, 0, 0],
        },
    )
    last = datetime(2028, 3, 6, 23, 59, 59, 999_999, tzinfo=UTC)
    assert curate(applied, entry, now=last)["m"]["tier"] == "WARM"
    due_again(applied, last + HAIR)
    assert look(applied, last + HAIR)["m"].moved == ("COLD", "tier.warm_idle", "WARM", last + HAIR)


ZONES = [timezone(timedelta(hours=14)), timezone(timedelta(hours=-11)), timezone(timedelta(hours=5, minutes=45)), UTC]


def test_the_same_instant_in_another_zone(applied: Jochi) -> None:
    """Of what is stored and of the clock. A hair to either side: the very instant is not equal to itself in another zone."""
    for clock in ZONES:
        graph.clear(applied.database)
        memories, firsts = [], {}
        for number, zone in enumerate(ZONES):
            firsts[f"s{number}"] = OLD.astimezone(zone)
            for id, offset in {"hair": HAIR, "exact": -HAIR}.items():
                made = {"created_at": OLD.astimezone(zone), "tier": "HOT"}
                idle = {"last_accessed_at": (NOW - 12 * HOUR + offset).astimezone(zone)}
                failed = {"status": "failed", "failed_at": (NOW - 90 * DAY + offset).astimezone(zone)}
                pushed = {"created_at": OLD, "tier": "COLD", "tier_reason": "budget.WARM", "access_count_7d": 3}
                since = {"last_accessed_at": NOW.astimezone(zone), "tier_at": (NOW - offset).astimezone(clock)}
                for what, kind, properties in (
                    ("task", "Task", failed),
                    ("tier", "MemoryEntry", made | idle),
                    ("budget", "MemoryEntry", pushed | since),
                ):
                    memories.append(Memory(f"{number} {what} {id}", (kind,), properties, scope=f"s{number}"))
        write(applied, memories, first=None, now=NOW.astimezone(clock))
        graph.write_scopes(applied.database, firsts)
        left = look(applied, NOW.astimezone(clock))
        assert archived(left) == {f"{number} task exact" for number in range(len(ZONES))}
        for number in range(len(ZONES)):
            assert left[f"{number} tier hair"]["tier"] == "HOT"
            assert left[f"{number} tier exact"].moved == ("WARM", "tier.hot_idle", "HOT", NOW - HAIR)
            assert [left[f"{number} budget {id}"]["tier"] for id in ("hair", "exact")] == ["WARM", "COLD"]


def test_fourteen_days_are_the_same_over_a_change_to_summer_time(applied: Jochi) -> None:
    """The clocks of Berlin went forward on 29 March 2026: by the wall clock it would be an hour less."""
    write(applied, [Memory("t", ("Task",), {"status": "completed", "created_at": OLD})])
    applied.database.run("MATCH (m:Task {id: 't'}) SET m.completed_at = datetime('2026-03-22T12:00:00[Europe/Berlin]')")
    due = datetime(2026, 4, 5, 11, tzinfo=UTC)
    due_again(applied, due - HAIR)
    assert archived(look(applied, due - HAIR)) == set()
    due_again(applied, due + HAIR)  # at the very instant Cypher holds two zones apart
    assert archived(look(applied, due + HAIR)) == {"t"}


def test_nothing_is_taken_away_for_having_no_relationships(applied: Jochi) -> None:
    """The first implementation swept what hung on nothing, and knew only some of the rails."""
    kinds = ("Recommendation", "MemoryEntry", "KnowledgeChunk", "Person", "Note", "Fact", "SomebodyElses")
    assert pruned(curate(applied, *(Memory(kind, (kind,), {"created_at": OLD}) for kind in kinds))) == set()
