"""The value score by hand on a server: what it is made of, what a look stores of it, what it does to TTLs and tiers, each on both
sides of its threshold (seed 000, Option B; docs/reference/score.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.conftest import TestServer
from tests.curation_looks import DAY, HOUR, NOW, OLD, SECOND, archived, curate, due_again, look, pruned, write
from tests.oracle import Link, Memory
from tests.oracle.strategies import WRONG_TYPES
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.curate import score as scoring
from jochi.curate.score import TERMS, Scored
from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

LONG = {"token_count": 5000}
"""All of bloat: 1.5."""
LINKS = tuple(Link("ABOUT", "in", ("Concept",)) for _ in range(10))


def memory(id: str, kind: str, age: timedelta, *links: Link, **properties: Any) -> Memory:
    given = {"created_at": NOW - age, "content": id} | properties
    return Memory(id, (kind,), {name: value for name, value in given.items() if value is not None}, links=links)


def after_half_lives(half_life: timedelta, ratio: float) -> timedelta:
    """The first whole second after half-life · log2(ratio)."""
    return timedelta(seconds=math.floor(round(half_life.total_seconds() * math.log2(ratio), 3)) + 1)


def scores(client: Jochi, *memories: Memory, first: datetime | None = OLD) -> dict[str, Scored]:
    write(client, memories, first=first)
    return {one.key.split("/")[1]: one for one in client.score([m.key for m in memories], at=NOW)}


def test_all_seven_terms_by_hand(jochi: Jochi) -> None:
    links = (*LINKS[:4], Link("SIMILAR_TO", "out", ("Concept",)), Link("ABOUT", "in", ("Tombstone",)))
    some = {"access_count": 9, "confidence": 0.6, "severity": "high", "agents": ["a", "b"], "token_count": 750}
    found = scores(jochi, memory("m", "Analysis", 60 * DAY, *links, **some))["m"]
    assert [round(found.terms[name].value, 9) for name in TERMS] == [7.0, 1.5, 1.0, 1.5, 0.6, 1.0, 0.75]
    assert (found.mvs, found.most, found.above) == (11.85, 11.85, 4.85)
    assert (found.kind, found.band, found.action, found.tokens, found.target) == ("Analysis", "keep", "keep", 750, 500)
    assert all(found.terms[name].known for name in TERMS)


def test_nobody_is_asked_for_what_is_not_there(jochi: Jochi) -> None:
    write(jochi, [memory("m", "Analysis", DAY)])
    assert jochi.score(["default/none", "default/m", "default/m"], at=NOW)[0].key == "default/m"
    assert len(jochi.score(["default/none", "default/m", "default/m"], at=NOW)) == 1
    assert jochi.score([], at=NOW) == []


def test_any_number_is_read_in_bounded_transactions(jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once and in the order of keys, whichever read it came in and however often it was named."""
    monkeypatch.setattr(scoring, "CHUNK", 3)
    write(jochi, [memory(f"m{i}", "Note", DAY) for i in range(7)])
    asked: list[list[str]] = []
    call = type(jochi.engine).call

    def counted(engine: Engine, name: str, parameters: Mapping[str, Any], *, write: bool = True) -> dict[str, Any]:
        asked.append(parameters["keys"])
        assert not write
        return call(engine, name, parameters, write=write)

    monkeypatch.setattr(type(jochi.engine), "call", counted)
    keys = [f"default/m{i}" for i in (6, 0, 3, 1, 0, 5, 2, 4, 6)]
    assert [one.key for one in jochi.score((key for key in keys), at=NOW)] == sorted(set(keys))
    assert [len(chunk) for chunk in asked] == [3, 3, 1]
    with pytest.raises(UsageError, match="one text"):
        jochi.score("default/m1")


def test_a_dense_memory_is_not_walked_to_its_end(jochi: Jochi) -> None:
    """A thousand relationships that don't count leave open what the others are."""
    write(jochi, [memory("dense", "MemoryEntry", DAY), memory("all read", "MemoryEntry", DAY)])
    jochi.database.run(
        "UNWIND [['default/dense', 1000], ['default/all read', 999]] AS row MATCH (m:Curated {key: row[0]}) "
        "UNWIND range(1, row[1]) AS i CREATE (m)-[:SIMILAR_TO]->(:OtherEnd)"
    )
    found = {one.key: one.terms for one in jochi.score(["default/dense", "default/all read"], at=NOW)}
    told = {
        key: [(terms[name].value, terms[name].most) for name in ("centrality", "cross_agent")]
        for key, terms in found.items()
    }
    assert told == {"default/dense": [(0, 1.5), (0, 2)], "default/all read": [(0, 0), (0, 0)]}


