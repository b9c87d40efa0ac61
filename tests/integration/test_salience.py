"""Lifecycles of seed 002 on a real server: what salience, states and hard expiry do to a memory over its life."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.curation_looks import DAY, HAIR, OLD, SECOND, curate, due_again, look, write
from tests.oracle import Link, Memory, graph
from tests.oracle.facts import heat
from tests.oracle.states import looked_at, used

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

MADE = OLD + 100 * DAY
FADES = MADE + timedelta(seconds=16_899_940)
"""0.5 at 0.02 a day is below 0.01 after ln 50 / 0.02 = 195.6 days, not after the 100 that seed 002 says."""
RAW = ' {"from": "Ann", "text": " Gru\u0308\u00dfe "}\u200b\u00a0\r\n'
"""As a source gave it: nothing of it is tidied up."""


BETWEEN_MEMORIES = "MATCH (:Curated)-[r]->(m) WHERE m:Curated OR m:OtherEnd RETURN count(r) AS n"
LIVED = (
    "state",
    "salience",
    "salience_at",
    "access_count",
    "recall_frequency",
    "decay_gradient",
    "last_recall_interval",
    "archived_at",
)


def memory(id: str, label: str = "Concept", **properties: Any) -> Memory:
    return Memory(id, (label,), {"created_at": MADE, "tier": "ARCHIVE"} | properties)


@pytest.mark.parametrize("state", ["candidate", "active", "core"])
def test_salience_below_a_hundredth_archives(applied: Jochi, state: str) -> None:
    """On both sides of the second in which it crosses; the labels stay, nothing is deleted."""
    some = [
        memory(f"{label}", label, state=state)
        for label in ("Person", "Concept", "Entity", "Storyline", "Macro", "Source", "Artifact")
    ]
    before = curate(applied, *some, now=FADES - SECOND)
    assert {left["state"] for left in before.values()} == {state}
    due_again(applied, FADES)
    after = look(applied, FADES)
    assert {(left.live, left["state"], left["archived_at"], left["salience_at"]) for left in after.values()} == {
        (True, "archived", FADES, FADES)
    }
    assert all(left["salience"] == pytest.approx(0.01, abs=1e-6) for left in after.values())


@pytest.mark.parametrize(
    ("confidence", "uses", "seconds"),
    [
        (0.79, 0, 11_901_366),  # ln 50 / (0.02 · 1.42) = 137.7 days
        (0.8, 0, None),
        (0.8, 1, 35_007_422),  # 0.575 at 0.01 a day from its first use on: ln 57.5 / 0.01 = 405.2 days
    ],
)
def test_a_sure_candidate_waits_for_its_first_use(
    applied: Jochi, confidence: float, uses: int, seconds: int | None
) -> None:
    """From a confidence of 0.8 on it doesn't fall; once it is active, it does like any other."""
    faint = memory("faint", confidence=0.8, salience=0.005)  # it waits as well
    write(applied, [memory("m", confidence=confidence), faint], first=MADE, now=MADE)
    applied.touch(["default/m"] * uses, now=MADE)
    run_job(applied.engine, "fold_accesses", now=MADE, drain=True)
    before = MADE + (timedelta(seconds=seconds) - SECOND if seconds else 7300 * DAY)
    due_again(applied, before)
    looked_at = look(applied, before)
    left = looked_at["m"]
    assert (left["state"], left.live, looked_at["faint"]["state"]) == ("active" if uses else None, True, None)
    (standing,) = applied.salience(["default/m"], at=before)
    assert standing.at(before) == (pytest.approx(0.01, abs=1e-7) if seconds else 0.5)
    if seconds:
        due_again(applied, before + SECOND)
        assert look(applied, before + SECOND)["m"]["state"] == "archived"


def test_the_queue_comes_back_after_a_tenth_of_its_age(applied: Jochi) -> None:
    """What fades is seen by the look that finds it so, and is dated by it."""
    write(applied, [memory("m")], now=FADES - 2 * DAY)
    again = look(applied, FADES - 2 * DAY)["m"]["next_due"]
    tenth = (FADES - 2 * DAY - MADE) / 10
    assert 0.9 * tenth <= again - (FADES - 2 * DAY) <= tenth + timedelta(hours=1)
    left = look(applied, again)["m"]
    assert (left["state"], left["archived_at"], left["salience_at"]) == ("archived", again, again)


