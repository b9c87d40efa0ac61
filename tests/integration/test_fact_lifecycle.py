"""Facts: what is removed and archived by age, and the states that heat and decay give them (seed 003, Lifecycle Policy States,
Expiry and Archival; docs/reference/facts.md)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.curation_looks import DAY, HAIR, NOW, OLD, SECOND, Left, archived, curate, due_again, look, pruned, write
from tests.oracle import Memory
from tests.oracle.fact_states import ARCHIVE_DECAY, STALE_DECAY
from tests.oracle.fact_tiers import value
from tests.oracle.facts import decay, heat

from jochi import Jochi

pytestmark = pytest.mark.server

BORN = NOW - 30 * DAY
FAR = NOW + 400 * DAY


def fact(id: str, **properties: Any) -> Memory:
    """Neither warm nor faded at NOW."""
    given = {"created_at": BORN, "confidence": 0.5, "category": "fact", "state": "candidate"} | properties
    return Memory(id, ("Fact",), {name: value for name, value in given.items() if value is not None})


def states(left: dict[str, Left]) -> dict[str, Any]:
    return {id: memory["state"] for id, memory in left.items() if memory.live}


def test_what_is_speculative_goes_after_thirty_days(applied: Jochi) -> None:
    left = curate(
        applied,
        fact("young", confidence=0.39, created_at=BORN + HAIR),
        fact("over", confidence=0.39),
        fact("by its tier", confidence=None, confidence_tier="speculative"),
        fact("sure enough", confidence=0.4),
        fact("surer than its tier", confidence=0.4, confidence_tier="speculative"),
        fact("confirmed", confidence=0.39, confirmed_at=NOW - DAY),
        fact("perhaps confirmed", confidence=0.39, confirmed_at="yesterday"),
        fact("confirmed by the user", confidence=0.39, verification_state="user_confirmed"),
        fact("not by the system", confidence=0.39, verification_state="system_inferred"),
        fact("protected", confidence=0.39, policy_class="protected"),
        fact("perhaps protected", confidence=0.39, policy_class=7),
        fact("durable", confidence=0.39, policy_class="durable"),
        fact("ephemeral", confidence=0.39, policy_class="ephemeral"),
        fact("ephemeral and young", confidence=0.39, policy_class="ephemeral", created_at=BORN + HAIR),
        fact("ephemeral and sure enough", confidence=0.4, policy_class="ephemeral"),
        fact("a decision", confidence=0.39, category="decision"),
        fact("unsure how sure", confidence="low"),
        fact("held", confidence=0.39, pinned=True),
    )
    assert pruned(left) == {"over", "by its tier", "not by the system", "a decision", "durable", "ephemeral"}
    assert left["held"]["curation_rails"] == ["pinned"]
    assert "young" in pruned(look(applied, left["young"]["next_due"]))


def test_a_resolved_commitment_goes_after_ninety_days(applied: Jochi) -> None:
    over = NOW - 90 * DAY
    promise = {"category": "commitment", "resolved": True, "resolved_at": over, "created_at": over - DAY}
    left = curate(
        applied,
        fact("over", **promise),
        fact("nearly", **promise | {"resolved_at": over + HAIR}),
        fact("by its last change", **promise | {"resolved_at": None, "updated_at": over}),
        fact("open", **promise | {"resolved": False}),
        fact("unsaid", **promise | {"resolved": None}),
        fact("no clock", **promise | {"resolved_at": None}),
        fact("another category", **promise | {"category": "moment"}),
        fact("protected", **promise | {"policy_class": "protected"}),
    )
    assert pruned(left) == {"over", "by its last change"}


def test_what_matters_little_is_archived_after_ninety_days(applied: Jochi) -> None:
    over = NOW - 90 * DAY
    little = {"importance": 0.29, "created_at": over, "updated_at": NOW}
    left = curate(
        applied,
        fact("over", **little),
        fact("stale", **little | {"state": "stale", "verification_state": "disputed"}),
        fact("used twice", **little | {"access_count": 2}),
        fact("used more", **little | {"access_count": 3}),
        fact("nearly", **little | {"created_at": over + HAIR}),
        fact("matters", **little | {"importance": 0.3}),
        fact("nobody knows", **little | {"importance": None}),
        fact("unreadable", **little | {"importance": -1}),
        fact("a correction", **little | {"category": "correction"}),
        fact("a principle", **little | {"category": "principle"}),
        fact("no category", **little | {"category": None}),
        fact("durable", **little | {"policy_class": "durable"}),
        fact("ephemeral", **little | {"policy_class": "ephemeral"}),
        fact("ephemeral and nearly", **little | {"policy_class": "ephemeral", "created_at": over + HAIR}),
        fact("of a protected class", **little | {"policy_class": "protected"}),
        fact("superseded", **little | {"status": "superseded"}),
        fact("of no known state", **little | {"state": "mine"}),
        fact("pinned", **little | {"pinned": True}),
    )
    assert archived(left) == {"over", "stale", "used twice", "no category", "durable", "ephemeral"}
    assert left["over"].moved[:2] == ("ARCHIVE", "fact.unimportant")


def test_importance_means_nothing_where_no_access_was_ever_reported(applied: Jochi) -> None:
    little = {"importance": 0.1, "created_at": NOW - 170 * DAY, "updated_at": NOW}
    assert archived(curate(applied, fact("unknown", **little), first=None)) == set()


WARM: list[tuple[dict[str, Any], str]] = [
    ({"verification_state": "unverified"}, "validated"),
    ({}, "validated"),
    ({"verification_state": "user_confirmed"}, "active"),
    ({"verification_state": "system_inferred"}, "active"),
    ({"verification_state": "disputed"}, "stale"),
    ({"state": None}, "validated"),
    ({"state": "stale"}, "validated"),
    ({"state": "archived"}, "archived"),
    ({"state": "superseded"}, "superseded"),
    ({"status": "superseded"}, "candidate"),
    ({"status": 7}, "candidate"),
    ({"created_at": None}, "candidate"),
]


def test_what_is_warm(applied: Jochi) -> None:
    warm = {
        "confidence": 1.0,
        "access_count": 10,
        "importance": 0.5,
        "created_at": NOW - DAY,
        "last_accessed_at": NOW - DAY,
    }
    left = curate(applied, *(fact(str(i), **warm | properties) for i, (properties, _) in enumerate(WARM)))
    assert {str(i): left[str(i)]["state"] for i in range(len(WARM))} == {
        str(i): state for i, (_, state) in enumerate(WARM)
    }


def test_from_which_heat_on(applied: Jochi) -> None:
    """0.25 · 0.6 + 0.20 · 1 + 0.15 · importance + 0.05, and 0.30 · ln(1 + 2) / ln 21 for two accesses."""
    cool = {"created_at": NOW, "access_count": 2}
    least = (0.55 - 0.25 * 0.6 - 0.20 - 0.05 - heat_of_accesses(2)) / 0.15
    left = curate(
        applied,
        fact("warm", importance=least + 1e-9, **cool),
        fact("cool", importance=least - 1e-9, **cool),
    )
    assert states(left) == {"warm": "validated", "cool": "candidate"}


def test_what_was_warm_and_is_cool_by_now_is_judged_as_it_is(applied: Jochi) -> None:
    """The look decides: a look in time would have found the first one warm."""
    used = {"created_at": NOW - 90 * DAY, "last_accessed_at": NOW - 80 * DAY, "updated_at": NOW - 5 * DAY}
    warm, cool = fact("warm", access_count=4, **used), fact("cool", access_count=1, **used)
    assert max(heat(warm, NOW), heat(cool, NOW - 80 * DAY)) < 0.55 <= heat(warm, NOW - 80 * DAY)
    assert states(curate(applied, warm, cool)) == {"warm": "candidate", "cool": "candidate"}


def heat_of_accesses(count: int) -> float:
    some = fact("f", created_at=NOW, access_count=count)
    return heat(some, NOW) - heat(fact("f", created_at=NOW), NOW)


DISPUTED = {"confidence": 0.1, "confirmed_at": BORN, "importance": 0.3}
USED = {"confidence": 0.75, "access_count": 4, "last_accessed_at": BORN + 5 * DAY}
FIRSTS = (OLD, None, BORN + 20 * DAY)
STALE = [
    pytest.param(*case, marks=[] if case in ((DISPUTED, OLD), (USED, FIRSTS[2])) else [pytest.mark.exhaustive])
    for case in ((properties, first) for properties in (DISPUTED, USED) for first in FIRSTS)
]


@pytest.mark.parametrize(("properties", "first"), STALE, ids=str)
def test_it_is_stale_and_then_archived_by_the_look_that_finds_it_so(
    applied: Jochi, properties: dict[str, Any], first: datetime | None
) -> None:
    some = fact("f", **properties)
    write(applied, [some], first=first)
    left, looked_at = look(applied, NOW), NOW
    for threshold, after in ((STALE_DECAY, "stale"), (ARCHIVE_DECAY, "archived")):
        days = (NOW + days * DAY for days in range(1, 400))
        at = next((at for at in days if decay(some, at, first) >= threshold), None)
        if at is None:
            continue
        assert left["f"]["next_due"] <= looked_at + DAY + timedelta(hours=1)
        due_again(applied, NOW)
        assert look(applied, at - DAY)["f"]["state"] == left["f"]["state"]
        due_again(applied, NOW)
        left, looked_at = look(applied, at), at
        assert left["f"]["state"] == after


def test_what_stands_in_the_way_of_archiving_leaves_it_stale(applied: Jochi) -> None:
    faded = {"created_at": NOW - 300 * DAY, "confidence": 0.1, "confirmed_at": BORN, "importance": 0.3}
    assert decay(fact("f", **faded), NOW, OLD) >= ARCHIVE_DECAY
    left = curate(
        applied,
        fact("faded", **faded),
        fact("decision", **faded | {"category": "decision"}),
        fact("protected", **faded | {"policy_class": "protected"}),
        fact("perhaps", **faded | {"category": 7}),
        fact("disputed", **faded | {"verification_state": "disputed"}),
        fact("pinned", **faded | {"pinned": True}),
        fact("locked", **faded | {"locked_by": "ada", "locked_at": NOW}),
    )
    assert states(left) == {
        "faded": "archived",
        **dict.fromkeys(("decision", "protected", "perhaps", "disputed", "pinned"), "stale"),
        "locked": "candidate",
    }
    assert left["faded"]["tier_reason"] == "fact.faded"


def test_a_use_makes_it_warm_again(applied: Jochi) -> None:
    curate(applied, fact("f", state="stale", access_count=9, importance=0.9, confidence=0.96))
    applied.touch(["default/f"], agent="ada", now=NOW)
    applied.run("fold_accesses", now=NOW + SECOND, drain=True)
    due_again(applied, NOW)
    assert look(applied, NOW + SECOND)["f"]["state"] == "validated"


def test_explain_shows_the_scores(applied: Jochi) -> None:
    """On both sides of each confidence tier; confirmed is worth more, a dispute takes from heat and half as much from the value."""
    used = {"access_count": 3, "importance": 0.8, "last_accessed_at": BORN + 20 * DAY, "updated_at": BORN + 5 * DAY}
    some = [fact("plain")] + [
        fact(f"{confidence} {verified}", confidence=confidence, verification_state=verified, tier="HOT", **used)
        for confidence in (0.95, 0.949, 0.7, 0.699, 0.4, 0.399, None)
        for verified in ("user_confirmed", "disputed")
    ]
    write(applied, some)
    names = {"fact.stale": "decay_score", "fact.warm": "heat_score", "tier.fact_of_little_value": "tier_value"}
    for one in some:
        told = {rule.rule: rule for rule in applied.explain(one.key, at=NOW).rules}
        current = {
            condition["property"]: condition["current"]
            for rule, name in names.items()
            for condition in told[rule].conditions
            if condition["property"] == name
        }
        assert current == {
            "decay_score": pytest.approx(decay(one, NOW, OLD), abs=1e-12),
            "heat_score": pytest.approx(heat(one, NOW), abs=1e-12),
            "tier_value": pytest.approx(value(one, NOW), abs=1e-12),
        }
        if one.id == "plain":
            assert (told["fact.stale"].due, told["fact.stale"].conditions[0]["met"]) == (None, False)
