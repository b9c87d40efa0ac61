"""The catalogue of properties (DESIGN §4): what a memory can have that others than its app know of, and what relationships get.

One home: every list of properties in Python is made from it, and templates see it as `owned`. A test reads all rendered
statements and fails where one writes a property that isn't here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from types import MappingProxyType

from jochi.text.content import VERSION

EARLIEST = datetime(1990, 1, 1, tzinfo=timezone.utc)
"""A date before this is a mistaken unit: seconds taken for milliseconds, an empty date."""

LONGEST_NAME = 1_000
"""Characters of a scope, an id or a property name: a longer key doesn't fit into an index."""

RELATIONSHIP_TYPE = "[A-Za-z_][A-Za-z0-9_]{0,63}"
"""Regular expression of a relationship's type, for Python and for Cypher."""

HASH_PREFIX = f"{VERSION}:"
"""How a content hash begins (docs/reference/content-hash.md)."""

CONTENT_HASH = HASH_PREFIX + "[0-9a-f]{64}"
"""Regular expression of a content hash."""

ENGINE_PREFIXES = ("curation_", "tombstone")
"""So begin more of the engine's own properties than the catalogue names."""

CHOICES = {
    "tier": ("HOT", "WARM", "COLD", "ARCHIVE"),
    "access_tier": ("PUBLIC", "SENSITIVE", "PRIVATE"),
    "sensitivity": ("low", "normal", "high"),
}
"""One of a few words."""


@dataclass(frozen=True)
class Owner:
    """Who writes a property of the engine's, and what to do instead of writing it oneself.

    ``given``: a file or `remember` may carry a value for a memory that is new, because it comes from elsewhere with a
    history of its own. ``shown``: a model has it.
    """

    writer: str
    instead: str
    given: bool = False
    shown: bool = True


_SCHEDULE = Owner("the due queue", "change what the rules read, such as expires_at or pinned: a save brings it to now")
_TIER = Owner("budgets and idleness", "report accesses with Jochi.touch, or set pinned", given=True)
_MOVED = Owner("whatever changed the tier last", "report accesses with Jochi.touch, or set pinned")
_COUNTS = Owner("the fold of accesses", "report an access with Jochi.touch", given=True)
_DISUSE = Owner("the fold of accesses, as disuse costs it", "set confidence, with confidence_at")
_CURATION = Owner("the engine's last look", "read it, or ask `jochi explain`")
_CHECK = Owner("the engine's check of reflections", "set consolidated")
_RESTORE = Owner("restore and undo", "set pinned or ttl_policy = 'keep_forever'")
_TOMBSTONE = Owner("the engine when it prunes", "restore with Jochi.restore")
_CONTENT = Owner("whoever writes the content, through save, remember or the worker", "set content")
_TOKENS = Owner(_CONTENT.writer, "set content", given=True)
_VECTOR = Owner("the embedding worker", "hand a vector to Jochi.remember, or run `jochi worker`", given=True)
_VECTOR_OF = Owner(_VECTOR.writer, _VECTOR.instead)
_WORK = Owner("the queue of the workers", "set content: a save queues what is left to do")
_COMPRESSED = Owner("the compressing worker", "set content, or take it back with `jochi decompress`")
_DERIVED = Owner("the derivation that made it", "change its content: it is kept then, as a person's")
_COMPARED = Owner("the search for near duplicates", "set content: its new vector is compared", shown=False)
_ANCHOR = Owner("save, together with the value it dates", "set the value itself", given=True)
_REVISION = Owner("save and remember", "save: it counts one up")
_KEY = Owner("whoever enrols", "set scope and id on a new object", given=True, shown=False)
_MARK = Owner("the engine, for itself", "leave it out", shown=False)


