"""What the value by five signals does (seed 001, Multi-Signal Value Scoring; docs/reference/value.md): moves to ARCHIVE,
uniqueness, and that nothing of it is left behind. Its numbers are the property test's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PolicyWith, say_go
from tests.curation_looks import DAY, HOUR, NOW, SECOND, Left, curate, due_again, look
from tests.duplicate_pairs import LATER, NOON, Pairs, at_cosine
from tests.oracle import Link, Memory

from jochi import Jochi
from jochi.errors import Refused
from jochi.forgetting import VARIABLE, Request
from jochi.policy import LoadedPolicy, load_policy

pytestmark = pytest.mark.server

CLASSIFYING = "[classification]\nclassifying = true\n"
FALLS = timedelta(days=25.5)
"""After this an entry that was used once is worth 0.5 at best: 0.125 + 0.2 + 0.15 + 0.0025, and 15 % of recency's 0.15."""


@pytest.fixture
def applied(install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith) -> Jochi:
    client = install_once(policy_with(CLASSIFYING + "[value]\nover_ttl = false"))
    say_go(client)
    return client


def entry(id: str, *links: Link, used: datetime = NOW - FALLS, kind: str = "MemoryEntry", **more: Any) -> Memory:
    properties = {"created_at": NOW - 100 * DAY, "last_accessed_at": used, "access_count": 1, "tier": "COLD"}
    return Memory(id, (kind,), properties | more, links=links)


def test_what_is_of_little_value_is_archived_once_and_rails_first(applied: Jochi) -> None:
    session = Link("IN", "out", ("SessionContext",), {"active": True})
    task = Link("IN", "out", ("Task",), {"status": "in_progress"})
    young = {"created_at": NOW - 24 * HOUR, "access_count": 0, "confidence": 0.0, "used": NOW - 40 * DAY}
    left = curate(
        applied,
        entry("worth"),
        entry("soon", used=NOW - FALLS + timedelta(seconds=0.9996)),
        entry("fell", used=NOW - FALLS - SECOND),
        entry("hot", used=NOW - FALLS - SECOND, tier="HOT"),
        entry("used_now", session, used=NOW - FALLS - SECOND),
        entry("worked_on", task, used=NOW - FALLS - SECOND),
        entry("pinned", used=NOW - FALLS - SECOND, hold_until=NOW + DAY),
        entry("moved_since", used=NOW - FALLS - SECOND, tier_at=NOW),
        entry("moved_before", used=NOW - FALLS - SECOND, tier_at=NOW - SECOND),
        entry("of_age", **young),
        entry("young", **young | {"created_at": NOW - 24 * HOUR + SECOND}),
        entry("of_no_kind", used=NOW - FALLS - SECOND, kind="Concept"),
    )
    by_value = {"fell", "hot", "moved_before", "of_age"}
    assert {id for id, one in left.items() if one["tier_reason"] == "value.archives"} == by_value
    assert {left[id].moved for id in by_value} == {
        ("ARCHIVE", "value.archives", "COLD", NOW),
        ("ARCHIVE", "value.archives", "HOT", NOW),
    }
    assert left["pinned"]["curation_rails"] == ["hold"]
    assert _due(left["worth"]) >= NOW + DAY  # the horizon

    told = applied.explain("default/fell", at=NOW).value
    assert told
    assert (told["tier"], told["low_since"]) == ("ARCHIVE", NOW)
    words = applied.explain("default/fell", at=NOW).value_words
    assert words.startswith("tier ARCHIVE: its value ")
    assert f"at best {told['best']:.3f}, is below 0.5; frequency 0.010 takes most of it" in words
    for id in ("worth", "soon"):  # the next whole second it is below
        for at, due in ((NOW, None), (NOW + SECOND, NOW + SECOND)):
            found = next(r for r in applied.explain(f"default/{id}", at=at).rules if r.rule == "value.archives")
            assert (found.due, found.met) == (due, due is not None), (id, at)

    # It is low since the first look that found it so: what was moved then stays where it is.
    due_again(applied, NOW + HOUR)
    assert look(applied, NOW + HOUR)["moved_since"]["tier"] == "COLD"

    # A use brings it back as ever; it doesn't fall again before the next time that its value does.
    run = applied.database.run(
        "MATCH (r:JochiJobRun {job: 'curate_due'}) RETURN r.id AS id ORDER BY r.started_at LIMIT 1"
    )
    applied.undo(run[0]["id"], now=NOW)
    tiers = {
        row["id"]: row["tier"] for row in applied.database.run("MATCH (m:Curated) RETURN m.id AS id, m.tier AS tier")
    }
    assert {tiers[id] for id in by_value} == {"COLD", "HOT"}


