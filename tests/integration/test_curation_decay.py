"""A Belief's confidence falls by 0.01 a day after 7 idle days, below 0.9, to 0.2, and is written down only where accesses
are folded (DESIGN §8: nothing is rewritten just because time passes; §9). Worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.curation_looks import DAY, HAIR, HOUR, NOW, OLD, SECOND, archived, curate, due_again, look, pruned, write
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server


@pytest.fixture
def jochi(install_once: Callable[[LoadedPolicy], Jochi], rules_alone: LoadedPolicy) -> Jochi:
    """What rules do by themselves: what the score makes of that is for test_score."""
    return install_once(rules_alone)


def belief(id: str, **properties: Any) -> Memory:
    return Memory(id, ("Belief",), {"state": "active", "created_at": OLD} | properties)


CROSSINGS: list[tuple[float, timedelta]] = [
    # stored confidence; idle time after which it is below 0.3: 7 days, a day for each 0.01, and the next whole second
    (0.8, 57 * DAY + SECOND),
    (0.5, 27 * DAY + SECOND),
    (0.31, 8 * DAY + SECOND),
    (0.305, 7 * DAY + 43_201 * SECOND),
    (0.3, 7 * DAY + SECOND),
    (0.899, 66 * DAY + 77_761 * SECOND),
]


@pytest.mark.parametrize(("stored", "after"), CROSSINGS)
def test_an_archived_belief_goes_by_what_is_left_of_its_confidence_at_the_look(
    applied: Jochi, stored: float, after: timedelta
) -> None:
    """Archived long ago; the clock of its decay is what decides (30 days are over)."""
    base = {"state": "archived", "archived_at": OLD, "confidence": stored}
    left = curate(
        applied,
        belief("hair", **base, last_accessed_at=NOW - after + SECOND),  # exactly 0.3
        belief("exact", **base, last_accessed_at=NOW - after),
        belief("late", **base, last_accessed_at=NOW - after - DAY),
    )
    assert pruned(left) == {"exact", "late"}
    audits = {audit["key"]: to_python(audit["due"]) for audit in graph.audits(applied.database)}
    assert audits == {"default/exact": NOW, "default/late": NOW}
    assert left["hair"]["confidence"] == stored  # nothing is rewritten just because time passes
    assert DAY < left["hair"]["next_due"] - NOW <= 30 * DAY  # the horizon
    assert pruned(look(applied, left["hair"]["next_due"])) == {"hair", "exact", "late"}


@pytest.mark.parametrize(
    ("stored", "idle", "gone"),
    [
        (0.9, 1000 * DAY, False),  # from 0.9 on nothing falls
        (0.95, 1000 * DAY, False),
        (1, 1000 * DAY, False),
        (0.89, 1000 * DAY, True),
        (0.89, 66 * DAY, False),
        (0.89, 66 * DAY + SECOND, True),
        (0.2, 30 * DAY, True),
        (0, 30 * DAY, True),
    ],
)
def test_what_falls_and_what_stays(applied: Jochi, stored: float, idle: timedelta, gone: bool) -> None:
    left = curate(
        applied,
        belief("b", state="archived", archived_at=NOW - 30 * DAY, confidence=stored, last_accessed_at=NOW - idle),
        first=NOW - 2000 * DAY,
    )
    assert (pruned(left) == {"b"}) is gone


def test_the_clock_of_decay(applied: Jochi) -> None:
    """The newest of confidence_at (else created_at), the last access and the first report; 0.31 falls for 8 days."""
    base = {"state": "archived", "archived_at": OLD, "confidence": 0.31}
    over, under = NOW - 9 * DAY, NOW - 7 * DAY
    memories = [
        belief("all long ago", **base),
        belief("valued", **base, confidence_at=over),
        belief("valued lately", **base, confidence_at=under),
        belief("used lately", **base, confidence_at=over, last_accessed_at=under),
        belief("made lately, valued before", **base | {"created_at": under}, confidence_at=over),
        belief("made lately", **base | {"created_at": under}),
        belief("odd anchor", **base, confidence_at="2020-01-01"),
        belief("odd use", **base, last_accessed_at=7),
        belief("odd date", **base | {"created_at": "2020-01-01"}),
    ]
    left = curate(applied, *memories)
    assert pruned(left) == {"all long ago", "valued", "made lately, valued before"}


@pytest.mark.parametrize(("first", "gone"), [(None, False), (NOW - 8 * DAY - SECOND, True), (NOW - 8 * DAY, False)])
def test_no_access_data_no_decay(applied: Jochi, first: datetime | None, gone: bool) -> None:
    memory = belief("b", state="archived", archived_at=OLD, confidence=0.31)
    assert (pruned(curate(applied, memory, first=first)) == {"b"}) is gone


def test_a_forgotten_belief_is_archived_and_then_pruned(applied: Jochi) -> None:
    """0.8, never used: below 0.3 after 57 days and a second, archived at 60, pruned 30 days after."""
    made = NOW - DAY
    curate(applied, belief("b", confidence=0.8, created_at=made, tier="HOT"))
    for later, live, state in [
        (made + 60 * DAY - HAIR, True, "active"),
        (made + 60 * DAY, True, "archived"),
        (made + 90 * DAY - HAIR, True, "archived"),
        (made + 90 * DAY, False, "archived"),
    ]:
        due_again(applied, later)
        left = look(applied, later)["b"]
        assert (left.live, left["state"], left["confidence"]) == (live, state, 0.8), later


def test_a_belief_above_the_line_is_archived_when_it_falls_and_not_when_it_is_idle(applied: Jochi) -> None:
    """0.85: 60 idle days are over on the 60th day, but 0.3 is crossed 62 days and a second after it was made. The look decides,
    which comes after a tenth of its age."""
    made = NOW - 62 * DAY
    left = curate(applied, belief("b", confidence=0.85, created_at=made))
    assert archived(left) == set()
    again = left["b"]["next_due"]
    assert NOW + 5 * DAY < again <= NOW + 6.2 * DAY + HOUR
    left = look(applied, again)
    assert archived(left) == {"b"}
    (audit,) = graph.audits(applied.database)
    assert (audit["rule"], to_python(audit["due"])) == ("belief.weak", again)


def test_it_falls_as_fast_however_often_jobs_run(applied: Jochi) -> None:
    """The first implementation took 0.01 off at every hourly run: 24 times too fast."""
    curate(applied, belief("b", confidence=0.5, created_at=NOW - 20 * DAY))
    for hour in range(1, 73):
        due_again(applied, NOW + hour * HOUR)
        left = look(applied, NOW + hour * HOUR)["b"]
        assert (left["state"], left["confidence"], left["confidence_at"]) == ("active", 0.5, None)


def fold(client: Jochi, *, at: datetime, now: datetime, used: bool = True) -> dict[str, Any]:
    """One touch, folded; the memory's properties then."""
    client.touch(["default/b"], used=used, now=at)
    runs = client.run("fold_accesses", drain=True, now=now)
    assert [run.error for run in runs if run.error] == []
    found: dict[str, Any] = to_python(graph.state(client.database)["default/b"].properties)
    return found


