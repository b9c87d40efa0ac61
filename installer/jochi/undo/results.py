"""What became of memories that were asked back: restored, decompressed, unmerged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Restored:
    """``outcome``: restored | not_found | taken (the key lives again) | purging (being deleted for good) | merged (it lives on in
    another: `Jochi.unmerge`).

    ``duplicate_of``: the live memory that owns its content by now, where there is one.
    """

    key: str
    outcome: str
    duplicate_of: str | None = None


@dataclass(frozen=True)
class Decompressed:
    """``outcome``: decompressed | would_decompress (a dry run) | not_found | not_compressed | changed (another content was written
    since: everything stays). ``tokens``: how many it has again. ``changed``: properties that have changed since and stay.
    """

    key: str
    outcome: str
    tokens: int | None = None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unmerged:
    """``outcome``: unmerged | would_unmerge (a dry run) | not_merged (no tombstone of this key was merged) | taken (the key lives
    again) | survivor_gone (purged) | purging (being deleted for good) | no_record (of what the merge changed) | merged_on (whom it
    went into was merged away itself: that first) | busy (relationships of one of them are being moved).

    ``into``: whom it was merged into. ``relationships``: how many it gets back. ``changed``: what has changed since the
    merge and stays as it is, as `scope/id.property` or as a relationship.
    """

    key: str
    into: str | None
    outcome: str
    relationships: int = 0
    changed: tuple[str, ...] = ()
