"""What a memory is worth: the Memory Value Score, term by term (seed 000, Option B, 1 and 2; DESIGN §8 and §9; peers A1).

type weight + recency + frequency + quality + centrality + cross-agent - bloat. Ours, where the seed is silent or contradicts
itself:
- Protection is a flag beside the score and never a factor (DESIGN §9): the seed's times 100 makes -1 into -100.
- Each term is known as (value, most). ``value`` is what the score takes: what is unknown never raises it. ``most`` is what the
  term could be at best: nobody loses a tier or a memory for what isn't known (DESIGN §8, Unknown blocks).
- Absent is known, and 0: no accesses, no agents, no confidence, no severity. The exceptions are what rails
  don't take as absent either: a Belief's state and confidence, a Task's status.
- Recency counts from the last access, else creation. In the future: age 0.
- A scope that never reported an access (DESIGN §8): recency counts from creation and frequency is 0, at best 3 and 2; imported
  counts and times are not read, as by all rules of accesses. Where reporting began later than that, recency is at best as if
  used at the first report.
- Half-life N/A (active Task): recency 3.0 and doesn't fall, as in peers A1. The two are one condition: not active, not N/A.
- Belief "active, conf > 0.7": active is the set of DESIGN §4, confidence is what is left of it at ``now``. At 0.7 it isn't.
- Any other Belief, a Task that isn't active, and every kind that the table doesn't name: as a MemoryEntry, 2.5 and 45 days:
  what somebody noted, and nothing more is claimed of it. The policy may name more kinds.
- Of several kinds the first in the order of the policy decides, as for rules.
- Quality of other kinds than Belief: the stored confidence; theirs doesn't fall. Severity by its exact word; "low" and "info"
  add nothing.
- Centrality counts relationships, not neighbours, as the seed says. Not counted: tombstones (they hang on nothing), what we
  write ourselves: SIMILAR_TO (or a duplicate would be worth more than what stands alone), SUPERSEDES, everything at a node of
  the engine's. Relationships with Agents are the app's and count. Who hands in links leaves out those of a memory with itself.
- Cross-agent: distinct agents in ``agents`` or linked to it, as for rail 10 (the original never fetched them).
- Bloat: against the kind's target, whatever its tier: peers' tier budgets as targets make a move of tier change the value. 100
  tokens for what is one statement; 200 for a paragraph (COLD's whole budget: nothing should fill a tier alone); 400 for a
  session (peers A1, tier contents); 500 for all else (seed 000, Option C: compress above 500; peers A1: a KnowledgeChunk has
  500 at most).
- Tokens as the budgets count them: estimated where no count makes sense, so never unknown.
- Rounded to 12 places, so that the order of adding decides no band and no tie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta

from tests.oracle import decay
from tests.oracle.budgets import tokens
from tests.oracle.counts import access_count
from tests.oracle.memory import Link, Memory
from tests.oracle.rails import blocking_rails
from tests.oracle.reading import number
from tests.oracle.task_statuses import ACTIVE, task_status

RECENCY = 3.0
FREQUENCY, MANY = 2.0, 100
QUALITY = 2.0
CENTRALITY, LINKED = 1.5, 10
PER_AGENT, CROSS_AGENT = 0.5, 2.0
BLOAT = 1.5
SEVERITIES = {"critical": 0.5, "high": 0.3, "medium": 0.1}
SURE_ABOVE = 0.7
ACTIVE_BELIEF = frozenset({"active", "core", "validated"})


@dataclass(frozen=True)
class Worth:
    """A row of the seed's table: weight, and half-life of recency; None: recency doesn't fall."""

    weight: float
    half_life: timedelta | None


TABLE = {
    "Notification": Worth(0.5, timedelta(hours=12)),
    "SessionContext": Worth(1.5, timedelta(days=1)),
    "Task": Worth(3.0, None),
    "Belief": Worth(10.0, timedelta(days=180)),
    "Reflection": Worth(8.0, timedelta(days=90)),
    "Analysis": Worth(7.0, timedelta(days=60)),
    "Synthesis": Worth(6.5, timedelta(days=120)),
    "Recommendation": Worth(5.0, timedelta(days=30)),
    "MemoryEntry": Worth(2.5, timedelta(days=45)),
    "CompressedContext": Worth(4.0, timedelta(days=90)),
}
"""Seed 000, Option B, 2, in the policy's order; Belief and Task where their condition holds."""
OTHER = TABLE["MemoryEntry"]
TARGETS = {
    **dict.fromkeys(("Belief", "Fact", "Note", "Notification"), 100),
    **dict.fromkeys(("Task", "Reflection", "Recommendation", "MemoryEntry", "Person", "Concept", "Entity"), 200),
    "SessionContext": 400,
}
OTHER_TARGET = 500

