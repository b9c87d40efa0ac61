"""Hot and cold by value (seed 003, Hot/Cold Tier Routing Signals; peers A3, tier-routing.ts). Hot is HOT, cold is COLD.

Ours: WARM and ARCHIVE are neither, and stay. Age is that of the scores (``facts.age_days``). The rails of tiers hold (DESIGN §8).
A correction that is disputed has both its boost and its penalty.
"""

from __future__ import annotations

from datetime import datetime

from tests.oracle.facts import NEUTRAL, Signals, age_days, inputs, score
from tests.oracle.memory import Memory
from tests.oracle.rails import TIER_RAILS, blocking_rails

DEMOTE_AGE_DAYS = 14
DEMOTE_AT = 0.35
PROMOTE_AT = 0.70
CORRECTION = 0.08
CONFIRMED = 0.05
DISPUTED_SHARE = 0.5
"""Of the disputed penalty: 0.10. The page says 0.50 and the code 0.10 (peers A3, Document versus code); the code wins."""


def value(fact: Memory, now: datetime, signals: Signals = NEUTRAL) -> float:
    """.24 confidence + .26 access + .20 recency + .20 importance + .10 feedback + boosts - half the disputed penalty."""
    of = inputs(fact, now, signals)
    worth = 0.24 * of.confidence + 0.26 * of.access + 0.20 * of.recency + 0.20 * of.importance + 0.10 * of.feedback
    boosts = CORRECTION * (fact.get("category") == "correction")
    boosts += CONFIRMED * (fact.get("verification_state") == "user_confirmed")
    return score(worth + boosts - DISPUTED_SHARE * of.disputed)


def move(tier: object, age: float, worth: float) -> str | None:
    """Where it goes; None: it stays. At a threshold it is met."""
    if tier == "HOT" and age >= DEMOTE_AGE_DAYS and worth <= DEMOTE_AT:
        return "COLD"
    return "HOT" if tier == "COLD" and worth >= PROMOTE_AT else None


def next_tier(fact: Memory, now: datetime, signals: Signals = NEUTRAL) -> str | None:
    """Where a look at ``now`` moves it; None: nowhere."""
    if blocking_rails(fact, now) & TIER_RAILS:
        return None
    return move(fact.get("tier"), age_days(fact, now), value(fact, now, signals))
