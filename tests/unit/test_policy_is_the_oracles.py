"""The numbers of the policy that Jochi ships against those that the oracle took from seeds 002 and 003, each by itself.

Tests on a server use the shipped numbers, so one that is wrong in both would be seen nowhere; one that is wrong in the policy only
where a test comes near its threshold.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import (
    Memory,
    activation,
    edges,
    fact_expiry,
    fact_recall,
    fact_states,
    fact_tiers,
    facts,
    notes,
    policies,
    salience,
    spacing,
    states,
    value,
    value_and_ttl,
    value_bands,
    verdict,
)
from tests.oracle.rails import GRACE
from tests.oracle.rules_living import LIVING
from tests.oracle.task_statuses import ACTIVE

from jochi.policy import load_policy
from jochi.policy.model import Policy
from jochi.policy.parts import Part
from jochi.policy.rules import Condition

NOW = datetime(2026, 6, 15, tzinfo=timezone.utc)
DAY = timedelta(days=1)
AT_ONCE = timedelta(0)


@pytest.fixture(scope="module")
def shipped() -> Policy:
    return load_policy(None).policy


def numbers(part: Part, *without: str) -> dict[str, Any]:
    return {name: getattr(part, name) for name in type(part).model_fields if name not in without}


def test_facts(shipped: Policy) -> None:
    of = shipped.facts
    tiers = [(tier.name, -math.inf if tier.from_ is None else tier.from_) for tier in of.confidence_tiers]
    assert tuple(tiers) == facts.TIERS
    assert {tier.name: tier.weight for tier in of.confidence_tiers} == facts.WEIGHTS
    assert numbers(of, "confidence_tiers", "heat", "decay", "worth", "recall", "protected_categories") == {
        "unknown_weight": facts.UNKNOWN_WEIGHT,
        "importance": facts.DEFAULT_IMPORTANCE,
        "many_accesses": facts.MANY,
        "recent": facts.RECENT_DAYS * DAY,
        "old": facts.OLD_DAYS * DAY,
        "unused": facts.IDLE_DAYS * DAY,
        "disputed": facts.DISPUTED,
        "unimportant": fact_expiry.ARCHIVAL_IMPORTANCE,
        "filter_stale": not fact_recall.is_found(Memory("f", ("Fact",), {"state": "stale"})),
    }
    assert sorted(of.protected_categories) == sorted(fact_states.PROTECTED)
    assert numbers(of.recall) == fact_recall.DELTAS | {"disputed": fact_recall.DISPUTED}


def test_what_scores_are_made_of(shipped: Policy) -> None:
    """Each share by what the oracle's score gains where its input goes from 0 to 1, or from what it is to 1."""
    of = shipped.facts
    doubted, sure, used, little = {"confidence": 0.1}, {"confidence": 1.0}, {"access_count": 20}, {"importance": 0.0}
    steps: dict[str, tuple[dict[str, Any], dict[str, Any], float]] = {
        "confidence": (doubted, sure, 0.65),
        "access": ({}, used, 1),
        "recency": ({"last_accessed_at": NOW - 200 * DAY}, {"last_accessed_at": NOW}, 1),
        "importance": (little, {"importance": 1.0}, 1),
    }

    def gains(score: Any) -> dict[str, float]:
        said = {name: (score(fact(**then)) - score(fact(**before))) / by for name, (before, then, by) in steps.items()}
        neutral, best = (score(fact(), facts.Signals(feedback=feedback)) for feedback in (0.0, 1.0))
        return said | {"feedback": (best - neutral) / 0.5}

    def heat(some: Memory, signals: facts.Signals = facts.NEUTRAL) -> float:
        return facts.heat(some, NOW, signals)

    def worth(some: Memory, signals: facts.Signals = facts.NEUTRAL) -> float:
        return fact_tiers.value(some, NOW, signals)

    def decay(some: Memory, signals: facts.Signals = facts.NEUTRAL, *, first: datetime | None = None) -> float:
        return facts.decay(some, NOW, first, signals)

    def near(**of: float) -> Any:
        return pytest.approx(of, abs=1e-9)

    assert numbers(of.heat) == near(**gains(heat))
    besides = {
        "correction": worth(fact(category="correction")) - worth(fact()),
        "confirmed": worth(fact(verification_state="user_confirmed")) - worth(fact()),
        "disputed": (worth(fact()) - worth(fact(verification_state="disputed"))) / facts.DISPUTED,
    }
    assert numbers(of.worth) == near(**gains(worth), **besides)
    idle, falls = fact(last_accessed_at=NOW - 200 * DAY), gains(decay)
    cold = -falls["importance"] / of.heat.importance
    assert numbers(of.decay) == near(
        age=decay(idle) - decay(fact(updated_at=NOW, last_accessed_at=NOW - 200 * DAY)),
        idle=decay(idle, first=NOW - 400 * DAY) - decay(idle),
        doubt=-falls["confidence"] - cold * of.heat.confidence,
        feedback=-falls["feedback"] - cold * of.heat.feedback,
        cold=cold,
    )


