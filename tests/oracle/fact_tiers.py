"""Hot and cold by value (seed 003, Hot/Cold Tier Routing Signals; peers A3, tier-routing.ts). Hot is HOT, cold is COLD.

Ours: WARM and ARCHIVE are neither, and stay. Age runs from updated_at, else created_at. The rails of tiers hold (DESIGN §8).
Both only in scopes that report accesses, and age no earlier than from the first of them: value is mostly use. By its value at the
look. Down nothing in an active session or a task in progress, which would bring it back; up only after a use since the last move.
A correction that is disputed has both its boost and its penalty.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import idle_since
from tests.oracle.facts import NEUTRAL, Signals, inputs, score
from tests.oracle.memory import Memory

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


def is_little(fact: Memory, now: datetime) -> bool:
    """Whether it belongs out of HOT, once it is old enough."""
    return value(fact, now) <= DEMOTE_AT


def old_from(fact: Memory, first: datetime | None) -> datetime | None:
    """From when it is old enough; None: it can't be told."""
    born = idle_since(fact, ("updated_at", "created_at"), first)
    return None if born is None else born + timedelta(days=DEMOTE_AGE_DAYS)
