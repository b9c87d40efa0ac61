"""A fact's lifecycle, in the order of lifecycle.ts (peers A3; seed 003, Lifecycle Policy States).

archived is terminal → disputed: stale → archive, unless protected → stale → promote → as it is.
Ours, where seed and peers are silent:
- ``state`` is the lifecycle, ``status`` the storage beside it: active, superseded or archived; absent is active. A ``state`` of
  superseded says so of the storage, as the models have it, and is no lifecycle: it isn't judged.
- Absent is candidate. A state that can't be read stays as it is.
- Superseded is not judged: what replaced it is.
- Heat and decay are judged at the look (DESIGN §8).
- A fact whose created_at can't be read, or is still to come, isn't judged: unknown holds back (DESIGN §8).
- Archived means terminal for time and scores; nothing here brings it back, no use either. Seed 002's revival is not seed 003's.
- A category or policy class that is no text protects (DESIGN §8, Unknown blocks); an absent one doesn't.
- Only policy class protected has an effect. The seed gives none to ephemeral and durable.
- Procedure is protected as in peers A3, though the seed's ten categories lack it.
"""

from __future__ import annotations

from datetime import datetime

from tests.oracle.facts import NEUTRAL, Signals, decay, heat
from tests.oracle.memory import Memory
from tests.oracle.reading import text

PROMOTE_HEAT = 0.55
STALE_DECAY = 0.65
ARCHIVE_DECAY = 0.85
PROTECTED = frozenset({"decision", "principle", "commitment", "preference", "procedure"})
"""Peers A3, lifecycle.ts."""
VOUCHED_FOR = frozenset({"user_confirmed", "system_inferred"})
STATES = frozenset({"candidate", "validated", "active", "stale", "archived"})
"""Seed 003, Lifecycle Policy States."""


def is_protected(fact: Memory) -> bool:
    """By its category or its policy class."""
    category, policy = text(fact, "category", ""), text(fact, "policy_class", "")
    return category is None or policy is None or category in PROTECTED or policy == "protected"


def status_of(fact: Memory) -> str | None:
    """active | superseded | archived (seed 003, Memory States); None: can't be known."""
    if fact.get("state") in ("superseded", "archived"):
        return str(fact.get("state"))
    status = text(fact, "status", "active")
    return status if status in ("active", "superseded", "archived") else None


def transition(state: str, decayed: float, heated: float, *, protected: bool, verification: object) -> str:
    """Where a fact in ``state`` goes by its scores. Both sides of a threshold: at it, it is met."""
    if state == "archived":
        return state
    if verification == "disputed":
        return "stale"
    if decayed >= ARCHIVE_DECAY and not protected:
        return "archived"
    if decayed >= STALE_DECAY:
        return "stale"
    if heated >= PROMOTE_HEAT:
        return "active" if is_vouched_for(verification) else "validated"
    return state


def is_vouched_for(verification: object) -> bool:
    """By the user or by the system."""
    return isinstance(verification, str) and verification in VOUCHED_FOR


def is_settled(fact: Memory) -> bool:
    """Whether nothing of its life is judged any more: archived, superseded, or it can't be told."""
    state = text(fact, "state", "candidate")
    return state is None or state not in STATES - {"archived"} or status_of(fact) != "active"


def next_state(fact: Memory, now: datetime, first: datetime | None, signals: Signals = NEUTRAL) -> str | None:
    """Its state after a look at ``now``; None where it isn't judged and stays as it is."""
    state = "archived" if status_of(fact) == "archived" else text(fact, "state", "candidate")
    if state is None or state not in STATES or status_of(fact) in ("superseded", None) or _birth(fact, now) is None:
        return None
    scores = decay(fact, now, first, signals), heat(fact, now, signals)
    verification = fact.get("verification_state")
    return transition(state, *scores, protected=is_protected(fact), verification=verification)


def _birth(fact: Memory, now: datetime) -> datetime | None:
    """When it was made, if that can be told and is past: unknown is not judged (DESIGN §8)."""
    born = fact.moment("created_at")
    return born if born is not None and born <= now else None
