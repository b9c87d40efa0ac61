"""The kinds of memories that a file may hold, unless the policy names others (DESIGN §4)."""

from __future__ import annotations

TEAM_KINDS = (
    "Belief",
    "Reflection",
    "Analysis",
    "Synthesis",
    "Recommendation",
    "Task",
    "Notification",
    "SessionContext",
    "MemoryEntry",
    "CompressedContext",
)
"""Seed 000: what a team of agents writes."""

KNOWN_KINDS = frozenset(
    (
        *TEAM_KINDS,
        # Seed 001: knowledge and heartbeat.
        "KnowledgeChunk",
        "ValueClassification",
        "BoundedMemoryManifest",
        "HeartbeatTaskRegistry",
        "HeartbeatTask",
        # Seed 002: one user's graph.
        "Source",
        "Artifact",
        "Person",
        "Concept",
        "Entity",
        "Storyline",
        "Macro",
        "Note",
        # Seed 003: facts of conversations.
        "Fact",
        "MemoryBox",
        "Trace",
    )
)

PROTECTED_KINDS = frozenset(("Agent", "AgentKey", "SystemConfig", "Migration"))
"""Never enrolled, whatever a policy says."""


def refusal(kind: str, known: frozenset[str]) -> str | None:
    """Why a memory of this kind can't be imported; None if it can."""
    if kind in PROTECTED_KINDS:
        return f"kind: {kind} is protected, the engine never looks after it"
    if kind not in known:
        return f"kind: {kind!r} is unknown; known are {', '.join(sorted(known - PROTECTED_KINDS))}"
    return None
