"""WhatsApp: the text that "Export chat" writes, on an iPhone or on Android.

Known by its first line (or one of the first, where the file's or its folder's name says WhatsApp), which begins with a date and
a time, in brackets (`[31.12.23, 21:45:12] Ann: …`) or before a dash (`12/31/23, 9:45 PM - Ann: …`; on old iPhones
`31/12/16, 21:45:12: Ann: …`). Only a line of the same shape as that one begins a message: a line of another chat that somebody
pasted stays in their message.

Said is what follows `Name: ` and the lines below it, by that name, at that time in the zone that is given. The order of day and
month is told by the whole file: by a number over 12, by days that rise, by the number that changes, and by how phones write
dates (`1/31/23, 9:45 PM` is American; with a zero before a number, with full stops, with a year of four digits or with small am
and pm the day comes first). Where that leaves it open the messages have no time, which a fault says once.

Left out are notices (who joined, what is encrypted, calls; they have no sender, or begin with the mark U+200E that iPhones put
before what WhatsApp wrote itself), deleted messages, and media. A caption is said, and so are a location and a poll.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import tzinfo
from typing import NamedTuple

from jochi.text.content import is_blank
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.readers.whatsapp_times import MARKS, Dates, Stamp, stamp_of, words
from jochi.write.ingesting.source import Fault, Message, Omission, Piece, Source, clean

NAME = "whatsapp"

_NOTICE, _MEDIA, _DELETED = "notice", "media", "deleted message"
_LONGEST = 128_000
"""Characters of a message (WhatsApp allows 65,536): what is longer goes in as several of the same sender."""
_MARK = re.compile(f"[{MARKS}]+")
_OWN = ("\u200e", "\u200f")
"""What WhatsApp puts before its own words, by the direction of the phone's language."""
_HEAD = re.compile(
    rf"(?P<mark>[{MARKS}]*)(?:\[(?P<bracket>[^\[\]]{{8,48}})\] ?|(?P<dash>[^\[\]]{{8,44}}?)[ \u00a0][-–] "
    r"|(?P<colon>\d[\d/.\-]{5,9},? \d[\d:.]{4,7}(?:[ \u202f][AaPp][Mm])?): )"
)
_SAID = re.compile(r"(?P<sender>[^\n]{1,200}?):(?:[ \u00a0]|$)")
_QUOTE = re.compile('["“”„«»]')
_ATTACHED = re.compile(r"[\u200e\u200f]?<[^<>\n:]{2,40}: [^<>\n]{1,200}\.\w{2,5}>|<[\u200e\u200f][^<>\n]{2,60}>")
_FILE_AND_WORDS = re.compile(r"(?P<mark>[\u200e\u200f]?)(?P<name>[^\n]{1,200}\.\w{0,5}) \((?P<words>[^()\n]{2,40})\)")
_OF_WHATSAPP = re.compile(r"[A-Z]{3}-\d{8}-WA\d+\.\w*")
_ONLY_A_FILE = re.compile(r"[^\n]{1,200}(?:\.\w{1,5}|[ ]•[^\n]*)")
_EDITED = re.compile(r"\s*(?P<mark>[\u200e\u200f]?)<(?P<words>[^<>\n]{3,60})>$")
_ANGLES = re.compile(r"<[^<>\n]{3,60}>")
_MAP = re.compile(r"https?://(?:maps\.google|maps\.app|maps\.apple|goo\.gl/maps|(?:[\w-]+\.)?foursquare)\S+")
_VOTES = re.compile(r"\([\u200e\u200f]?\d+ [^()\n]+\)\s*$", re.MULTILINE)
_PARTED = re.compile(r"whatsapp[^-–:]{0,30} ?[-–:] (.+)", re.IGNORECASE)
_NO_WORD = "null"
_ENOUGH = 3
"""How often the same must stand in a file to be a rule of it."""
_MOST_NAMES = 20_000


class _Line(NamedTuple):
    """A line that begins a message: ``marked`` says that WhatsApp's mark stands before its date; ``rest`` is what follows it."""

    stamp: Stamp
    style: str
    marked: bool
    rest: str

    @property
    def shape(self) -> tuple[object, ...]:
        return (self.style, *self.stamp.shape)


def _begins(line: str) -> _Line | None:
    """The line as one that begins a message; None if it goes on with one."""
    found = _HEAD.match(line)
    style = found and found.lastgroup
    if found is None or style is None or (stamp := stamp_of(found[style])) is None:
        return None
    return _Line(stamp, style, found["mark"].endswith(_OWN), line[found.end() :])