@pytest.mark.parametrize(("label", "days"), [("Source", 30), ("Artifact", 30), ("Person", 90), ("Macro", 90)])
def test_hard_expiry_archives_at_its_deadline(applied: Jochi, label: str, days: int) -> None:
    held = memory("m", label, ttl_policy="ephemeral", salience=1.0, state="core", access_count=50, recall_frequency=50)
    deadline = MADE + days * DAY
    assert curate(applied, held, now=deadline - HAIR)["m"]["state"] == "core"
    due_again(applied, deadline)
    left = look(applied, deadline)["m"]
    assert (left.live, left["state"], left["tier_reason"].split(".")[1]) == (True, "archived", "ephemeral")
    # A use adds to its salience, and it stays archived: "archival guaranteed".
    applied.touch(["default/m"], now=deadline + DAY)
    run_job(applied.engine, "fold_accesses", now=deadline + DAY, drain=True)
    assert look(applied, deadline + DAY)["m"]["state"] == "archived"


def test_the_owner_is_core_and_worth_one_and_nothing_prunes_it(applied: Jochi) -> None:
    held = memory(
        "me", "Person", is_owner=True, state="archived", archived_at=MADE, salience=0.001, expires_at=MADE + DAY
    )
    other = replace(held, id="other", properties=held.properties | {"is_owner": False})
    now = MADE + 4000 * DAY
    plan_of = curate(applied, held, other, now=now)
    me = plan_of["me"]
    assert (me.live, me["state"], me["salience"], me["salience_at"], me["archived_at"]) == (
        True,
        "core",
        1.0,
        now,
        None,
    )
    assert me["curation_rails"] == ["keep_forever"]
    assert not plan_of["other"].live
    said = applied.explain("default/me", at=now)
    assert (said.outcome, said.rule) == ("protected", "any.expires_at")
    assert said.changes == []


def test_plan_and_explain_name_the_state_that_is_set(applied: Jochi) -> None:
    write(applied, [memory("me", "Person", is_owner=True)])
    now = MADE + 500 * DAY
    (change,) = applied.explain("default/me", at=now).changes
    assert (change.action, change.rule, change.state) == ("state", "semantic.owner", "core")
    (group,) = [group for group in applied.plan(now).groups if group.outcome == "state"]
    assert (group.kind, group.rule, group.n, group.samples) == ("Person", "semantic.owner", 1, ["default/me"])


def lives(client: Jochi, some: dict[str, tuple[Memory, list[float]]], *, weeks: int) -> dict[str, dict[str, Any]]:
    """Each memory used at these days after MADE; the jobs run every week. What is left of them, which is what the oracle says."""
    write(client, [memory for memory, _ in some.values()], first=MADE, now=MADE)
    held = {id: memory for id, (memory, _) in some.items()}
    for week in range(1, weeks + 1):
        now = MADE + week * 7 * DAY
        for id, (memory, days) in some.items():
            for day in days:
                if now - 7 * DAY < (at := MADE + day * DAY) <= now:
                    client.touch([memory.key], now=at)
                    held[id] = used(held[id], at, MADE)
        run_job(client.engine, "fold_accesses", now=now, drain=True)
        run_job(client.engine, "curate_due", now=now, drain=True)
        held = {id: looked_at(memory, now, MADE) for id, memory in held.items()}
    state = graph.state(client.database)
    left = {id: to_python(state[memory.key].properties) for id, (memory, _) in some.items()}
    for id, wanted in held.items():
        assert state[wanted.key].live
        for name in LIVED:
            found, said = left[id].get(name), wanted.get(name)
            if name == "archived_at":  # when it was looked at, which is at most a horizon after it was due
                assert (found is None) == (said is None), (id, found, said)
            else:
                assert found == (pytest.approx(said, rel=1e-9) if isinstance(said, float) else said), (id, name)
    return left