def worth(found: dict[str, Any]) -> float:
    """What is stored less what accesses charged, whether that is written into it or beside it."""
    return float(found["confidence"] - found.get("confidence_lost", 0))


@pytest.mark.parametrize(
    ("stored", "idle", "left"),
    [
        (0.8, 27 * DAY, 0.6),
        (0.8, 8 * DAY, 0.79),
        (0.8, 7 * DAY + 12 * HOUR, 0.795),
        (0.8, 1000 * DAY, 0.2),
        (0.25, 400 * DAY, 0.2),
    ],
)
def test_an_access_charges_what_was_lost_until_then(
    applied: Jochi, stored: float, idle: timedelta, left: float
) -> None:
    """Otherwise one access would give back what a year took."""
    used = NOW - 3 * HOUR
    write(applied, [belief("b", confidence=stored, created_at=used - idle)], first=NOW - 2000 * DAY)
    found = fold(applied, at=used, now=NOW)
    assert worth(found) == pytest.approx(left, abs=1e-9)
    assert used in (found.get("confidence_at"), found.get("confidence_lost_at"))
    assert found["last_accessed_at"] == used


@pytest.mark.parametrize(
    ("properties", "used"),
    [
        ({"confidence": 0.8, "created_at": NOW - 7 * DAY - HOUR}, True),  # idle for just 7 days at the touch
        ({"confidence": 0.8, "created_at": OLD, "last_accessed_at": NOW - 3 * DAY}, True),
        ({"confidence": 0.8, "created_at": OLD, "confidence_at": NOW - 3 * DAY}, True),
        ({"confidence": 0.8, "created_at": OLD}, False),  # shown, not used
        ({"created_at": OLD}, True),
        ({"confidence": "0.8", "created_at": OLD}, True),
        ({"confidence": 0.8, "created_at": OLD, "confidence_at": "2020-01-01"}, True),
        ({"confidence": 0.8, "created_at": "2020-01-01"}, True),
    ],
)
def test_an_access_that_charges_nothing(applied: Jochi, properties: dict[str, Any], used: bool) -> None:
    write(applied, [Memory("b", ("Belief",), {"state": "active"} | properties)], first=OLD)
    found = fold(applied, at=NOW - HOUR, now=NOW, used=used)
    assert found.get("confidence") == properties.get("confidence")
    assert found.get("confidence_at") == properties.get("confidence_at")
    assert not found.get("confidence_lost")


@pytest.mark.parametrize("stored", [0.9, 1.0, 0.2, 0.1])
def test_an_access_leaves_the_value_of_what_does_not_fall(applied: Jochi, stored: float) -> None:
    write(applied, [belief("b", confidence=stored)], first=OLD)
    assert worth(fold(applied, at=NOW - HOUR, now=NOW)) == stored


def test_the_first_report_of_a_scope_charges_nothing(applied: Jochi) -> None:
    """Idleness before reporting began is unknown."""
    write(applied, [belief("b", confidence=0.8)], first=None)
    found = fold(applied, at=NOW - HOUR, now=NOW)
    assert (worth(found), found.get("confidence_at")) == (0.8, None)


def test_charges_add_up_to_one_straight_line(applied: Jochi) -> None:
    """20 idle days, a use, 17 idle days, a use: 0.13 and then 0.10 are gone."""
    made = NOW - 37 * DAY
    write(applied, [belief("b", confidence=0.8, created_at=made)], first=OLD, now=NOW - 17 * DAY)
    assert worth(fold(applied, at=made + 20 * DAY, now=made + 20 * DAY)) == pytest.approx(0.67, abs=1e-9)
    found = fold(applied, at=made + 37 * DAY, now=NOW)
    assert worth(found) == pytest.approx(0.57, abs=1e-9)


def test_only_beliefs_fall(applied: Jochi) -> None:
    write(applied, [Memory("b", ("Note",), {"confidence": 0.8, "created_at": OLD})], first=OLD)
    assert fold(applied, at=NOW - HOUR, now=NOW).get("confidence") == 0.8