OUR_TYPES = frozenset({"SIMILAR_TO", "SUPERSEDES"})
OUR_LABELS = frozenset({"CurationAudit", "CurationSnapshot", "CurationCycleSummary"})
"""And every label that begins with Jochi (DESIGN §4)."""


@dataclass(frozen=True)
class Term:
    """What a term adds, and what it could add at best; the same where it is known."""

    value: float
    most: float

    @property
    def known(self) -> bool:
        """Whether nothing about it is unknown."""
        return self.value == self.most


def known(value: float) -> Term:
    """A term without doubt."""
    return Term(value, value)


@dataclass(frozen=True)
class Score:
    """The terms in the seed's order, ``bloat`` positive, for explain; ``rails`` that protect it now, which change no number."""

    type_weight: Term
    recency: Term
    frequency: Term
    quality: Term
    centrality: Term
    cross_agent: Term
    bloat: Term
    rails: frozenset[str]

    @property
    def mvs(self) -> float:
        """The score: reported, compared, and kept for."""
        return round(self.type_weight.value + self._bonuses("value"), 12)

    @property
    def most(self) -> float:
        """What it is at best: moved down and pruned for."""
        return round(self.type_weight.most + self._bonuses("most"), 12)

    @property
    def above(self) -> float:
        """The score above the kind's floor, its type weight (DESIGN §9)."""
        return round(self._bonuses("value"), 12)

    @property
    def above_most(self) -> float:
        """The same at best."""
        return round(self._bonuses("most"), 12)

    @property
    def unknown(self) -> frozenset[str]:
        """The names of the terms that can't be known."""
        terms = {field.name: getattr(self, field.name) for field in fields(self)}
        return frozenset(name for name, term in terms.items() if isinstance(term, Term) and not term.known)

    def _bonuses(self, which: str) -> float:
        added = (self.recency, self.frequency, self.quality, self.centrality, self.cross_agent)
        return math.fsum([*(getattr(term, which) for term in added), -getattr(self.bloat, which)])


def score(memory: Memory, now: datetime, first: datetime | None) -> Score:
    """Its worth at ``now``; ``first``: when its scope first reported an access, None if it never did."""
    return replace(numbers(memory, now, first), rails=blocking_rails(memory, now))


def numbers(memory: Memory, now: datetime, first: datetime | None) -> Score:
    """The same without a look at the rails, which change no number."""
    least, best = worths(memory, now, first)
    return Score(
        type_weight=Term(least.weight, best.weight),
        recency=_recency(memory, now, first, least, best),
        frequency=_frequency(memory, first),
        quality=_quality(memory, now, first),
        centrality=known(CENTRALITY * min(relationships(memory) / LINKED, 1)),
        cross_agent=_cross_agent(memory),
        bloat=known(bloat(tokens(memory), target(memory))),
        rails=frozenset(),
    )


def kind_of(memory: Memory) -> str | None:
    """The kind of the seed's table whose row holds for it; None: the table doesn't name it."""
    return next((kind for kind in TABLE if kind in memory.labels), None)


def worths(memory: Memory, now: datetime, first: datetime | None) -> tuple[Worth, Worth]:
    """Its row of the table at least and at best."""
    kind = kind_of(memory)
    if kind == "Task":
        status = memory.get("status")
        active = task_status(status) in ACTIVE if isinstance(status, str) else None
        return _rows(kind, active, active)
    if kind == "Belief":
        state, sure = memory.get("state"), _confidence(memory, now, first)
        active = state in ACTIVE_BELIEF if isinstance(state, str) else None
        return _rows(kind, active is True and sure.value > SURE_ABOVE, active is not False and sure.most > SURE_ABOVE)
    row = TABLE[kind] if kind else OTHER
    return row, row


