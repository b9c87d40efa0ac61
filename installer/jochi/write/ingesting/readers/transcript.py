"""Transcripts and captions of talks: WebVTT, SRT, and text with lines that say who speaks.

Known are subtitles by their name (`.vtt`, `.srt`) or by how they begin; text where most of its lines say who speaks and one
speaks again, or where several do so in a way that nothing else does: `Ann Lee  0:03` (Otter, Teams), `[Ann Lee] 10:02:11`
(captions saved by Zoom), `10:02:11 From Ann Lee to Everyone:` (its chat), `[00:01:02] [SPEAKER_00]: …` (WhisperX),
`0:0:1.2 --> 0:0:3.4` above a name (Teams), `[00:00.000 --> 00:03.000] …` (Whisper, without speakers), or a time above each line.

Said is each turn of a speaker, or what one says in cues that follow each other, without times and tags. A line that captions
show again while it moves up the screen (YouTube's own) is said once; one that was said twice is said twice. Who speaks is told by
`<v Name>`, by `Name: `, by `>> NAME:` until the next `>>`, or by the ids of cues where these are names. After `>>` or a dash
without a name somebody else speaks, of whom nothing is known. Only a line that names the day has a time.

Left out are notices of the program (`Transcribed by …`, who started the transcription), and who reacted to what in a chat.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import tzinfo

from jochi.text.content import is_blank
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.readers.captions import CUES, Cue, cues
from jochi.write.ingesting.readers.turns import CHEVRONS, LONGEST_HEAD, Turn, moment_of, turn
from jochi.write.ingesting.source import Fault, Message, Omission, Piece, Source, clean
from jochi.write.ingesting.speech import remove_fillers

NAME = "transcript"

_ENOUGH, _LONGEST = 300, 1_000
"""Characters of cues of one speaker that are one message: from the first on it ends where a sentence does."""
_LONGEST_TURN = 32_000
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)]*$")
_CLOCK = r"(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[.,]\d{1,7})?"
_ONLY_A_TIME = re.compile(rf"\s*[\[(]?{_CLOCK}(?:\s*-->\s*{_CLOCK})?[\])]?\s*")
_FROM_ZERO = re.compile(r"\s*[\[(]?(?:0?0:)?0?0:0\d\b")
_ARROW = re.compile(rf"(?<!\s)[ \t]{{0,8}}{_CLOCK}[ \t]{{0,8}}-->[ \t]{{0,8}}{_CLOCK}[ \t]{{0,8}}")
_SEGMENT = re.compile(rf"\s*\[{_CLOCK}\s*-->\s*{_CLOCK}\][ \t]+(?=\S)")
_PARTICLE = re.compile(
    r"a[flv]|ben|bin|d[aeiu]|das|del|della|den|der|des|dos|e|el|ibn|l[ae]|na|of|ter|van|vo[mn]|y|zum?"
)
"""Words in small letters in the names of people."""
_NOTICE = re.compile(
    r"\s*[*_]*(?:Transcribed by (?:https?://)?otter\.ai|Transcription ended after \d[\d:]*"
    r"|This editable transcript was computer generated\b.*|(?P<who>[^:.!?]{1,60}) (?:started|stopped) transcription)[*_]*\s*",
    re.IGNORECASE,
)
_REACTION = re.compile(
    r"\s*(?:Reacted to [\"“].*[\"”] with \S+|Removed a \S+ reaction from [\"“].*[\"”])\s*", re.DOTALL
)
_REPLYING = re.compile(r"\s*Replying to [\"“][^\n]*[\"”]\s*(?:\n|$)")


def knows(file: InputFile) -> bool:
    """Whether its name says that it is subtitles, it begins with a cue, or its lines say who speaks."""
    start = file.start().lstrip("\ufeff \t\r\n")
    if file.suffix in (".vtt", ".srt") or CUES.match(start):
        return True
    lines = [line.rstrip("\r") for line in start.split("\n")[:200] if line.strip() and len(line) < 4_000]
    if sum(_SEGMENT.match(line) is not None for line in lines) > max(1, len(lines) // 2):
        return True
    if sum(_ARROW.fullmatch(line) is not None for line in lines) > max(1, len(lines) // 5):
        return True
    times = [line for line in lines if _ONLY_A_TIME.fullmatch(line)]
    if 3 * len(times) >= len(lines) > 5 and _FROM_ZERO.match(times[0]):
        return True
    found = [turn(line) for line in lines]
    turns = [each for each in found if each]
    if len(turns) > 1 and any(map(_is_notice, lines)):
        return True
    # A list of songs with their lengths has such lines too, but nothing below them.
    sure = sum(each.sure for each in turns)
    told = sum(
        bool(each and each.sure and (each.text or (at < len(found) and found[at] is None)))
        for at, each in enumerate(found, 1)
    )
    if sure > 1 and 2 * told >= sure and 6 * sure >= len(lines) and file.suffix in (".txt", ""):
        return True
    return len(turns) >= 3 and 2 * len(turns) >= len(lines) and len({each.sender for each in turns}) < len(turns)


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """What was said, in its order: each turn of a speaker; of subtitles, what one speaker says in cues that follow each other."""
    source = Source("transcript", provenance=file.provenance(NAME))
    start = file.start()
    if CUES.match(start):
        yield from _cues(file, source)
    else:
        yield from _turns(file, source, zone, named_below=_ARROW.search(start) is not None)


class _Speakers:
    """Who speaks in a text, and how its lines say so, told by its beginning.

    ``clocked``: lines that are only a time tell when; else somebody said them.
    """

    def __init__(self, start: str, named_below: bool) -> None:
        lines = (line for line in start.split("\n") if len(line) < 4_000 and not _ONLY_A_TIME.fullmatch(line))
        turns = [found for line in lines if (found := turn(line.rstrip("\r")))]
        timed = [each for each in turns if each.time]
        times = [each.strip(" \t\r[]()") for each in start.split("\n") if _ONLY_A_TIME.fullmatch(each)]
        rising = [tuple(map(int, re.findall(r"\d+", each.partition("-->")[0].partition(".")[0]))) for each in times]
        self.clocked = bool(times) and (
            _FROM_ZERO.match(times[0]) is not None or (len(times) > 1 and rising == sorted(rising))
        )
        self._timed = named_below or 1 < len(timed) >= len(turns) / 2
        self._names = {each.sender for each in timed}
        self._count = Counter(each.sender for each in turns)

    def turn(self, line: str) -> Turn | None:
        """The line as the beginning of a turn; None where `The rule: wait` goes on with the one before."""
        marked = CHEVRONS.match(line)
        found = turn(marked["rest"] if marked else line)
        if marked:
            return found or Turn("", None, marked["rest"])
        if found is None:
            return None
        if found.time:
            self._names.add(found.sender)
            return found
        if self._timed:
            return found if found.sender in self._names or found.sender[0] in "+@~" else None
        return found if self._count[found.sender] > 1 or _like_a_name(found.sender) else None


def _is_notice(line: str) -> bool:
    found = _NOTICE.fullmatch(line)
    return found is not None and (not found["who"] or _like_a_name(found["who"]))


def _like_a_name(text: str) -> bool:
    return not any(word[0].islower() and not _PARTICLE.fullmatch(word) for word in text.split())


def _turns(file: InputFile, source: Source, zone: tzinfo, named_below: bool) -> Iterator[Piece]:
    """``named_below``: a line of two times stands above each name."""
    speakers = _Speakers(file.start(), named_below)
    now: Turn | None = None
    lines: list[str] = []
    raw: list[str] = []
    size = number = 0
    head = False
    for at, line in file.lines():
        if isinstance(line, Fault):
            yield line
            continue
        timed = speakers.clocked and _ONLY_A_TIME.fullmatch(line) is not None
        segment = _SEGMENT.match(line)
        notice = _is_notice(line)
        begins = None if timed or segment or notice else speakers.turn(line)
        if head and line.strip() and named_below and begins is None and len(line) < LONGEST_HEAD // 2:
            begins = Turn(line.strip(), None, "")
        head = head and not line.strip()
        full = size > (_ENOUGH if timed or (segment and lines and _SENTENCE_END.search(lines[-1])) else _LONGEST_TURN)
        if begins is not None or notice or full or (timed and (now or named_below)):
            yield from _message(source, now, lines, raw, number, zone)
            now = begins or (None if notice or (timed and named_below) else now)
            lines, raw, size, number = [], [], 0, at
        if notice:
            yield Omission(f"line {at}", "notice")
            continue
        head = head or (timed and _ARROW.fullmatch(line) is not None)
        if not timed:
            lines.append(begins.text if begins else line[segment.end() :] if segment else line)
        raw.append(line)
        size += len(line)
    yield from _message(source, now, lines, raw, number, zone)


def _message(
    source: Source, turn: Turn | None, lines: list[str], raw: list[str], number: int, zone: tzinfo
) -> Iterator[Piece]:
    said = clean("\n".join(lines))
    if turn and turn.sure:
        if _REACTION.fullmatch(said):
            yield Omission(f"line {number}", "reaction")
            return
        # The words that somebody answers are another's.
        if replying := _REPLYING.match(said):
            said = said[replying.end() :].strip()
    text = remove_fillers(said)
    if not is_blank(text):
        sender = clean(turn.sender) or None if turn else None
        at = moment_of(turn.time, zone) if turn and turn.time else None
        yield source, Message(None, at, sender, text, clean("\n".join(raw)))


def _cues(file: InputFile, source: Source) -> Iterator[Piece]:
    held: list[Cue] = []
    for found in cues(file):
        if isinstance(found, Fault):
            yield found
            continue
        text = " ".join(cue.text for cue in held)
        if held and (
            (found.begins and found.sender is None)
            or found.sender != held[-1].sender
            or len(text) >= _LONGEST
            or (len(text) >= _ENOUGH and _SENTENCE_END.search(text))
        ):
            yield from _spoken(source, held)
            held = []
        held.append(found)
    yield from _spoken(source, held)


def _spoken(source: Source, cues: list[Cue]) -> Iterator[Piece]:
    text = remove_fillers(clean(" ".join(cue.text for cue in cues)))
    if not is_blank(text):
        yield source, Message(None, None, cues[0].sender, text, clean("\n\n".join(cue.raw for cue in cues)))
