"""The oracle's states, policies and hard expiry by hand (seed 002, Memory Lifecycle, Access Pattern Examples, Governance Hooks)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import Due, Memory
from tests.oracle.policies import deadline, is_owner, policy_of
from tests.oracle.salience import salience_now
from tests.oracle.states import archived_from, in_default_search, looked_at, recalled, state_after_use, used

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
LONG_AGO = MADE - 400 * DAY
FADES = MADE + timedelta(seconds=16_899_940)  # ln 50 / 0.02 days


def memory(label: str = "Concept", **properties: Any) -> Memory:
    """As the seed makes them: salience 0.5, candidate."""
    return Memory(
        "m", (label,), {"created_at": MADE, "salience": 0.5, "state": "candidate", "tier": "HOT"} | properties
    )


def of(held: Memory, *names: str) -> tuple[Any, ...]:
    return tuple(held.get(name) for name in names)


@pytest.mark.parametrize(
    ("state", "count", "expected"),
    [
        ("candidate", 1, "active"),
        ("candidate", 9, "active"),
        ("candidate", 10, "core"),
        ("active", 9, "active"),
        ("active", 10, "core"),
        ("core", 1, "core"),
        ("archived", 1, "active"),
        ("archived", 10, "active"),
    ],
)
def test_the_state_after_a_use(state: str, count: int, expected: str) -> None:
    assert state_after_use(state, count) == expected


@pytest.mark.parametrize(
    ("label", "properties", "expected"),
    [
        ("Person", {"is_owner": True}, "keep_forever"),
        ("Person", {"is_owner": True, "ttl_policy": "ephemeral"}, "keep_forever"),
        ("Person", {"is_owner": "true"}, "decay"),
        ("Person", {"is_owner": False}, "decay"),
        ("Concept", {"is_owner": True}, "decay"),
        ("Concept", {}, "decay"),
        ("Concept", {"ttl_policy": "keep_forever"}, "keep_forever"),
        ("Concept", {"ttl_policy": "ephemeral"}, "ephemeral"),
        ("Concept", {"ttl_policy": "decay"}, "decay"),
        ("Concept", {"ttl_policy": "Ephemeral"}, "decay"),
        ("Concept", {"ttl_policy": 3}, None),
    ],
)
def test_the_policy(label: str, properties: dict[str, Any], expected: str | None) -> None:
    held = memory(label, **properties)
    assert policy_of(held) == expected
    assert is_owner(held) == (label == "Person" and properties.get("is_owner") is True)


@pytest.mark.parametrize(
    ("label", "days"),
    [
        ("Source", 30),
        ("Artifact", 30),
        ("Person", 90),
        ("Concept", 90),
        ("Entity", 90),
        ("Storyline", 90),
        ("Macro", 90),
    ],
)
def test_hard_expiry(label: str, days: int) -> None:
    held = memory(label, ttl_policy="ephemeral", salience=1.0, state="core", access_count=50)
    assert deadline(held) == MADE + days * DAY
    assert looked_at(held, MADE + days * DAY - timedelta(microseconds=1), LONG_AGO) == held
    assert looked_at(held, MADE + days * DAY, LONG_AGO).get("state") == "archived"
    assert deadline(memory(label)) is None
    assert deadline(memory(label, ttl_policy="ephemeral", created_at="then")) is None


def test_hard_expiry_asks_for_no_access_data() -> None:
    held = memory("Source", ttl_policy="ephemeral")
    assert looked_at(held, MADE + 30 * DAY, None).get("state") == "archived"
    assert looked_at(memory("Source"), MADE + 4000 * DAY, None).get("state") == "candidate"


@pytest.mark.parametrize("state", [None, "candidate", "active", "core", "of another"])
def test_salience_below_a_hundredth_archives(state: str | None) -> None:
    held = memory(state=state)
    before = looked_at(held, FADES - timedelta(seconds=1), LONG_AGO)
    assert before == held
    after = looked_at(held, FADES, LONG_AGO)
    assert of(after, "state", "archived_at", "tier", "salience_at") == ("archived", FADES, "ARCHIVE", FADES)
    assert after.get("salience") == pytest.approx(0.01, abs=1e-6)
    assert after.labels == held.labels


def test_archival_leaves_everything_else() -> None:
    held = memory("Source", raw_content="{}", content="text", sensitivity="high")
    after = looked_at(held, FADES, LONG_AGO)
    changed = {"state", "archived_at", "tier", "salience", "salience_at"}
    assert {name: after.get(name) for name in held.properties if name not in changed} == {
        name: value for name, value in held.properties.items() if name not in changed
    }


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, ("faded", MADE + 196 * DAY)),
        ({"salience": 0.005}, ("faded", MADE)),
        ({"ttl_policy": "ephemeral"}, ("ephemeral", MADE + 90 * DAY)),
        (  # 88.91 days are before 90
            {"ttl_policy": "ephemeral", "confidence": 0.4},
            ("faded", MADE + 89 * DAY),
        ),
        ({"confidence": 0.9}, None),
        ({"confidence": 0.9, "ttl_policy": "ephemeral"}, ("ephemeral", MADE + 90 * DAY)),
        ({"ttl_policy": "keep_forever", "salience": 0.0}, None),
        ({"state": "archived"}, None),
        ({"state": 1}, None),
        ({"salience": "low"}, None),
    ],
)
def test_what_archives_it_first(properties: dict[str, Any], expected: tuple[str, datetime] | None) -> None:
    """Looked at every day: of what fades the look that finds it so."""
    days = (archived_from(memory(**properties), MADE + days * DAY, LONG_AGO) for days in range(400))
    due = next((due for now, due in enumerate(days) if due and due.at <= MADE + now * DAY), None)
    assert (due and (due.rule, due.at)) == expected


@pytest.mark.parametrize("sensitivity", [None, "low", "normal", "high", 7])
def test_sensitivity_changes_nothing(sensitivity: Any) -> None:
    held = memory("Source", sensitivity=sensitivity)
    assert archived_from(held, FADES - SECOND, LONG_AGO) is None
    assert archived_from(held, FADES, LONG_AGO) == Due("faded", FADES, "archive", MADE)
    assert salience_now(held, MADE + 35 * DAY, LONG_AGO) == pytest.approx(0.2482926518957047)


def test_the_owner_is_core_kept_and_worth_one() -> None:
    held = memory("Person", is_owner=True, salience=0.001, state="archived", confidence=0.1)
    for now in (MADE, MADE + 4000 * DAY):
        assert salience_now(held, now, LONG_AGO) == 1.0
        assert of(looked_at(held, now, LONG_AGO), "state", "salience") == ("core", 1.0)
        assert of(used(held, now, LONG_AGO), "state", "salience", "access_count") == ("active", 1.0, 1)
    settled = looked_at(held, MADE, LONG_AGO)
    assert looked_at(settled, MADE + DAY, LONG_AGO) == settled
    assert of(used(settled, MADE + DAY, LONG_AGO), "state", "salience") == ("core", 1.0)
    locked = replace(held, properties=held.properties | {"locked_by": "ada", "locked_at": MADE})
    assert looked_at(locked, MADE, LONG_AGO) == locked


def test_keep_forever_holds_what_decay_would_take() -> None:
    held = memory(ttl_policy="keep_forever", salience=0.001, state="active")
    assert looked_at(held, MADE + 4000 * DAY, LONG_AGO) == held
    assert salience_now(held, MADE + 4000 * DAY, LONG_AGO) == 1.0
    assert of(used(held, MADE, LONG_AGO), "state", "salience") == ("active", 1.0)


@pytest.mark.parametrize(
    "rail",
    [{"pinned": True}, {"ttl_policy": 3}, {"hold_until": MADE + 900 * DAY}, {"pinned": "yes"}],
)
def test_a_rail_holds_what_fades(rail: dict[str, Any]) -> None:
    held = memory(**rail)
    assert looked_at(held, MADE + 800 * DAY, LONG_AGO) == held


def test_a_touch_that_waits_holds_what_fades() -> None:
    held = replace(memory(), touched=True)
    assert looked_at(held, FADES, LONG_AGO) == held


def test_a_use_before_the_look_keeps_what_had_faded() -> None:
    weak = memory(confidence=0.4)  # falls at 0.044, and would have been archived after 88.91 days
    at = MADE + 150 * DAY
    value = 0.5 * 2.718281828459045 ** (-0.044 * 150)
    kept = used(weak, at, LONG_AGO)
    assert of(kept, "state", "tier") == ("active", "HOT")
    assert kept.get("salience") == pytest.approx(0.95 * value + 0.1, abs=1e-12)
    looked = looked_at(
        weak, MADE + 89 * DAY, LONG_AGO
    )  # a look that came first archived it; from then on it fell at 0.02
    later = 0.5 * 2.718281828459045 ** (-0.044 * 89 - 0.02 * (150 - 89))
    revived = used(looked, at, LONG_AGO)
    assert of(revived, "state", "tier", "archived_at") == ("active", "ARCHIVE", None)
    assert revived.get("salience") == pytest.approx(0.95 * later + 0.1, abs=1e-7)


def test_what_a_first_use_leaves() -> None:
    after = used(memory(), MADE + 35 * DAY, LONG_AGO)
    value = 0.2482926518957047
    assert after.get("salience") == pytest.approx(value + 0.1 - 0.05 * value, abs=1e-12)
    assert after.properties | {"salience": None} == memory().properties | {
        "salience": None,
        "salience_at": MADE + 35 * DAY,
        "state": "active",
        "access_count": 1,
        "recall_frequency": 1,
        "recall_count": 1,
        "last_accessed_at": MADE + 35 * DAY,
        "last_recalled_at": MADE + 35 * DAY,
    }


def test_a_high_confidence_candidate_waits_for_its_first_use() -> None:
    held = memory(confidence=0.9)
    assert salience_now(held, MADE + 4000 * DAY, LONG_AGO) == 0.5
    after = used(held, MADE + 4000 * DAY, LONG_AGO)
    assert of(after, "state", "salience") == ("active", 0.575)
    assert salience_now(after, MADE + 4035 * DAY, LONG_AGO) == pytest.approx(0.575 * 0.7046880897187134)  # e^-0.35


def test_a_use_revives_what_was_archived() -> None:
    held = looked_at(memory(access_count=11, recall_frequency=0, state="core"), FADES, LONG_AGO)
    once = used(held, FADES + DAY, LONG_AGO)
    assert of(once, "state", "tier", "archived_at", "access_count") == ("active", "ARCHIVE", None, 12)
    assert once.get("salience") == pytest.approx(0.1 + 0.95 * 0.01 * 0.9801986733067553, abs=1e-6)
    assert used(once, FADES + 2 * DAY, LONG_AGO).get("state") == "core"


def test_past_its_deadline_an_ephemeral_one_stays_archived() -> None:
    held = memory("Source", ttl_policy="ephemeral", state="active")
    assert used(held, MADE + 30 * DAY - timedelta(seconds=1), LONG_AGO).get("state") == "active"
    held = looked_at(held, MADE + 30 * DAY, LONG_AGO)
    assert used(held, MADE + 30 * DAY, LONG_AGO).get("state") == "archived"
    assert used(held, MADE + 30 * DAY, LONG_AGO).get("access_count") == 1
    pinned = memory("Source", ttl_policy="ephemeral", pinned=True)  # a rail kept it from being archived
    assert used(pinned, MADE + 40 * DAY, LONG_AGO).get("state") == "active"


def test_an_archived_one_goes_on_falling_at_the_plain_rate() -> None:
    since = MADE + timedelta(seconds=7_681_791)
    held = looked_at(memory(confidence=0.4), since, LONG_AGO)
    assert held.get("salience_at") == since
    assert salience_now(held, since + 35 * DAY, LONG_AGO) == pytest.approx(0.00496585, abs=1e-8)


def test_a_late_use_counts_at_the_anchor() -> None:
    now = used(memory(), MADE + 10 * DAY, LONG_AGO)
    late = used(now, MADE + 5 * DAY, LONG_AGO)
    assert late.get("salience_at") == MADE + 10 * DAY
    assert late.get("salience") == pytest.approx(now.get("salience") * 0.95 + 0.1)
    assert of(late, "last_accessed_at", "prev_accessed_at") == (MADE + 10 * DAY, MADE + 5 * DAY)
    assert of(late, "decay_gradient", "last_recall_interval") == (None, None)
    for day, before in ((3, 5), (7, 7), (7, 7), (10, 7)):
        late = used(late, MADE + day * DAY, LONG_AGO)
        assert of(late, "last_accessed_at", "prev_accessed_at") == (MADE + 10 * DAY, MADE + before * DAY)


@pytest.mark.parametrize("value", ["x", True, float("nan"), 2.0])
def test_an_unreadable_salience_stays_and_the_use_counts(value: Any) -> None:
    after = used(memory(salience=value), MADE + DAY, LONG_AGO)
    assert after.get("salience") is value
    assert of(after, "state", "access_count", "salience_at") == ("active", 1, None)


def test_a_thousand_searches_revive_nothing() -> None:
    held = looked_at(memory(), FADES, LONG_AGO)
    noisy = held
    for i in range(1000):
        noisy = recalled(noisy, FADES + i * timedelta(minutes=1))
    same = ("state", "tier", "salience", "salience_at", "access_count", "last_accessed_at", "decay_gradient")
    assert of(noisy, *same) == of(held, *same)
    assert noisy.get("recall_count") == 1000
    assert not in_default_search(noisy)
    assert in_default_search(used(noisy, FADES + DAY, LONG_AGO))


def lived(held: Memory, uses: Sequence[int], until: int) -> Memory:
    """Used on these days and looked at each night."""
    now, waiting = MADE, sorted(uses)
    while now <= MADE + until * DAY:
        while waiting and MADE + waiting[0] * DAY <= now:
            held = used(held, MADE + waiting.pop(0) * DAY, LONG_AGO)
        held = looked_at(held, now, LONG_AGO)
        now += DAY
    return held


def test_high_frequency() -> None:
    """The seed: every 3 days; salience quickly rises to 1.0 and stays there; core after 10 accesses, about 30 days."""
    assert lived(memory(), [3 * i for i in range(1, 10)], 29).get("state") == "active"
    month = lived(memory(), [3 * i for i in range(1, 11)], 30)
    assert month.get("state") == "core"
    assert month.get("salience") > 0.9
    years = lived(memory(), [3 * i for i in range(1, 244)], 730)
    assert of(years, "state", "access_count") == ("core", 243)
    assert salience_now(years, MADE + 730 * DAY, LONG_AGO) == pytest.approx(1.0, abs=0.001)


def test_weekly_for_two_years() -> None:
    """Even intervals move the gradient once, from the seed's initial interval of 0."""
    years = lived(memory(), [7 * i for i in range(1, 105)], 730)
    assert of(years, "state", "access_count", "last_recall_interval", "decay_gradient") == ("core", 104, 7.0, 1.1)
    assert salience_now(years, MADE + 730 * DAY, LONG_AGO) == pytest.approx(1.0, abs=0.01)


