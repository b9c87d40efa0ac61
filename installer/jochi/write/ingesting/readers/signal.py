"""Signal: the chat.md that signal-export writes of a conversation; Signal's own app exports none.

Known by its first line: `[2026-01-31 09:05:10] Ann: …`, in older versions `[2026-01-31, 09:05] Ann: …`, in a file of Markdown.

Said is what follows `Name: ` and the lines below it, by that name (`Me` is who exported), at that time in the zone that is
given. The conversation has the name of its folder.

Left out are deleted messages, calls, media and stickers; of a message, the words that it answers and what others reacted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from jochi.text.content import is_blank
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Message, Omission, Piece, Source, clean

NAME = "signal"

_LONGEST = 128_000
_BEGINS = re.compile(r"\[(\d{4}-\d\d-\d\d),? (\d\d:\d\d(?::\d\d)?)\] ([^\n]{1,200}?):(?: |$)")
_ANSWERED = re.compile(r"[ \t]*\n+(?:>[^\n]*(?:\n|$))+")
_REACTIONS = re.compile(r"\n\(- [^\n]* -\)")
_STICKER = re.compile(r"\n?\(\( [^\n()]{1,60} \)\)")
_MEDIA = re.compile(r"!?\[[^\]\n]{0,200}\]\(\.{1,2}/[^\n]{1,300}?\)(?=\s|$)|\([^()\n]{1,30} not exported\)")
_CALL = re.compile(
    r"(?:(?:Outgoing|Incoming|Missed|Declined|Unanswered) )+(?:(?:audio|video|voice|group|adhoc|direct) )*call\b[^\n]{0,60}",
    re.IGNORECASE,
)


def knows(file: InputFile) -> bool:
    """Whether it is Markdown that begins with a message."""
    return file.suffix in (".md", ".markdown") and _BEGINS.match(file.start().lstrip("\ufeff\r\n")) is not None


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in their order."""
    source = Source("conversation", None, file.folder, None, file.provenance(NAME))
    number, begins, lines, size = 1, None, list[str](), 0
    for at, line in file.lines():
        if isinstance(line, Fault):
            yield line
            continue
        found = _BEGINS.match(line)
        if found or size > _LONGEST:
            yield from _pieces(source, number, begins, lines, zone)
            number, begins, lines, size = at, found or begins, [], 0
        lines.append(line)
        size += len(line)
    yield from _pieces(source, number, begins, lines, zone)


def _pieces(
    source: Source, number: int, begins: re.Match[str] | None, lines: list[str], zone: tzinfo
) -> Iterator[Piece]:
    where, raw = f"line {number}", "\n".join(lines)
    if begins is None:
        if not is_blank(clean(raw)):
            yield Fault(where, "It stands before the first message.")
        return
    said = raw[begins.end() :] if raw.startswith(begins[0]) else raw
    if clean(said) == "(This message was deleted)":
        yield Omission(where, "deleted message")
        return
    said = said[answered.end() :] if (answered := _ANSWERED.match(said)) else said
    said = _REACTIONS.sub("", said)
    said, stickers = _STICKER.subn("", said)
    said, files = _MEDIA.subn("", said)
    if stickers or files:
        yield Omission(where, "media")
    text = clean("\n".join(line.rstrip() for line in said.split("\n")))
    if _CALL.fullmatch(text):
        yield Omission(where, "notice")
    elif not is_blank(text):
        day, time, sender = begins.groups()
        yield source, Message(None, moment(f"{day} {time}", zone), clean(sender) or None, text, clean(raw))
    elif not stickers and not files:
        yield Omission(where, "notice")