@pytest.mark.slow
def test_two_years_of_the_seeds_examples(applied: Jochi) -> None:
    """Seed 002, Access Pattern Examples, with the true lifetimes; weekly jobs, real uses."""
    every_third_day = [3.0 * i for i in range(1, 243)]
    weekly = [7.0 * i - 2 for i in range(1, 105)]
    bursts = [180.0 + day for day in range(4)] + [545.0 + day for day in range(4)]
    left = lives(
        applied,
        {
            "often": (memory("often"), every_third_day),
            "weekly": (memory("weekly"), weekly),
            "once": (memory("once"), []),
            "seasonal": (memory("seasonal"), bursts),
            "one season": (memory("one season"), bursts[:4]),
            "doubtful": (memory("doubtful", confidence=0.4), []),
            "certain": (memory("certain", confidence=0.9), []),
            "kept": (memory("kept", ttl_policy="keep_forever"), []),
        },
        weeks=104,
    )
    states = {id: (properties.get("state"), properties.get("access_count", 0)) for id, properties in left.items()}
    assert states == {
        "often": ("core", 242),
        "weekly": ("core", 104),
        "once": ("archived", 0),
        "seasonal": ("active", 8),
        "one season": ("active", 4),
        "doubtful": ("archived", 0),
        "certain": (None, 0),
        "kept": (None, 0),
    }
    standing = {
        entry.key.split("/")[1]: entry
        for entry in applied.salience([f"default/{id}" for id in left], at=MADE + 728 * DAY)
    }
    assert standing["often"].value == pytest.approx(1.0, abs=0.01)
    assert standing["weekly"].value == pytest.approx(1.0, abs=0.01)
    # Lowest before the second burst, highest after it; the seed has a baseline of 0.3 to 0.6.
    assert standing["one season"].at(MADE + 545 * DAY) == pytest.approx(0.103818805529, abs=1e-9)
    assert left["seasonal"]["salience"] == pytest.approx(0.453847805353, abs=1e-9)
    assert standing["certain"].at(MADE + 7280 * DAY) == 0.5
    assert standing["kept"].at(MADE + 7280 * DAY) == 1.0
    # 0.044 a day until it is archived after 88.9 days, which the seed puts at about 50; once, at 195.6, which it puts at 100.
    assert left["doubtful"]["salience_at"] == MADE + timedelta(seconds=7_681_791)
    assert left["once"]["salience_at"] == FADES


def test_half_is_left_after_35_days_whatever_the_cadence(applied: Jochi) -> None:
    """Looked at every night for 34 nights, or never: the seed's nightly product would halve it in eight."""
    write(applied, [memory("m", state="active")], first=MADE, now=MADE)
    for night in range(1, 35):
        due_again(applied, MADE + night * DAY)
        look(applied, MADE + night * DAY)
    (standing,) = applied.salience(["default/m"], at=MADE + 34 * DAY)
    assert standing.at(MADE + 35 * DAY) == pytest.approx(0.5 * 2.718281828459045**-0.7, rel=1e-12)
    assert standing.at(MADE + 34.657359 * DAY) == pytest.approx(0.25, abs=1e-8)


def test_clocks_end_in_the_same_graph_by_the_month_and_at_once(applied: Jochi) -> None:
    """Hard expiry leaves the same salience whenever it is looked at; what fades is archived either way, and dated by the look."""
    some = [
        memory(f"{label}{i}", label, **properties)
        for label in ("Concept", "Source")
        for i, properties in enumerate(
            [
                {},
                {"confidence": 0.4},
                {"ttl_policy": "ephemeral"},
                {"ttl_policy": "ephemeral", "salience": 0.015},
                {"state": "core", "recall_frequency": 3},
            ]
        )
    ]
    ends = []
    for steps in (12, 1):
        write(applied, some, first=MADE, now=MADE)
        for step in range(1, steps + 1):
            due_again(applied, MADE + 400 * DAY * step / steps)
            look(applied, MADE + 400 * DAY * step / steps)
        state = graph.state(applied.database)
        ends.append(
            {
                key: tuple(
                    to_python(stored.properties).get(name)
                    for name in ("state", "salience", "salience_at", "tier_reason")
                )
                for key, stored in state.items()
            }
        )
        graph.clear(applied.database)
    assert {key: one[0] for key, one in ends[0].items()} == {key: one[0] for key, one in ends[1].items()}
    assert {state for state, *_ in ends[0].values()} == {"archived", "core"}
    clocks = {key for key, one in ends[0].items() if str(one[3]).endswith(".ephemeral")}
    assert len(clocks) >= 2
    assert {key: ends[0][key] for key in clocks} == {key: ends[1][key] for key in clocks}


