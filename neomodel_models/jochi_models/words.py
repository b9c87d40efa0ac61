"""The words that properties of a fixed vocabulary can have."""

from __future__ import annotations

from typing import Literal

Tier = Literal["HOT", "WARM", "COLD", "ARCHIVE"]
AccessTier = Literal["PUBLIC", "SENSITIVE", "PRIVATE"]
Sensitivity = Literal["low", "normal", "high"]
TtlPolicy = Literal["keep_forever", "ephemeral", "decay"]
BeliefState = Literal["candidate", "active", "validated", "core", "stale", "superseded", "archived"]
LifeState = Literal["candidate", "active", "core", "archived"]
FactState = Literal["candidate", "validated", "active", "stale", "superseded", "archived"]
FactStatus = Literal["active", "superseded", "archived"]
TaskStatus = Literal["pending", "in_progress", "blocked", "completed", "failed", "cancelled"]
Priority = Literal["low", "normal", "high", "critical"]
Severity = Literal["info", "low", "medium", "high", "critical"]
CompressionLevel = Literal["full", "summary", "keywords"]
ContentType = Literal["preference", "task", "insight", "chitchat"]
ProcessingStatus = Literal["raw", "processed", "extracted"]
NoteLifetime = Literal["week", "month", "year", "forever"]
# The ten of seed 003, and procedure, which is among the protected ones (peers A3).
FactCategory = Literal[
    "fact",
    "preference",
    "correction",
    "entity",
    "decision",
    "relationship",
    "principle",
    "commitment",
    "moment",
    "skill",
    "procedure",
]
ConfidenceTier = Literal["explicit", "implied", "inferred", "speculative"]
MemoryKind = Literal["episode", "note"]
Verification = Literal["unverified", "user_confirmed", "system_inferred", "disputed"]
PolicyClass = Literal["ephemeral", "durable", "protected"]
BoxState = Literal["open", "sealed"]
AgentName = Literal["kublai", "mongke", "chagatai", "temujin", "jochi", "ogedei"]
