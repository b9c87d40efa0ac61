"""Random memories on both sides of what the value score reads, and the tests' policy with the other bands."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from tests.oracle import Link, Memory
from tests.oracle.strategies import (
    WRONG_TYPES,
    day_buckets,
    firsts,
    held_by_somebody,
    memories,
    moments,
    nows,
    of_one_moment,
)
from tests.oracle.value import TABLE

PLAIN = (
    ("Notification",),
    ("SessionContext",),
    *(("Task",),) * 2,
    *(("Belief",),) * 4,
    ("Reflection",),
    ("Analysis",),
    ("Synthesis",),
    ("Recommendation",),
    ("MemoryEntry",),
    ("CompressedContext",),
    ("Fact",),
    ("Person",),
    ("Invoice",),
)


@of_one_moment
def scored_properties(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """What terms read, on both sides of where each is cut off; now and then of a wrong type, or taken away (None)."""
    far = st.sampled_from([now - timedelta(days=days) for days in (1, 2, 60, 90, 200, 700, 4000)])
    right: dict[str, st.SearchStrategy[Any]] = {
        "created_at": st.one_of(moments(now), far),
        "last_accessed_at": st.one_of(moments(now), far),
        "access_count": st.sampled_from([0, 1, 9, 98, 99, 100, 5.5, -1]),
        "confidence": st.sampled_from([0, 0.2, 0.21, 0.5, 0.7, 0.7000001, 0.75, 0.8, 0.89, 0.9, 1, 1.1, -0.1]),
        "confidence_at": st.one_of(moments(now), far),
        "severity": st.sampled_from(["low", "medium", "high", "critical", "High", ""]),
        "status": st.sampled_from(["pending", "in_progress", "blocked", "completed"]),
        "state": st.sampled_from(["active", "core", "validated", "archived", "candidate"]),
        "agents": st.sampled_from([[], ["a"], ["a", "a", "b"], ["x", "y", "z"], ["a", "b", "c", "d", "e"]]),
        "token_count": st.sampled_from([0, 100, 101, 150, 199, 200, 300, 400, 500, 650, 1000, 5000, -1]),
        "content": st.sampled_from(["", " ", "short", "x" * 399, "x" * 401, "x" * 9000]),
        "keywords": st.sampled_from([[], ["k"], "", "k"]),
        "embedding": st.just([0.1, 0.2]),
        "embedding_unknown": st.just(0.5),
        "pinned": st.booleans(),
    }
    wrong = st.sampled_from(sorted(WRONG_TYPES)).map(WRONG_TYPES.__getitem__)
    some = st.fixed_dictionaries({}, optional=right)
    odd = st.tuples(st.sampled_from(sorted(right)), st.one_of(wrong, st.none()))
    return st.builds(lambda of, more: of | dict(more), some, st.lists(odd, max_size=1))


links = st.lists(
    st.builds(
        Link,
        st.sampled_from(["ABOUT", "ABOUT", "NEXT", "SIMILAR_TO", "SUPERSEDES"]),
        st.sampled_from(["in", "out"]),
        st.sampled_from(
            [
                ("Concept",),
                ("Concept",),
                ("Tombstone",),
                ("Concept", "Tombstone"),
                ("JochiThing",),
                ("CurationSnapshot",),
            ]
        ),
    ),
    max_size=14,
)


@st.composite
def scored(draw: st.DrawFn, now: datetime, number: int) -> Memory:
    """One of any kind of the other strategies, or of a kind of the score's table, with more of what terms read."""
    held: Memory = draw(memories(now, number))
    if draw(st.integers(0, 3)):
        labels = draw(st.sampled_from(PLAIN))
        kept = {name: v for name, v in held.properties.items() if name not in ("opened", "done", "sticky")}
        held = replace(held, labels=labels, properties={"created_at": now - timedelta(days=40)} | kept)
    properties = held.properties | draw(scored_properties(now))
    if "Ticket" in held.labels and isinstance(properties.get("content"), str):
        properties["body"] = properties["content"]
    properties = {name: v for name, v in properties.items() if v is not None}
    return replace(held, properties=properties, links=(*held.links, *draw(links)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[datetime, list[Memory], dict[str, datetime | None]]:
    now = draw(nows)
    n = draw(st.integers(30, 45))
    return now, [draw(scored(now, i)) for i in range(n)], draw(firsts(now))


TTLS = tuple(timedelta(days=days) for days in (1, 2, 4, 7, 14, 15, 22, 30, 45, 60, 90, 91, 120, 180, 240, 400))
"""Half of the TTLs of the ten kinds, these, and twice these."""
POOR = {"confidence": 0, "token_count": 5000, "agents": None, "access_count": None}
RICH = {"confidence": 1, "token_count": 10, "agents": ["a", "b", "c"], "access_count": 99}
OVERDUE = {"Notification": 10, "SessionContext": 1.5, "Task": 20, "Analysis": 90}
"""Days between a TTL and twice that."""
ABOUT = Link("ABOUT", "in", ("Concept",))
OWN: dict[str, list[dict[str, Any]]] = {
    "Notification": [{"read": True}, {"read": True}, {"read": False, "priority": "low"}],
    "SessionContext": [{"active": False}],
    "Task": [{"status": "completed"}, {"status": "failed"}, {"status": "pending"}],
    "Belief": [{"state": "active"}, {"state": "archived"}, {"state": "archived"}],
    "Reflection": [{"consolidated": True}, {"consolidated": True}, {"consolidated": False}],
    "Analysis": [{"severity": severity} for severity in ("low", "medium", "critical")],
    "CompressedContext": [{"compression_level": "keywords"}],
}


@st.composite
def aging(draw: st.DrawFn, now: datetime, number: int) -> Memory:
    """Of the ten kinds in turn, on its way to the end of its TTL, rich or poor, now and then held by somebody."""
    kind = (
        ("Notification", "SessionContext", "MemoryEntry")[number // 4 % 3]
        if number % 4 == 3
        else list(TABLE)[number % len(TABLE)]
    )
    some = moments(now, TTLS)
    properties: dict[str, Any] = {"created_at": draw(some), "content": "remembered"}
    properties |= draw(st.sampled_from(OWN.get(kind, [{}])))
    properties |= draw(
        st.fixed_dictionaries(
            {
                "tier": st.sampled_from(["HOT", "WARM", "WARM", "COLD", "ARCHIVE"]),
                "token_count": st.sampled_from([10, 10, 250, 5000, 5000]),
                "confidence": st.sampled_from([0, 0.1, 0.25, 0.29, 0.5, 0.75, 0.85, 1]),
            },
            optional={
                "last_accessed_at": some,
                "tier_at": some,
                "mvs_low_at": some,
                "access_count_7d": st.just(2),
                "archived_at": some,
                "access_count": st.sampled_from([1, 3, 5, 99]),
                "agents": st.sampled_from([["a"], ["a", "b", "c"]]),
            },
        )
    )
    # One in four is surely poor: of the kinds whose score can fall low enough.
    tale = POOR if number % 4 == 3 else draw(st.sampled_from([{}, {}, POOR, POOR, POOR, RICH]))
    if tale is RICH:
        properties |= {
            "last_accessed_at": now - timedelta(hours=1),
            "created_at": now - timedelta(days=OVERDUE.get(kind, 60)),
        }
    properties = {name: v for name, v in (properties | tale).items() if v is not None}
    if kind == "Belief" and properties["state"] == "archived":
        properties["archived_at"] = draw(some)
    if draw(st.booleans()):
        properties |= draw(day_buckets(now))
    if draw(st.sampled_from([False, False, True])):
        properties |= draw(held_by_somebody(now))
    ends = (ABOUT,) * (11 if tale is RICH else draw(st.sampled_from([0, 0, 0, 3])))
    return Memory(f"m{number:03d}", (kind,), properties, scope=draw(st.sampled_from(["default", "other"])), links=ends)


@st.composite
def aging_cases(draw: st.DrawFn) -> tuple[datetime, list[Memory], dict[str, datetime | None]]:
    """Forty of them; one scope in ten reports no accesses."""
    now = draw(nows)
    long_ago = now - timedelta(days=500)
    first = {
        scope: draw(st.sampled_from([long_ago] * 7 + [None, now - timedelta(days=20)]))
        for scope in ("default", "other")
    }
    return now, [draw(aging(now, i)) for i in range(40)], first