@dataclass(frozen=True)
class Property:
    """One property of a memory.

    ``type``: text, texts, flag, share (a number from 0 to 1), number, count, counts, moment (a zoned datetime), date, vector, any.
    ``owner``: None is the app. ``marks``, in one text:

    - ``newborn``: a memory has it from the moment it is curated, if anything is to be said there.
    - ``read``: a rule or a rail reads it. ``mapped``: a kind may keep it under a name of its own.
    - ``ahead``: a moment that may lie years ahead. ``counted``: the fold counts it, so `remember` doesn't take it.
    - ``word``: its texts are words of ours or of a rule. ``said``: the engine writes it, and its texts hold what somebody said.
    - ``ids``: it names memories of its scope by their ids. ``slot``: of facts that stand in a slot, the slot writes it.
    - ``content``: made from the content, so it goes with it. ``combined``: a merge writes it on the memory that stays.
    - ``off``: an app's property that the engine can be the first to write: disenrol takes it off a node that came without it.
    - ``stays``: uninstall leaves it on what was a memory from the start.
    """

    name: str
    type: str
    owner: Owner | None = None
    marks: str = ""

    def has(self, mark: str) -> bool:
        """Whether ``mark`` is among its marks."""
        return mark in self.marks.split()


def _of(type: str, owner: Owner | None, marks: str, names: str) -> tuple[Property, ...]:
    return tuple(Property(name, type, owner, marks) for name in names.split())


