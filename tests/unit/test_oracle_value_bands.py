"""The oracle's bands of the value score by hand (seed 000, Option B, 3; peers A1)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import Link, Memory
from tests.oracle.value import TABLE, score
from tests.oracle.value_bands import (
    ORDER,
    PROFILES,
    Action,
    action,
    band,
    measured,
    missing,
)

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
LONG_AGO = MADE - 4000 * DAY
RICH: dict[str, Any] = {"access_count": 99, "agents": ["a", "b", "c", "d"]}
LINKS = tuple(Link("ABOUT", "in", ("Concept",)) for _ in range(10))


def memory(kind: str = "MemoryEntry", links: tuple[Link, ...] = (), **properties: Any) -> Memory:
    return Memory("m", (kind,), {"created_at": MADE} | properties, links=links)


def told(held: Memory, age: timedelta, profile: str = "seed", near: bool = False) -> str:
    """The action at an age."""
    return action(held, score(held, MADE + age, LONG_AGO), profile, near=near).name


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (50, "keep"),
        (8.0, "keep"),
        (7.999999, "lean"),
        (5.0, "lean"),
        (4.999999, "improve"),
        (3.0, "improve"),
        (2.999999, "demote"),
        (1.5, "demote"),
        (1.499999, "prune"),
        (0.5, "prune"),
        (0.499999, "prune_at_once"),
        (-1.5, "prune_at_once"),
    ],
)
def test_the_lower_end_belongs_to_a_band(value: float, expected: str) -> None:
    assert band(value) == expected


def at_worst_and_best(kind: str) -> list[Memory]:
    """From nothing and bloated to everything: every band of "relative" lies in between."""
    row = {"Belief": {"state": "active", "confidence": 0.9}, "Task": {"status": "pending"}}.get(kind, {})
    poor, full = memory(kind, token_count=10**6, **row), memory(kind, LINKS, **RICH | row | {"confidence": 1.0})
    steps = [memory(kind, token_count=0, **row | {"access_count": n}) for n in (0, 3, 99)]
    linked = [memory(kind, LINKS[:n], token_count=0, **row) for n in range(11)]
    agents = [memory(kind, LINKS, **row | {"agents": ["a", "b", "c", "d"][:n]}) for n in range(5)]
    return [poor, *steps, *linked, *agents, full]


@pytest.mark.parametrize("kind", [*sorted(TABLE), "Fact", "Person", "Invoice"])
def test_relative_bands_are_all_within_reach_of_every_kind_of_the_table(kind: str) -> None:
    """Its own row of the table holds for it throughout, but for Belief and Task: a sure belief and an active task can't be worth
    nothing, and then are another row's."""
    ages = [timedelta(0), 20 * HOUR, *(n * 10 * DAY for n in (1, 3, 6, 12, 24, 100))]
    found = {
        band(measured(score(held, MADE + age, LONG_AGO), "relative"))
        for held in at_worst_and_best(kind)
        for age in ages
    }
    found |= {
        band(measured(score(held, MADE + age, LONG_AGO), "relative"))
        for held in (memory(kind), memory(kind, token_count=10**6))
        for age in ages
    }
    assert found == set(ORDER)


def test_in_the_seeds_bands_seven_of_ten_kinds_never_reach_prune_and_four_never_demote() -> None:
    """The arithmetic hole (peers A1): a row's weight is a floor, and bloat takes 1.5 at most."""
    least = {kind: row.weight - 1.5 for kind, row in TABLE.items()}
    assert {kind for kind, value in least.items() if value < 1.5} == {"MemoryEntry", "SessionContext", "Notification"}
    assert {kind for kind, value in least.items() if value >= 3.0} == {
        *("Belief", "Reflection", "Analysis", "Synthesis", "Recommendation"),
    }
    old = MADE + 9000 * DAY
    for kind in (
        "Reflection",
        "Analysis",
        "Synthesis",
        "Recommendation",
        "CompressedContext",
        "MemoryEntry",
        "Notification",
    ):
        assert score(memory(kind, token_count=10**6), old, LONG_AGO).mvs == pytest.approx(least[kind], abs=1e-9)
    assert band(score(memory("Belief", state="active", confidence=0.9, token_count=10**6), old, LONG_AGO).mvs) == "keep"


@pytest.mark.parametrize(
    ("kind", "age", "expected"),
    [
        ("Notification", timedelta(0), "improve"),
        ("Notification", 19 * HOUR, "demote"),
        ("Notification", 19.1 * HOUR, "prune"),
        ("Notification", 900 * DAY, "prune"),  # 0.5: below it only with bloat
        ("SessionContext", 900 * DAY, "demote"),
        ("MemoryEntry", 900 * DAY, "demote"),
        ("Analysis", 95 * DAY, "keep"),
        ("Analysis", 96 * DAY, "lean"),
    ],
)
def test_the_seeds_bands_by_age(kind: str, age: timedelta, expected: str) -> None:
    held = memory(kind, content="x", token_count=1, embedding=[1.0], keywords=["x"], confidence=0)
    assert band(score(held, MADE + age, LONG_AGO).mvs) == expected


