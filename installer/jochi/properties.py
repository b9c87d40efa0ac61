"""What properties of memories may hold, and what names may look like (DESIGN §4). Whose they are says `jochi.ownership`.

One home for Python (import, remember, models) and for the templates, which see these names as `owned`.
"""

from __future__ import annotations

from datetime import datetime, timezone

from jochi.content import VERSION
from jochi.ownership import ENGINE_OWNED

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
"""So begin more of the engine's own properties than `jochi.ownership` names."""

COUNTED = frozenset(
    (
        "access_count",
        "access_count_7d",
        "access_day",
        "access_days",
        "last_accessed_at",
        "last_recalled_at",
        "prev_accessed_at",
        "recall_count",
    )
)
"""Counts of accesses: the engine folds them. An import may bring those of another store along, `remember` may not."""

MOMENTS = frozenset(
    (
        "date_added",
        "last_accessed",
        "last_compacted",
        "last_definition_load",
        "last_executed",
        "last_full_refresh",
        "last_sync",
        "task_next_due",
    )
)
"""Moments whose names don't say so: the seeds call them thus. See `is_moment`."""

DEADLINES = frozenset(("deadline_at", "due_at", "expires_at", "remind_at", "task_next_due", "valid_from"))
"""Dates that may lie further ahead than `content.date_ahead`; see `may_lie_ahead`."""

SHARES = frozenset(("confidence", "importance", "salience"))
"""Numbers from 0 to 1."""

FLAGS = frozenset(("active", "consolidated", "keep_forever", "pinned", "read"))
"""True or false."""

TEXTS = frozenset(("compression_level", "locked_by", "priority", "severity", "state", "status", "ttl_policy"))
"""Text."""

CHOICES = {
    "tier": ("HOT", "WARM", "COLD", "ARCHIVE"),
    "access_tier": ("PUBLIC", "SENSITIVE", "PRIVATE"),
    "sensitivity": ("low", "normal", "high"),
}
"""One of a few words."""

NOT_REMEMBERED = tuple(sorted(ENGINE_OWNED | COUNTED))
"""What `memory/remember` refuses among a memory's properties."""


def is_moment(name: str) -> bool:
    """Whether what stands under ``name`` is a zoned datetime. `valid_from` isn't here: what is wrong with it, its slot says."""
    return name.endswith(("_at", "_until")) or name in MOMENTS


def may_lie_ahead(name: str) -> bool:
    """Whether the moment ``name`` may lie years ahead. One that may not is a mistaken unit there."""
    return name in DEADLINES or name.endswith("_until")