def test_no_wrong_type_fails_a_look_or_takes_anything(applied: Jochi) -> None:
    names = (
        *("created_at", "last_accessed_at", "access_count", "confidence", "confidence_at", "severity", "status", "state"),
        *("agents", "token_count", "content", "keywords", "embedding", "tier_at", "mvs", "mvs_at", "needs_improvement"),
    )  # fmt: skip
    kinds = ("Belief", "MemoryEntry", "Task")
    plain = {"state": "active", "confidence": 0.5, "status": "pending"}
    # Each value of each property, of the kinds in turn.
    odd = [(i + n, name, value) for i, name in enumerate(names) for n, value in enumerate(WRONG_TYPES.values())]
    many = [
        memory(f"{n} {i}", kinds[i % 3], 2 * DAY, **plain | {name: value}) for n, (i, name, value) in enumerate(odd)
    ]
    left = curate(applied, *many)
    assert pruned(left) == set()
    assert {type(one["mvs"]) for one in left.values()} == {float}
    assert len(applied.score([m.key for m in many], at=NOW)) == len(many)


def test_what_is_worth_much_outlives_its_ttl_until_its_score_falls(applied: Jochi) -> None:
    """7 + 3 · 0.5^(age/60) is below 8 after 95 days; with 1.5 less it never gets there at 60."""
    falls = after_half_lives(60 * DAY, 3)
    low = {"severity": "low"}
    left = curate(
        applied,
        memory("at its TTL", "Analysis", 60 * DAY, **low),
        memory("nearly", "Analysis", falls - SECOND, **low),
        memory("fallen", "Analysis", falls, **low),
        memory("bloated", "Analysis", 60 * DAY, **low, **LONG),
        memory("bloated and young", "Analysis", 60 * DAY - SECOND, **low, **LONG),
        memory("for ever above", "Analysis", 120 * DAY - SECOND, **low, confidence=0.5),
        memory("twice its TTL", "Analysis", 120 * DAY, **low, confidence=0.5),
        memory("expired", "Analysis", DAY * 2, **low, confidence=1, expires_at=NOW),
    )
    assert pruned(left) == {"fallen", "bloated", "twice its TTL", "expired"}
    horizon = left["nearly"]["next_due"] - NOW
    assert 8 * DAY < horizon < 9.5 * DAY + HOUR  # a tenth of its age
    assert left["for ever above"]["next_due"] == NOW + HOUR  # its clock


def test_what_is_archived_waits_as_well(applied: Jochi) -> None:
    rich = {"access_count": 99, "agents": ["a", "b", "c"], "confidence": 1, "status": "completed"}
    left = curate(
        applied,
        memory("kept", "Task", 28 * DAY - SECOND, *LINKS, **rich),
        memory("twice its TTL", "Task", 28 * DAY, *LINKS, **rich),
        memory("poor", "Task", 14 * DAY, status="completed"),
    )
    assert archived(left) == {"twice its TTL", "poor"}


def test_what_is_worth_little_goes_before_its_ttl_but_not_before_half_of_it(applied: Jochi) -> None:
    """0.5 + 3 · 0.5^(age/12 h) - 1.5: below 1.5 at 2.5 of recency, and at any age below 0.5 after 12 hours."""
    # At once below 0.5: 3 · 0.5^(age/12 h) < 1.5. Within the first day the rail grace holds.
    left = curate(
        applied,
        memory("read", "Notification", 25 * HOUR, read=True, **LONG),
        memory("critical", "Notification", 25 * HOUR, read=False, priority="critical", **LONG),
        memory("some worth", "Notification", 25 * HOUR, read=True, confidence=0.5),
        memory("its half", "Notification", 84 * HOUR, read=True, confidence=0.48),
        memory("before its half", "Notification", 84 * HOUR - SECOND, read=True, confidence=0.48),
        # 2.5 + 3 · 0.5^(age/45 d) - 1.5 < 1.5 after 45 · log2(6) days.
        memory("no TTL", "MemoryEntry", after_half_lives(45 * DAY, 6), **LONG),
        memory("not yet", "MemoryEntry", after_half_lives(45 * DAY, 6) - SECOND, **LONG),
        memory("pinned", "MemoryEntry", 400 * DAY, pinned=True, **LONG),
        memory("no kind of the table", "KnowledgeChunk", 400 * DAY, **LONG),
    )
    assert pruned(left) == {"read", "its half", "no TTL"}
    assert left["pinned"]["curation_rails"] == ["pinned"]


