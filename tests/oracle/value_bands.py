"""What a score means for a memory: bands, the action of each, and when time takes it to the next (seed 000, Option B, 3; DESIGN
§9).

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
- Crossing: the first whole second at which the score is below its band. Nothing a score is made of rises by itself: age only
  grows, so recency falls or stands; a Belief's confidence falls or stands, with it quality and, at 0.7, weight and half-life,
  which make recency less at any age; all else changes only when somebody writes. So the score is monotone, and bisection finds
  the second. Where recency alone falls, half-life · log2(3 / (threshold - rest)) is its end; a rest that reaches the threshold
  means never, as does a lowest band.
- Unknown: the clock of recency can't be read. Then no time is named, even if a Belief's confidence falls meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.oracle.due import EVER
from tests.oracle.memory import Memory, is_number
from tests.oracle.value import RECENCY, Score, clock, is_bloated, kind_of, numbers, worths

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
_STEADY = timedelta(days=100)
"""After 7 idle days and 70 more no confidence falls any longer: 0.9 to 0.2 at 0.01 a day."""
_ROUNDED = 6e-13
"""A score this little above a threshold is rounded to it."""


@dataclass(frozen=True)
class Action:
    """keep | compress | improve | merge | demote | prune | prune_at_once; ``work`` to be queued, of improve."""

    name: str
    work: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Crossing:
    """When the score next falls below its band by time alone: ``when`` time | never | unknown, ``at`` of time."""

    when: str
    at: datetime | None = None


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


def next_crossing(memory: Memory, now: datetime, first: datetime | None, profile: str) -> Crossing:
    """When time alone takes it to the next band."""
    if clock(memory, first) is None:
        return Crossing("unknown")
    least = LEAST[band(measured(numbers(memory, now, first), profile))]
    at = None if least == -math.inf else falls_below(memory, least, first, profile)
    return Crossing("never") if at is None else Crossing("time", at)


def falls_below(
    memory: Memory, threshold: float, first: datetime | None, profile: str, *, best: bool = False
) -> datetime | None:
    """The first whole second at which its score is below ``threshold``; EVER if it always was, None: never, or unknown."""
    names = ("created_at", "last_accessed_at", "confidence_at")
    moments = [moment for moment in (*map(memory.moment, names), first) if moment is not None]

    def below(at: datetime) -> bool:
        return measured(numbers(memory, at, first), profile, best=best) < threshold

    if not moments:  # no time can change it
        return EVER if below(EVER) else None
    begin, steady = min(moments).replace(microsecond=0), max(moments).replace(microsecond=0) + _STEADY
    if below(begin):
        return EVER
    end: datetime | None = steady if below(steady) else _faded(memory, threshold, first, profile, steady, best)
    return end and _first_second(below, begin, end)


def _faded(
    memory: Memory, threshold: float, first: datetime | None, profile: str, steady: datetime, best: bool
) -> datetime | None:
    """An instant, a second or two late, at which recency alone has taken it below."""
    start, half_life = clock(memory, first), worths(memory, steady, first)[best].half_life
    if start is None or half_life is None or (best and first is None):
        return None
    of = numbers(memory, steady, first)
    rest = measured(of, profile, best=best) - (of.recency.most if best else of.recency.value)
    gap = round(threshold - rest, 12) - _ROUNDED
    if gap <= 0:
        return None
    start = max(start, first) if best and first else start
    try:
        return start.replace(microsecond=0) + half_life * math.log2(RECENCY / gap) + timedelta(seconds=3)
    except OverflowError:
        return None


def _first_second(below: Callable[[datetime], bool], start: datetime, end: datetime) -> datetime | None:
    low, high = 0, (end - start) // timedelta(seconds=1)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if below(start + timedelta(seconds=middle)) else (middle + 1, high)
    return start + timedelta(seconds=low)
