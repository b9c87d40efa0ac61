"""Transcripts: lines `Name: text` with or without times, WebVTT, SRT."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import NamedTuple

from jochi.extras import extra_named
from jochi.text.content import is_blank
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Message, Piece, Source, clean
from jochi.write.ingesting.speech import remove_fillers

NAME = "transcript"

_ENOUGH, _LONGEST = 300, 1_000
"""Characters of cues of one speaker that are one message: from the first on it ends where a sentence does."""
_LONGEST_TURN = 32_000
CUES = re.compile(r"\s*(?:WEBVTT\b|\d+[ \t]*\r?\n[ \t]*\d+:\d\d:\d\d[,.]\d+[ \t]*-->)")
_STARTS = re.compile(r"(\d[\d:.,]*)[ \t]*-->")
_VOICE = re.compile(r"(?=<v[ \t.])")
_NO_CUE = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)\b(?!.*-->)", re.DOTALL)
_NUMBERED = re.compile(r"\d+[ \t]*\n")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)]*$")

_CLOCK = r"\d{1,3}:\d\d(?::\d\d(?:[.,]\d{1,6})?)?(?:\s?[AaPp]\.?[Mm]\.?)?(?:Z|[+-]\d\d:?\d\d)?"
_MOMENT = rf"(?:\d{{1,4}}[-./]\d{{1,2}}[-./]\d{{1,4}}(?:,?[ \t]+|T))?{_CLOCK}"
_PERSON = r"(?:[^\W\d_]|[+@~][ ]?\w)[^:\[\]()<>?!;\t\n]{0,59}?"
_TURN = re.compile(
    rf"[ \t]*(?:[\[(]?(?P<before>{_MOMENT})[\])]?[ \t]*[-–—]?[ \t]*)?"
    rf"(?P<person>{_PERSON})(?:[ \t]*[\[(](?P<after>{_MOMENT})[\])])?[ \t]*[:：](?:[ \t]+|$)"
)
_HEAD = re.compile(rf"[ \t]*(?P<person>{_PERSON})(?P<gap>[ \t]+[\[(]?)(?P<after>{_MOMENT})[\])]?[ \t]*")
_MOST_WORDS, _LONGEST_HEAD = 5, 200
_DAY_AND_CLOCK = re.compile(
    r"(?:(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})|(?P<D>\d{1,2})\.(?P<M>\d{1,2})\.(?P<Y>\d{4}|\d\d))"
    r"(?:,?[ \t]+|T)(?P<hour>\d{1,2})(?P<rest>:.*)"
)


class Turn(NamedTuple):
    """The beginning of what somebody says."""

    sender: str
    time: str | None
    text: str


def turn(line: str) -> Turn | None:
    """The line as the beginning of a turn, or as its head with the text in the lines below; None if it goes on with one."""
    found = _TURN.match(line[:_LONGEST_HEAD])
    if found is None and len(line) <= _LONGEST_HEAD:
        found = _HEAD.fullmatch(line)
        # "See you at 10:30" is no head: nobody's name is written so.
        if found and found["gap"] == " " and any(word[0].islower() for word in found["person"].split()):
            return None
    if found is None or len(found["person"].split()) > _MOST_WORDS:
        return None
    named = found.groupdict()
    return Turn(named["person"].strip(), named.get("before") or named["after"], line[found.end() :])


def knows(file: InputFile) -> bool:
    """Whether its name says that it is subtitles, it begins with a cue, or most lines say who speaks and one speaks again."""
    start = file.start().lstrip("\ufeff \t\r\n")
    if file.suffix in (".vtt", ".srt") or CUES.match(start):
        return True
    lines = [line for line in start.split("\n")[:200] if line.strip()]
    turns = [found for line in lines if len(line) < 4_000 and (found := turn(line.rstrip("\r")))]
    return len(turns) >= 3 and 2 * len(turns) >= len(lines) and len({each.sender for each in turns}) < len(turns)


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """What was said, in its order: each turn of a speaker; of subtitles, what one speaker says in cues that follow each other."""
    source = Source("transcript", provenance=file.provenance(NAME))
    start = file.start()
    if CUES.match(start):
        yield from _cues(file, source, "vtt" if start.lstrip("\ufeff \t\r\n").startswith("WEBVTT") else "srt")
    else:
        yield from _turns(file, source, zone)


def _turns(file: InputFile, source: Source, zone: tzinfo) -> Iterator[Piece]:
    now: Turn | None = None
    lines: list[str] = []
    raw: list[str] = []
    size = 0
    for _, line in file.lines():
        if isinstance(line, Fault):
            yield line
            continue
        begins = turn(line)
        if begins is not None or size > _LONGEST_TURN:
            yield from _message(source, now, lines, raw, zone)
            now = begins or now
            lines, raw, size = [], [], 0
        lines.append(line if begins is None else begins.text)
        raw.append(line)
        size += len(line)
    yield from _message(source, now, lines, raw, zone)


def _message(source: Source, turn: Turn | None, lines: list[str], raw: list[str], zone: tzinfo) -> Iterator[Piece]:
    text = remove_fillers(clean("\n".join(lines)))
    if not is_blank(text):
        sender = clean(turn.sender) or None if turn else None
        yield (
            source,
            Message(None, _at(turn.time, zone) if turn and turn.time else None, sender, text, clean("\n".join(raw))),
        )


def _at(time: str, zone: tzinfo) -> datetime | None:
    """The moment, where the line names the day so that nobody can mistake it: 2026-01-31 or 31.1.2026, not 1/31/26."""
    found = _DAY_AND_CLOCK.fullmatch(time)
    if found is None:
        return None
    year, month, day = found.group("y", "m", "d") if found["y"] else found.group("Y", "M", "D")
    year = year if len(year) == 4 else f"20{year}"
    return moment(f"{year}-{month:0>2}-{day:0>2} {found['hour']:0>2}{found['rest']}", zone)


class _Cue(NamedTuple):
    sender: str | None
    text: str
    raw: str


def _cues(file: InputFile, source: Source, format: str) -> Iterator[Piece]:
    held: list[_Cue] = []
    for found in _read_cues(file, format):
        if isinstance(found, Fault):
            yield found
            continue
        text = " ".join(cue.text for cue in held)
        if held and (
            found.sender != held[-1].sender
            or len(text) >= _LONGEST
            or (len(text) >= _ENOUGH and _SENTENCE_END.search(text))
        ):
            yield from _spoken(source, held)
            held = []
        held.append(found)
    yield from _spoken(source, held)


def _spoken(source: Source, cues: list[_Cue]) -> Iterator[Piece]:
    text = remove_fillers(clean(" ".join(cue.text for cue in cues)))
    if not is_blank(text):
        yield source, Message(None, None, cues[0].sender, text, clean("\n\n".join(cue.raw for cue in cues)))


def _read_cues(file: InputFile, format: str) -> Iterator[_Cue | Fault]:
    with extra_named():
        import webvtt
        from webvtt.errors import MalformedCaptionError, MalformedFileError
    for number, block in enumerate(_blocks(file, format), 1):
        if isinstance(block, Fault):
            yield block
            continue
        before, arrow, after = block.partition("-->")
        head = f"{before}{arrow}{after.partition(chr(10))[0]}"
        try:
            if not arrow or len(head) > _LONGEST_HEAD:
                raise MalformedFileError
            if format == "vtt":
                captions = webvtt.from_string(f"WEBVTT\n\n{block}", strict=True).captions
            else:
                captions = webvtt.from_buffer(io.StringIO(block), format="srt").captions
            if not captions:
                raise MalformedFileError
        except (MalformedFileError, MalformedCaptionError):
            start = _STARTS.search(head[-_LONGEST_HEAD:])
            yield Fault(
                f"cue {start[1] if start else f'number {number}'}", "It has no times that can be read, or no text."
            )
            continue
        for caption in captions:
            for voice in _VOICE.split(caption.raw_text):
                if voice.strip():
                    caption.text = voice
                    yield _cue(caption.voice, caption.text, f"{head}\n{voice.strip()}")


def _cue(voice: str | None, text: str, raw: str) -> _Cue:
    text = " ".join(html.unescape(text).split())
    sender = clean(html.unescape(voice)) if voice else None
    if not sender and (begins := turn(text)) is not None and begins.text:
        sender, text = clean(begins.sender), begins.text
    return _Cue(sender or None, text, html.unescape(raw))


def _blocks(file: InputFile, format: str) -> Iterator[str | Fault]:
    """The cues, which blank lines part. In SRT, text after a blank line belongs to the cue before it."""
    held = ""
    for block in _parted(file):
        if isinstance(block, Fault):
            yield block
        elif format == "vtt":
            if not _NO_CUE.match(block):
                yield block
        elif held and "-->" not in block and not _NUMBERED.match(block) and len(held) <= _LONGEST_TURN:
            held = f"{held}\n{block}"
        else:
            if held:
                yield held
            held = block
    if held:
        yield held


def _parted(file: InputFile) -> Iterator[str | Fault]:
    held: list[str] = []
    size = 0
    for _, line in file.lines():
        if isinstance(line, Fault):
            yield line
            continue
        if held and (not line.strip() or size > _LONGEST_TURN):
            yield "\n".join(held).removeprefix("\ufeff")
            held, size = [], 0
        if line.strip():
            held.append(line)
            size += len(line)
    if held:
        yield "\n".join(held).removeprefix("\ufeff")
