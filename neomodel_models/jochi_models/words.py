"""The words that properties of a fixed vocabulary can have."""

from __future__ import annotations

from typing import Literal, get_args

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
RetentionTier = Literal["KEEP", "SUMMARIZE", "ARCHIVE"]
ValuedKind = Literal["KnowledgeChunk", "Reflection", "CompressedContext"]
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

TIERS: tuple[Tier, ...] = get_args(Tier)
ACCESS_TIERS: tuple[AccessTier, ...] = get_args(AccessTier)
SENSITIVITIES: tuple[Sensitivity, ...] = get_args(Sensitivity)
TTL_POLICIES: tuple[TtlPolicy, ...] = get_args(TtlPolicy)
BELIEF_STATES: tuple[BeliefState, ...] = get_args(BeliefState)
LIFE_STATES: tuple[LifeState, ...] = get_args(LifeState)
FACT_STATES: tuple[FactState, ...] = get_args(FactState)
FACT_STATUSES: tuple[FactStatus, ...] = get_args(FactStatus)
TASK_STATUSES: tuple[TaskStatus, ...] = get_args(TaskStatus)
PRIORITIES: tuple[Priority, ...] = get_args(Priority)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
COMPRESSION_LEVELS: tuple[CompressionLevel, ...] = get_args(CompressionLevel)
CONTENT_TYPES: tuple[ContentType, ...] = get_args(ContentType)
RETENTION_TIERS: tuple[RetentionTier, ...] = get_args(RetentionTier)
VALUED_KINDS: tuple[ValuedKind, ...] = get_args(ValuedKind)
PROCESSING_STATUSES: tuple[ProcessingStatus, ...] = get_args(ProcessingStatus)
NOTE_LIFETIMES: tuple[NoteLifetime, ...] = get_args(NoteLifetime)
FACT_CATEGORIES: tuple[FactCategory, ...] = get_args(FactCategory)
CONFIDENCE_TIERS: tuple[ConfidenceTier, ...] = get_args(ConfidenceTier)
MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
VERIFICATIONS: tuple[Verification, ...] = get_args(Verification)
POLICY_CLASSES: tuple[PolicyClass, ...] = get_args(PolicyClass)
BOX_STATES: tuple[BoxState, ...] = get_args(BoxState)
AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)
