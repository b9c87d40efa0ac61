"""A context's levels and its neighbours in time, by the key of any of them (seed 001; docs/reference/derivations.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
