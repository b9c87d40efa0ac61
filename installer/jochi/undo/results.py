"""What became of memories that were asked back: restored, decompressed, unmerged.

Each ``outcome`` may be forbidden, by a constraint of an application: ``constraint`` is its name, ``holder`` who has the value that
it lets only one have (the key of a live memory, else labels and element id; None where it asks for something else).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Leftover:
    """A memory that stays what it is, as a ``constraint`` of an application wants it. ``key``: its element id where it has none."""

    key: str
    constraint: str
    holder: str | None = None


@dataclass(frozen=True)
class RestoreResult:
    """``outcome``: restored | not_found | taken (the key lives again) | purging (being deleted for good) | merged (it lives on in
    another: `Jochi.unmerge`) | forbidden.

    ``duplicate_of``: the live memory that owns its content by now, where there is one.
    """

    key: str
    outcome: str
    duplicate_of: str | None = None
    constraint: str | None = None
    holder: str | None = None


@dataclass(frozen=True)
class DecompressResult:
    """``outcome``: decompressed | would_decompress (a dry run) | not_found | not_compressed | changed (another content was written
    since: everything stays) | forbidden. ``tokens``: how many it has again. ``changed``: properties that changed since and stay.
    """

    key: str
    outcome: str
    tokens: int | None = None
    changed: tuple[str, ...] = ()
    constraint: str | None = None
    holder: str | None = None


@dataclass(frozen=True)
class UnmergeResult:
    """``outcome``: unmerged | would_unmerge (a dry run) | not_merged (no tombstone of this key was merged) | taken (the key lives
    again) | survivor_gone (purged) | purging (being deleted for good) | no_record (of what the merge changed) | merged_on (whom it
    went into was merged away itself: that first) | busy (relationships of one of them are being moved) | forbidden.

    ``into``: whom it was merged into. ``relationships``: how many it gets back. ``changed``: what has changed since the
    merge and stays as it is, as `scope/id.property` or as a relationship.
    """

    key: str
    into: str | None
    outcome: str
    relationships: int = 0
    changed: tuple[str, ...] = ()
    constraint: str | None = None
    holder: str | None = None
