"""What a team of agents remembers (seed 000: TTL Rules, Type Weights, Never-Prune Safety Rails)."""

from __future__ import annotations

from jochi_models.common import CuratedFields
from jochi_models.curated import Curated
from jochi_models.properties import (
    BooleanProperty,
    ChoiceProperty,
    IntegerProperty,
    ListProperty,
    Owned,
    TextProperty,
    ZonedDateTimeProperty,
)
from jochi_models.relationships import Related, SummarizedTo
from jochi_models.words import BeliefState, CompressionLevel, ContentType, Priority, Severity, TaskStatus


class BeliefFields(CuratedFields):
    """What agents hold to be true (seed 000). Active from 0.7 on it stays; from 0.9 on it is under a rail."""

    state = ChoiceProperty[BeliefState](
        "active, core and validated count as active in every rule", BeliefState, default=lambda: "active"
    )
    archived_at = ZonedDateTimeProperty("when it was archived; clock of the rule for archived ones")
    author = TextProperty("agent that wrote it")

    evidence = Related("what it rests on", "EVIDENCE")
    evidence_for = Related("what rests on it; an active one keeps it", "EVIDENCE", incoming=True)


class ReflectionFields(CuratedFields):
    """What an agent learned (seed 000; seed 001, Existing Neo4j Schema). Not consolidated it is never pruned."""

    consolidated = BooleanProperty("merged into what the team knows", default=lambda: False)
    consolidated_at = ZonedDateTimeProperty("when; clock of the rule")
    needs_consolidation = Owned(BooleanProperty("flagged by the engine until `consolidated` is true"))
    agent = TextProperty("agent that reflected (seed 001)")
    context = TextProperty("the situation (seed 001)")
    decision = TextProperty("what was decided (seed 001)")
    outcome = TextProperty("what came of it (seed 001)")
    lesson = TextProperty("what to do next time (seed 001)")
    related_task_id = TextProperty("id of the task it is about (seed 001)")

    learned_from = Related("the task that taught it", "LEARNED_FROM", "Task")


class AnalysisFields(CuratedFields):
    """A finding (seed 000). Low and info go after 60 days, medium after 120, high and critical after 180."""

    severity = ChoiceProperty[Severity]("how serious it is", Severity, default=lambda: "info")
    author = TextProperty("agent that wrote it")

    evidence = Related("what it rests on", "EVIDENCE")
    recommendations = Related(
        "what was recommended because of it; keeps a low one", "EVIDENCE", "Recommendation", incoming=True
    )


class SynthesisFields(CuratedFields):
    """What several memories amount to (seed 000): 120 days, unless it is read more than three times."""

    author = TextProperty("agent that wrote it")

    evidence = Related("what it sums up", "EVIDENCE")


class RecommendationFields(CuratedFields):
    """What should be done (seed 000, Type Weights)."""

    author = TextProperty("agent that wrote it")

    evidence = Related("what it follows from", "EVIDENCE")


class TaskFields(CuratedFields):
    """Work (seed 000). Pending, in progress and blocked it is under a rail."""

    status = ChoiceProperty[TaskStatus]("how far it is", TaskStatus, default=lambda: "pending")
    completed_at = ZonedDateTimeProperty("when it was completed; clock of the rule")
    failed_at = ZonedDateTimeProperty("when it failed; clock of the rule")
    priority = ChoiceProperty[Priority]("how urgent it is", Priority)
    author = TextProperty("agent that asked for it")
    assigned_to = TextProperty("agent that does it")

    lessons = Related("what was learned from it; keeps a completed one", "LEARNED_FROM", "Reflection", incoming=True)


class NotificationFields(CuratedFields):
    """A message to an agent (seed 000): 7 days once read, 30 days unread unless critical."""

    read = BooleanProperty("seen by the agent", default=lambda: False)
    read_at = ZonedDateTimeProperty("when; clock of the rule for read ones")
    priority = ChoiceProperty[Priority]("critical ones stay until read", Priority, default=lambda: "normal")
    author = TextProperty("agent that sent it")


class SessionContextFields(CuratedFields):
    """A session (seed 000). Active it is under a rail; 24 hours after it went inactive it goes."""

    active = BooleanProperty("the session goes on", default=lambda: True)
    last_active_at = ZonedDateTimeProperty("last sign of life; clock of the rule")
    topic = TextProperty("what it is about")

    entries = Related("what was said and done in it", "PART_OF", "MemoryEntry", incoming=True)
    summaries = Related("its compressed forms", "PART_OF", "CompressedContext", incoming=True)


class MemoryEntryFields(CuratedFields):
    """One thing that was said or done (seed 000, Schema Additions)."""

    speaker = TextProperty("who said it")

    session = Related("the session it belongs to", "PART_OF", "SessionContext")
    evidence_for = Related("what rests on it", "EVIDENCE", incoming=True)


class CompressedContextFields(CuratedFields):
    """A session in fewer words (seed 000; seed 001, Enhanced CompressedContext Node)."""

    compression_level = ChoiceProperty[CompressionLevel]("how much is left of it", CompressionLevel)
    content_type = ChoiceProperty[ContentType]("what it holds (seed 001)", ContentType)
    contains_pii = BooleanProperty("holds something personal (seed 001)")
    sender_hash = TextProperty("whose conversation it is, hashed (seed 001)")
    parent_context_id = TextProperty("id of the shorter one that was made of it (seed 001)")
    child_context_ids = ListProperty[str]("ids of the longer ones that it was made of (seed 001)", TextProperty())
    speaker = TextProperty("agent whose session it was")
    turns = IntegerProperty("turns it was made of", least=0)

    session = Related("the session it compresses", "PART_OF", "SessionContext")
    summarized_to = Related("its shorter form", "SUMMARIZED_TO", "CompressedContext", properties=SummarizedTo)
    summary_of = Related(
        "its longer form", "SUMMARIZED_TO", "CompressedContext", incoming=True, properties=SummarizedTo
    )
    follows = Related("the context before it", "FOLLOWS", "CompressedContext")


class Belief(BeliefFields, Curated): ...


class Reflection(ReflectionFields, Curated): ...


class Analysis(AnalysisFields, Curated): ...


class Synthesis(SynthesisFields, Curated): ...


class Recommendation(RecommendationFields, Curated): ...


class Task(TaskFields, Curated): ...


class Notification(NotificationFields, Curated): ...


class SessionContext(SessionContextFields, Curated): ...


class MemoryEntry(MemoryEntryFields, Curated): ...


class CompressedContext(CompressedContextFields, Curated): ...
