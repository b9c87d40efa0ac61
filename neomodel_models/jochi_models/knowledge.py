"""Knowledge, and what is loaded at the start of a session (seed 001, Concrete Schema Recommendations)."""

from __future__ import annotations

from jochi_models.common import CuratedFields
from jochi_models.curated import Curated
from jochi_models.properties import (
    BooleanProperty,
    FloatProperty,
    IntegerProperty,
    ListProperty,
    TextProperty,
    ZonedDateTimeProperty,
)


class KnowledgeChunkFields(CuratedFields):
    """A piece of knowledge (seed 001, Multi-Signal Value Scoring)."""

    sender_hash = TextProperty("whose knowledge it is, hashed")


class StoreItemFields(CuratedFields):
    """What an agent put into its store (of no seed); its content is its value as JSON. `Jochi.items` writes it."""

    ttl_minutes = FloatProperty("its time to live, counted from when it was last put or read; absent: it has none")


class HeartbeatTaskRegistryFields(CuratedFields):
    """What is to be known of periodic tasks at the start of a session (seed 001). `Jochi.heartbeat` writes it."""

    task_definitions_hash = TextProperty("hash of the full definitions")
    last_sync = ZonedDateTimeProperty("when a file was last brought up to date")
    pending_changes = ListProperty[str]("ids of tasks that changed since", TextProperty())
    last_full_refresh = ZonedDateTimeProperty("when everything was last read")


class HeartbeatTaskFields(CuratedFields):
    """A periodic task (seed 001); its content is its definition. Only one that `Jochi.heartbeat` wrote can be claimed.

    Its own due time is `task_next_due`: `next_due` is the engine's.
    """

    task_name = TextProperty("its name")
    schedule = TextProperty("cron expression or interval; absent: it is never due")
    time_zone = TextProperty("IANA time zone that a cron expression is read in")
    scheduled_at = ZonedDateTimeProperty("when it got this schedule: an interval counts from here")
    last_executed = ZonedDateTimeProperty("when it last ran")
    task_next_due = ZonedDateTimeProperty("when it runs next; the seed's `next_due`, a name that the engine has")
    claimable_at = ZonedDateTimeProperty("when an agent may claim it: then, or when the lease on it ends")
    claimed_by = TextProperty("the agent that has it")
    claimed_until = ZonedDateTimeProperty("when that agent's lease ends")
    execution_count = IntegerProperty("runs", least=0, default=lambda: 0)
    error_count = IntegerProperty("runs that failed", least=0, default=lambda: 0)
    error_streak = IntegerProperty("of these since the last that didn't", least=0)
    last_error = TextProperty("why the last run failed; absent: it didn't")
    is_active = BooleanProperty("runs at all", default=lambda: True)
    quick = BooleanProperty("stands in HEARTBEAT.md whole: its definition has fewer than 100 tokens")
    definition_hash = TextProperty("hash of the definition, character by character")
    last_definition_load = ZonedDateTimeProperty("when that was last read")


class KnowledgeChunk(KnowledgeChunkFields, Curated): ...


class StoreItem(StoreItemFields, Curated): ...


class HeartbeatTaskRegistry(HeartbeatTaskRegistryFields, Curated): ...


class HeartbeatTask(HeartbeatTaskFields, Curated): ...