def fact(**properties: Any) -> Memory:
    """Warm enough that no score is held to 0."""
    given = {"created_at": NOW - 400 * DAY, "confidence": 0.7, "importance": 0.5, "last_accessed_at": NOW - DAY}
    return Memory("f", ("Fact",), given | properties)


def test_salience(shipped: Policy) -> None:
    assert numbers(shipped.salience) == {
        "initial": salience.INITIAL,
        "per_day": salience.BASE_RATE,
        "steady_from": salience.STEADY_FROM,
        "doubt": salience.candidate_factor(0) - 1,
        "gain_least": salience.LEAST_ALPHA,
        "gain_most": salience.MOST_ALPHA,
        "gradient": salience.GRADIENT,
        "gradient_longer": spacing.LONGER,
        "gradient_shorter": -spacing.SHORTER,
        "gradient_least": salience.LEAST_GRADIENT,
        "core_from": states.CORE_FROM,
    }


def test_edges(shipped: Policy) -> None:
    assert numbers(shipped.edges, "types", "look_every", "batch_edges", "widest", "fan_out") == {
        "grace": edges.GRACE,
        "window": edges.WINDOW,
        "per_window": edges.PER_WINDOW,
        "floor": edges.FLOOR,
        "reinforce": edges.REINFORCE,
        "cap": edges.CAP,
        "faded": salience.FADED,
        "ephemeral": policies.SEMANTIC_LIFE,
        "visible": activation.VISIBLE,
        "hops": activation.HOPS,
        "hop_decay": activation.HOP_DECAY,
        "iterations": activation.ITERATIONS,
        "damping": activation.DAMPING,
    }
    # Each type has the numbers of all.
    assert [
        numbers(entry) for entry in shipped.edges.types if numbers(entry, "type", "one_way", "lifecycle") != NOTHING_OWN
    ] == []
    assert shipped.edges.living == ["RELATED_TO"]


NOTHING_OWN = dict.fromkeys(("grace", "window", "per_window", "floor", "reinforce"))

FADED = ("salience", "<", salience.FADED)
RULES: dict[str, tuple[str, timedelta, list[tuple[str, str, Any]], str | None]] = {
    "semantic.owner": ("state", AT_ONCE, [], "core"),
    "semantic.ephemeral": ("archive", policies.SEMANTIC_LIFE, [], None),
    "semantic.faded": ("archive", AT_ONCE, [FADED], None),
    "episodic.ephemeral": ("archive", policies.EPISODIC_LIFE, [], None),
    "episodic.faded": ("archive", AT_ONCE, [FADED], None),
    "fact.speculative": ("prune", fact_expiry.SPECULATIVE_LIFE, [], None),
    "fact.resolved": ("prune", fact_expiry.RESOLVED_LIFE, [], None),
    "fact.unimportant": (
        "archive",
        fact_expiry.ARCHIVAL_AGE,
        [("access_count", "<", fact_expiry.ARCHIVAL_ACCESSES + 1)],
        None,
    ),
    "fact.faded": ("archive", AT_ONCE, [("decay_score", ">=", fact_states.ARCHIVE_DECAY)], None),
    "fact.disputed": ("state", AT_ONCE, [], "stale"),
    "fact.stale": ("state", AT_ONCE, [("decay_score", ">=", fact_states.STALE_DECAY)], "stale"),
    "fact.warm_and_vouched_for": ("state", AT_ONCE, [("heat_score", ">=", fact_states.PROMOTE_HEAT)], "active"),
    "fact.warm": ("state", AT_ONCE, [("heat_score", ">=", fact_states.PROMOTE_HEAT)], "validated"),
}


