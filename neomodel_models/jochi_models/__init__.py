"""Typed neomodel models of what agents remember (DESIGN §4). `jochi_models.aio` has the same for `async` code.

>>> from jochi_models import Belief
>>> belief = Belief(content="Backups that were never restored are no backups.", confidence=0.9)
>>> belief.save()  # doctest: +SKIP
"""

from jochi.extras import extra_named

with extra_named():
    from jochi_models.agents import Agent, AgentKey, Migration, SystemConfig
    from jochi_models.curated import Curated, Tombstone
    from jochi_models.errors import (
        ContentKnown,
        EngineOwned,
        Gone,
        KeyTaken,
        Locked,
        LostUpdate,
        NotOffered,
        NotSaved,
        Pruned,
    )
    from jochi_models.facts import BehaviourProfile, Fact, MemoryBox, Trace, TurnBatch
    from jochi_models.knowledge import (
        HeartbeatTask,
        HeartbeatTaskRegistry,
        KnowledgeChunk,
        StoreItem,
    )
    from jochi_models.personal import (
        Artifact,
        Concept,
        Description,
        Entity,
        Macro,
        Note,
        Person,
        Source,
        SourceSummary,
        Storyline,
    )
    from jochi_models.properties import ZonedDateTimeProperty
    from jochi_models.relationships import Edge, Semantic, SummarizedTo
    from jochi_models.team import (
        Analysis,
        Belief,
        CompressedContext,
        MemoryEntry,
        Notification,
        Recommendation,
        Reflection,
        SessionContext,
        Synthesis,
        Task,
    )

__all__ = [
    "Agent",
    "AgentKey",
    "Analysis",
    "Artifact",
    "BehaviourProfile",
    "Belief",
    "CompressedContext",
    "Concept",
    "ContentKnown",
    "Curated",
    "Description",
    "Edge",
    "EngineOwned",
    "Entity",
    "Fact",
    "Gone",
    "HeartbeatTask",
    "HeartbeatTaskRegistry",
    "KeyTaken",
    "KnowledgeChunk",
    "Locked",
    "LostUpdate",
    "Macro",
    "MemoryBox",
    "MemoryEntry",
    "Migration",
    "NotOffered",
    "NotSaved",
    "Note",
    "Notification",
    "Person",
    "Pruned",
    "Recommendation",
    "Reflection",
    "Semantic",
    "SessionContext",
    "Source",
    "SourceSummary",
    "StoreItem",
    "Storyline",
    "SummarizedTo",
    "Synthesis",
    "SystemConfig",
    "Task",
    "Tombstone",
    "Trace",
    "TurnBatch",
    "ZonedDateTimeProperty",
]
