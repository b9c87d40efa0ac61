"""What a memory has from the moment it is curated: `_macros/write/newborn.j2` in Python, for import and models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jochi.graph.catalogue import HASH_PREFIX
from jochi.policy import load_policy
from jochi.policy.model import Policy
from jochi.text.tokens import ESTIMATE_COUNTER, estimate


@dataclass(frozen=True)
class Newborn:
    """What of a policy decides over a newborn memory. ``own``: by kind, its names for content and created_at."""

    unique: frozenset[str]
    compared: frozenset[str]
    resolved: frozenset[str]
    derived: frozenset[str]
    embedded: frozenset[str]
    in_slots: frozenset[str]
    model: str
    own: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, policy: Policy) -> Newborn:
        """That of ``policy``."""
        return cls(
            unique=frozenset(policy.unique_labels()),
            compared=frozenset(policy.duplicates.kinds),
            resolved=frozenset(policy.resolved_labels()),
            derived=frozenset(policy.derived_labels()),
            embedded=frozenset(policy.embedded_labels()),
            in_slots=frozenset(policy.slot_labels()),
            model=policy.embedding.model,
            own={k: (policy.own_name(k, "content"), policy.own_name(k, "created_at")) for k in policy.labels()},
        )

    def completed(self, kind: str, given: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """``given`` and the defaults of what isn't there, without nulls. Who has a hash, a count or the name of a slot gives it."""
        content, created_at = self.own.get(kind, ("content", "created_at"))
        text = given.get(content)
        tokens = given.get("token_count")
        estimated = estimate(text) if tokens is None and isinstance(text, str) else None
        made = {
            "created_at": now if created_at == "created_at" else None,
            "tier": "HOT",
            "token_count": estimated,
            "token_counter": "given" if tokens is not None else None if estimated is None else ESTIMATE_COUNTER,
            "revision": 1,
            **given,
            "next_due": now,
            **self.outstanding(kind, given, now),
        }
        return {name: value for name, value in made.items() if value is not None}

    def outstanding(self, kind: str, given: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """The queues that a memory with the properties ``given`` waits in: ``now``, or None for those that it doesn't."""
        hashed, counter, vector = (given.get(name) for name in ("content_hash", "token_counter", "embedding"))
        has_content = isinstance(given.get(self.own.get(kind, ("content", ""))[0]), str)
        unhashed = hashed is None or not hashed.startswith(HASH_PREFIX)
        uncounted = given.get("token_count") is None or (counter or "").startswith("estimate:")
        unclaimed = kind in self.unique and given.get("content_key") is None
        unnamed = kind in self.in_slots and given.get("slot_name") is None and None not in map(given.get, _SLOT)
        unembedded = vector is None or given.get("embedding_model") != self.model
        waits = {
            "prepare_due": (has_content and (unhashed or uncounted or unclaimed or kind in self.derived)) or unnamed,
            "slot_due": given.get("slot_name") is not None,
            "similar_due": kind in self.compared and hashed is not None,
            "resolve_due": kind in self.resolved and hashed is not None,
            "embed_due": kind in self.embedded and has_content and unembedded,
        }
        return {name: now if wanted else None for name, wanted in waits.items()}


_SLOT = ("subject", "attribute", "value")

SHIPPED = Newborn.of(load_policy().policy)
"""That of the shipped policy, for who names no other."""
