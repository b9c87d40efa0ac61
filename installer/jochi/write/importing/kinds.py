"""The kinds of memories that a file may hold, unless the policy names others (DESIGN §4)."""

from __future__ import annotations

from jochi.policy import load_policy
from jochi.policy.model import PROTECTED_KINDS

KNOWN_KINDS = frozenset(load_policy().policy.labels())
"""The kinds of the shipped policy, for who names no other."""


def refusal(kind: str, known: frozenset[str]) -> str | None:
    """Why a memory of this kind can't be imported; None if it can."""
    if kind in PROTECTED_KINDS:
        return f"kind: {kind} is protected, the engine never looks after it"
    if kind not in known:
        return f"kind: {kind!r} is unknown; known are {', '.join(sorted(known - PROTECTED_KINDS))}"
    return None