def test_where_nobody_reports_accesses_the_score_takes_nothing(applied: Jochi) -> None:
    left = curate(applied, memory("m", "MemoryEntry", 400 * DAY, tier="WARM", **LONG), first=None)
    assert not pruned(left)
    assert (left["m"]["tier"], left["m"]["mvs"]) == ("WARM", pytest.approx(1.0 + 3 * 0.5 ** (400 / 45)))


def test_a_fall_below_three_is_one_tier_down_once(applied: Jochi) -> None:
    """2.5 + 3 · 0.5^(age/45 d) - 1.5 < 3 after 45 · log2(1.5) days without a use; two this week, so it stays in WARM otherwise."""
    falls = after_half_lives(45 * DAY, 1.5)
    used = {"access_day": NOW.date(), "access_days": [2, 0, 0, 0, 0, 0, 0], **LONG}

    def idle(id: str, since: timedelta, *links: Link, tier: str = "WARM", **properties: Any) -> Memory:
        return memory(
            id, "MemoryEntry", 100 * DAY, *links, last_accessed_at=NOW - since, tier=tier, **used, **properties
        )

    session = Link("X", "in", ("SessionContext",), {"active": True})
    left = curate(
        applied,
        idle("nearly", falls - SECOND),
        idle("fallen", falls),
        idle("moved since", falls, tier_at=NOW),
        idle("moved before", falls, tier_at=NOW - SECOND),
        idle("in a session", falls, session),
        idle("held", falls, hold_until=NOW + DAY),
        idle("far away", falls, tier="ARCHIVE"),
        memory("idle, too", "MemoryEntry", after_half_lives(45 * DAY, 1.5), tier="WARM", **used),
    )
    assert {id: one["tier"] for id, one in left.items()} == {
        "nearly": "WARM",
        "fallen": "COLD",
        "moved since": "WARM",
        "moved before": "COLD",
        "in a session": "WARM",
        "held": "WARM",
        "far away": "ARCHIVE",
        "idle, too": "COLD",
    }
    assert left["fallen"].moved == ("COLD", "score.demotes", "WARM", NOW)
    assert {left[id]["mvs_low_at"] for id in left} == {NOW, None}
    assert left["nearly"]["mvs_low_at"] is None
    due_again(applied, NOW + DAY / 2)
    left = look(applied, NOW + DAY / 2)
    assert (left["fallen"]["tier"], left["fallen"]["mvs_low_at"]) == ("COLD", NOW)
    assert left["idle, too"].moved[:2] == ("ARCHIVE", "tier.cold_never")  # in COLD, where it never was used
    due_again(applied, NOW + DAY)
    assert look(applied, NOW + DAY)["held"].moved[:2] == ("COLD", "score.demotes")  # low since before, moved by nothing


def test_a_look_stores_the_score_and_what_its_band_asks_for(applied: Jochi) -> None:
    whole = {"keywords": ["k"], "token_count": 5, "embedding": [1.0] * 384, "confidence": 0.0}
    left = curate(
        applied,
        memory("lean and long", "Recommendation", 30 * DAY, token_count=201, confidence=0.0),
        memory("lean", "Recommendation", 30 * DAY, token_count=200, confidence=0.0),
        memory("poor", "MemoryEntry", 30 * DAY),
        memory("poor and whole", "MemoryEntry", 30 * DAY, **whole),
        memory("claims", "Recommendation", 60 * DAY, **whole | {"confidence": None, "token_count": 2000}),
        memory("fact", "Fact", 30 * DAY),
    )
    asked = {id: (one["needs_compression"], one["needs_improvement"]) for id, one in left.items()}
    assert asked == {
        "lean and long": (True, None),
        "lean": (None, None),
        "poor": (None, ["embedding", "tokens", "keywords"]),
        "poor and whole": (None, None),
        "claims": (None, ["confidence"]),
        "fact": (None, None),
    }
    assert (left["poor"]["mvs"], left["poor"]["mvs_at"]) == (pytest.approx(2.5 + 3 * 0.5 ** (30 / 45)), NOW)
    assert (left["poor"]["prepare_due"], left["poor"]["embed_due"]) == (NOW, NOW)
    assert (left["claims"]["prepare_due"], left["fact"]["mvs"]) == (None, None)
    listed = {one.key: one.missing for one in applied.improvable("default")}
    assert listed == {"default/poor": ("embedding", "tokens", "keywords"), "default/claims": ("confidence",)}
    assert [one.key for one in applied.improvable()] == sorted(listed)
    assert list(applied.improvable("other")) == []
    applied.database.run(
        "MATCH (m:Curated {id: 'poor'}) SET m.keywords = ['k'], m.token_count = 1, m.embedding_unknown = 0.5"
    )
    applied.database.run("MATCH (m:Curated {id: 'lean and long'}) SET m.token_count = 200")
    due_again(applied, NOW + HOUR)
    left = look(applied, NOW + HOUR)
    assert [left[id]["needs_improvement"] or left[id]["needs_compression"] for id in ("poor", "lean and long")] == [
        None,
        None,
    ]
    assert [one.key for one in applied.improvable()] == ["default/claims"]


