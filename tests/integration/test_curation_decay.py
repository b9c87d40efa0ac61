"""A Belief's confidence falls by 0.01 a day after 7 idle days, below 0.9, to 0.2, and is written down only where accesses
are folded (DESIGN §8: nothing is rewritten just because time passes; §9). Worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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


def test_an_archived_belief_goes_by_what_is_left_of_its_confidence_at_the_look(applied: Jochi) -> None:
    """Archived long ago; the clock of its decay is what decides (30 days are over)."""
    sides = {"hair": -SECOND, "exact": 0 * DAY, "late": DAY}  # the first is at exactly 0.3
    left = curate(
        applied,
        *(
            belief(
                f"{stored} {id}",
                state="archived",
                archived_at=OLD,
                confidence=stored,
                last_accessed_at=NOW - after - more,
            )
            for stored, after in CROSSINGS
            for id, more in sides.items()
        ),
    )
    gone = {f"{stored} {id}" for stored, _ in CROSSINGS for id in ("exact", "late")}
    assert pruned(left) == gone
    audits = {audit["key"]: to_python(audit["due"]) for audit in graph.audits(applied.database)}
    assert audits == {f"default/{id}": NOW for id in gone}
    hairs = {stored: left[f"{stored} hair"] for stored, _ in CROSSINGS}
    for stored, hair in hairs.items():
        assert hair["confidence"] == stored  # nothing is rewritten just because time passes
        assert DAY < hair["next_due"] - NOW <= 30 * DAY  # the horizon
    last = max(hair["next_due"] for hair in hairs.values())
    assert pruned(look(applied, last)) == gone | {f"{stored} hair" for stored in hairs}


FALLS: list[tuple[float, timedelta, bool]] = [
    (0.9, 1000 * DAY, False),  # from 0.9 on nothing falls
    (0.95, 1000 * DAY, False),
    (1, 1000 * DAY, False),
    (0.89, 1000 * DAY, True),
    (0.89, 66 * DAY, False),
    (0.89, 66 * DAY + SECOND, True),
    (0.2, 30 * DAY, True),
    (0, 30 * DAY, True),
]


def test_what_falls_and_what_stays(applied: Jochi) -> None:
    base = {"state": "archived", "archived_at": NOW - 30 * DAY}
    left = curate(
        applied,
        *(
            belief(str(i), **base, confidence=stored, last_accessed_at=NOW - idle)
            for i, (stored, idle, _gone) in enumerate(FALLS)
        ),
        first=NOW - 2000 * DAY,
    )
    assert pruned(left) == {str(i) for i, (_stored, _idle, gone) in enumerate(FALLS) if gone}


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


def test_no_access_data_no_decay(applied: Jochi) -> None:
    firsts = {"never": None, "early": NOW - 8 * DAY - SECOND, "late": NOW - 8 * DAY}
    base = {"state": "archived", "archived_at": OLD, "confidence": 0.31}
    write(applied, [replace(belief(scope, **base), scope=scope) for scope in firsts], first=None)
    graph.write_scopes(applied.database, firsts)
    assert pruned(look(applied)) == {"early"}


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


def fold(client: Jochi, *ids: str, at: datetime, now: datetime, used: bool = True) -> list[dict[str, Any]]:
    """One touch of each, folded; their properties then."""
    client.touch([f"default/{id}" for id in ids], used=used, now=at)
    runs = client.run("fold_accesses", drain=True, now=now)
    assert [run.error for run in runs if run.error] == []
    state = graph.state(client.database)
    return [to_python(state[f"default/{id}"].properties) for id in ids]


def worth(found: dict[str, Any]) -> float:
    """What is stored less what accesses charged, whether that is written into it or beside it."""
    return float(found["confidence"] - found.get("confidence_lost", 0))


CHARGED: list[tuple[float, timedelta, float]] = [
    (0.8, 27 * DAY, 0.6),
    (0.8, 8 * DAY, 0.79),
    (0.8, 7 * DAY + 12 * HOUR, 0.795),
    (0.8, 1000 * DAY, 0.2),
    (0.25, 400 * DAY, 0.2),
]


def test_an_access_charges_what_was_lost_until_then(applied: Jochi) -> None:
    """Otherwise one access would give back what a year took."""
    used = NOW - 3 * HOUR
    some = [
        belief(str(i), confidence=stored, created_at=used - idle) for i, (stored, idle, _left) in enumerate(CHARGED)
    ]
    write(applied, some, first=NOW - 2000 * DAY)
    for found, (*_, left) in zip(fold(applied, *(m.id for m in some), at=used, now=NOW), CHARGED, strict=True):
        assert worth(found) == pytest.approx(left, abs=1e-9)
        assert used in (found.get("confidence_at"), found.get("confidence_lost_at"))
        assert found["last_accessed_at"] == used


NOT_CHARGED: list[dict[str, Any]] = [
    {"confidence": 0.8, "created_at": NOW - 7 * DAY - HOUR},  # idle for just 7 days at the touch
    {"confidence": 0.8, "created_at": OLD, "last_accessed_at": NOW - 3 * DAY},
    {"confidence": 0.8, "created_at": OLD, "confidence_at": NOW - 3 * DAY},
    {"created_at": OLD},
    {"confidence": "0.8", "created_at": OLD},
    {"confidence": 0.8, "created_at": OLD, "confidence_at": "2020-01-01"},
    {"confidence": 0.8, "created_at": "2020-01-01"},
]


def test_an_access_that_charges_nothing(applied: Jochi) -> None:
    """Nor does one that was shown and not used."""
    some = [Memory(str(i), ("Belief",), {"state": "active"} | more) for i, more in enumerate(NOT_CHARGED)]
    shown = belief("shown", confidence=0.8)
    write(applied, [*some, shown], first=OLD)
    found = fold(applied, "shown", at=NOW - HOUR, now=NOW, used=False)
    found += fold(applied, *(m.id for m in some), at=NOW - HOUR, now=NOW)
    for memory, left in zip([shown, *some], found, strict=True):
        assert left.get("confidence") == memory.properties.get("confidence")
        assert left.get("confidence_at") == memory.properties.get("confidence_at")
        assert not left.get("confidence_lost")


def test_an_access_leaves_the_value_of_what_does_not_fall(applied: Jochi) -> None:
    values = [0.9, 1.0, 0.2, 0.1]
    some = [belief(str(value), confidence=value) for value in values]
    note = Memory("note", ("Note",), {"confidence": 0.8, "created_at": OLD})  # only beliefs fall
    write(applied, [*some, note], first=OLD)
    found = fold(applied, *(m.id for m in some), "note", at=NOW - HOUR, now=NOW)
    assert [worth(left) for left in found] == [*values, 0.8]


def test_the_first_report_of_a_scope_charges_nothing(applied: Jochi) -> None:
    """Idleness before reporting began is unknown."""
    write(applied, [belief("b", confidence=0.8)], first=None)
    [found] = fold(applied, "b", at=NOW - HOUR, now=NOW)
    assert (worth(found), found.get("confidence_at")) == (0.8, None)


def test_charges_add_up_to_one_straight_line(applied: Jochi) -> None:
    """20 idle days, a use, 17 idle days, a use: 0.13 and then 0.10 are gone."""
    made = NOW - 37 * DAY
    write(applied, [belief("b", confidence=0.8, created_at=made)], first=OLD, now=NOW - 17 * DAY)
    [found] = fold(applied, "b", at=made + 20 * DAY, now=made + 20 * DAY)
    assert worth(found) == pytest.approx(0.67, abs=1e-9)
    [found] = fold(applied, "b", at=made + 37 * DAY, now=NOW)
    assert worth(found) == pytest.approx(0.57, abs=1e-9)
