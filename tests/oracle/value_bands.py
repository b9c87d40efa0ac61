"""What a score means for a memory: bands, and the action of each (seed 000, Option B, 3; DESIGN §9).

Ours, where the seed is silent or contradicts itself:
- Profile "seed" reads the score itself. Seven of ten kinds can't reach PRUNE there, four not even DEMOTE (peers A1).
- Profile "relative" reads the score above the kind's floor, and the floor is the type weight itself (DESIGN §9: "type weight is
  a floor"). So all kinds have one range, -1.5 to 10.5, and reach every band, at the seed's thresholds. The other reading, the
  least possible score (peers A1: weight - 1.5), would leave PRUNE to what is bloated. What speaks for it: a memory that nobody
  used, linked or vouched for then comes to PRUNE after one half-life, and these are the seed's own TTLs: SessionContext 24 h,
  Analysis 60, Reflection 90, Synthesis 120 days.
- The lower end of a band belongs to it. ">= 50, safety-protected" is no band: protection is a flag.
- Bloated: more tokens than the kind's target, however few.
- IMPROVE or MERGE: merge where a near duplicate stands that may merge, else improve. With nothing to improve it is kept.
- Work that IMPROVE queues: what is absent. TextVector: of kinds that are embedded, unless the model couldn't read it.
  Confidence: of kinds that claim something. Nothing for what has no content to read.
- DEMOTE and PRUNE go by the score at best (value.py): what isn't known takes nothing. Then such a memory is to be improved.
- "Immediate" of Notification and SessionContext is no hard delete (DESIGN §9: soft always): it goes without the wait of
  value_and_ttl.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.oracle.memory import Memory, is_number
from tests.oracle.value import Score, is_bloated, kind_of

BANDS = (
    ("keep", 8.0),
    ("lean", 5.0),
    ("improve", 3.0),
    ("demote", 1.5),
    ("prune", 0.5),
    ("prune_at_once", -math.inf),
)
"""From which score on; best first."""
LEAST = dict(BANDS)
ORDER = tuple(LEAST)
PROFILES = ("seed", "relative")
AT_ONCE = frozenset({"Notification", "SessionContext"})
NOT_EMBEDDED = frozenset(
    {
        *("Notification", "SessionContext", "Task", "CompressedContext"),
        *("HeartbeatTaskRegistry", "HeartbeatTask", "Source", "TurnBatch"),
    }
)
CLAIMS = frozenset({"Belief", "Reflection", "Analysis", "Synthesis", "Recommendation", "Fact"})


@dataclass(frozen=True)
class Action:
    """keep | compress | improve | merge | demote | prune | prune_at_once; ``work`` to be queued, of improve."""

    name: str
    work: frozenset[str] = frozenset()


def measured(of: Score, profile: str, *, best: bool = False) -> float:
    """What the bands of a profile are read from; ``best``: at best."""
    if profile == "relative":
        return of.above_most if best else of.above
    return of.most if best else of.mvs


def band(value: float) -> str:
    """Where it stands."""
    return next(name for name, least in BANDS if value >= least)


def acting_band(of: Score, profile: str) -> str:
    """The band that acts: what would cost the memory something goes by its score at best, but not above improve."""
    stands = band(measured(of, profile))
    if ORDER.index(stands) <= ORDER.index("improve"):
        return stands
    return max(band(measured(of, profile, best=True)), "improve", key=ORDER.index)


def action(memory: Memory, of: Score, profile: str, *, near: bool = False) -> Action:
    """What its band asks for, rails and TTLs aside; ``near``: a near duplicate stands that may merge with it."""
    stands = acting_band(of, profile)
    if stands == "lean":
        return Action("compress" if is_bloated(memory) else "keep")
    if stands == "improve":
        work = missing(memory)
        return Action("merge") if near else Action("improve", work) if work else Action("keep")
    if stands == "prune_at_once" and kind_of(memory) not in AT_ONCE:
        return Action("prune")
    return Action(stands)


def missing(memory: Memory) -> frozenset[str]:
    """What could be added to it: embedding, tokens, keywords, confidence."""
    content = memory.get("body" if "Ticket" in memory.labels else "content")
    if not isinstance(content, str) or not content.strip():
        return frozenset()
    count = memory.get("token_count")
    embeds = not NOT_EMBEDDED & set(memory.labels) and memory.get("embedding_unknown") is None
    lacks = {
        "embedding": embeds and memory.get("embedding") is None,
        "tokens": not (is_number(count) and isinstance(count, int) and count >= 0),
        "keywords": not memory.get("keywords"),
        "confidence": bool(CLAIMS & set(memory.labels)) and memory.get("confidence") is None,
    }
    return frozenset(name for name, lacking in lacks.items() if lacking)
