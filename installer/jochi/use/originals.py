"""The sources that a memory was made of (seed 002, Memory Consolidation; docs/reference/meaning.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Original:
    """One source. ``at``: when it was, or None; ``pruned``: only its tombstone is left, so there is no ``content``."""

    key: str
    title: str | None
    at: datetime | None
    state: str | None
    pruned: bool
    content: str | None


@dataclass(frozen=True)
class Originals:
    """``originals``: the newest first; ``total``: how many there are, also beyond the limit."""

    key: str
    originals: tuple[Original, ...]
    total: int
