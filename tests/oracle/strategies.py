"""Random memories for Hypothesis: ages around every threshold, properties absent, present and of every wrong type."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from typing import Any

from hypothesis import strategies as st
from neo4j.spatial import WGS84Point
from neo4j.time import Duration
from tests.oracle.memory import OWN_NAMES, Link, Memory

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
    *(("Belief",),) * 6,
    *(("Reflection",),) * 3,
    *(("Task",),) * 4,
    *(("Analysis",),) * 3,
    *(("Synthesis",),) * 2,
    *(("CompressedContext",),) * 2,
    *(("MemoryEntry",),) * 4,
    ("Notification",),
    ("Notification",),
    ("SessionContext",),
    ("SessionContext",),
    ("Invoice",),
    ("Belief", "Analysis"),
    ("Task", "Synthesis"),
    ("Ticket",),
    ("Ticket",),
    ("Ticket", "Notification"),
    ("Ticket", "Task"),
    ("Notification", "Draft"),
    ("Notification", "Task"),
    ("SessionContext", "Belief"),
    ("Agent",),
    ("AgentKey", "Notification"),
    ("Migration",),
    ("SystemConfig", "SessionContext"),
    *(("Person",),) * 4,
    *(("Concept",),) * 3,
    *(("Source",),) * 3,
    ("Macro",),
    *(("Note",),) * 3,
    *(("Fact",),) * 5,
    ("Fact", "Task"),
    ("Belief", "Person"),
    ("Person", "Notification"),
)
_ZONES = (timezone.utc, timezone.utc, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8)))
_AGES = (
    timedelta(0),
    timedelta(minutes=10),
    *(timedelta(hours=hours) for hours in (12, 24, 48)),
    *(timedelta(days=days) for days in (7, 14, 30, 45, 60, 90, 120, 180)),
    *(timedelta(days=7 + fall) for fall in (1, 5, 50)),
)
"""What rules and rails count, and when a confidence of 0.31, 0.35 and 0.8 falls below 0.3."""
_NEAR = tuple(
    timedelta(microseconds=micros)
    for micros in (-3_600_000_000, -1_000_001, -1_000_000, -1_000, -1, 0, 1, 1_000, 1_000_000, 90_000_000)
)
_PRIORITIES = ("low", "normal", "critical", "Critical")
_SEVERITIES = ("low", "info", "medium", "high", "critical", "Low", "none")
_STATUSES = ("in_progress", "pending", "blocked", "completed", "completed", "failed", "failed", "Completed")
_STATES = ("active", "core", "validated", "archived", "archived", "candidate")
_CONFIDENCES = (-0.5, 0, 0.1, 0.2, 0.2000001, 0.29, 0.3, 0.31, 0.35, 0.8, 0.89, 0.9, 1)
_SALIENCES = (-0.1, 0, 0.005, 0.01, 0.010001, 0.012, 0.02, 0.0335, 0.2, 0.5, 1, 1.0, 1.1)
"""At the plain rate 0.02 falls below 0.01 within 35 days, 0.0335 within 61, 0.5 within 196."""
_LIFETIMES = ("week", "week", "month", "month", "year", "forever", "Week", 7)
_CATEGORIES = (
    "fact",
    "fact",
    "correction",
    "commitment",
    "commitment",
    "decision",
    "principle",
    "preference",
    "procedure",
)
_VERIFICATIONS = ("unverified", "user_confirmed", "system_inferred", "disputed", "disputed")
_TIERS = ("HOT", "HOT", "WARM", "WARM", "COLD", "COLD", "ARCHIVE", "ARCHIVE", "hot", "FROZEN", "")
_ENDS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("Note",), {}),
    (("Belief",), {"state": "active"}),
    (("Belief",), {"state": "validated"}),
    (("Belief",), {"state": "archived"}),
    (("Belief",), {"state": 7}),
    (("Recommendation",), {}),
    (("SessionContext",), {"active": True}),
    (("SessionContext",), {"active": True}),
    (("SessionContext",), {"active": False}),
    (("SessionContext",), {"active": "true"}),
    (("Task",), {"status": "in_progress"}),
    (("Task",), {"status": "in_progress"}),
    (("Task",), {"status": "pending"}),
    (("Person",), {"is_dirty": True}),
    (("Concept",), {"is_dirty": False}),
    (("Entity",), {"is_dirty": "yes"}),
)
_links = st.builds(
    lambda type, direction, end, dead: Link(
        type, direction, {0: end[0], 1: ("Tombstone",), 2: (*end[0], "Tombstone")}[dead], end[1]
    ),
    st.sampled_from(["LEARNED_FROM", "LEARNED_FROM", "ABOUT", "learned_from", "HAS_NOTE", "HAS_NOTE"]),
    st.sampled_from(["in", "out"]),
    st.sampled_from(_ENDS),
    st.sampled_from([0, 0, 0, 0, 0, 1, 2]),
)

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


def firsts(now: datetime) -> st.SearchStrategy[dict[str, datetime | None]]:
    """When each scope reported its first access: never, long ago, or around a threshold."""
    long_ago = st.just(now - timedelta(days=400))
    return st.fixed_dictionaries(
        {scope: st.one_of(st.none(), long_ago, long_ago, moments(now)) for scope in ("default", "other")}
    )


def _days(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """Day buckets as folding leaves them, of today or some days old; seldom one without the other."""
    today = now.astimezone(timezone.utc).date()
    one = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7])
    return st.builds(
        lambda age, days, lacks: {
            name: value
            for name, value in {
                "access_day": today - timedelta(days=age),
                "access_days": days,
                "access_count_7d": sum(days),
            }.items()
            if name != lacks
        },
        st.integers(0, 9),
        st.lists(one, min_size=7, max_size=7),
        st.sampled_from([None] * 8 + ["access_day", "access_days"]),
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
        "ttl_policy": st.sampled_from(["keep_forever", "standard", "ephemeral", "decay"]),
        "salience": st.sampled_from(_SALIENCES),
        "salience_at": moment,
        "recall_frequency": st.sampled_from([-1, 0, 1, 4.0, 10]),
        "decay_gradient": st.sampled_from([-1.0, 0.4, 0.5, 1, 1.35, 400.0]),
        "is_owner": st.booleans(),
        "hold_until": moment,
        "locked_by": st.just("kublai"),
        "locked_at": moment,
        "agents": st.sampled_from([[], ["a", "b", "c"], ["a", "b", "c", "a"], ["a", "b", "c", "d"]]),
        "access_count": st.sampled_from([-1, 0, 3, 4, 5, 6, 5.0]),
        "access_count_7d": st.sampled_from([-1, 0, 1, 2, 3, 9, 10]),
        "access_days": st.sampled_from([[1] * 7, [1] * 6, [2, 0, 0, 0, 0, 0, -1]]),
        "access_day": st.just((now - timedelta(days=2)).date()),
        "last_accessed_at": moment,
        "consolidated": st.booleans(),
        "consolidated_at": moment,
        "needs_consolidation": st.booleans(),
        "status": st.sampled_from(_STATUSES),
        "completed_at": moment,
        "failed_at": moment,
        "updated_at": moment,
        "state": st.sampled_from(_STATES),
        "archived_at": moment,
        "confidence": st.sampled_from(_CONFIDENCES),
        "confidence_at": moment,
        "severity": st.sampled_from(_SEVERITIES),
        "compression_level": st.sampled_from(["keywords", "summary", "full"]),
        "tier": st.sampled_from(_TIERS),
        "tier_at": moment,
        "tier_reason": st.sampled_from(["budget.HOT", "budget.WARM", "tier.hot_idle"]),
        "quarantined_until": moment,
        "category": st.sampled_from(_CATEGORIES),
        "verification_state": st.sampled_from(_VERIFICATIONS),
        "policy_class": st.sampled_from(["durable", "protected"]),
        "importance": st.sampled_from([0, 0.1, 0.3, 1]),
        "resolved": st.booleans(),
        "resolved_at": moment,
        "confirmed_at": moment,
    }
    wrong = st.sampled_from(sorted(WRONG_TYPES)).map(WRONG_TYPES.__getitem__)
    names = st.sampled_from(sorted(right))

    def values(name: str) -> st.SearchStrategy[Any]:
        """Seldom wrong for what the engine alone writes, and what no rule reads of a wrong type."""
        if name in ("needs_consolidation", "tier_reason"):
            return st.one_of(right[name], st.none())
        return st.one_of(right[name], right[name], wrong, st.none())

    return names.flatmap(lambda name: st.tuples(st.just(name), values(name)))


def _typical(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """What a memory of any kind has; ages around every threshold."""
    moment = moments(now)
    return st.fixed_dictionaries(
        {
            "created_at": st.one_of(st.just(now - timedelta(days=200)), st.just(now - timedelta(days=40)), moment),
            "status": st.sampled_from(["completed", "failed"]),
            "state": st.sampled_from(_STATES),
            "confidence": st.sampled_from(_CONFIDENCES),
            "consolidated": st.booleans(),
            "severity": st.sampled_from(_SEVERITIES),
            "compression_level": st.sampled_from(["keywords", "keywords", "summary"]),
            "tier": st.sampled_from(_TIERS),
        },
        optional={
            "last_accessed_at": moment,
            "completed_at": moment,
            "failed_at": moment,
            "archived_at": moment,
            "consolidated_at": moment,
            "access_count": st.sampled_from([0, 3, 4, 5, 6]),
        },
    )


def _living(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """What a memory with salience has."""
    return st.fixed_dictionaries(
        {},
        optional={
            "salience": st.sampled_from(_SALIENCES),
            "salience_at": moments(now),
            "recall_frequency": st.sampled_from([0, 1, 4]),
            "ttl_policy": st.sampled_from(["ephemeral", "ephemeral", "decay"]),
            "is_owner": st.booleans(),
        },
    )


def _factual(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """What a fact has."""
    return st.fixed_dictionaries(
        {"state": st.sampled_from(["candidate", "validated", "active", "stale", "archived", "superseded"])},
        optional={
            "category": st.sampled_from(_CATEGORIES),
            "confidence_tier": st.sampled_from(["explicit", "implied", "inferred", "speculative", "certain"]),
            "verification_state": st.sampled_from(_VERIFICATIONS),
            "policy_class": st.sampled_from(["ephemeral", "durable", "protected"]),
            "status": st.sampled_from(["active", "active", "superseded", "archived"]),
            "importance": st.sampled_from([-0.1, 0, 0.1, 0.299, 0.3, 0.5, 1, 1.1]),
            "confirmed_at": moments(now),
            "resolved": st.booleans(),
            "resolved_at": moments(now),
            "updated_at": moments(now),
        },
    )


def _as_a_ticket(properties: dict[str, Any]) -> dict[str, Any]:
    """The same under a Ticket's own names; its moments as it keeps them."""
    renamed = {OWN_NAMES.get(name, name): value for name, value in properties.items()}
    opened = renamed.get("opened")
    if isinstance(opened, datetime) and opened.tzinfo is not None:
        renamed["opened"] = (opened - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
    return renamed


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
    }
    if not {"Notification", "SessionContext", "Ticket"} & set(labels) or draw(st.booleans()):
        properties |= draw(_typical(now))
    if {"Person", "Concept", "Source", "Macro"} & set(labels):
        properties |= draw(_living(now))
    if "Fact" in labels:
        properties |= draw(_factual(now))
    if "Note" in labels:
        properties["lifetime"] = draw(st.sampled_from(_LIFETIMES))
    if draw(st.booleans()):
        properties |= draw(_days(now))
    if not {"Notification", "SessionContext"} & set(labels) and draw(st.sampled_from([True, False, False, False])):
        properties["expires_at"] = draw(moments(now))
    for name, value in draw(st.lists(_disturbances(now), max_size=3)):
        if value is None:
            properties.pop(name, None)
        else:
            properties[name] = value
    if "Ticket" in labels:
        properties = _as_a_ticket(properties)
        # Standard names mean nothing on it.
        properties |= draw(st.sampled_from([{}, {}, {"pinned": True}, {"created_at": now}, {"read": False}]))
    linked = draw(st.sampled_from([(), (), (), ("a",), ("a", "e"), ("e", "f", "g", "h")]))
    touched = draw(st.sampled_from([False] * 9 + [True]))
    scope = draw(st.sampled_from(["default", "other"]))
    links = draw(st.one_of(st.just([]), st.lists(_links, max_size=2)))
    if "Note" in labels and draw(st.booleans()):
        links = [*links, Link("HAS_NOTE", "in", ("Person",), {"is_dirty": draw(st.booleans())})]
    return Memory(f"m{number:03d}", labels, properties, linked, touched, scope, tuple(links))


def batches(now: datetime, least: int = 35, most: int = 55) -> st.SearchStrategy[list[Memory]]:
    """``least`` to ``most`` memories, in no order."""
    return st.integers(least, most).flatmap(lambda n: st.tuples(*(memories(now, i) for i in range(n)))).map(list)
