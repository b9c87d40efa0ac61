"""What seed 003's scores are made of: confidence tiers, value inputs, heat and decay (peers A3, lifecycle.ts).

Ours, where seed and peers are silent:
- The number decides the confidence tier where there is one; the stored tier stands in. Neither: weight 0.5, and no tier.
- What can't be read counts as absent here, for a score takes nothing away ("fail-open"); numbers are held to their range.
- Age runs from updated_at, else created_at: what was written anew is young. Neither: 365 days, as for recency. Never below 0.
- Idle runs from last_accessed_at, else created_at (DESIGN §4), so a newborn isn't idle; and not before the scope's first reported
  access. In a scope without one nothing is idle: 0 days (DESIGN §8).
- Feedback, its prior (-1 to 1 each) and causal (0 to 1) are signals that somebody hands in; absent they are 0. Feedback risk is
  1 - feedback.
- Every share and every score is held to 0–1. Scores are rounded to 12 places, so that the order of adding decides no tie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.oracle.memory import Memory, is_number

TIERS = (("explicit", 0.95), ("implied", 0.70), ("inferred", 0.40), ("speculative", -math.inf))
"""From which confidence on (peers A3, Confidence tiers; seed 003, Speculative TTL: below 0.40)."""
WEIGHTS = {"explicit": 1.0, "implied": 0.8, "inferred": 0.6, "speculative": 0.35}
UNKNOWN_WEIGHT = 0.5
UNKNOWN_DAYS = 365.0
DEFAULT_IMPORTANCE = 0.5
DISPUTED = 0.2
RECENT_DAYS = 90
OLD_DAYS = 180
IDLE_DAYS = 120
MANY = 20
"""Accesses beyond which more add nothing: ln(1 + n) / ln 21."""


@dataclass(frozen=True)
class Signals:
    """What somebody says about a fact from outside."""

    feedback: float = 0.0
    prior: float = 0.0
    causal: float = 0.0


NEUTRAL = Signals()


@dataclass(frozen=True)
class Inputs:
    """The value inputs, 0–1 each (seed 003, Hot/Cold Tier Routing Signals)."""

    confidence: float
    access: float
    recency: float
    importance: float
    feedback: float
    disputed: float


def confidence_tier(fact: Memory) -> str | None:
    """explicit | implied | inferred | speculative; None: can't be known."""
    confidence = fact.get("confidence")
    if is_number(confidence):
        return next(name for name, least in TIERS if confidence >= least)
    stored = fact.get("confidence_tier")
    return stored if isinstance(stored, str) and stored in WEIGHTS else None


def inputs(fact: Memory, now: datetime, signals: Signals = NEUTRAL) -> Inputs:
    """All of them at ``now``."""
    tier = confidence_tier(fact)
    touched = _first_moment(fact, "last_accessed_at", "updated_at", "created_at")
    return Inputs(
        confidence=WEIGHTS[tier] if tier else UNKNOWN_WEIGHT,
        access=_share(math.log1p(max(0.0, _number(fact, "access_count", 0))) / math.log1p(MANY)),
        recency=_share(1 - _days(touched, now) / RECENT_DAYS),
        importance=_share(_number(fact, "importance", DEFAULT_IMPORTANCE)),
        feedback=_share((signals.feedback + signals.prior + 1) / 2),
        disputed=DISPUTED if fact.get("verification_state") == "disputed" else 0.0,
    )


def heat(fact: Memory, now: datetime, signals: Signals = NEUTRAL) -> float:
    """.25 confidence + .30 access + .20 recency + .15 importance + .10 feedback + .05 causal - disputed (peers A3)."""
    of = inputs(fact, now, signals)
    warm = 0.25 * of.confidence + 0.30 * of.access + 0.20 * of.recency + 0.15 * of.importance + 0.10 * of.feedback
    return score(warm + 0.05 * _share(signals.causal) - of.disputed)


def decay(fact: Memory, now: datetime, first: datetime | None, signals: Signals = NEUTRAL) -> float:
    """.30 age/180 + .25 idle/120 + .20 (1 - confidence) + .10 feedback risk + .15 (1 - heat) (peers A3)."""
    of = inputs(fact, now, signals)
    gone = 0.30 * _share(age_days(fact, now) / OLD_DAYS) + 0.25 * _share(idle_days(fact, now, first) / IDLE_DAYS)
    doubt = 0.20 * (1 - of.confidence) + 0.10 * (1 - of.feedback)
    return score(gone + doubt + 0.15 * (1 - heat(fact, now, signals)))


def age_days(fact: Memory, now: datetime) -> float:
    """Since it was last written."""
    return _days(_first_moment(fact, "updated_at", "created_at"), now)


def idle_days(fact: Memory, now: datetime, first: datetime | None) -> float:
    """Since it was last used, as far as that was reported."""
    if first is None:
        return 0.0
    since = _first_moment(fact, "last_accessed_at", "created_at")
    return _days(since if since is None else max(since, first), now)


def score(value: float) -> float:
    """Held to 0–1, to 12 places."""
    return round(_share(value), 12)


def _first_moment(fact: Memory, *names: str) -> datetime | None:
    return next((moment for name in names if (moment := fact.moment(name)) is not None), None)


def _days(since: datetime | None, now: datetime) -> float:
    return UNKNOWN_DAYS if since is None else max(0.0, (now - since) / timedelta(days=1))


def _number(fact: Memory, name: str, absent: float) -> float:
    value = fact.get(name)
    return float(value) if is_number(value) else absent


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