def test_one_off() -> None:
    """The seed: 0.5 → 0.25 in 35 days, archived. After 196 days, not after its 100."""
    assert lived(memory(), [], 195).get("state") == "candidate"
    gone = lived(memory(), [], 196)
    assert of(gone, "state", "archived_at", "salience_at") == ("archived", MADE + 196 * DAY, MADE + 196 * DAY)
    assert lived(memory(confidence=0.4), [], 88).get("state") == "candidate"
    assert lived(memory(confidence=0.4), [], 89).get("state") == "archived"
    assert lived(memory(confidence=0.9), [], 730).get("state") == "candidate"


def test_seasonal() -> None:
    """The seed: bursts; cyclical salience, active. By its other rule it is core from the tenth use on."""
    bursts = [180 * season + day for season in range(4) for day in (10, 12, 14)]
    assert lived(memory(), bursts, 560).get("state") == "core"
    held, lows, peaks = lived(memory(), bursts[:9], 375), [], []
    assert of(held, "state", "access_count") == ("active", 9)
    for season in range(4):
        peaks.append(
            salience_now(lived(memory(), bursts, 180 * season + 14), MADE + (180 * season + 14) * DAY, LONG_AGO)
        )
        end = 180 * season + 189
        lows.append(salience_now(lived(memory(), bursts, end), MADE + end * DAY, LONG_AGO))
    assert all(low is not None and peak is not None and 0.2 < low < peak for low, peak in zip(lows, peaks, strict=True))


