"""What one person's life leaves behind (seed 002): sources, what they speak of, and the stories in them."""

from __future__ import annotations

from jochi_models.common import CuratedFields
from jochi_models.curated import Curated
from jochi_models.properties import (
    BooleanProperty,
    ChoiceProperty,
    DateProperty,
    FloatProperty,
    IntegerProperty,
    ListProperty,
    Owned,
    TextProperty,
    ZonedDateTimeProperty,
)
from jochi_models.relationships import Related, Semantic
from jochi_models.words import ContentType, LifeState, NoteLifetime, ProcessingStatus


class LivingFields(CuratedFields):
    """What decays and is recalled (seed 002, Memory Lifecycle & Decay). Initial values as the seed has them."""

    state = ChoiceProperty[LifeState](
        "candidate, active after the first retrieval, core after ten, archived",
        LifeState,
        default=lambda: "candidate",
    )
    salience = FloatProperty("how present it is; decays from `salience_at` on", least=0, most=1, default=lambda: 0.5)
    recall_frequency = Owned(IntegerProperty("times it was retrieved", least=0))
    last_recall_interval = Owned(FloatProperty("days between the last two retrievals", least=0))
    decay_gradient = Owned(FloatProperty("spacing effect; 1.0 at first, never below 0.5", least=0.5))


class EpisodeFields(LivingFields):
    """What happened, as opposed to what is known (seed 002, Simplified Lifecycle for Episodic Nodes)."""

    entity_key = TextProperty("the seed's own identifier, where an app has one")
    summary = TextProperty("one or two sentences")
    keywords = ListProperty[str]("searchable terms", TextProperty())
    tags = ListProperty[str]("what it is about, in general words", TextProperty())


class SourceFields(EpisodeFields):
    """A conversation, a mail, a voice memo: raw and processed (seed 002, Phase 0 and 1)."""

    raw_content = ListProperty[str]("its messages as they came; kept when archived", TextProperty())
    message_ids = ListProperty[str]("by which its messages are known when they come again", TextProperty())
    message_versions = ListProperty[str]("of each of those the text that it has, to tell an edit", TextProperty())
    part = IntegerProperty("of a long source, which part this is", least=1)
    title = TextProperty("its subject, channel or heading")
    copy_of = TextProperty("key of the team's source that it was taken from")
    source_type = TextProperty("voice-memo, meeting, email, slack-thread, text-note, …")
    provenance = TextProperty("origin and its confidence, as JSON text")
    context_type = TextProperty("the circumstances")
    started_at = ZonedDateTimeProperty("when it began")
    ended_at = ZonedDateTimeProperty("when it ended")
    participants = ListProperty[str]("who took part", TextProperty())
    processing_status = ChoiceProperty[ProcessingStatus]("how far it is", ProcessingStatus, default=lambda: "raw")
    processing_started_at = ZonedDateTimeProperty("when phase 1 was asked for")
    processing_completed_at = ZonedDateTimeProperty("when it had its summary")
    extraction_started_at = ZonedDateTimeProperty("when phase 2 was asked for")
    extraction_completed_at = ZonedDateTimeProperty("when what it mentions was in the graph")

    summaries = Related("what phase 1 made of it", "SUMMARIZED_TO", "SourceSummary")
    mentions = Related("people, concepts and entities in it", "mentions")
    storylines = Related("stories it belongs to", "includes", "Storyline", incoming=True)


class SourceSummaryFields(CuratedFields):
    """What a Source says in one or two sentences (seed 002, Phase 1); its vector stands for the source."""

    keywords = ListProperty[str]("searchable terms", TextProperty())
    tags = ListProperty[str]("what it is about, in general words", TextProperty())
    content_type = ChoiceProperty[ContentType]("what the source holds", ContentType)
    contains_pii = BooleanProperty("whether something personal is said in it")

    summarises = Related("the source", "SUMMARIZED_TO", "Source", incoming=True)


class ArtifactFields(EpisodeFields):
    """Something that was made (seed 002, Episodic nodes)."""

    artifact_type = TextProperty("what it is: document, image, code, …")
    location = TextProperty("where it is kept")

    mentions = Related("people, concepts and entities in it", "mentions")


