"""Random memories for Hypothesis: ages around every threshold, properties absent, present and of every wrong type."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from functools import cache, lru_cache
from typing import Any

from hypothesis import strategies as st
from neo4j.spatial import WGS84Point
from neo4j.time import Duration
from tests.oracle.memory import OWN_NAMES, Link, Memory
from tests.oracle.rules_living import READ_LIFE, SALIENT

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

Kinds = tuple[tuple[str, ...], ...]
KINDS: Kinds = (
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
LIVED: Kinds = (
    *(("Fact",),) * 12,
    *(("Person",),) * 4,
    *(("Concept",),) * 3,
    ("Entity",),
    ("Storyline",),
    ("Macro",),
    *(("Source",),) * 3,
    *(("Artifact",),) * 2,
    *(("Note",),) * 5,
    *(("Diary",),) * 3,
    ("Person", "Notification"),
)
"""The kinds with a lifecycle of seeds 002 and 003, one of them with a rule of its own, and notes."""
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
_NOTE_AGES = tuple(timedelta(days=days) for days in (6, 7, 14, 29, 30, 37, 300, 365, 372, 380))
"""The lifetimes of notes, with and without the seven days that they wait for their owner."""
_FACT_AGES = tuple(timedelta(days=days) for days in (1, 14, 30, 60, 90, 95, 126, 176, 180, 300, 300))
"""What the rules of facts count, and beyond; 95 and 126 days are when the score of some gets to its threshold."""
_PRIORITIES = ("low", "normal", "critical", "Critical")
_SEVERITIES = ("low", "info", "medium", "high", "critical", "Low", "none")
_STATUSES = (
    *("in_progress", "pending", "blocked", "completed", "completed", "failed", "failed", "Completed"),
    *("erledigt", "In Bearbeitung", "moon"),
)
_STATES = ("active", "core", "validated", "archived", "archived", "candidate")
_CONFIDENCES = (-0.5, 0, 0.1, 0.2, 0.2000001, 0.29, 0.3, 0.31, 0.35, 0.8, 0.89, 0.9, 1)
_FACT_CONFIDENCES = (0.1, 0.1, 0.399, 0.4, 0.699, 0.7, 0.949, 0.95, None)
"""On both sides of each confidence tier of facts."""
_SALIENCES = (-0.1, 0, 0.005, 0.01, 0.010001, 0.012, 0.02, 0.0335, 0.2, 0.5, 1, 1.0, 1.1)
"""At the plain rate 0.02 falls below 0.01 within 35 days, 0.0335 within 61, 0.5 within 196."""
_LIFETIMES = ("week", "week", "month", "month", "year", "year", "forever", "Week", 7)
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


of_one_moment = lru_cache(maxsize=64)
"""All memories of an example have one moment, and to make strategies takes longer than to draw from them."""


@of_one_moment
def moments(now: datetime, ages: tuple[timedelta, ...] = _AGES) -> st.SearchStrategy[datetime]:
    """Instants a second, a millisecond, a microsecond around what makes a threshold at ``now``.

    The very instant is always in UTC: for Cypher two datetimes of one instant in different zones are not equal.
    """
    return st.builds(
        lambda age, near, zone: (now - age + near).astimezone(zone if near else timezone.utc),
        st.sampled_from(ages),
        st.sampled_from(_NEAR),
        st.sampled_from(_ZONES),
    )


@of_one_moment
def firsts(now: datetime) -> st.SearchStrategy[dict[str, datetime | None]]:
    """When each scope reported its first access: never, long ago, or around a threshold."""
    long_ago = st.just(now - timedelta(days=400))
    return st.fixed_dictionaries(
        {scope: st.one_of(st.none(), long_ago, long_ago, moments(now)) for scope in ("default", "other")}
    )


@of_one_moment
def day_buckets(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
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


@of_one_moment
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

    @cache
    def values(name: str) -> st.SearchStrategy[Any]:
        """Seldom wrong for what the engine alone writes, and what no rule reads of a wrong type."""
        if name in ("needs_consolidation", "tier_reason"):
            return st.one_of(right[name], st.none())
        return st.one_of(right[name], right[name], wrong, st.none())

    return names.flatmap(lambda name: st.tuples(st.just(name), values(name)))


@of_one_moment
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


@of_one_moment
def _living(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """What a memory with salience has. None takes a property off."""
    long_ago = st.sampled_from([now - timedelta(days=days) for days in (100, 200, 300)])
    anything = st.fixed_dictionaries(
        {"state": st.sampled_from(["candidate", "candidate", None, "active", "core", "archived"])},
        optional={
            "created_at": long_ago,
            "confidence": st.sampled_from([0.4, 0.79, 0.8, None]),
            "salience": st.sampled_from(_SALIENCES),
            "salience_at": moments(now),
            "recall_frequency": st.sampled_from([0, 1, 4]),
            "ttl_policy": st.sampled_from(["ephemeral", "ephemeral", "decay"]),
            "is_owner": st.booleans(),
            "raw_content": st.sampled_from(["{}", ""]),
            "sensitivity": st.sampled_from(["low", "high", 7]),
        },
    )
    faint = {"created_at": now - timedelta(days=300), "salience": 0.012, "salience_at": None, "ttl_policy": None}
    owner = {"is_owner": True, "state": "active"}
    return st.builds(lambda wide, tale: wide | tale, anything, st.sampled_from([{}, {}, faint, owner]))


@of_one_moment
def _factual(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """What a fact has. None takes a property off."""
    moment = moments(now, _FACT_AGES)
    return st.fixed_dictionaries(
        {
            "state": st.sampled_from(["candidate", "validated", "active", "stale", None, "archived", "superseded"]),
            "status": st.sampled_from(["active", None, None, "superseded", "archived"]),
            "created_at": moment,
            "confidence": st.sampled_from(_FACT_CONFIDENCES),
            "importance": st.sampled_from([-0.1, 0, 0.1, 0.299, 0.3, 0.5, None, 1, 1.1]),
            "access_count": st.sampled_from([0, 2, 3, 20, None]),
            "tier": st.sampled_from(["HOT", "HOT", "COLD", "COLD", "WARM", None]),
        },
        optional={
            "category": st.sampled_from(_CATEGORIES),
            "confidence_tier": st.sampled_from(["explicit", "implied", "inferred", "speculative", "certain"]),
            "verification_state": st.sampled_from(_VERIFICATIONS),
            "policy_class": st.sampled_from(["ephemeral", "durable", "protected"]),
            "confirmed_at": moment,
            "resolved": st.booleans(),
            "resolved_at": moment,
            "updated_at": moment,
            "last_accessed_at": moment,
        },
    )


@of_one_moment
def _tales(now: datetime) -> list[dict[str, Any]]:
    """What makes it likely that a rule of facts is met which asks for much at once."""
    long_ago, lately, just_now = now - timedelta(days=300), now - timedelta(days=40), now - timedelta(hours=1)
    live = {"state": "candidate", "status": None, "policy_class": "durable", "verification_state": None}
    doubted = live | {"confidence": 0.1, "confirmed_at": lately, "category": "fact"}
    unused = {"updated_at": None, "last_accessed_at": None, "access_count": 0}
    forgotten = unused | {"created_at": long_ago, "importance": 0.3}
    return [
        {},
        live | {"category": "commitment", "resolved": True, "confirmed_at": lately, "resolved_at": long_ago},
        doubted | forgotten,
        live
        | {"created_at": long_ago, "confidence": 0.7, "importance": 0.299, "access_count": 2, "category": "moment"},
        doubted | forgotten,
        live
        | {"tier": "COLD", "confidence": 0.95, "access_count": 20, "last_accessed_at": just_now, "tier_at": long_ago},
        doubted | unused | {"tier": "HOT", "created_at": long_ago, "last_accessed_at": lately, "updated_at": lately},
        live | {"verification_state": "disputed", "confirmed_at": lately, "importance": 0.5},
        {},
        live | forgotten | {"confidence": 0.4, "category": "decision"},
        live | {"verification_state": "user_confirmed", "access_count": 20, "confidence": 0.95, "importance": 0.5},
        live | unused | {"created_at": long_ago, "confidence": 0.399},
    ]


@of_one_moment
def held_by_somebody(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """Somebody holds it: by what stops a prune, an archive, a move, a state."""
    soon = now + timedelta(minutes=1)
    return st.sampled_from(
        [
            {"pinned": True},
            {"hold_until": soon},
            {"ttl_policy": "keep_forever"},
            *({"quarantined_until": soon},) * 2,
            *({"locked_by": "kublai", "locked_at": now - timedelta(minutes=1)},) * 4,
        ]
    )


@of_one_moment
def _noted(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """What a note has: any lifetime at any age, or one that is over."""
    anything = st.fixed_dictionaries(
        {"lifetime": st.sampled_from(_LIFETIMES)}, optional={"created_at": moments(now, _NOTE_AGES)}
    )
    over = [("week", 15), ("month", 38), ("year", 373)]
    return st.one_of(
        anything,
        st.sampled_from([{"lifetime": life, "created_at": now - timedelta(days=days)} for life, days in over]),
    )


def _as_a_ticket(properties: dict[str, Any]) -> dict[str, Any]:
    """The same under a Ticket's own names; its moments as it keeps them."""
    renamed = {OWN_NAMES.get(name, name): value for name, value in properties.items()}
    opened = renamed.get("opened")
    if isinstance(opened, datetime) and opened.tzinfo is not None:
        renamed["opened"] = (opened - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
    return renamed


@st.composite
def memories(draw: st.DrawFn, now: datetime, number: int, kinds: Kinds | None = None) -> Memory:
    """One memory that a rule is likely to be met for, with up to three properties of it changed.

    ``kinds``: it is one of these in turn, by its number, one property is changed at most, and every second is held by somebody."""
    labels = kinds[number % len(kinds)] if kinds else draw(st.sampled_from(KINDS))
    properties: dict[str, Any] = {
        "created_at": now - timedelta(days=40),
        "content": "remembered",
        "read": draw(st.booleans()),
        "priority": "normal",
        "active": False,
    }
    if not {"Notification", "SessionContext", "Ticket"} & set(labels) or draw(st.booleans()):
        properties |= draw(_typical(now))
    tales = _tales(now)
    if set(SALIENT) & set(labels):
        properties |= draw(_living(now))
    if "Fact" in labels:
        properties |= draw(_factual(now)) | (tales[number % len(tales)] if kinds else draw(st.sampled_from(tales)))
    if "Note" in labels:
        properties |= draw(_noted(now))
    if "Diary" in labels:
        properties["created_at"] = draw(moments(now, (READ_LIFE, timedelta(days=300))))
    if kinds and draw(st.booleans()):
        properties |= draw(held_by_somebody(now))
    properties = {name: value for name, value in properties.items() if value is not None}
    if draw(st.booleans()):
        properties |= draw(day_buckets(now))
    ends = [True, *[False] * (11 if kinds else 3)]
    if not {"Notification", "SessionContext"} & set(labels) and draw(st.sampled_from(ends)):
        properties["expires_at"] = draw(moments(now))
    for name, value in draw(st.lists(_disturbances(now), max_size=1 if kinds else 3)):
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


def batches(
    now: datetime, least: int = 35, most: int = 55, kinds: Kinds | None = None
) -> st.SearchStrategy[list[Memory]]:
    """``least`` to ``most`` memories, of these kinds in turn if there are some."""
    return st.integers(least, most).flatmap(lambda n: st.tuples(*(memories(now, i, kinds) for i in range(n)))).map(list)
