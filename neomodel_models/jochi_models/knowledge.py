"""Knowledge, and what is loaded at the start of a session (seed 001, Concrete Schema Recommendations)."""

from __future__ import annotations

from jochi_models.common import CuratedFields
from jochi_models.curated import Curated
from jochi_models.properties import (
    BooleanProperty,
    IntegerProperty,
    ListProperty,
    TextProperty,
    ZonedDateTimeProperty,
)


class KnowledgeChunkFields(CuratedFields):
    """A piece of knowledge (seed 001, Multi-Signal Value Scoring)."""

    sender_hash = TextProperty("whose knowledge it is, hashed")


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


class HeartbeatTaskRegistry(HeartbeatTaskRegistryFields, Curated): ...


class HeartbeatTask(HeartbeatTaskFields, Curated): ...
