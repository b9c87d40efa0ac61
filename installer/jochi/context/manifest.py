"""What the database chose for a scope's context, as the file is made from it (seed 001, BoundedMemoryManifest)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

SectionName = Literal["preferences", "tasks", "insights", "recent"]


@dataclass(frozen=True)
class Section:
    """A part of the file. ``budget``: tokens that are its own; what it leaves is handed on to the others."""

    name: SectionName
    title: str
    budget: int


@dataclass(frozen=True)
class Entry:
    """A chosen memory. ``tokens`` as the database counts them, ``value`` 0 to 1, ``reason`` why it was chosen."""

    key: str
    section: str
    text: str
    tokens: int
    value: float
    reason: str
    sensitive: bool
    content_hash: str | None


class Dated(NamedTuple):
    """A memory by its key, and from when on what it says holds; None where nobody knows.
    ``outdated``: a newer one of its thread says what holds instead."""

    key: str
    at: datetime | None
    outdated: bool = False


@dataclass(frozen=True)
class Manifest:
    """``entries`` come in the order in which they should stand. ``version`` rises when the chosen ones change.
    ``threads``: those that speak of one matter, each with the newest first. ``unknown_statuses``: by the key of a task, the status
    that no word of `[context.task_statuses]` is; it counts as active."""

    scope: str
    version: int
    max_tokens: int
    generated_at: datetime
    entries: tuple[Entry, ...]
    sections: tuple[Section, ...]
    threads: tuple[tuple[Dated, ...], ...] = ()
    unknown_statuses: Mapping[str, str] = field(default_factory=dict)