MEMORY = (
    *_of("text", _KEY, "newborn stays said", "key"),
    *_of("text", None, "newborn mapped word off stays", "scope"),
    *_of("text", None, "mapped off stays", "id"),
    *_of("text", None, "mapped", "content compression_level"),
    *_of("moment", None, "newborn mapped read off stays", "created_at"),
    *_of("moment", None, "mapped", "updated_at last_active_at read_at completed_at failed_at archived_at"),
    *_of("moment", None, "mapped", "consolidated_at"),
    *_of("moment", None, "combined off stays", "first_seen_at"),
    *_of("moment", None, "mapped read", "locked_at"),
    *_of("text", None, "mapped read", "locked_by"),
    *_of("moment", None, "mapped ahead", "expires_at"),
    *_of("moment", None, "ahead", "deadline_at due_at remind_at"),
    *_of("moment", None, "ahead off", "task_next_due claimable_at"),
    *_of("moment", None, "", "date_added last_definition_load last_executed"),
    *_of("moment", None, "", "last_full_refresh last_sync"),
    *_of("moment", None, "off", "scheduled_at claimed_until"),
    *_of("any", None, "", "task_name schedule time_zone is_active execution_count error_count last_error"),
    *_of("any", None, "off", "quick definition_hash error_streak claimed_by claim_token"),
    *_of("any", None, "", "task_definitions_hash task_changes"),
    *_of("any", None, "ids", "pending_changes"),
    *_of("flag", None, "mapped read", "pinned active consolidated"),
    *_of("flag", None, "", "keep_forever"),
    *_of("flag", None, "mapped", "read"),
    *_of("any", None, "", "is_dirty category"),
    *_of("text", None, "mapped read word", "ttl_policy state"),
    *_of("text", None, "mapped read word slot", "status"),
    *_of("text", None, "mapped word", "priority severity"),
    *_of("text", None, "", "access_tier sensitivity"),
    *_of("share", None, "mapped read combined", "confidence"),
    *_of("share", None, "mapped combined", "importance"),
    *_of("share", None, "mapped combined off stays", "salience"),
    *_of("any", None, "combined", "tags keywords topics aliases"),
    *_of("texts", None, "ids", "child_context_ids"),
    *_of("text", None, "ids", "parent_context_id"),
    *_of("text", None, "", "sender_hash"),
    *_of("text", None, "word", "content_type"),
    *_of("flag", None, "", "contains_pii"),
    *_of("texts", None, "", "raw_content participants"),
    *_of("texts", None, "word", "message_ids message_versions"),
    *_of("text", None, "", "source_type context_type title provenance team_id"),
    *_of("text", None, "", "copy_of"),
    *_of("text", None, "word", "processing_status"),
    *_of("moment", None, "", "started_at ended_at processing_started_at processing_completed_at confirmed_at"),
    *_of("any", None, "", "message_moments"),
    *_of("text", None, "", "answers"),
    *_of("moment", None, "", "extraction_started_at extraction_completed_at"),
    *_of("text", None, "", "session"),
    *_of("text", None, "word", "signal flush_reason seal_reason verification_state"),
    *_of("any", None, "", "memory_count box_count"),
    *_of("text", None, "ids", "trace_id"),
    *_of("moment", None, "", "last_added_at sealed_at"),
    *_of("any", None, "", "part name canonical_name type has_meso has_macro"),
    *_of("text", None, "", "lifetime added_by source_id created_by"),
    *_of("any", None, "", "source_count distinct_source_days storyline_count total_source_count"),
    *_of("moment", None, "", "first_mentioned_at last_mentioned_at first_source_at last_source_at"),
    *_of("moment", None, "", "first_event_at last_event_at"),
    *_of("any", None, "", "ttl_minutes"),
    *_of("any", None, "ahead", "valid_from"),
    *_of("any", None, "slot", "valid_to"),
    *_of("moment", None, "slot", "superseded_at"),
    *_of("moment", _ANCHOR, "mapped read combined stays", "confidence_at"),
    *_of("moment", _ANCHOR, "mapped combined stays", "salience_at"),
    *_of("text", _TIER, "newborn read combined stays", "tier"),
    *_of("text", _MOVED, "read combined", "tier_reason"),
    *_of("text", _MOVED, "combined", "tier_from"),
    *_of("moment", _MOVED, "read combined", "tier_at"),
    *_of("share", _DISUSE, "read combined", "confidence_lost"),
    *_of("moment", _DISUSE, "read combined", "confidence_lost_at"),
    *_of("count", _COUNTS, "counted read combined stays", "access_count access_count_7d"),
    *_of("counts", _COUNTS, "counted read combined stays", "access_days"),
    *_of("date", _COUNTS, "counted read combined stays", "access_day"),
    *_of("texts", _COUNTS, "read combined stays said", "agents"),
    *_of("count", _COUNTS, "counted combined stays", "recall_count"),
    *_of("moment", _COUNTS, "counted combined stays", "last_recalled_at prev_accessed_at"),
    *_of("moment", _COUNTS, "counted read combined stays", "last_accessed_at"),
    *_of("any", _COUNTS, "combined stays", "recall_frequency"),
    *_of("any", _COUNTS, "stays", "last_recall_interval decay_gradient"),
    *_of("counts", _MARK, "combined", "access_windows"),
    *_of("moment", _SCHEDULE, "newborn", "next_due"),
    *_of("number", _CURATION, "combined", "mvs"),
    *_of("moment", _CURATION, "", "mvs_at mvs_low_at last_curated_at"),
    *_of("flag", _CURATION, "", "needs_compression"),
    *_of("texts", _CURATION, "", "needs_improvement curation_rails"),
    *_of("flag", _CHECK, "", "needs_consolidation"),
    *_of("text", _CURATION, "", "curation_action"),
    *_of("count", _CURATION, "", "curation_failures"),
    *_of("moment", _CURATION, "read", "quarantined_until"),
    *_of("any", _MARK, "", "curation_lock merge_copied"),
    *_of("moment", _RESTORE, "read", "hold_until"),
    *_of("flag", _TOMBSTONE, "", "tombstone"),
    *_of("moment", _TOMBSTONE, "", "deleted_at"),
    *_of("texts", _TOMBSTONE, "", "tombstone_labels"),
    *_of("moment", _MARK, "", "purge_started_at derive_due enrolled_at"),
    *_of("text", _CONTENT, "content stays", "content_hash"),
    *_of("text", _CONTENT, "content combined", "content_key duplicate_of"),
    *_of("texts", _CONTENT, "content", "private_kinds"),
    *_of("count", _TOKENS, "newborn content stays", "token_count"),
    *_of("text", _TOKENS, "newborn content stays", "token_counter"),
    *_of("vector", _VECTOR, "content stays", "embedding"),
    *_of("text", _VECTOR, "content stays", "embedding_model"),
    *_of("text", _VECTOR_OF, "content", "embedding_hash"),
    *_of("share", _VECTOR_OF, "content", "embedding_unknown"),
    *_of("moment", _WORK, "newborn", "prepare_due embed_due"),
    *_of("text", _MARK, "content", "compressed_hash"),
    *_of("moment", _COMPRESSED, "content", "compressed_at"),
    *_of("text", _COMPRESSED, "content", "compressed_by"),
    *_of("text", _DERIVED, "", "derived_by derived_model derived_version derived_hash"),
    *_of("text", _DERIVED, "said", "derived_for"),
    *_of("moment", _DERIVED, "", "derived_at derived_ended_at"),
    *_of("moment", _DERIVED, "ahead", "derived_expires_at"),
    *_of("texts", _MARK, "", "derived_marks derived_nothing"),
    *_of("text", _MARK, "said", "level_line level_place"),
    *_of("moment", _MARK, "newborn", "similar_due slot_due resolve_due"),
    *_of("moment", _MARK, "", "count_due promote_due macro_due meaning_due learned_at"),
    *_of("text", _MARK, "content said", "name_terms"),
    *_of("share", _COMPARED, "content", "nearest"),
    *_of("text", _COMPARED, "content", "nearest_hash"),
    *_of("moment", _COMPARED, "content", "nearest_at"),
    *_of("moment", _MARK, "combined", "merged_at"),
    *_of("texts", _MARK, "combined", "merged_from"),
    *_of("texts", _MARK, "combined content", "merged_hashes"),
    *_of("text", _MARK, "", "merged_into slot_stands enrolled_run"),
    *_of("text", _MARK, "said", "slot_name slot_value slot_line slot_place slot_key"),
    *_of("texts", _MARK, "", "enrolled_had"),
    *_of("count", _REVISION, "newborn stays", "revision"),
)