def test_what_waits_for_a_merge_is_not_improved(applied: Jochi) -> None:
    write(applied, [memory(id, "MemoryEntry", 30 * DAY) for id in ("a", "b", "flagged", "c")])
    applied.database.run(
        "UNWIND [['a', 'b', $now], ['flagged', 'c', null]] AS row MATCH (a:Curated {id: row[0]}) MATCH (b:Curated {id: row[1]}) "
        "CREATE (a)-[:SIMILAR_TO {verdict: CASE WHEN row[2] IS NULL THEN 'flag' ELSE 'merge' END, merge_due: row[2]}]->(b)",
        {"now": NOW},
    )
    found = {
        one.key: one.action for one in applied.score([f"default/{id}" for id in ("a", "b", "flagged", "c")], at=NOW)
    }
    assert found == {"default/a": "merge", "default/b": "merge", "default/flagged": "improve", "default/c": "improve"}
    left = look(applied)
    assert {id for id, one in left.items() if one["needs_improvement"]} == {"flagged", "c"}


def test_the_list_of_what_could_be_added_is_read_page_by_page(applied: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "PAGE", 3)
    curate(applied, *(memory(f"m{i}", "MemoryEntry", 30 * DAY) for i in range(7)))
    assert [one.key for one in applied.improvable()] == [f"default/m{i}" for i in range(7)]


def test_explain_and_plan_tell_what_the_score_does(applied: Jochi) -> None:
    write(
        applied,
        [
            memory("m", "MemoryEntry", 400 * DAY, tier="WARM", pinned=True, **LONG),
            memory("a", "Analysis", 60 * DAY, severity="low"),
        ],
    )
    said = applied.explain("m", at=NOW)
    assert (said.outcome, said.rule) == ("protected", "score.prunes")
    rules = {rule.rule: rule for rule in said.rules}
    assert rules["score.prunes"].due == NOW
    assert rules["score.demotes"].met
    kept = {rule.rule: rule for rule in applied.explain("a", at=NOW).rules}["analysis.minor"]
    assert (kept.due, kept.met) == (NOW + 60 * DAY, False)  # twice its TTL
    assert kept.conditions[-1]["current"] == 8.5
    assert {(g.outcome, g.rule) for g in applied.plan(NOW).groups} == {("protected", "score.prunes"), ("keep", None)}


def test_the_command_line_tells_it_term_by_term(jochi: Jochi, server: TestServer) -> None:
    write(
        jochi,
        [memory("m", "Analysis", 60 * DAY, severity="high", confidence=0.5, token_count=750, pinned=True)],
        first=None,
    )
    options = ["--uri", server.uri, "--user", server.user, "memory", "score", "--at", NOW.isoformat()]
    shown = CliRunner().invoke(app, [*options, "m"], env={"JOCHI_PASSWORD": server.password, "COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    for said in ("-0.7500", "up to 2.0000", "9.0500", "band keep", "750 tokens of 500", "pinned"):
        assert said in shown.output
    refused = CliRunner().invoke(app, [*options, "m", "other/none"], env={"JOCHI_PASSWORD": server.password})
    assert refused.exit_code != 0
    assert "no live memory has the key other/none" in refused.output + refused.stderr + str(refused.exception)


def test_without_it_rules_are_alone(install_once: Callable[[LoadedPolicy], Jochi], rules_alone: LoadedPolicy) -> None:
    """The score is reported, and does nothing."""
    client = install_once(rules_alone)
    client.apply()
    left = curate(
        client,
        memory("a", "Analysis", 60 * DAY, severity="low"),
        memory("m", "MemoryEntry", 400 * DAY, tier="ARCHIVE", **LONG),
    )
    assert pruned(left) == {"a"}
    assert {left["m"][name] for name in ("mvs", "mvs_at", "needs_improvement", "prepare_due")} == {None}
    assert client.score(["default/m"], at=NOW)[0].action == "prune"
    assert run_job(client.engine, "curate_due", now=NOW, drain=True)