def test_an_upgrade_moves_nothing_before_somebody_said_go(
    install_once: Callable[[LoadedPolicy], Jochi], rules_alone: LoadedPolicy, policy_with: PolicyWith
) -> None:
    """Where values were off until now: the shipped policy has them on."""
    assert load_policy().policy.classification.classifying
    before = install_once(rules_alone)
    say_go(before)
    left = curate(before, entry("fell", used=NOW - FALLS - SECOND), entry("worth", used=NOW))
    assert {one["tier"] for one in left.values()} == {"COLD"}
    client = Jochi(before.database.driver, policy=policy_with(CLASSIFYING + "[value]\nover_ttl = false"))
    done = client.install(arm=False)
    assert (done.verdict_changed, done.needs_apply) == (True, True)
    client.run("requeue", now=NOW + SECOND, drain=True)
    with pytest.raises(Refused, match="nobody has said go"):
        client.run("curate_due", now=NOW + SECOND)
    plan = client.plan(NOW + SECOND)
    assert [(group.rule, group.samples) for group in plan.groups if group.outcome == "demote"] == [
        ("value.archives", ["default/fell"])
    ]
    assert not client.database.run("MATCH (m:Curated {tier: 'ARCHIVE'}) RETURN m.id")
    client.apply(plan)
    assert {id for id, one in look(client, NOW + SECOND).items() if one["tier"] == "ARCHIVE"} == {"fell"}


def _due(one: Left) -> datetime:
    due = one["next_due"]
    assert isinstance(due, datetime)
    return due


@pytest.mark.parametrize("exact_up_to", [200, 1])
def test_uniqueness_is_of_the_nearest_in_its_scope_of_any_kind(
    install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith, exact_up_to: int
) -> None:
    """One by one (as shipped), and by the index, whose cosines are a little off; a scope is read once for this and its pairs."""
    tables = "" if exact_up_to == 200 else f"\n[duplicates]\nexact_up_to = {exact_up_to}\nwidest = 3"
    pairs = Pairs(install_once(policy_with(f"{CLASSIFYING}[value]\nover_ttl = false{tables}")))
    size = pairs.dimensions
    act = "MATCH (p:JochiProcedure {name: 'dedup/find_duplicates'}) RETURN size(split(p.act, 'o.key STARTS WITH prefix')) - 1 AS n"
    assert pairs.client.database.run(act) == [{"n": 1}]
    pairs.add("a", 1.0)
    pairs.add("b", 0.6, kind="Note", created_at=NOW - DAY)
    pairs.add("c", at_cosine(0.3, size, 2))
    pairs.add("elsewhere", 1.0, scope="t")
    pairs.add("without")
    pairs.find(now=LATER)
    rows = pairs.client.database.run(
        "MATCH (m:Curated) RETURN m.key AS key, m.nearest AS nearest, m.nearest_hash = m.embedding_hash AS of_it, "
        "m.nearest_at = $at AS at, m.next_due <= $at AS due",
        {"at": LATER},
    )
    found = {row["key"]: row["nearest"] for row in rows if row["of_it"] and row["at"] and row["due"]}
    assert found == pytest.approx({"s/a": 0.6, "s/b": 0.6, "s/c": 0.3, "t/elsewhere": 0.0}, abs=0.05)
    # Those that come later are looked for again after a while.
    pairs.client.database.run("MATCH (m:Curated) SET m.next_due = $at", {"at": LATER})
    say_go(pairs.client)
    for days, waits in ((30, 0), (31, 4)):
        at = LATER + timedelta(days=days)
        pairs.client.database.run("MATCH (m:Curated) SET m.next_due = $at, m.pinned = true", {"at": at})
        pairs.client.run("curate_due", now=at)
        n = pairs.client.database.run("MATCH (m:Curated) WHERE m.similar_due = $at RETURN count(m) AS n", {"at": at})
        assert n[0]["n"] == waits


MADE = """
MATCH (decision:Fact {id: 'decision'}), (artifact:Artifact), (batch:TurnBatch)
MATCH (summary:Note), (lesson:Reflection), (keywords:Synthesis)
CREATE (decision)-[:QUOTES]->(artifact), (decision)-[:DERIVED_FROM]->(batch), (artifact)-[:DERIVED_FROM]->(batch),
  (summary)-[:DERIVED_FROM]->(decision), (decision)-[:SUMMARIZED_TO]->(lesson), (keywords)-[:DERIVED_FROM]->(summary)
WITH *
MATCH (chunk:KnowledgeChunk)
WITH collect(chunk) AS chunks
CREATE (document:Document)
FOREACH (chunk IN chunks | CREATE (chunk)-[:PART_OF]->(document))
"""
"""What observing, compressing and chunking leave behind one statement."""


