"""Knowledge, its value, and what is loaded at the start of a session (seed 001, Concrete Schema Recommendations)."""

from __future__ import annotations

from jochi_models.common import CuratedFields
from jochi_models.curated import Curated
from jochi_models.properties import (
    BooleanProperty,
    ChoiceProperty,
    FloatProperty,
    IntegerProperty,
    ListProperty,
    TextProperty,
    ZonedDateTimeProperty,
)
from jochi_models.relationships import Related
from jochi_models.words import RetentionTier, ValuedKind


class KnowledgeChunkFields(CuratedFields):
    """A piece of knowledge (seed 001, Multi-Signal Value Scoring)."""

    sender_hash = TextProperty("whose knowledge it is, hashed")

    value = Related("its scores", "HAS_VALUE", "ValueClassification")


class ValueClassificationFields(CuratedFields):
    """What a piece of knowledge is worth, by several signals (seed 001, ValueClassification Node)."""

    entity_type = ChoiceProperty[ValuedKind]("kind of what it scores; `uid` is that one's id", ValuedKind)
    retention_score = FloatProperty("how likely it is needed again", least=0, most=1)
    uniqueness_score = FloatProperty("how new it is beside what is known", least=0, most=1)
    confidence_score = FloatProperty("reliability of the source", least=0, most=1)
    access_frequency = FloatProperty("accesses, 100 and more count as 1", least=0, most=1)
    last_accessed = ZonedDateTimeProperty("last access of what it scores")
    value_score = FloatProperty("all signals, weighted 0.25, 0.20, 0.15, 0.25, and 0.15 for recency", least=0, most=1)
    retention_tier = ChoiceProperty[RetentionTier]("KEEP from 0.8 on, SUMMARIZE from 0.5 on", RetentionTier)

    values = Related("what it scores", "HAS_VALUE", incoming=True)


class BoundedMemoryManifestFields(CuratedFields):
    """What belongs into the bounded file (seed 001, BoundedMemoryManifest Node): pointers, no content."""

    max_tokens = IntegerProperty("tokens the file may have", least=0, default=lambda: 2000)
    current_tokens = IntegerProperty("tokens it has", least=0)
    last_compacted = ZonedDateTimeProperty("when it was last made shorter")
    personal_preference_ids = ListProperty[str]("ids that are always kept", TextProperty())
    active_task_summary_ids = ListProperty[str]("ids of recent tasks", TextProperty())
    high_value_insight_ids = ListProperty[str]("ids of the highest value scores", TextProperty())
    recent_context_ids = ListProperty[str]("ids of the last conversations", TextProperty())
    version = IntegerProperty("counts the files made from it", least=0)
    generated_at = ZonedDateTimeProperty("when the file was last made")


class HeartbeatTaskRegistryFields(CuratedFields):
    """What is to be known of periodic tasks at the start of a session (seed 001, HeartbeatTaskRegistry Node)."""

    task_definitions_hash = TextProperty("hash of the full definitions")
    last_sync = ZonedDateTimeProperty("when it was last brought up to date")
    pending_changes = ListProperty[str]("ids of tasks with changes to come", TextProperty())
    last_full_refresh = ZonedDateTimeProperty("when everything was last read")


class HeartbeatTaskFields(CuratedFields):
    """A periodic task (seed 001). Its own due time is `task_next_due`: `next_due` is the engine's."""

    task_name = TextProperty("its name")
    schedule = TextProperty("cron expression or interval")
    last_executed = ZonedDateTimeProperty("when it last ran")
    task_next_due = ZonedDateTimeProperty("when it runs next; the seed's `next_due`, a name that the engine has")
    execution_count = IntegerProperty("runs", least=0, default=lambda: 0)
    error_count = IntegerProperty("runs that failed", least=0, default=lambda: 0)
    is_active = BooleanProperty("runs at all", default=lambda: True)
    definition_ref = TextProperty("where the full definition is")
    last_definition_load = ZonedDateTimeProperty("when that was last read")


class KnowledgeChunk(KnowledgeChunkFields, Curated): ...


class ValueClassification(ValueClassificationFields, Curated): ...


class BoundedMemoryManifest(BoundedMemoryManifestFields, Curated): ...


class HeartbeatTaskRegistry(HeartbeatTaskRegistryFields, Curated): ...


class HeartbeatTask(HeartbeatTaskFields, Curated): ...
