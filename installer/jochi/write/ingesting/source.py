"""What readers make of raw data: sources, their messages, and what couldn't be read (seed 002, Phase 0)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Source:
    """What is said once of a source.

    ``source_type``: conversation, email, slack-thread, transcript, text-note, … ``id``: its own lasting name, such as a
    thread's; None: it is known by its first messages. ``provenance``: where it is from.
    """

    source_type: str
    id: str | None = None
    title: str | None = None
    context_type: str | None = None
    provenance: dict[str, str | float] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Message:
    """One message. ``id``: its own in its source; None: it is known by sender, time and text.

    ``text``: what was said, without quoted replies and signatures. ``raw``: as it came, decoded, so that forgetting finds
    what it says. ``at``: zoned.
    """

    text: str
    raw: str
    id: str | None = None
    at: datetime | None = None
    sender: str | None = None


@dataclass(frozen=True)
class Fault:
    """What couldn't be read: ``where`` it is, and ``why``, without a word of what it says. The rest goes in."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


Piece = tuple[Source, Message] | Fault
