"""What every memory has (DESIGN §4): identity, content, and what the engine keeps on it."""

from __future__ import annotations

from jochi_models.properties import (
    Always,
    BooleanProperty,
    ChoiceProperty,
    DateProperty,
    FloatProperty,
    IdProperty,
    IntegerProperty,
    KeyProperty,
    ListProperty,
    Owned,
    ScopeProperty,
    TextProperty,
    ZonedDateTimeProperty,
    new_id,
    now,
)
from jochi_models.words import AccessTier, Sensitivity, Tier, TtlPolicy


class CuratedFields:
    """The properties that every memory can have. What is marked *engine* is read-only here (`jochi.graph.catalogue`)."""

    uid = Always(IdProperty("the app's own id, unique in its scope; stored as `id`", db_property="id"), default=new_id)
    scope = Always(ScopeProperty("tenant; no `/` in it"), default=lambda: "default")
    key = KeyProperty("`scope/id`: unique, the only way anything refers to a memory")

    content = TextProperty("what is remembered; up to `[content] longest` characters")
    importance = FloatProperty("how much it matters to the app", least=0, most=1)
    confidence = FloatProperty("how sure it is", least=0, most=1)
    salience = FloatProperty("how present it is; decays from `salience_at` on", least=0, most=1)
    created_at = Always(ZonedDateTimeProperty("when it was made; the clock of most rules"), default=now)
    updated_at = ZonedDateTimeProperty("last save; written by save")
    expires_at = ZonedDateTimeProperty("from then on the engine may prune it")
    pinned = BooleanProperty("rail: never pruned, and budgets leave its tier alone")
    ttl_policy = ChoiceProperty[TtlPolicy]("rail: keep_forever is never pruned (seed 002, TTL Policy Table)", TtlPolicy)
    locked_by = TextProperty("agent that works on it; honoured while the lock is young")
    locked_at = ZonedDateTimeProperty("since when it is locked")
    access_tier = ChoiceProperty[AccessTier]("who may read it; never touches retention", AccessTier)
    sensitivity = ChoiceProperty[Sensitivity]("for permissions; never touches retention (seed 002)", Sensitivity)
    team_id = TextProperty("team whose memory it is, beside the scope (seed 002)")

    tier = Owned(ChoiceProperty[Tier]("how near the context it is", Tier))
    tier_reason = Owned(TextProperty("the rule or the budget that gave it this tier; absent: none yet"))
    tier_from = Owned(TextProperty("the tier before"))
    tier_at = Owned(ZonedDateTimeProperty("when it got this tier"))
    confidence_lost = Owned(
        FloatProperty("what disuse took from `confidence` up to confidence_lost_at", least=0, most=1)
    )
    confidence_lost_at = Owned(ZonedDateTimeProperty("up to when that is charged"))
    confidence_at = Owned(ZonedDateTimeProperty("since when `confidence` holds"))
    salience_at = Owned(ZonedDateTimeProperty("since when `salience` holds"))
    access_count = Owned(IntegerProperty("used accesses, capped per window", least=0))
    access_count_7d = Owned(IntegerProperty("used accesses of seven UTC days", least=0))
    access_days = Owned(
        ListProperty[int]("used accesses by UTC day, the newest first", IntegerProperty("", least=0), length=7)
    )
    access_day = Owned(DateProperty("the newest of those days"))
    agents = Owned(ListProperty[str]("who accessed it", TextProperty()))
    recall_count = Owned(IntegerProperty("every access, used or not", least=0))
    last_recalled_at = Owned(ZonedDateTimeProperty("last access, used or not"))
    last_accessed_at = Owned(ZonedDateTimeProperty("last used access; absent: `created_at` stands in"))
    prev_accessed_at = Owned(ZonedDateTimeProperty("the used access before"))

    content_hash = Owned(TextProperty("`v2:` and 64 hex digits of the normalised content"))
    content_key = Owned(TextProperty("`scope/kind/content_hash`, on the one live memory that owns the content"))
    duplicate_of = Owned(TextProperty("key of the memory that owned this content already"))
    private_kinds = Owned(
        ListProperty[str]("what the content shows of private data, such as `IBAN` or `password`", TextProperty())
    )
    token_count = Owned(IntegerProperty("tokens of the content", least=0))
    token_counter = Owned(TextProperty("who counted: `estimate:…` or `tiktoken:…`"))
    embedding = Owned(
        ListProperty[float]("vector of the content; as many floats as the policy says", FloatProperty(""))
    )
    embedding_model = Owned(TextProperty("model that made the vector"))
    embedding_hash = Owned(TextProperty("content_hash of the text that was embedded"))
    embedding_unknown = Owned(FloatProperty("share of its tokens that the model doesn't know", least=0, most=1))
    prepare_due = Owned(ZonedDateTimeProperty("present while hash or exact tokens are outstanding"))
    embed_due = Owned(ZonedDateTimeProperty("present while an embedding is outstanding"))

    next_due = Owned(ZonedDateTimeProperty("when the engine looks at it next"))
    last_curated_at = Owned(ZonedDateTimeProperty("when the engine looked last"))
    curation_action = Owned(
        TextProperty("what it did then: KEEP, ARCHIVE, DEMOTE, PROMOTE, FLAG, HELD, PROTECTED, PAUSED, …")
    )
    curation_rails = Owned(
        ListProperty[str](
            "rails that held something back at that look, such as pinned; absent where none did", TextProperty()
        )
    )
    curation_failures = Owned(IntegerProperty("looks that failed in a row", least=0))
    quarantined_until = Owned(ZonedDateTimeProperty("put aside after failures until then"))
    hold_until = Owned(ZonedDateTimeProperty("rail: no rule takes it before"))
    mvs = Owned(FloatProperty("memory value score at the last look, of kinds that have one (score.md)"))
    mvs_at = Owned(ZonedDateTimeProperty("when that look was"))
    mvs_low_at = Owned(ZonedDateTimeProperty("when a look first found that score below improve"))
    compressed_at = Owned(ZonedDateTimeProperty("when its content was shortened"))
    compressed_by = Owned(TextProperty("provider and model that shortened it"))
    derived_by = Owned(TextProperty("the derivation that made it out of others"))
    derived_for = Owned(TextProperty("key of the memory that it was made for"))
    derived_at = Owned(ZonedDateTimeProperty("when it was made, last"))
    derived_expires_at = Owned(ZonedDateTimeProperty("the `expires_at` that its derivation gave it"))
    derived_ended_at = Owned(ZonedDateTimeProperty("when nothing was left to make it of, and it got its `expires_at`"))
    derived_model = Owned(TextProperty("provider and model that made it; `offline` without one"))
    derived_version = Owned(TextProperty("version of what the model was told"))
    derived_hash = Owned(TextProperty("SHA-256 of its content as it was made: another content is a person's"))
    needs_compression = Owned(BooleanProperty("true: of some worth, and longer than its kind should be"))
    needs_improvement = Owned(
        ListProperty[str]("of little worth, and lacking these: embedding, tokens, keywords, confidence", TextProperty())
    )
    revision = Owned(IntegerProperty("counts the saves; 1 when made", least=0))