ON_EDGES = ("access_windows", "next_due")
"""What the engine keeps for itself on relationships of the types of `[edges]`: disenrol and uninstall take it off."""

OF_EDGES = (
    *ON_EDGES,
    *("access_count", "archived_at", "confidence", "created_at", "decay_gradient", "description", "last_accessed_at"),
    "last_recall_interval",
    *(
        "last_reinforced_at",
        "note_sources",
        "notes",
        "prev_accessed_at",
        "recall_frequency",
        "salience",
        "salience_at",
        "state",
    ),
)
"""All that it writes there: the rest says how sure and how present an edge is, and stays."""

OF_PAIRS = (
    *("decided_at", "decided_by", "decision", "end_hash", "end_said", "end_text", "found_at", "guard", "held_by"),
    *("judge_due", "judged_at", "merge_due", "reasons", "same_text", "score"),
    *("seen_at", "slot", "start_hash", "start_said", "start_text", "unlinked", "verdict"),
)
"""What it writes on SIMILAR_TO and SUPERSEDES of its own: the whole relationship goes."""

OF_MERGES = (
    *("curation_copied", "curation_copy", "curation_copy_of", "curation_merges", "curation_original", "curation_own"),
    *("curation_paired", "curation_was_confidence", "curation_was_created_at", "curation_was_last_reinforced_at"),
    "curation_was_next_due",
)
"""What a merge writes on relationships that it moves or combines: it goes when the merge is taken back."""

LINK_MARKS = ("curation_merges", "curation_copied", "curation_copy_of", "curation_paired", "unlinked", "other_key")
"""Of all that, what names a memory: of which merge a relationship is, whom it led to."""


MANIFEST_IDS = ("active_task_summary_ids", "high_value_insight_ids", "personal_preference_ids", "recent_context_ids")
"""What a manifest names memories of its scope by, section by section (`_macros/context/keeping.j2`)."""


def named(*, type: str = "", mark: str = "") -> tuple[str, ...]:
    """The names of that type and with that mark, as far as given, sorted."""
    return tuple(sorted(p.name for p in MEMORY if type in ("", p.type) and (not mark or p.has(mark))))