@pytest.mark.exhaustive
def test_a_thousand_noisy_searches_revive_nothing(applied: Jochi) -> None:
    """What was only shown changes no salience, no state and no tier, and holds nothing back once it is counted: it stands as what
    was never shown."""
    junk = [memory(f"junk{i}", confidence=0.2) for i in range(20)]
    # 0.525 warm at its best: one that counted as used would be validated.
    facts = [memory(f"fact{i}", "Fact", confidence=0.75, state="candidate", policy_class="protected") for i in range(5)]
    quiet = [replace(junk[0], id="quiet"), replace(facts[0], id="quiet fact")]
    good = memory("good", confidence=0.2)
    write(applied, [*junk, *facts, *quiet, good], first=MADE, now=MADE)
    keys = [each.key for each in (*junk, *facts)]
    for week in range(25):
        now = MADE + (week * 14 + 3) * DAY
        applied.touch(keys * 40, used=False, now=now)  # 20 searches a week for 50 weeks
        if week % 2:
            applied.touch([good.key], used=True, now=now)
        run_job(applied.engine, "fold_accesses", now=now + DAY, drain=True)
        run_job(applied.engine, "curate_due", now=now + DAY, drain=True)
    left = {id: to_python(stored.properties) for id, stored in graph.state(applied.database).items()}
    assert {(left[key]["recall_count"], left[key].get("access_count", 0)) for key in keys} == {(1000, 0)}
    stands = ("state", "archived_at", "salience", "salience_at", "tier", "tier_at", "tier_reason", "last_accessed_at")
    for shown, never in ((junk, quiet[0]), (facts, quiet[1])):
        wanted = {name: left[never.key].get(name) for name in stands}
        assert [{name: left[each.key].get(name) for name in stands} for each in shown] == [wanted] * len(shown)
    assert [(left[each.key]["state"], left[each.key]["tier"]) for each in quiet] == [
        ("archived", "ARCHIVE"),
        ("stale", "ARCHIVE"),
    ]
    for each in (*facts, quiet[1]):
        (warm,) = [rule for rule in applied.explain(each.key, at=now).rules if rule.rule == "fact.warm"]
        assert warm.conditions[0]["current"] == pytest.approx(heat(facts[0], now), abs=1e-12)
    assert (left[good.key]["state"], left[good.key]["access_count"]) == ("core", 12)


def test_decay_deletes_nothing_and_an_archived_source_can_be_reached(applied: Jochi) -> None:
    """Twenty years: archived, raw_content and all; left out of recall unless asked for; a relationship to it still leads there."""
    source = memory("source", "Source", raw_content="{}", content="the green train to Berlin", sensitivity="high")
    concept = memory("concept", content="trains to Berlin that are green")
    others = [memory(label.lower(), label) for label in ("Person", "Entity", "Storyline", "Macro", "Artifact")]
    facts = [
        memory(f"fact{confidence}", "Fact", confidence=confidence, confirmed_at=MADE, category="fact", importance=0.3)
        for confidence in (0.1, 0.4, 0.7, 0.95)
    ]
    linked = replace(source, links=(Link("mentions", "out", ("Concept",)),))
    write(applied, [linked, concept, *others, *facts], first=MADE, now=MADE)
    applied.database.run(
        "MATCH (a {key: 'default/source'}), (b {key: 'default/concept'}) "
        "CREATE (a)-[:CAUSED {confidence: 1.0, created_at: $at}]->(b)",
        {"at": MADE},
    )
    before = applied.database.run(BETWEEN_MEMORIES)
    now = MADE + 7300 * DAY
    due_again(applied, now)
    for job in ("schedule_edges", "decay_edges"):
        run_job(applied.engine, job, now=now, drain=True)
    left = look(applied, now)
    assert len(left) == 11
    assert {id: (each.live, each["state"]) for id, each in left.items()} == {
        **dict.fromkeys(left, (True, "archived")),
        **dict.fromkeys(("fact0.4", "fact0.7", "fact0.95"), (True, "stale")),
    }
    assert applied.database.run(BETWEEN_MEMORIES) == before == [{"n": 2}]
    assert applied.database.run("MATCH ()-[r:CAUSED]->() RETURN r.confidence AS left") == [{"left": 0.1}]
    assert applied.database.run("MATCH (t:Tombstone) RETURN count(t) AS n") == [{"n": 0}]
    assert (left["source"]["raw_content"], left["source"]["sensitivity"]) == ("{}", "high")
    assert applied.recall("green train Berlin", scope="default", k=5).hits == ()
    found = applied.recall(
        "green train Berlin", scope="default", k=5, include_archived=True, kinds=["Concept", "Source"]
    )
    assert {hit.key for hit in found} == {
        "default/source",
        "default/concept",
    }
    linked = applied.database.run(
        "MATCH (:Source {key: 'default/source'})-[:mentions]->(c) RETURN count(c) AS n", write=False
    )
    assert linked[0]["n"] == 1