@given(
    label=st.sampled_from(["Source", "Concept"]),
    properties=st.fixed_dictionaries(
        {},
        optional={
            "state": st.sampled_from(["candidate", "active", "core", "archived"]),
            "confidence": st.sampled_from([0.0, 0.4, 0.79, 0.8, 0.9]),
            "salience": st.floats(0, 1),
            "access_count": st.integers(0, 12),
            "ttl_policy": st.sampled_from(["decay", "ephemeral", "keep_forever"]),
        },
    ),
    uses=st.lists(st.integers(1, 800), max_size=6),
    looks=st.lists(st.integers(1, 800), max_size=30),
)
@settings(deadline=None)
def test_looks_that_archive_nothing_change_nothing(
    label: str, properties: dict[str, Any], uses: list[int], looks: list[int]
) -> None:
    """Decaying in one step or in thirty, with uses that find it looked at; what fades is left as the look found it."""

    def after(events: list[tuple[int, str]]) -> dict[str, Any]:
        held = memory(label, **properties)
        for day, what in sorted([*events, *((use, "used") for use in uses), (801, "looked")]):
            held = looked_at(held, MADE + day * DAY, LONG_AGO)
            held = used(held, MADE + day * DAY, LONG_AGO) if what == "used" else held
        return dict(held.properties)

    often, seldom = after([(look, "looked") for look in looks]), after([])
    if "archived_at" not in often:
        assert often == seldom
    elif often["salience_at"] == seldom["salience_at"]:  # hard expiry
        assert often | {"archived_at": None} == seldom | {"archived_at": None}