def test_lifecycles(shipped: Policy) -> None:
    """In the order in which the first that holds decides."""
    said = {
        rule.name: (rule.action, rule.after, [*map(compared, rule.when)], rule.state)
        for lifecycle in shipped.lifecycles.values()
        for rule in lifecycle.rules
    }
    assert said == RULES
    assert list(said) == list(RULES)
    lives = {name: kind.lifecycle for name, kind in shipped.kinds.items() if kind.lifecycle}
    assert {name for name, lifecycle in lives.items() if lifecycle == "episodic"} == policies.EPISODIC
    assert tuple(name for name, lifecycle in lives.items() if shipped.lifecycles[lifecycle].salience) == LIVING
    assert [name for name, lifecycle in lives.items() if lifecycle == "factual"] == ["Fact"]


def compared(condition: Condition) -> tuple[str, str, Any]:
    return condition.subject, condition.operator, condition.value


def test_notes(shipped: Policy) -> None:
    rules = shipped.kinds["Note"].rules
    assert {rule.when[0].value: rule.after for rule in rules} == notes.LIFETIMES
    assert {rule.name for rule in rules} == {f"note.{life}" for life in notes.LIFETIMES}
    assert {rule.unless_at_most for rule in (*rules, *shipped.any_kind.rules)} == {notes.LONGEST_WAIT}


def test_tiers_by_value(shipped: Policy) -> None:
    rules = {rule.name: rule for rule in shipped.tier_rules if rule.by_value}
    assert {name: [*map(compared, rule.when)] for name, rule in rules.items()} == {
        "tier.fact_of_value": [("tier_value", ">=", fact_tiers.PROMOTE_AT)],
        "tier.fact_of_little_value": [("tier_value", "<=", fact_tiers.DEMOTE_AT)],
    }
    assert rules["tier.fact_of_little_value"].after == fact_tiers.DEMOTE_AGE_DAYS * DAY
    assert [rule.class_ for rule in rules.values() if rule.down] == [timedelta(minutes=verdict.TIER_CLASS_MINUTES)]
    assert {(rule.from_, rule.to) for rule in rules.values()} == {("COLD", "HOT"), ("HOT", "COLD")}


def test_the_value_score(shipped: Policy) -> None:
    of = shipped.value
    # The seed's row for Belief and Task holds under a condition; the oracle has them as sets and a threshold.
    rows = {row.kind: value.Worth(row.weight, row.half_life) for row in of.kinds}
    assert rows == value.TABLE
    assert [row.kind for row in of.kinds] == list(value.TABLE)
    assert value.Worth(of.other.weight, of.other.half_life) == value.OTHER
    targets = {row.kind: row.target for row in of.kinds} | of.targets
    assert {kind: targets.get(kind, of.other_target) for kind in {*value.TARGETS, *targets}} == {
        kind: value.TARGETS.get(kind, value.OTHER_TARGET) for kind in {*value.TARGETS, *targets}
    }
    assert of.other_target == value.OTHER_TARGET
    held = {row.kind: (row.when.property, frozenset(row.when.one_of)) for row in of.kinds if row.when}
    assert held == {"Task": ("status", ACTIVE), "Belief": ("state", value.ACTIVE_BELIEF)}
    above = {row.kind: row.confidence_above for row in of.kinds if row.confidence_above is not None}
    assert above == {"Belief": value.SURE_ABOVE}
    assert numbers(of.terms) == {
        "recency": value.RECENCY,
        "frequency": value.FREQUENCY,
        "many_accesses": value.MANY,
        "quality": value.QUALITY,
        "centrality": value.CENTRALITY,
        "relationships": value.LINKED,
        "per_agent": value.PER_AGENT,
        "cross_agent": value.CROSS_AGENT,
        "bloat": value.BLOAT,
    }
    assert of.severities == value.SEVERITIES
    assert [*of.bands.in_order.items()] == list(value_bands.BANDS[:-1])
    assert (set(of.at_once), set(of.claims)) == (value_bands.AT_ONCE, value_bands.CLAIMS)
    assert {label for label, kind in shipped.labels().items() if not kind.embed} == value_bands.NOT_EMBEDDED
    assert (of.most_lives, of.grace, of.profile) == (value_and_ttl.MOST_LIVES, GRACE, "seed")
    rules = {rule.name: rule.after for rule in shipped.all_rules()}
    assert {name: rules[name] for name in shipped.ttl_rules()} == value_and_ttl.SPANS
    assert set(shipped.without_ttl()) == value_and_ttl.WITHOUT_TTL
