"""Which properties of a memory belong to the engine, who writes each, and what an app does instead. The one home of the list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Owner:
    """Who writes a property, and what to do instead of writing it oneself.

    ``importable``: a file or `remember` may carry a value for a memory that is new, because it comes from elsewhere with a
    history of its own.
    """

    writer: str
    instead: str
    importable: bool = False


_SCHEDULE = Owner("the due queue", "change what the rules read, such as expires_at or pinned: a save brings it to now")
_TIER = Owner("budgets and idleness", "report accesses with Jochi.touch, or set pinned", importable=True)
_MOVED = Owner("whatever changed the tier last", "report accesses with Jochi.touch, or set pinned")
_COUNTS = Owner("the fold of accesses", "report an access with Jochi.touch", importable=True)
_CURATION = Owner("the engine's last look", "read it, or ask `jochi explain`")
_RESTORE = Owner("restore and undo", "set pinned or ttl_policy = 'keep_forever'")
_TOMBSTONE = Owner("the engine when it prunes", "restore with Jochi.restore")
_CONTENT = Owner("whoever writes the content, through save, remember or the worker", "set content")
_TOKENS = Owner("whoever writes the content, through save, remember or the worker", "set content", importable=True)
_VECTOR = Owner("the embedding worker", "hand a vector to Jochi.remember, or run `jochi worker`", importable=True)
_WORK = Owner("the queue of the workers", "set content: a save queues what is left to do")
_COMPRESSED = Owner("the compressing worker", "set content, or take it back with `jochi decompress`")
_ANCHOR = Owner("save, together with the value it dates", "set the value itself", importable=True)
_REVISION = Owner("save and remember", "save: it counts one up")

OWNERS: Mapping[str, Owner] = MappingProxyType(
    {
        "tier": _TIER,
        "tier_reason": _MOVED,
        "tier_from": _MOVED,
        "tier_at": _MOVED,
        "needs_compression": _CURATION,
        "needs_improvement": _CURATION,
        "needs_consolidation": Owner("the engine's check of reflections", "set consolidated"),
        "confidence_lost": Owner("the fold of accesses, as disuse costs it", "set confidence, with confidence_at"),
        "confidence_lost_at": Owner("the fold of accesses, as disuse costs it", "set confidence, with confidence_at"),
        "access_count": _COUNTS,
        "access_count_7d": _COUNTS,
        "access_days": _COUNTS,
        "access_day": _COUNTS,
        "agents": _COUNTS,
        "recall_count": _COUNTS,
        "last_recalled_at": _COUNTS,
        "last_accessed_at": _COUNTS,
        "prev_accessed_at": _COUNTS,
        "recall_frequency": _COUNTS,
        "last_recall_interval": _COUNTS,
        "decay_gradient": _COUNTS,
        "next_due": _SCHEDULE,
        "mvs": _CURATION,
        "mvs_at": _CURATION,
        "last_curated_at": _CURATION,
        "curation_action": _CURATION,
        "curation_rails": _CURATION,
        "curation_failures": _CURATION,
        "quarantined_until": _CURATION,
        "hold_until": _RESTORE,
        "tombstone": _TOMBSTONE,
        "deleted_at": _TOMBSTONE,
        "tombstone_labels": _TOMBSTONE,
        "content_hash": _CONTENT,
        "content_key": _CONTENT,
        "duplicate_of": _CONTENT,
        "token_count": _TOKENS,
        "token_counter": _TOKENS,
        "embedding": _VECTOR,
        "embedding_model": _VECTOR,
        "embedding_hash": Owner(_VECTOR.writer, _VECTOR.instead),
        "embedding_unknown": Owner(_VECTOR.writer, _VECTOR.instead),
        "work_failures": _WORK,
        "work_error": _WORK,
        "work_quarantined": _WORK,
        "work_quarantined_at": _WORK,
        "prepare_due": _WORK,
        "prepare_lease": _WORK,
        "embed_due": _WORK,
        "embed_lease": _WORK,
        "compressed_at": _COMPRESSED,
        "compressed_by": _COMPRESSED,
        "confidence_at": _ANCHOR,
        "salience_at": _ANCHOR,
        "revision": _REVISION,
    }
)
"""By property. Everything else on a memory belongs to the app."""

_SLOT = Owner("the slot of the fact", "set subject, attribute, value and valid_from (docs/reference/facts.md)")

OWNERS_IN_SLOTS: Mapping[str, Owner] = MappingProxyType({"status": _SLOT, "valid_to": _SLOT, "superseded_at": _SLOT})
"""By property, of facts that stand in a slot. On other memories these belong to the app."""

MARKS = (
    *("access_windows", "curation_lock", "enrolled_at", "enrolled_had", "enrolled_run", "purge_started_at"),
    *("compress_due", "compress_lease", "compressed_hash"),
    *("merged_at", "merged_from", "merged_hashes", "merged_into", "merge_copied"),
    *("similar_due", "slot_due", "slot_key", "slot_line", "slot_name", "slot_place", "slot_stands", "slot_value"),
)
"""What the engine keeps on a memory for itself; no model shows it."""

ENGINE_OWNED = frozenset(name for name, owner in OWNERS.items() if not owner.importable) | frozenset(MARKS)
"""What no file, no `remember` and no app may give."""

WRITTEN = tuple(sorted({"key", *MARKS, *OWNERS} - {name for name, owner in OWNERS.items() if owner is _ANCHOR}))
"""What the engine writes on a memory: taken off again by disenrol, and never read in place of a standard name."""

OUR_WORDS = frozenset(
    (*WRITTEN, *OWNERS_IN_SLOTS, "scope", "state", "status", "priority", "severity", "ttl_policy")
) - {
    *("key", "agents", "work_error"),
    *("slot_key", "slot_line", "slot_name", "slot_place", "slot_value"),
}
"""Properties of memories with words of ours or of a rule, such as HOT and archived, and scopes: nothing that anybody said."""

_RULES_READ = frozenset(("state", "status", "priority", "severity", "ttl_policy"))
"""Of these, those in which an app may write whatever it likes: only a single plain word is one of a rule."""
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def is_our_word(name: str, text: str) -> bool:
    """Whether a text in this property of a memory is a word of ours or of a rule: nothing that anybody said."""
    return name in OUR_WORDS and (name not in _RULES_READ or _PLAIN_WORD.fullmatch(text) is not None)
