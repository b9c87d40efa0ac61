"""What a memory is worth by five signals (seed 001, Multi-Signal Value Scoring; DESIGN §14).

Ours, where the seed is silent:
- Recency falls by the second, not by whole days, from the last access, else creation; in the future it is 1.
- What is unknown is left out of the value, and the other weights are taken as the whole. At best it counts 1. Nothing is
  ARCHIVE that wouldn't be so at best.
- A scope that never reported an access: frequency is unknown; recency counts from creation, and is at best 1. Where reporting
  began later, recency is at best as if used at the first report.
- Uniqueness is known as long as it was measured of the vector that the memory has.
- Confidence is what its source was said to be worth: it doesn't fall.
- What is pinned, kept forever or protected (or may be: it can't be read) has a retention of 1.
- Rounded to 12 places, so that the order of adding decides no tier.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.oracle.counts import access_count
from tests.oracle.fact_states import is_protected
from tests.oracle.memory import Memory, is_moment, is_number
from tests.oracle.task_statuses import task_status

WEIGHTS = {"retention": 0.25, "uniqueness": 0.20, "confidence": 0.15, "frequency": 0.25, "recency": 0.15}
KINDS = (
    *("Belief", "Reflection", "Analysis", "Synthesis", "Recommendation", "MemoryEntry", "CompressedContext"),
    *("KnowledgeChunk", "Note", "Fact", "Task"),
)
RETENTION = (
    ("Task", "status", ("in_progress", "pending", "blocked", "unknown"), 1.0),
    ("Belief", "state", ("active", "core", "validated"), 1.0),
    ("Belief", "state", ("archived", "superseded"), 0.3),
    ("Fact", "category", ("correction",), 1.0),
    ("Fact", "state", ("archived", "stale"), 0.3),
    ("Fact", None, (), 0.8),
    ("Reflection", None, (), 0.8),
    ("Synthesis", None, (), 0.7),
    ("Analysis", None, (), 0.7),
    ("KnowledgeChunk", None, (), 0.7),
    ("Notification", None, (), 0.1),
    ("CompressedContext", "content_type", ("chitchat",), 0.3),
)
OTHER = 0.5
MANY = 100
RECENT = timedelta(days=30)
KEEP, SUMMARIZE = 0.8, 0.5


@dataclass(frozen=True)
class Classified:
    """The signals (None: unknown), what they make, and what they would make at best."""

    signals: dict[str, float | None]
    value: float
    best: float

    @property
    def tier(self) -> str:
        return "KEEP" if self.value >= KEEP else "SUMMARIZE" if self.best >= SUMMARIZE else "ARCHIVE"


def classify(memory: Memory, at: datetime, first: datetime | None) -> Classified | None:
    """None: of no kind that is classified. ``first``: when the scope first reported an access."""
    return worth(memory, at, first) if any(kind in memory.labels for kind in KINDS) else None


def worth(memory: Memory, at: datetime, first: datetime | None) -> Classified:
    """The same of any kind."""
    uses = access_count(memory) if first else None
    used = memory.get("last_accessed_at") if first and memory.has("last_accessed_at") else memory.get("created_at")
    used = used if is_moment(used) else None
    signals = {
        "retention": _retention(memory),
        "uniqueness": _uniqueness(memory),
        "confidence": _confidence(memory),
        "frequency": None if uses is None else min(uses, MANY) / MANY,
        "recency": _recency(used, at),
    }
    since = None if first is None or used is None else max(used, first)
    best = {name: 1.0 if value is None else value for name, value in signals.items()}
    best["recency"] = _recency(since, at) if since else 1.0
    known = [name for name, value in signals.items() if value is not None]
    value = sum(WEIGHTS[name] * best_or(signals[name]) for name in known) / sum(WEIGHTS[name] for name in known)
    return Classified(signals, round(value, 12), round(sum(WEIGHTS[name] * best[name] for name in WEIGHTS), 12))


def best_or(value: float | None) -> float:
    return 1.0 if value is None else value


def _recency(used: datetime | None, at: datetime) -> float | None:
    return None if used is None else min(1.0, max(0.0, 1 - (at - used) / RECENT))


def _confidence(memory: Memory) -> float | None:
    value = memory.get("confidence")
    return float(value) if is_number(value) and 0 <= value <= 1 else None


def _uniqueness(memory: Memory) -> float | None:
    nearest = memory.get("nearest")
    fits = (
        memory.has("embedding")
        and memory.has("embedding_hash")
        and memory.get("nearest_hash") == memory.get("embedding_hash")
    )
    return min(1.0, max(0.0, 1 - nearest)) if fits and is_number(nearest) else None


def _retention(memory: Memory) -> float:
    pinned, policy = memory.get("pinned"), memory.get("ttl_policy")
    if (pinned is not None and pinned is not False) or (
        policy is not None and (not isinstance(policy, str) or policy == "keep_forever")
    ):
        return 1.0
    if is_protected(memory):
        return 1.0
    for kind, name, words, score in RETENTION:
        value = name and memory.get(name)
        value = task_status(value) if (kind, name) == ("Task", "status") else value
        if kind in memory.labels and (name is None or (isinstance(value, str) and value in words)):
            return score
    return OTHER
