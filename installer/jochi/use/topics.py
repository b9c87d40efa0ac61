"""What the memories of a scope are about (seed 003, Consolidation Pass: update topic index; docs/reference/topics.md)."""

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