@pytest.mark.parametrize(("now", "state"), [(FADES - SECOND, None), (FADES, "archived")])
def test_sensitivity_has_no_effect(applied: Jochi, now: datetime, state: str | None) -> None:
    """Not even one that is no text (seed 002, TTL Policy Table)."""
    plain = memory("plain", "Source", raw_content=RAW)
    some = {value: replace(plain, id=f"s{value}") for value in ("low", "high", 7)}
    some = {value: replace(each, properties=each.properties | {"sensitivity": value}) for value, each in some.items()}
    left = curate(applied, plain, *some.values(), first=MADE, now=now)
    assert (left["plain"]["state"], left["plain"]["raw_content"]) == (state, RAW)
    for value, each in some.items():
        wanted = left["plain"].properties | {"id": each.id, "key": each.key, "sensitivity": value}
        assert left[each.id].properties == wanted


def test_raw_content_stays_whatever_curation_does(applied: Jochi) -> None:
    """A repair, a move, a use, a hard expiry, fading: each happened, and what a source said is as it was."""
    some = [
        memory("broken", "Source", content="a mail", token_count=-1),
        memory("moves", "Source", tier="HOT"),
        memory("used", "Source", state="archived", archived_at=MADE),
        memory("expires", "Source", ttl_policy="ephemeral", salience=1.0),
        memory("fades", "Source"),
    ]
    said = {each.id: RAW.replace("Ann", each.id) for each in some}
    write(
        applied,
        [replace(each, properties=each.properties | {"raw_content": said[each.id]}) for each in some],
        first=MADE,
        now=MADE,
    )

    def left() -> dict[str, Any]:
        found = {
            key.split("/")[1]: to_python(stored.properties) for key, stored in graph.state(applied.database).items()
        }
        assert {id: each["raw_content"] for id, each in found.items()} == said
        return found

    assert run_job(applied.engine, "hygiene", now=MADE + DAY, drain=True)
    assert left()["broken"]["token_count"] > 0
    look(applied, MADE + DAY)
    assert left()["moves"]["tier"] == "WARM"
    applied.touch(["default/used"], now=MADE + 2 * DAY)
    run_job(applied.engine, "fold_accesses", now=MADE + 2 * DAY, drain=True)
    assert left()["used"]["state"] == "active"
    look(applied, MADE + 30 * DAY + timedelta(hours=1))
    assert (left()["expires"]["state"], left()["fades"].get("state")) == ("archived", None)
    look(applied, FADES + timedelta(hours=1))
    assert left()["fades"]["state"] == "archived"


def test_what_expires_at_says_takes_the_raw_content_along(applied: Jochi) -> None:
    """An app's own word, and nothing else of this: pruned with it, restorable for 30 days, then purged."""
    gone = memory("m", "Source", raw_content=RAW, expires_at=MADE + 50 * DAY)
    assert curate(applied, gone, first=MADE, now=MADE + 50 * DAY - HAIR)["m"].live
    due_again(applied, MADE + 50 * DAY)
    left = look(applied, MADE + 50 * DAY)["m"]
    assert (left.live, left["raw_content"]) == (False, RAW)
    for days, there in ((30 * DAY - HAIR, True), (30 * DAY, False)):
        run_job(applied.engine, "purge_tombstones", now=MADE + 50 * DAY + days, drain=True)
        assert bool(graph.state(applied.database)) is there


def test_a_rule_of_its_own_goes_before_its_lifecycle(applied: Jochi) -> None:
    """diary.read prunes after 120 days what semantic.faded would have archived after 195."""
    read = memory("read", "Diary", read=True)
    assert curate(applied, read, now=MADE + 120 * DAY - HAIR)["read"]["state"] is None
    due_again(applied, MADE + 120 * DAY)
    assert not look(applied, MADE + 120 * DAY)["read"].live