class MeaningFields(LivingFields):
    """A person, a concept or an entity (seed 002, Phase 2): extracted, described, counted."""

    entity_key = TextProperty("the seed's own identifier, where an app has one")
    name = TextProperty("as people say it")
    description = TextProperty("in the app's words; what is made of the notes at night is in `described_by`")
    is_dirty = BooleanProperty("notes were added since")
    created_by = TextProperty("user in whose graph it was extracted")
    source_count = IntegerProperty("sources that mention it", least=0)
    first_mentioned_at = ZonedDateTimeProperty("first of them")
    last_mentioned_at = ZonedDateTimeProperty("last of them")
    distinct_source_days = IntegerProperty("days with a source that mentions it", least=0)
    distinct_days = ListProperty("those days", DateProperty(""))
    has_meso = BooleanProperty("has a Storyline")
    has_macro = BooleanProperty("has a Macro")

    mentioned_in = Related("sources and artifacts that mention it", "mentions", incoming=True)
    related_to = Related("what it is to another one", "RELATED_TO", properties=Semantic)
    related_from = Related("what another one is to it", "RELATED_TO", incoming=True, properties=Semantic)
    notes = Related("what is noted about it", "HAS_NOTE", "Note")
    described_by = Related("who or what it is, made anew from its notes at night", "DESCRIBED_BY", "Description")
    storylines = Related("stories it anchors", "about", "Storyline", incoming=True)
    macros = Related("themes it roots", "rooted_in", "Macro", incoming=True)


class DescriptionFields(CuratedFields):
    """Who or what a person, concept or entity is (seed 002, Nightly Description Consolidation)."""

    describes = Related("whom or what", "DESCRIBED_BY", incoming=True)


class PersonFields(MeaningFields):
    """A person (seed 002). The owner of the graph is one, with `ttl_policy` keep_forever."""

    canonical_name = TextProperty("lower case, hyphenated; unique to a person in a scope")
    is_owner = BooleanProperty("the user's own node")


class ConceptFields(MeaningFields):
    """An idea or topic (seed 002)."""


class EntityFields(MeaningFields):
    """A thing with a name: a company, a place, a product (seed 002)."""

    type = TextProperty("what sort of thing")


class StorylineFields(LivingFields):
    """What goes on around one anchor for a time (seed 002, Nightly Storyline Promotion Job); `content` is its description."""

    storyline_id = TextProperty("the seed's own identifier, where an app has one")
    title = TextProperty("its anchor and first day")
    source_count = IntegerProperty("sources it includes", least=0)
    first_source_at = ZonedDateTimeProperty("first of them")
    last_source_at = ZonedDateTimeProperty("last of them")
    is_dirty = BooleanProperty("sources were added since it was described")

    about = Related("its anchor", "about")
    includes = Related("its sources", "includes", "Source")
    macros = Related("themes that group it", "groups", "Macro", incoming=True)


class MacroFields(LivingFields):
    """A theme of somebody's life: storylines of one anchor (seed 002, Weekly Macro Promotion Job); `content` is its overview."""

    title = TextProperty("its anchor")
    storyline_count = IntegerProperty("storylines it groups", least=0)
    total_source_count = IntegerProperty("sources of all of them", least=0)
    first_event_at = ZonedDateTimeProperty("first of them")
    last_event_at = ZonedDateTimeProperty("last of them")
    is_dirty = BooleanProperty("storylines or sources were added since it was written")

    rooted_in = Related("its anchor", "rooted_in")
    groups = Related("its storylines", "groups", "Storyline")


class NoteFields(CuratedFields):
    """A note about a person, concept or entity (seed 002, Note Retention), a node of its own so that it can expire by itself."""

    lifetime = ChoiceProperty[NoteLifetime](
        "how long it matters, unless `expires_at` says when", NoteLifetime, default=lambda: "month"
    )
    added_by = TextProperty("who wrote it")
    source_id = TextProperty("key of the Source that it was read from")
    date_added = ZonedDateTimeProperty("when, where that isn't `created_at`")

    about = Related("what it is about", "HAS_NOTE", incoming=True)
    added_in = Related("the Source that it was read from", "ADDED_IN", "Source")


class Source(SourceFields, Curated): ...


class SourceSummary(SourceSummaryFields, Curated): ...


class Artifact(ArtifactFields, Curated): ...


class Person(PersonFields, Curated): ...


class Concept(ConceptFields, Curated): ...


class Entity(EntityFields, Curated): ...


class Description(DescriptionFields, Curated): ...


class Storyline(StorylineFields, Curated): ...


class Macro(MacroFields, Curated): ...


class Note(NoteFields, Curated): ...
