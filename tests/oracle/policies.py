"""``ttl_policy``, the owner, and hard expiry (seed 002, Governance Hooks; DESIGN §8, Order of precedence).

Ours, where the seed is silent:
- The owner is a Person whose is_owner is true, nothing else. Whatever its properties say, it is core, kept for ever, worth 1.0.
- An absent policy is decay, the seed's default; so is a text that is none of the three. No text at all is unknown: it
  doesn't decay by policy, but the rail keep_forever stops whatever would archive it (DESIGN §8).
- The deadline runs from created_at, and holds from that very instant on.
- Episodic are Source and Artifact, as the seed lists them; all else is semantic: Storyline, Macro and relationships, too.
- sensitivity is read by nothing here: "Does NOT affect decay behavior".
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import after
from tests.oracle.memory import Memory
from tests.oracle.reading import text

EPISODIC = frozenset({"Source", "Artifact"})
"""Seed 002, Simplified Lifecycle for Episodic Nodes."""
EPISODIC_LIFE = timedelta(days=30)
SEMANTIC_LIFE = timedelta(days=90)
"""Seed 002, TTL Policy Table: hard expiry 30d episodic / 90d semantic."""


def is_owner(memory: Memory) -> bool:
    """The user's own Person (seed 002, Phase 2, Owner Person node)."""
    return "Person" in memory.labels and memory.get("is_owner") is True


def policy_of(memory: Memory) -> str | None:
    """keep_forever > ephemeral > decay (seed 002, TTL Policy Table); None: can't be known."""
    if is_owner(memory):
        return "keep_forever"
    policy = text(memory, "ttl_policy", "decay")
    return policy if policy in ("keep_forever", "ephemeral", None) else "decay"


def keep_forever(memory: Memory) -> bool:
    """No decay, never archived, salience stays 1.0 (seed 002, TTL Policy Table)."""
    return policy_of(memory) == "keep_forever"


def deadline(memory: Memory) -> datetime | None:
    """When an ephemeral one is archived, however salient it is; None for all others, or where created_at is unknown."""
    if policy_of(memory) != "ephemeral":
        return None
    life = EPISODIC_LIFE if EPISODIC & set(memory.labels) else SEMANTIC_LIFE
    return next((due.at for due in after("ephemeral", memory.moment("created_at"), life)), None)
