"""What a reader makes of a raw source (seed 002, Phase 0): who said what, when, and in which source."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from jochi.text.visible import visible


@dataclass(frozen=True)
class Source:
    """What is said once of a source. Each of its messages comes with it; what the first says counts.

    ``id``: its own lasting name, such as the Message-ID of a thread's root; None where it has none, and the writer makes one of
    its first messages. ``context_type``: `channel` or `list`, if it is one. ``provenance``: `origin` (the format it was read
    as), `file` (the file's name without its folder).
    """

    source_type: str
    id: str | None = None
    title: str | None = None
    context_type: str | None = None
    provenance: dict[str, str | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    """One message of a source.

    ``id``: its own in its source, or None. ``at``: zoned, or None where the source tells none that can be. ``sender``: as people
    say it, the display name, else the address. ``text``: what was said, never blank: without quoted replies, signatures, markup and
    fillers of speech. ``raw``: as it came, decoded, with everything in it but attached files, of which it has name, type, size
    and SHA-256. In neither is anything invisible.
    ``attachment``: the sender pasted or attached the text; it says nothing of the sender.
    """

    id: str | None
    at: datetime | None
    sender: str | None
    text: str
    raw: str
    attachment: bool = False


@dataclass(frozen=True)
class Fault:
    """What couldn't be read; everything else goes in. ``why`` is a sentence without what stood there."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


@dataclass(frozen=True)
class Omission:
    """What a reader knows and leaves out on purpose, since nobody said it in this conversation; it is counted by ``why``.

    ``why``: a few words of a small, fixed list of the reader's, such as "output of a tool" or "abandoned branch", never what
    stood there.
    """

    where: str
    why: str


@dataclass(frozen=True)
class OmittedFile(Omission):
    """A file of a folder that is left out, or a folder with all that is in it: ``where`` is its path."""


Piece = tuple[Source, Message] | Fault | Omission


def clean(text: str) -> str:
    """``text`` as a message holds it: what a person sees of it, with LF at the ends of lines."""
    return visible(text.replace("\r\n", "\n")).strip()
