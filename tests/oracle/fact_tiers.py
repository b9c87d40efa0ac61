"""Hot and cold by value (seed 003, Hot/Cold Tier Routing Signals; peers A3, tier-routing.ts). Hot is HOT, cold is COLD.

Ours: WARM and ARCHIVE are neither, and stay. Age runs from updated_at, else created_at. The rails of tiers hold (DESIGN §8).
Both only in scopes that report accesses, and age no earlier than from the first of them: value is mostly use. Down at the instant
the value gets there; nothing in an active session or a task in progress, which would bring it back. Up by its value at the last
use, and only after a use since the last move: what idle hours took away would else come back at every look.
A correction that is disputed has both its boost and its penalty.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import idle_since
from tests.oracle.fact_states import first_second
from tests.oracle.facts import NEUTRAL, NEVER, RECENT_DAYS, Signals, inputs, last_moment, score
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


def value_at_best(fact: Memory) -> float:
    """At its last use, else change, else creation: it only falls afterwards."""
    return value(fact, last_moment(fact))


def little_from(fact: Memory, first: datetime | None) -> datetime | None:
    """From when it belongs out of HOT; None: never, or it can't be told."""
    born = idle_since(fact, ("updated_at", "created_at"), first)
    if born is None:
        return None
    old = born + timedelta(days=DEMOTE_AGE_DAYS)
    if value_at_best(fact) <= DEMOTE_AT:
        return old
    start = last_moment(fact)
    if start == NEVER:
        return None
    sunk = first_second(
        lambda at: value(fact, at) <= DEMOTE_AT,
        start.replace(microsecond=0),
        start + timedelta(days=RECENT_DAYS + 1),
    )
    return sunk and max(old, sunk)
