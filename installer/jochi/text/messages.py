"""How a message of a source is known when it comes again (docs/reference/ingesting.md): `message_ids` and, place by place,
`message_versions` of the source."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

ATTACHMENT = "(attachment)"
"""What stands behind the sender of a text that was pasted or attached, in the text of a source."""
_PART = re.compile(r"#\d{6}$")
_OTHER = re.compile(r"~\d+$")
KNOWN_BY = 5
"""Of a source without an id, so many first messages tell it from another that begins alike."""


class Version(NamedTuple):
    """One text of a message. ``identity``: the same for all texts of one message; ``length`` and ``hash`` of how it stands in the
    source's text; ``edit``: it came in the place of another; ``attachment``: somebody pasted or attached it."""

    identity: str
    length: int
    hash: str
    edit: bool = False
    attachment: bool = False

    def __str__(self) -> str:
        marks = ":attachment" * self.attachment + ":edit" * self.edit
        return f"{self.identity}:{self.length}:{self.hash}{marks}"

    def start_in(self, content: str) -> int | None:
        """Where it begins in the source's text, or None where it doesn't stand there as it was written."""
        start = 0
        while start + self.length <= len(content):
            if short_hash(content[start : start + self.length]) == self.hash:
                return start
            start = content.find("\n", start) + 1
            if not start:
                break
        return None


def version_of(who: str, line: str, *, edit: bool = False, attachment: bool = False) -> Version:
    """Of a message that stands as ``line`` in the source's text."""
    return Version(who, len(line), short_hash(line), edit, attachment)


def versions(ids: Sequence[str], texts: Sequence[str] | None) -> list[Version]:
    """Those of a source, place by place. One from before there were any has no text that is known."""
    said = list(texts or ())
    said += [""] * (len(ids) - len(said))
    return [_read(id, text) for id, text in zip(ids, said, strict=False)]


def _read(id: str, text: str) -> Version:
    parts = text.split(":")
    if len(parts) < 3:
        return Version(id, 0, "")
    return Version(parts[0], int(parts[1]), parts[2], "edit" in parts[3:], "attachment" in parts[3:])


def of_one_message(found: Sequence[Version], place: int) -> list[int]:
    """The places of all texts of the message at ``place``. Of several that nothing tells apart, that place alone."""
    same = [at for at, version in enumerate(found) if version.identity == found[place].identity]
    return same if sum(not found[at].edit for at in same) < 2 else [place]


def first_part(key: str) -> str:
    """The key of the first part of the source that ``key`` is a part of."""
    return _PART.sub("", key)


def begun_alike(key: str) -> str:
    """The key of the first of the sources that begin with the same message."""
    return _OTHER.sub("", first_part(key))


def part_number(key: str) -> int:
    """From 1 on."""
    return int(key[-6:]) if _PART.search(key) else 1


def part_id(id: str, number: int) -> str:
    """The id of the ``number``-th part of the source ``id``, from 1 on: by it `ingest/look` finds them in their order."""
    return f"{id}#{number:06}" if number > 1 else id


def short_hash(*parts: str) -> str:
    """16 hex digits of what these are, each told from the next."""
    text = "\x1f".join(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