def _rows(kind: str, surely: bool | None, perhaps: bool | None) -> tuple[Worth, Worth]:
    return TABLE[kind] if surely else OTHER, TABLE[kind] if perhaps is not False else OTHER


def clock(memory: Memory, first: datetime | None) -> datetime | None:
    """What recency counts from; None: unknown."""
    used = first is not None and memory.get("last_accessed_at") is not None
    return memory.moment("last_accessed_at" if used else "created_at")


def recency(age: timedelta, half_life: timedelta | None) -> float:
    """3 · 0.5^(age / half-life)."""
    if half_life is None:
        return RECENCY
    return float(RECENCY * 0.5 ** (max(age, timedelta(0)) / half_life))


def _recency(memory: Memory, now: datetime, first: datetime | None, least: Worth, best: Worth) -> Term:
    if least.half_life is None:
        return known(RECENCY)
    start = clock(memory, first)
    if start is None:
        return Term(0.0, RECENCY)
    at_best = RECENCY if first is None else recency(now - max(start, first), best.half_life)
    return Term(recency(now - start, least.half_life), at_best)


def frequency(accesses: float) -> float:
    """min(2, 2 · ln(1 + n) / ln 100)."""
    return min(FREQUENCY, FREQUENCY * math.log1p(accesses) / math.log(MANY))


def _frequency(memory: Memory, first: datetime | None) -> Term:
    accesses = access_count(memory)
    return Term(0.0, FREQUENCY) if first is None or accesses is None else known(frequency(accesses))


def _confidence(memory: Memory, now: datetime, first: datetime | None) -> Term:
    """What it is worth now, 0 to 1."""
    is_belief = kind_of(memory) == "Belief"
    if memory.get("confidence") is None:
        return Term(0.0, 1.0) if is_belief else known(0.0)
    stored = number(memory, "confidence", 0, most=1)
    if stored is None:
        return Term(0.0, 1.0)
    left = decay.confidence(memory, now, first) if is_belief else stored
    return Term(0.0, stored) if left is None else known(round(left, 12))


def _quality(memory: Memory, now: datetime, first: datetime | None) -> Term:
    sure, severity = _confidence(memory, now, first), memory.get("severity")
    readable = severity is None or isinstance(severity, str)
    added = SEVERITIES.get(severity, 0.0) if isinstance(severity, str) else 0.0
    at_best = added if readable else max(SEVERITIES.values())
    return Term(min(QUALITY, 2 * sure.value + added), min(QUALITY, 2 * sure.most + at_best))


def is_ours(link: Link) -> bool:
    """Whether the engine wrote it, for its own purposes."""
    own = OUR_LABELS & set(link.labels) or any(label.startswith("Jochi") for label in link.labels)
    return link.type in OUR_TYPES or bool(own)


def relationships(memory: Memory) -> int:
    """Real ones, in both directions."""
    return len(memory.linked) + sum(link.live and not is_ours(link) for link in memory.links)


def _cross_agent(memory: Memory) -> Term:
    agents = memory.get("agents")
    readable = agents is None or (isinstance(agents, list) and all(isinstance(agent, str) for agent in agents))
    named = set(agents or ()) if readable else set()
    added = min(CROSS_AGENT, PER_AGENT * len(named | set(memory.linked)))
    return Term(added, added if readable else CROSS_AGENT)


def target(memory: Memory) -> int:
    """How many tokens a memory of its kind should have at most."""
    kind = kind_of(memory) or next((label for label in TARGETS if label in memory.labels), "")
    return TARGETS.get(kind, OTHER_TARGET)


def bloat(held: int, wanted: int) -> float:
    """min(1.5, 1.5 · (tokens - target) / target); nothing up to the target."""
    return max(0.0, min(BLOAT, BLOAT * (held - wanted) / wanted))


def is_bloated(memory: Memory) -> bool:
    """Whether it has more than it should."""
    return tokens(memory) > target(memory)