OWNERS: Mapping[str, Owner] = MappingProxyType({p.name: p.owner for p in MEMORY if p.owner and p.owner.shown})
"""By property that models show. Every other property of theirs belongs to the app."""

_SLOT = Owner("the slot of the fact", "set subject, attribute, value and valid_from (docs/reference/facts.md)")

OWNERS_IN_SLOTS: Mapping[str, Owner] = MappingProxyType(dict.fromkeys(named(mark="slot"), _SLOT))
"""By property, of facts that stand in a slot. On other memories these belong to the app."""

ENGINE_OWNED = frozenset(p.name for p in MEMORY if p.owner and not p.owner.given)
"""What no file, no `remember` and no app may give."""

WRITTEN = tuple(sorted(p.name for p in MEMORY if p.owner and p.owner is not _ANCHOR))
"""What only the engine writes: never read in place of a standard name."""

RELEASED = tuple(sorted(p.name for p in MEMORY if p.owner or p.has("off")))
"""What disenrol and uninstall take off a node that came without it."""

EARLIER = (
    "compress_due",
    "compress_lease",
    "embed_lease",
    "prepare_lease",
    "work_error",
    "work_failures",
    "work_quarantined",
    "work_quarantined_at",
)
"""What only versions before 0.2.0 wrote on memories: their workers' state. An upgrade and uninstall take it off."""

IN_THE_WAY = tuple(
    sorted(p.name for p in MEMORY if p.owner and not p.has("stays") and p.name not in ("curation_lock", "hold_until"))
)
"""Of what the engine writes, the names that a node must not have before it is enrolled: their values would be lost."""

COUNTED = frozenset(named(mark="counted"))
"""Counts of accesses: the engine folds them. An import may bring those of another store along, `remember` may not."""

NOT_REMEMBERED = tuple(sorted(ENGINE_OWNED | COUNTED))
"""What `memory/remember` refuses among a memory's properties."""

DEADLINES = frozenset(named(mark="ahead"))
"""Dates that may lie further ahead than `content.date_ahead`; see `may_lie_ahead`."""

MOMENTS = frozenset(n for n in named(type="moment") if not n.endswith(("_at", "_until", "_due"))) | {"task_next_due"}
"""Moments of apps whose names don't say so: the seeds call them thus. See `is_moment`."""

SHARES, FLAGS, TEXTS = (
    frozenset(p.name for p in MEMORY if p.type == type and p.owner is None and p.name not in CHOICES)
    - {"scope", "id", "content"}
    for type in ("share", "flag", "text")
)
"""Of apps: numbers from 0 to 1, truth values, texts."""

OUR_WORDS = frozenset(
    p.name for p in MEMORY if (p.name in WRITTEN and not p.has("said")) or p.has("word") or p.has("slot")
)
"""Properties of memories with words of ours or of a rule, such as HOT and archived, and scopes: nothing that anybody said."""

SAY_NOTHING_NEW = tuple(sorted(OUR_WORDS | set(WRITTEN)))
"""Properties whose change can't say anything anew that was forgotten."""

_RULES_READ = frozenset(named(mark="word")) - {"scope"}
"""Of our words, those in which an app may write whatever it likes: only a single plain word is one of a rule."""
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def is_our_word(name: str, text: str) -> bool:
    """Whether a text in this property of a memory is a word of ours or of a rule: nothing that anybody said."""
    return name in OUR_WORDS and (name not in _RULES_READ or _PLAIN_WORD.fullmatch(text) is not None)


def is_moment(name: str) -> bool:
    """Whether what stands under ``name`` is a zoned datetime. `valid_from` isn't here: what is wrong with it, its slot says."""
    return name.endswith(("_at", "_until")) or name in MOMENTS


def may_lie_ahead(name: str) -> bool:
    """Whether the moment ``name`` may lie years ahead. One that may not is a mistaken unit there."""
    return name in DEADLINES or name.endswith("_until")