def knows(file: InputFile) -> bool:
    """Whether it is a text whose first line begins as WhatsApp's do, and one of the first says who speaks."""
    if file.suffix not in (".txt", ""):
        return False
    start = file.start()
    lines = [line.rstrip("\r") for line in start.split("\n")[:60] if line.strip()]
    hinted = any("whatsapp" in (name or "").lower() for name in (file.name, file.folder)) or file.name == "_chat.txt"
    first = next(filter(None, map(_begins, lines if hinted else lines[:1])), None)
    if first is None or not any(_SAID.match(line.rest) for line in map(_begins, start.split("\n")) if line):
        return False
    # Other programs write `[2026-01-31 09:05:10] Ann: …` and `[2026-01-31, 09:05] Ann: …` too.
    timed = not first.stamp.shape[4]
    return hinted or first.style == "dash" or (timed and (first.stamp.shape[1] != "-" or "\u200e" in start))


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in their order. The file is read twice: first for what only the whole of it tells."""
    begin = file.stream.tell()
    chat = _Chat(file)
    file.stream.seek(begin)
    if why := chat.dates.why_none():
        yield Fault(f"line {chat.first}", why)
    source = Source("conversation", None, _title(file, chat), None, file.provenance(NAME))
    moment_of = chat.dates.reader(zone)
    for record in _records(file, chat.shape):
        if isinstance(record, Fault):
            yield record
            continue
        where, raw = f"line {record.number}", clean("\n".join(record.lines))
        if record.begins is None:
            if not is_blank(raw):
                yield Fault(where, "It stands before the first message.")
            continue
        name, said = chat.apart(record.begins.rest)
        others = record.lines if record.goes_on else [said, *record.lines[1:]]
        text, left = (None, _NOTICE) if name is None else chat.told("\n".join(others), record.begins.marked)
        if left:
            yield Omission(where, left)
        if text:
            yield source, Message(None, moment_of(record.begins.stamp), _shown(name or "") or None, text, raw)


class _Record(NamedTuple):
    """The lines of a message, from a number on, with what begins it; ``goes_on``: they are a further part of a long one."""

    number: int
    begins: _Line | None
    goes_on: bool
    lines: list[str]


def _records(file: InputFile, shape: tuple[object, ...]) -> Iterator[_Record | Fault]:
    """The messages of a file whose lines that begin one have this shape; first what stands before them."""
    record, size = _Record(1, None, False, []), 0
    for number, line in file.lines():
        if isinstance(line, Fault):
            yield line
            continue
        begins = _begins(line)
        if begins and begins.shape != shape:
            begins = None
        if begins or size > _LONGEST:
            yield record
            record, size = _Record(number, begins or record.begins, begins is None, []), 0
        record.lines.append(line)
        size += len(line)
    yield record


class _Chat:
    """What only the whole file tells: the shape of its lines, what its dates mean, names that hold a colon, words for media."""

    def __init__(self, file: InputFile) -> None:
        """``file`` is read to its end."""
        self.first = 0
        self.shape: tuple[object, ...] = ()
        self.notice_by: str | None = None
        self.dates = Dates()
        self._angles: Counter[str] = Counter()
        self._names: dict[str, tuple[int, str | None]] = {}
        for number, line in file.lines():
            found = None if isinstance(line, Fault) else _begins(line)
            if found and (not self.shape or found.shape == self.shape):
                self._see(number, found)

    def _see(self, number: int, line: _Line) -> None:
        self.dates.see(line.stamp)
        if not self.first:
            self.first, self.shape = number, line.shape
        said = _SAID.match(line.rest)
        if said is None:
            return
        text = line.rest[said.end() :]
        if number == self.first and text.startswith(_OWN):
            self.notice_by = _shown(said["sender"])
        words_only = _MARK.sub("", text).strip()
        if _ANGLES.fullmatch(words_only) and (words_only in self._angles or len(self._angles) < _MOST_NAMES):
            self._angles[words_only] += 1
        second = _SAID.match(text)
        more = (
            second["sender"] if second and len(second["sender"]) <= 40 and not second["sender"][0].islower() else None
        )
        if (seen := self._names.get(said["sender"])) is not None:
            self._names[said["sender"]] = seen[0] + 1, more if more == seen[1] else None
        elif len(self._names) < _MOST_NAMES:
            self._names[said["sender"]] = 1, more

    def apart(self, rest: str) -> tuple[str | None, str]:
        """Who speaks, and what; None and all of it where nobody does."""
        own = self.shape[0] != "dash" and rest.startswith(_OWN)
        said = _SAID.match(rest.lstrip("".join(_OWN)) if own else rest)
        if said is None or self._is_notice(said["sender"]):
            return None, rest
        name, text = said["sender"], said.string[said.end() :]
        count, more = self._names.get(name, (0, None))
        if own and count < 2:
            return None, rest
        if more is not None and count >= _ENOUGH:
            return (f"{name}: {more}", text[len(more) + 2 :]) if text.startswith(f"{more}:") else (None, rest)
        return name, text

    def _is_notice(self, name: str) -> bool:
        """Whether what stands before a colon begins a notice: `Ann changed the subject to “Trip: Rome”`."""
        if len(_QUOTE.findall(name)) % 2:
            return True
        if self._names.get(name, (0, None))[0] > 1:
            return False
        # Of a notice without quotation marks, behind the name of somebody who speaks elsewhere, some words are in small letters.
        parts = name.split()
        return any(
            self._names.get(" ".join(parts[:count]), (0, None))[0] > 1
            and any(part[0].islower() for part in parts[count:])
            for count in range(1, len(parts) - 1)
        )

    def told(self, text: str, marked: bool) -> tuple[str | None, str | None]:
        """What somebody said by a message, without what WhatsApp put there, and why the rest of it is left out, each or None."""
        tail = max(0, len(text) - 100)
        edited = _EDITED.search(text, tail)
        if edited and edited.start() and (edited["mark"] or edited["words"].rstrip(".").lower() in words("edited")):
            text = text[: edited.start()]
        plain = clean(text).rstrip(".。").lower()
        if plain in words("deleted") or plain.startswith("this message was deleted by "):
            return None, _DELETED
        own = self.shape[0] != "dash" and text.startswith(_OWN)
        said, attachments = _ATTACHED.subn("", text)
        first, _, below = said.partition("\n")
        if not attachments and (_MAP.search(first) or _VOTES.search(below)):
            return clean(text), None
        file = _FILE_AND_WORDS.fullmatch(first.strip())
        if not clean(text):
            return None, _MEDIA
        if self._is_media(clean(first)) or (
            file
            and (file["mark"] or _OF_WHATSAPP.fullmatch(file["name"]) or file["words"].lower() in words("attached"))
        ):
            said, attachments = below, 1
        elif marked and not attachments:
            said, attachments = _caption(said), 1
        elif own and not attachments:
            return None, _NOTICE
        said = clean(said)
        if clean(said).rstrip(".").lower() in words("waiting"):
            return None, _NOTICE
        return said if not is_blank(said) else None, _MEDIA if attachments else None

    def _is_media(self, line: str) -> bool:
        # Words in the language of a phone that isn't known: nobody but WhatsApp says the same in angles again and again.
        if line.lower() == _NO_WORD and self.shape[0] != "dash":
            return False  # Android writes it for media that could be seen once
        return line.lower() in words("media") or (self._angles[line] >= _ENOUGH and " " in line)


def _caption(text: str) -> str:
    """What was said beside a picture whose place the last words hold, which follow WhatsApp's mark."""
    cut = max(text.rfind(mark) for mark in _OWN)
    said = text[:cut].strip() if cut >= 0 else text
    while said.endswith(_OWN):
        said = said[:-1].rstrip()
    return "" if _ONLY_A_FILE.fullmatch(clean(said)) else said


def _shown(name: str) -> str:
    """A name as people say it: a number without the blanks that can't break, a name without the ~ of who is no contact."""
    return clean(" ".join(clean(name).split()).removeprefix("~").lstrip())


def _title(file: InputFile, chat: _Chat) -> str | None:
    """The name of the chat, from that of the file or of its folder, else from who sent an iPhone's first notice."""
    stem = file.name[: len(file.name) - len(file.suffix)] if file.name else None
    for each in (stem, file.folder):
        if each and "whatsapp" in each.lower():
            name = " ".join(each.split())
            before = max((known for known in words("titles") if name.lower().startswith(known)), key=len, default="")
            parted = _PARTED.search(name)
            if before or parted or each is stem:
                return clean(name[len(before) :] if before or not parted else parted[1]).strip(" -:") or clean(name)
    return chat.notice_by