@pytest.mark.parametrize("exact_up_to", [200, 1])
def test_what_has_the_same_origin_takes_no_uniqueness(
    install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith, exact_up_to: int
) -> None:
    tables = "" if exact_up_to == 200 else f"\n[duplicates]\nexact_up_to = {exact_up_to}"
    pairs = Pairs(install_once(policy_with(f"{CLASSIFYING}[value]\nover_ttl = false{tables}")))
    copies = {
        "artifact": "Artifact",
        "batch": "TurnBatch",
        "summary": "Note",
        "lesson": "Reflection",
        "keywords": "Synthesis",
    }
    pairs.add("decision", 1.0, kind="Fact")
    for id, kind in copies.items():
        pairs.add(id, 0.99, kind=kind)
    # Another fact of the same turns says something of its own, and is compared.
    pairs.add("neighbour", 0.6, kind="Fact")
    pairs.client.database.run("MATCH (m {id: 'neighbour'}), (b:TurnBatch) CREATE (m)-[:DERIVED_FROM]->(b)")
    for n, axis in enumerate((5, 6)):
        pairs.add(
            f"chunk{n}",
            [0.0, 0.0, 0.0, 1.0, *([0.0] * (axis - 4)), 0.01, *([0.0] * (pairs.dimensions - axis - 1))],
            kind="KnowledgeChunk",
        )
    pairs.client.database.run(MADE)
    pairs.find(now=LATER)
    rows = pairs.client.database.run("MATCH (m:Curated) RETURN m.id AS id, m.nearest AS nearest")
    nearest = {row["id"]: row["nearest"] for row in rows}
    assert nearest["decision"] == pytest.approx(0.6, abs=0.05)
    assert nearest["neighbour"] == pytest.approx(0.707, abs=0.05)  # the summary of the other one
    assert max(nearest[f"chunk{n}"] for n in (0, 1)) < 0.2
    # The same words from elsewhere do make it less unique.
    pairs.add("again", 0.97, kind="Note")
    pairs.change("s/decision")
    pairs.find(now=LATER)
    [row] = pairs.client.database.run("MATCH (m:Fact {id: 'decision'}) RETURN m.nearest AS nearest")
    assert row["nearest"] == pytest.approx(0.97, abs=0.05)


def test_explain_says_which_figure_decided(applied: Jochi) -> None:
    """On both sides of KEEP: what is like another memory, and what isn't."""
    pairs = Pairs(applied)
    known = {"confidence": 1.0, "access_count": 80, "last_accessed_at": NOON, "state": "active"}
    for id, vector in (("like", 1.0), ("nearly", 0.97)):
        pairs.add(id, vector, **known)
    pairs.add("alone", at_cosine(0.0, pairs.dimensions, 5), **known)
    pairs.find()
    like, alone = (applied.explain(f"s/{id}", at=NOON) for id in ("like", "alone"))
    assert like.value
    assert alone.value
    assert (like.value["tier"], alone.value["tier"]) == ("SUMMARIZE", "KEEP")
    assert next(iter(like.lost_by_signal)) == "uniqueness"
    assert sum(like.lost_by_signal.values()) == pytest.approx(1 - like.value["value"], abs=1e-9)
    assert f"uniqueness {like.value['uniqueness']:.3f} takes most of it" in like.value_words
    assert f"(another memory has the cosine {like.value['nearest']:.3f})" in like.value_words
    assert alone.value_words == f"tier KEEP: its value {alone.value['value']:.3f} is at least 0.8"


def test_nothing_is_left_of_the_value_of_what_is_gone(
    applied: Jochi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    pairs, later = Pairs(applied), NOON + 10 * DAY
    for id, more in {
        "same": {"content": "Said twice"},
        "same again": {"content": "Said twice"},
        "expires": {"expires_at": later - 2 * DAY},
        "forgotten": {},
        "stays": {},
    }.items():
        pairs.add(id, kind="Note", **more | {"next_due": NOON})
    assert _valued(applied, NOON) == {"s/same", "s/same again", "s/expires", "s/forgotten", "s/stays"}
    # What an app has under the same label is the app's.
    applied.database.run(
        "MATCH (m:Curated {id: 'expires'}) CREATE (m)-[:HAS_VALUE]->(:ValueClassification {id: 'of an app'})"
    )
    pairs.find()
    applied.run("merge_duplicates", now=later)
    assert len(merged := _valued(applied, later)) == 3
    assert "s/expires" not in merged
    applied.forget(Request(keys=("s/forgotten",)), now=later)
    assert len(_valued(applied, later)) == 2
    applied.restore(["s/expires"], now=later)
    assert len(_valued(applied, later)) == 3
    # A policy that classifies its kind no more is as one that never did.
    pairs.add("source", kind="Source")
    applied.database.run("MATCH (m:Curated {id: 'source'}) CREATE (m)-[:HAS_VALUE]->(:ValueClassification:JochiValue)")
    assert "s/source" not in _valued(applied, later)
    own = "MATCH (v:ValueClassification) WHERE NOT v:JochiValue RETURN v.id AS id"
    assert [row["id"] for row in applied.database.run(own)] == ["of an app"]


def _valued(client: Jochi, now: datetime) -> set[str]:
    """Looks at all that is due, and says whose value there is."""
    client.database.run("MATCH (m:Curated) SET m.next_due = $now", {"now": now})
    client.run("curate_due", now=now)
    rows = client.database.run(
        "MATCH (v:JochiValue) RETURN COLLECT { MATCH (m)-[:HAS_VALUE]->(v) RETURN m.key } AS keys"
    )
    assert all(len(row["keys"]) == 1 for row in rows)
    return {row["keys"][0] for row in rows}
