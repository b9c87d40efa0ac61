"""What single looks at memories answer: topics of a scope, what a memory was made of, levels of a context."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Topic:
    """A topic: how many memories have it (``n``), and the keys of the newest."""

    topic: str
    n: int
    newest: tuple[str, ...]


@dataclass(frozen=True)
class TopicIndex:
    """The topics of a scope at ``at``, the most frequent first, of ``read`` memories. ``cut``: the scope has more memories."""

    scope: str
    topics: tuple[Topic, ...]
    at: datetime
    read: int
    cut: bool


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


@dataclass(frozen=True)
class Level:
    """One level of a context. ``ratio``: its share of the tokens of the one it was made of; None of a whole text."""

    key: str
    level: str
    content: str | None
    token_count: int | None
    ratio: float | None
    tier: str | None
    content_type: str | None
    contains_pii: bool | None
    access_tier: str | None
    created_at: datetime | None
    expires_at: datetime | None
    access_count: int
    last_accessed_at: datetime | None


@dataclass(frozen=True)
class Levels:
    """``levels``: all that live, the longest first, that of ``key`` among them. ``previous``, ``next``: keys of the newest
    earlier and the oldest later context of the same scope, level and sender."""

    key: str
    level: str
    levels: tuple[Level, ...]
    previous: str | None
    next: str | None
