"""Salience in closed form from an anchor (seed 002, Memory Lifecycle & Decay; DESIGN §8 and §9).

The seed multiplies every night by exp(-rate · days since the access), which compounds: half after 8 nights. Here the value stands
at ``salience_at`` and is computed for any instant (DESIGN §9), so how often jobs ran changes nothing.
Ours, where the seed is silent:
- Absent properties are the seed's Initial Values: salience 0.5, state candidate, recall_frequency 0, decay_gradient 1.0.
- recall_frequency absent: access_count stands in, for both rise together (peers A2, 5).
- The anchor is the first that is there of salience_at, last_accessed_at, created_at; none, or no moment: unknown.
- In a scope that never reported an access nothing is "unused", so nothing falls, and nothing is archived for what is stored
  there; nor before its ``first`` report (DESIGN §8).
- A candidate without confidence falls at the plain rate: both of the seed's comparisons fail. A Source is made without one.
- What was archived goes on falling, at the plain rate: the seed names archived there.
- The gradient's floor holds for a stored value, too; it has no ceiling, as the seed names none.
- Unreadable (wrong type, out of range): salience is unknown, and nothing follows from it.
- Before the anchor it is what it is at the anchor.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from tests.oracle.memory import Memory
from tests.oracle.policies import keep_forever
from tests.oracle.reading import number, text

BASE_RATE = 0.02
"""A day (seed 002, Decay Formula with Recall Frequency)."""
INITIAL = 0.5
"""Seed 002, Initial Values."""
GRADIENT = 1.0
"""Seed 002, Initial Values."""
LEAST_GRADIENT = 0.5
"""DESIGN §9: below 0 it would turn the effect round."""
STEADY_FROM = 0.8
"""Confidence from which a candidate doesn't fall (seed 002, Candidate Semantics)."""
FADED = 0.01
"""Below it a memory is archived (seed 002, Transition Rules)."""
MOST = 1.0
LEAST_ALPHA, MOST_ALPHA = 0.05, 0.1
"""Seed 002, Salience Updates: α ∈ [0.05, 0.1]."""
_ANCHORS = ("salience_at", "last_accessed_at", "created_at")


def decay_rate(recall_frequency: float, gradient: float = GRADIENT) -> float:
    """A day's rate: 0.02 / (1 + recall_frequency^decay_gradient) (seed 002, Decay Formula). A power too large to hold: 0."""
    try:
        return BASE_RATE / (1 + math.pow(recall_frequency, max(LEAST_GRADIENT, gradient)))
    except OverflowError:
        return 0.0


def candidate_factor(confidence: float | None) -> float:
    """What a candidate's rate is multiplied with: 1 + (1 - confidence) · 2 below 0.8, else 0 (seed 002, Candidate Semantics).

    None: it has no confidence, 1."""
    if confidence is None:
        return 1.0
    return 0.0 if confidence >= STEADY_FROM else 1 + (1 - confidence) * 2


def alpha(salience: float) -> float:
    """What a used recall adds. Ours: 0.1 at salience 0, falling in a straight line to 0.05 at 1; the seed gives the range only.

    So what nearly faded comes back soonest, and both ends of the range are reached."""
    return MOST_ALPHA - (MOST_ALPHA - LEAST_ALPHA) * salience


def reinforced(salience: float) -> float:
    """After a used recall: min(1, salience + α) (seed 002, Salience Updates)."""
    return min(MOST, salience + alpha(salience))


def faded(salience: float, rate: float, days: float) -> float:
    """salience · exp(-rate · days) (seed 002, Decay Formula)."""
    return salience * math.exp(-rate * max(0.0, days))


def rate_of(memory: Memory) -> float | None:
    """The rate at which this memory falls now; None where it can't be known."""
    state = text(memory, "state", "candidate")
    count = number(memory, "access_count", 0) if not memory.has("recall_frequency") else 0
    recalls = number(memory, "recall_frequency", 0 if count is None else count)
    gradient = number(memory, "decay_gradient", GRADIENT, least=-math.inf)
    if state is None or count is None or recalls is None or gradient is None:
        return None
    if keep_forever(memory):
        return 0.0
    rate = decay_rate(recalls, gradient)
    if state != "candidate":
        return rate
    if not memory.has("confidence") or memory.get("confidence") is None:
        return rate * candidate_factor(None)
    confidence = number(memory, "confidence", 0, most=1)
    return None if confidence is None else rate * candidate_factor(confidence)


def falls_from(memory: Memory, first: datetime | None) -> datetime | None:
    """Its anchor, not before the scope's first reported access; None: unknown, or nothing falls in this scope."""
    anchor = anchor_of(memory)
    return None if anchor is None or first is None else max(anchor, first)


def anchor_of(memory: Memory) -> datetime | None:
    """When the stored value held."""
    name = next((name for name in _ANCHORS if memory.get(name) is not None), "created_at")
    return memory.moment(name)


def salience_now(memory: Memory, now: datetime, first: datetime | None) -> float | None:
    """What it is worth at ``now``; None where it can't be known. keep_forever: 1.0 (seed 002, TTL Policy Table)."""
    if keep_forever(memory):
        return MOST
    stored, rate = number(memory, "salience", INITIAL, most=1), rate_of(memory)
    if stored is None or rate is None or anchor_of(memory) is None:
        return None
    start = falls_from(memory, first)
    return stored if start is None else faded(stored, rate, (now - start) / timedelta(days=1))


def is_faint(memory: Memory, now: datetime, first: datetime | None) -> bool:
    """Whether it is below 0.01 at ``now``. A candidate that doesn't fall "persists indefinitely" (seed 002)."""
    value = salience_now(memory, now, first)
    steady = rate_of(memory) == 0 and text(memory, "state", "candidate") == "candidate"
    return value is not None and value < FADED and first is not None and not steady
