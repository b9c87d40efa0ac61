"""Random memories for Hypothesis: ages around every threshold, properties absent, present and of every wrong type."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from typing import Any

from hypothesis import strategies as st
from neo4j.spatial import WGS84Point
from neo4j.time import Duration
from tests.oracle.memory import Memory

WRONG_TYPES: dict[str, Any] = {
    "text": "yes",
    "text that looks like a date": "2020-01-01T00:00:00Z",
    "empty text": "",
    "text null": "null",
    "integer": 7,
    "zero": 0,
    "float": 1.5,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "true": True,
    "false": False,
    "empty list": [],
    "list of text": ["x"],
    "list of integers": [1, 2],
    "list of truth values": [False],
    "local datetime": datetime(2020, 1, 1),  # noqa: DTZ001
    "date": date(2020, 1, 1),
    "local time": time(12, 0),
    "duration": Duration(days=3),
    "point": WGS84Point((1.0, 2.0)),
    "bytes": b"x",
}
"""One value of every kind of property value; each is of a wrong type for most properties."""

KINDS: tuple[tuple[str, ...], ...] = (
    ("Notification",),
    ("Notification",),
    ("SessionContext",),
    ("SessionContext",),
    ("Belief",),
    ("Reflection",),
    ("Task",),
    ("MemoryEntry",),
    ("Analysis",),
    ("Invoice",),
    ("Notification", "Draft"),
    ("Notification", "Task"),
    ("SessionContext", "Belief"),
    ("Agent",),
    ("AgentKey", "Notification"),
    ("Migration",),
    ("SystemConfig", "SessionContext"),
)
_ZONES = (timezone.utc, timezone.utc, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8)))
_AGES = (timedelta(0), timedelta(minutes=10), timedelta(hours=24), timedelta(days=7), timedelta(days=30))
_NEAR = tuple(
    timedelta(microseconds=micros)
    for micros in (-3_600_000_000, -1_000_000, -1_000, -1, 0, 1, 1_000, 1_000_000, 90_000_000)
)
_PRIORITIES = ("low", "normal", "critical", "Critical")

nows = st.datetimes(
    min_value=datetime(2026, 1, 1),  # noqa: DTZ001
    max_value=datetime(2026, 12, 1),  # noqa: DTZ001
    timezones=st.just(timezone.utc),
).flatmap(
    lambda moment: st.sampled_from(
        [moment.replace(microsecond=0), moment, moment.replace(minute=0, second=0, microsecond=0)]
    )
)


def moments(now: datetime) -> st.SearchStrategy[datetime]:
    """Instants a second, a millisecond, a microsecond around what makes a threshold at ``now``.

    The very instant is always in UTC: for Cypher two datetimes of one instant in different zones are not equal.
    """
    return st.builds(
        lambda age, near, zone: (now - age + near).astimezone(zone if near else timezone.utc),
        st.sampled_from(_AGES),
        st.sampled_from(_NEAR),
        st.sampled_from(_ZONES),
    )


def _disturbances(now: datetime) -> st.SearchStrategy[tuple[str, Any]]:
    moment = moments(now)
    right: dict[str, st.SearchStrategy[Any]] = {
        "created_at": moment,
        "read": st.booleans(),
        "read_at": moment,
        "priority": st.sampled_from(_PRIORITIES),
        "active": st.booleans(),
        "last_active_at": moment,
        "expires_at": moment,
        "pinned": st.booleans(),
        "ttl_policy": st.sampled_from(["keep_forever", "standard"]),
        "hold_until": moment,
        "locked_by": st.just("kublai"),
        "locked_at": moment,
        "agents": st.sampled_from([[], ["a", "b", "c"], ["a", "b", "c", "a"], ["a", "b", "c", "d"]]),
        "access_count": st.sampled_from([-1, 0, 5, 6, 5.0, 5.5]),
        "consolidated": st.booleans(),
        "status": st.sampled_from(["in_progress", "pending", "blocked", "completed", "failed"]),
        "state": st.sampled_from(["active", "core", "validated", "archived"]),
        "confidence": st.sampled_from([0.2, 0.89, 0.9, 1, 0]),
        "quarantined_until": moment,
    }
    wrong = st.sampled_from(sorted(WRONG_TYPES)).map(WRONG_TYPES.__getitem__)
    names = st.sampled_from(sorted(right))
    return names.flatmap(lambda name: st.tuples(st.just(name), st.one_of(right[name], right[name], wrong, st.none())))


@st.composite
def memories(draw: st.DrawFn, now: datetime, number: int) -> Memory:
    """One memory that a rule is likely to be met for, with up to three properties of it changed."""
    labels = draw(st.sampled_from(KINDS))
    properties: dict[str, Any] = {
        "created_at": now - timedelta(days=40),
        "content": "remembered",
        "read": draw(st.booleans()),
        "priority": "normal",
        "active": False,
        "status": "completed",
        "state": "archived",
        "confidence": 0.2,
        "consolidated": True,
    }
    if not {"Notification", "SessionContext"} & set(labels):
        properties["expires_at"] = draw(moments(now))
    for name, value in draw(st.lists(_disturbances(now), max_size=3)):
        if value is None:
            properties.pop(name, None)
        else:
            properties[name] = value
    linked = draw(st.sampled_from([(), (), (), ("a",), ("a", "e"), ("e", "f", "g", "h")]))
    touched = draw(st.sampled_from([False] * 9 + [True]))
    return Memory(f"m{number:03d}", labels, properties, linked, touched, draw(st.sampled_from(["default", "other"])))


def batches(now: datetime) -> st.SearchStrategy[list[Memory]]:
    """About fifty memories, in no order."""
    return st.integers(35, 55).flatmap(lambda n: st.tuples(*(memories(now, i) for i in range(n)))).map(list)
