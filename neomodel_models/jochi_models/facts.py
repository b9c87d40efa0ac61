"""Facts from conversations, the boxes they lie in, and the traces between those (seed 003)."""

from __future__ import annotations

from datetime import datetime

from jochi_models.common import CuratedFields
from jochi_models.curated import Curated
from jochi_models.properties import (
    BooleanProperty,
    ChoiceProperty,
    FloatProperty,
    IntegerProperty,
    ListProperty,
    Owned,
    TextProperty,
    ValueProperty,
    ZonedDateTimeProperty,
)
from jochi_models.relationships import Edge, Related
from jochi_models.words import (
    BoxState,
    ConfidenceTier,
    FactCategory,
    FactState,
    FactStatus,
    MemoryKind,
    PolicyClass,
    Verification,
)


class FactFields(CuratedFields):
    """One typed fact out of a conversation (seed 003, Write Path, Lifecycle Policy States)."""

    category = ChoiceProperty[FactCategory]("what sort of fact", FactCategory, default=lambda: "fact")
    state = ChoiceProperty[FactState]("where it is in its life", FactState, default=lambda: "candidate")
    memory_kind = ChoiceProperty[MemoryKind]("an event, or a lasting belief", MemoryKind)
    confidence_tier = ChoiceProperty[ConfidenceTier](
        "speculative is below 0.40; unconfirmed it goes after 30 days", ConfidenceTier
    )
    verification_state = ChoiceProperty[Verification]("who vouches for it", Verification)
    policy_class = ChoiceProperty[PolicyClass](
        "protected: the rules of facts neither remove nor archive it; ephemeral and durable change nothing",
        PolicyClass,
    )
    heat_score = FloatProperty("how warm an app holds it to be; rules compute their own", least=0, most=1)
    decay_score = FloatProperty("how far an app holds it to have faded; rules compute their own", least=0, most=1)
    tags = ListProperty[str]("what it is about", TextProperty())
    confirmed_at = ZonedDateTimeProperty("when a later extraction confirmed it")
    resolved = BooleanProperty("of a commitment: fulfilled or expired")
    resolved_at = ZonedDateTimeProperty("when; 90 days later it goes")

    subject = TextProperty("of what or whom it speaks: Ann")
    attribute = TextProperty("what of it: city; with `value` they make it a fact of a slot")
    value = ValueProperty("what holds: Oslo")
    valid_from = ZonedDateTimeProperty("from when on it holds; absent: `created_at` stands in")
    valid_to = Owned(ZonedDateTimeProperty("of what stands for a stretch: when another value began"))
    status = Owned(
        ChoiceProperty[FactStatus](
            "of what stands for a stretch: whether its value holds; absent while it is still to come", FactStatus
        )
    )
    superseded_at = Owned(ZonedDateTimeProperty("when the engine saw that a newer one took its place"))

    entities = ListProperty[str]("names that stand in it", TextProperty())
    message_ids = ListProperty[str]("ids of the turns that say it", TextProperty())
    answers = TextProperty("the other speaker's question that it answers: it is found by that as well")

    quotes = Related("the very words of its turn", "QUOTES", "Artifact")
    box = Related("the box it lies in", "IN_BOX", "MemoryBox")
    supersedes = Related("the older fact it replaces", "SUPERSEDES", "Fact")
    superseded_by = Related("the newer fact that replaces it", "SUPERSEDES", "Fact", incoming=True)
    may_replace = Related("the older fact that it may replace: nobody was sure", "MAY_REPLACE", "Fact")
    may_be_replaced_by = Related("the newer fact that may replace it", "MAY_REPLACE", "Fact", incoming=True)
    same_entity = Related("speaks of the same entity", "SAME_ENTITY", "Fact", properties=Edge)
    near_in_time = Related("happened at about the same time", "NEAR_IN_TIME", "Fact", properties=Edge)
    caused = Related("what it led to", "CAUSED", "Fact", properties=Edge)
    caused_by = Related("what led to it", "CAUSED", "Fact", incoming=True, properties=Edge)


class TurnBatchFields(CuratedFields):
    """Turns of one session that were buffered together, and that facts were learned from (seed 003, Write Path)."""

    session = TextProperty("of which session")
    message_ids = ListProperty[str]("ids of the turns, in the order of the lines of the text", TextProperty())
    message_moments = ListProperty[datetime]("when each was said, in the same order", ZonedDateTimeProperty())
    participants = ListProperty[str]("who spoke", TextProperty())
    started_at = ZonedDateTimeProperty("when the first was said")
    ended_at = ZonedDateTimeProperty("when the last was said")
    signal = TextProperty("the strongest signal: high, medium, low or none")
    flush_reason = TextProperty("why they were learned from: high, turns, wait, order or gave way")


class MemoryBoxFields(CuratedFields):
    """Facts of one topic, until the topic shifts, it is silent for 30 minutes, or 50 are in it (seed 003, Memory Box Lifecycle)."""

    state = ChoiceProperty[BoxState]("open ones take more", BoxState, default=lambda: "open")
    session = TextProperty("of which session")
    topics = ListProperty[str]("what it is about, the newest first", TextProperty())
    memory_count = IntegerProperty("facts in it", least=0)
    last_added_at = ZonedDateTimeProperty("when the last one came")
    sealed_at = ZonedDateTimeProperty("when it was closed")
    seal_reason = TextProperty("why: topic_shift, time_gap, max_memories, forced or flush")
    trace_id = TextProperty("id of its trace")

    facts = Related("what lies in it", "IN_BOX", "Fact", incoming=True)
    trace = Related("the trace it belongs to", "IN_TRACE", "Trace")


class TraceFields(CuratedFields):
    """A topic that comes back: boxes with overlapping topics (seed 003, TraceWeaver)."""

    topics = ListProperty[str]("topics of its newest box", TextProperty())
    box_count = IntegerProperty("boxes in it", least=0)

    boxes = Related("its boxes", "IN_TRACE", "MemoryBox", incoming=True)


class BehaviourProfileFields(CuratedFields):
    """How somebody works and what they want, one thing a line (seed 003, Consolidation Pass: behavioral profile)."""


class Fact(FactFields, Curated): ...


class BehaviourProfile(BehaviourProfileFields, Curated): ...


class TurnBatch(TurnBatchFields, Curated): ...


class MemoryBox(MemoryBoxFields, Curated): ...


class Trace(TraceFields, Curated): ...