@pytest.mark.parametrize(
    ("kind", "half_life"),
    [("SessionContext", 1), ("Analysis", 60), ("Reflection", 90), ("Synthesis", 120), ("MemoryEntry", 45)],
)
def test_relative_bands_prune_what_nobody_used_after_one_half_life(kind: str, half_life: int) -> None:
    assert told(memory(kind), half_life * DAY, "relative") == "demote"
    assert told(memory(kind), half_life * DAY + SECOND, "relative") == "prune"
    assert told(memory(kind, agents=["a"]), half_life * DAY + SECOND, "relative") == "demote"


def test_five_to_eight_is_flagged_only_if_bloated() -> None:
    assert told(memory("Reflection", token_count=300), 900 * DAY) == "compress"  # 8 - 0.75
    assert told(memory("Synthesis", token_count=500), 900 * DAY) == "keep"
    assert told(memory("Synthesis", token_count=501), 900 * DAY) == "compress"
    assert told(memory("Belief", state="active", confidence=0.95, token_count=900), 1 * DAY) == "keep"  # above 8
    assert told(memory("Recommendation", token_count=900), 900 * DAY) == "keep"  # below 5, nothing to improve


def test_three_to_five_is_improved_or_merged() -> None:
    """Bands 5-8 and 3-5 both meant IMPROVE in the first implementation."""
    held = memory("Recommendation", content="Do it.", token_count=800)
    of = score(held, MADE + 900 * DAY, LONG_AGO)
    assert of.mvs == pytest.approx(3.5)
    assert action(held, of, "seed") == Action("improve", frozenset({"embedding", "keywords", "confidence"}))
    assert action(held, of, "seed", near=True) == Action("merge")
    done = memory("Recommendation", content="Do it.", token_count=800, embedding=[1.0], keywords=["do"], confidence=0)
    assert action(done, of, "seed") == Action("keep")
    assert (
        told(memory("Recommendation", content="x"), MADE - MADE, near=True) == "keep"
    )  # 8.0: nobody is merged by a band


@pytest.mark.parametrize(
    ("kind", "properties", "work"),
    [
        ("MemoryEntry", {"content": "x"}, {"embedding", "tokens", "keywords"}),
        ("MemoryEntry", {"content": "x", "token_count": -1, "keywords": []}, {"embedding", "tokens", "keywords"}),
        ("MemoryEntry", {"content": "x", "token_count": 1, "keywords": ["x"]}, {"embedding"}),
        ("MemoryEntry", {"content": "x", "token_count": 1, "keywords": ["x"], "embedding_unknown": 0.5}, set()),
        ("Belief", {"content": "x", "token_count": 1, "embedding": [1.0]}, {"keywords", "confidence"}),
        ("Belief", {"content": "x", "token_count": 1, "embedding": [1.0], "confidence": 0}, {"keywords"}),
        ("Task", {"content": "x"}, {"tokens", "keywords"}),
        ("MemoryEntry", {"content": " "}, set()),
        ("MemoryEntry", {"content": 7}, set()),
        ("Belief", {}, set()),
    ],
)
def test_the_work_of_improve(kind: str, properties: dict[str, Any], work: set[str]) -> None:
    assert missing(memory(kind, **properties)) == work


def test_below_half_only_notifications_and_sessions_go_at_once() -> None:
    assert told(memory("Notification", token_count=900), 9 * DAY) == "prune_at_once"
    assert told(memory("Notification", token_count=100), 9 * DAY) == "prune"
    assert told(memory("SessionContext", token_count=900), 90 * DAY) == "prune_at_once"
    for kind in ("SessionContext", "Notification"):
        assert told(memory(kind), 9 * DAY, "relative") == "prune_at_once"
    assert told(memory("MemoryEntry"), 900 * DAY, "relative") == "prune"


def test_what_isnt_known_takes_nothing() -> None:
    poor = memory(content="x", access_count=-1)
    old = MADE + 900 * DAY
    assert band(score(poor, old, LONG_AGO).above) == "prune_at_once"
    assert action(poor, score(poor, old, LONG_AGO), "relative").name == "demote"  # at best 2.0
    for profile in PROFILES:
        assert action(poor, score(poor, old, None), profile).name == "improve"  # nobody reports accesses
        unread = memory(content="x", created_at="then")
        assert action(unread, score(unread, old, LONG_AGO), profile).name == "improve"