def test_where_its_own_rule_does_not_hold_it_lives_by_its_lifecycle(applied: Jochi) -> None:
    """It fades at the second. One that its own rule wants and a rail holds is held against its lifecycle, too."""
    some = [
        memory("unread", "Diary", read=False),
        memory("unsaid", "Diary"),
        memory("pinned", "Diary", read=True, pinned=True),
    ]
    assert {each["state"] for each in curate(applied, *some, now=FADES - SECOND).values()} == {None}
    due_again(applied, FADES)
    left = look(applied, FADES)
    assert {id: (each.live, each["state"], each["tier_reason"]) for id, each in left.items()} == {
        "unread": (True, "archived", "semantic.faded"),
        "unsaid": (True, "archived", "semantic.faded"),
        "pinned": (True, None, None),
    }
    said = applied.explain("default/pinned", at=FADES)
    assert (said.outcome, said.rule) == ("protected", "diary.read")


def test_a_use_brings_back_what_was_archived(applied: Jochi) -> None:
    """archived → active with its salience raised, in its tier; the revision tells an app that holds an older copy."""
    curate(applied, memory("m", revision=7, state="active"), first=MADE, now=FADES + DAY)
    applied.touch(["default/m"], now=FADES + 3 * DAY)
    run_job(applied.engine, "fold_accesses", now=FADES + 3 * DAY, drain=True)
    left = to_python(graph.state(applied.database)["default/m"].properties)
    assert (left["state"], left.get("archived_at"), left["tier"], left["revision"]) == (
        "active",
        None,
        "ARCHIVE",
        9,
    )
    assert left["salience"] > 0.1
    assert left["next_due"] == FADES + 3 * DAY


def test_a_scope_without_accesses_fades_nothing(applied: Jochi) -> None:
    """No access data, no access rules: hard expiry alone goes on (DESIGN §8)."""
    left = curate(
        applied,
        memory("m"),
        memory("low", salience=0.001),
        memory("e", ttl_policy="ephemeral"),
        first=None,
        now=FADES + 900 * DAY,
    )
    assert {id: each["state"] for id, each in left.items()} == {"m": None, "low": None, "e": "archived"}


def test_kinds_without_salience_have_none(applied: Jochi) -> None:
    held = Memory("b", ("Belief",), {"created_at": MADE, "state": "active", "confidence": 0.95, "salience": 0.5})
    write(applied, [held], first=MADE, now=FADES)
    applied.touch([held.key], now=FADES)
    run_job(applied.engine, "fold_accesses", now=FADES, drain=True)
    left = look(applied, FADES + DAY)["b"]
    assert (left["salience"], left["salience_at"], left["recall_frequency"], left["state"]) == (
        0.5,
        None,
        None,
        "active",
    )
    assert applied.salience([held.key, "default/none"]) == []


def test_uses_while_another_writes_lose_nothing(applied: Jochi) -> None:
    """A use that comes between two folds of the same moment finds what the first left."""
    write(applied, [memory("m", confidence=0.9)], first=MADE, now=MADE + 900 * DAY)
    at = [MADE + i * DAY for i in (1, 5, 6, 20)]
    for moment in at:
        applied.touch(["default/m"], now=moment)
        run_job(applied.engine, "fold_accesses", now=moment, drain=True)
    one_by_one = to_python(graph.state(applied.database)["default/m"].properties)
    graph.clear(applied.database)
    write(applied, [memory("m", confidence=0.9)], first=MADE, now=MADE + 900 * DAY)
    for moment in reversed(at):
        applied.touch(["default/m"], now=moment)
    run_job(applied.engine, "fold_accesses", now=at[-1], drain=True)
    at_once = to_python(graph.state(applied.database)["default/m"].properties)
    names = (
        "salience",
        "salience_at",
        "state",
        "decay_gradient",
        "last_recall_interval",
        "recall_frequency",
        "access_count",
    )
    assert {name: at_once[name] for name in names} == {name: one_by_one[name] for name in names}


def test_what_fades_waits_for_a_touch_that_is_not_folded(applied: Jochi) -> None:
    """The touch protects it, and folded it is reinforced: nothing in between archives it."""
    write(applied, [memory("m")], first=MADE, now=FADES)
    applied.touch(["default/m"], now=FADES)
    held = look(applied, FADES)["m"]
    assert (held["state"], held["curation_rails"]) == (None, ["unfolded_access"])
    run_job(applied.engine, "fold_accesses", now=FADES, drain=True)
    assert (look(applied, FADES + SECOND)["m"]["state"]) == "active"
