"""Cues of subtitles (WebVTT, SRT): who says what in them, each line once."""

from __future__ import annotations

import html
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from jochi.extras import extra_named
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.readers.turns import CHEVRONS, LONGEST_HEAD, turn
from jochi.write.ingesting.source import Fault, clean

CUES = re.compile(r"\s*(?:WEBVTT\b|(?:\d+[ \t]*\r?\n[ \t]*)?\d+:\d\d:\d\d[,.]\d+[ \t]*-->)")
"""How a file of subtitles begins."""

_LONGEST_CUE = 32_000
_TIMES = re.compile(
    r"(?P<start>(?:(?<!\d)\d{1,4}:)?(?<!\d)\d{1,3}:\d\d[.,]\d{1,9})[ \t]{0,8}-->"
    r"[ \t]{0,8}(?P<end>(?:\d{1,4}:)?\d{1,3}:\d\d[.,]\d{1,9})"
)
_STARTS = re.compile(r"(\d[\d:.,]*)[ \t]*-->")
_VOICE = re.compile(r"(?=<v[ \t.])|(?<=</v>)")
_NO_CUE = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)\b(?!.*-->)", re.DOTALL)
_NUMBERED = re.compile(r"\d+[ \t]*\n")
_STYLE = re.compile(r"\{\\[^{}]{1,80}\}")
"""What some subtitles have of their ancestors, such as `{\\an8}`: where the line stands."""
_TAG = re.compile(r"<[^<>]*>")
_WORD_TIME = re.compile(r"<(?:\d+:)?\d\d:\d\d\.\d{3}>")
_DASH = re.compile(r"(?:[-–‐][ \t]?|—[ \t])(?=[^\W\d_]|[\"'“¿¡(\[♪])(?P<rest>.*)")
_ANEW = re.compile(r"(?<=[.?!…,;:)\]\"'”’♪-])[ \t]+(?=(?:>|&gt;){2,}[ \t]*[^\W\d_])")
"""Within a line: somebody's words are over, and `>>` begins another's."""
_ID = re.compile(
    r"(?:\d+[\s:.-]+)?[\"“]?(?P<name>[^\W\d_][^:\"“”\[\]/{}<>|;?!]{0,59}?)[\"”]?(?:[-_#]\d+)?(?: *\(\d+\))?"
)
_SURE_ID = re.compile(r"(?:\d+[\s:.-]+)?[\"“][^\"“”]+[\"”] *\(\d+\)")
"""A name in quotes and a number of a person: nothing else is written so."""
_NO_NAME = re.compile(
    r"(?:cue|caption|subtitle|chapter|slide|scene|segment|part|line|intro|outro|paragraph|block)\b", re.IGNORECASE
)
_INSTANT, _GAP = 0.051, 0.1
"""Seconds: of a cue that only holds a line until the next one moves it up; between cues, for a screen that was cleared."""


class Cue(NamedTuple):
    """What one speaker says in a cue. ``begins``: it isn't the speaker before, even if neither is known."""

    sender: str | None
    text: str
    raw: str
    begins: bool


class _Line(NamedTuple):
    """A line of a cue: who its tag says speaks, what it shows, and as it came."""

    voice: str | None
    text: str
    raw: str


def cues(file: InputFile) -> Iterator[Cue | Fault]:
    """What is said in each cue, by each of its speakers, in its order. A line that a cue only shows once more is left off."""
    start = file.start()
    format = "vtt" if start.lstrip("\ufeff \t\r\n").startswith("WEBVTT") else "srt"
    shown = _Shown(_rolls(start), *_names(start))
    for number, block in enumerate(_blocks(file, format), 1):
        if isinstance(block, Fault):
            yield block
            continue
        before, arrow, after = block.partition("-->")
        head = f"{before}{arrow}{after.partition(chr(10))[0]}"
        times = _TIMES.search(head[-LONGEST_HEAD:])
        if times and len(head) <= LONGEST_HEAD and not after.partition("\n")[2].strip():
            continue  # A cue that shows nothing: it clears the screen.
        try:
            lines = list(_lines(block, head, format)) if times else None
        except ValueError:
            lines = None
        if lines is None:
            at = _STARTS.search(head[-LONGEST_HEAD:])
            yield Fault(f"cue {at[1] if at else f'number {number}'}", "It has no times that can be read, or no text.")
            continue
        assert times is not None
        yield from shown.cue(
            head, lines, before.rpartition("\n")[0].strip(), _seconds(times["start"]), _seconds(times["end"])
        )


def _lines(block: str, head: str, format: str) -> Iterator[_Line]:
    """The lines of a cue that say something. ValueError if it is no cue."""
    with extra_named():
        import webvtt
        from webvtt.errors import MalformedCaptionError, MalformedFileError
    if len(head) > LONGEST_HEAD:
        raise ValueError
    try:
        if format == "vtt":
            captions = webvtt.from_string(f"WEBVTT\n\n{block}", strict=True).captions
        else:
            numbered = block if _NUMBERED.match(block) else f"1\n{block}"
            captions = webvtt.from_buffer(io.StringIO(numbered), format="srt").captions
    except (MalformedFileError, MalformedCaptionError):
        raise ValueError from None
    if not captions:
        raise ValueError
    for caption in captions:
        for voice in _VOICE.split(caption.raw_text):
            caption.text = voice
            named = clean(html.unescape(caption.voice)) or None if caption.voice else None
            before = ""
            for text, raw in zip(caption.text.split("\n"), voice.split("\n"), strict=False):
                if text := " ".join(html.unescape(_STYLE.sub("", text)).split()):
                    texts, raws = ([text], [raw]) if named else (_ANEW.split(text), _ANEW.split(raw))
                    for part, written in zip(texts, raws if len(raws) == len(texts) else texts, strict=True):
                        yield _Line(named, part, before + written.rstrip())
                        before = ""
                elif raw.strip():
                    before = f"{raw.strip()}\n"


@dataclass
class _Shown:
    """What of a cue was said only now, and by whom, where its file is read from its beginning."""

    rolls: bool
    names: frozenset[str]
    by_id: bool
    _screen: list[str] = field(default_factory=list)
    _until: float = 0.0
    _speaker: str | None = None

    def cue(self, head: str, lines: list[_Line], id: str, start: float, end: float) -> Iterator[Cue]:
        """``head``: what stands before the lines; ``id``: what of it before the times; ``start``, ``end``: in seconds."""
        if self.rolls:
            texts = [line.text for line in lines]
            lines = lines[self._again(texts, start, end) :]
            self._screen, self._until = texts, end
        named = _name_in(id) if self.by_id else None
        held: list[str] = []
        raw: list[str] = []
        sender, begins = None, False
        for number, line in enumerate(lines):
            # What a tag says holds to its end.
            before = None if number and lines[number - 1].voice else sender
            spoken, anew, rest = self._line(line.voice or named, line.text, number == 0, before)
            if held and (anew or spoken != sender):
                yield _one(sender, held, head, raw, begins)
                held, raw = [], []
            if not held:
                begins = (begins and bool(raw)) or anew
            sender = spoken
            raw.append(line.raw)
            if rest:
                held.append(rest)
        if held:
            yield _one(sender, held, head, raw, begins)

    def _line(self, voice: str | None, line: str, first: bool, before: str | None) -> tuple[str | None, bool, str]:
        """Who says a line, whether somebody else began, and what; ``first``: of its cue; ``before``: who says the line before."""
        if voice:
            self._speaker = None
            return voice, False, line
        marked = CHEVRONS.match(line)
        dashed = None if marked else _DASH.match(line)
        rest = marked["rest"] if marked else dashed["rest"] if dashed else line
        found = turn(rest)
        if (
            found
            and found.text
            and (marked or dashed or found.sender in self.names or (first and _is_name(found.sender)))
        ):
            name = clean(found.sender) or None
            self._speaker = name if marked else None
            return name, True, found.text
        if marked or dashed:
            self._speaker = None
            return None, True, rest
        # Who began with >> goes on until somebody else does.
        return (before or self._speaker) if not first else self._speaker, False, line

    def _again(self, lines: list[str], start: float, end: float) -> int:
        """How many of a cue's lines were on the screen already and only moved up."""
        if start > self._until + _GAP:
            return 0
        count = _overlap(self._screen, lines)
        # The same word over and over: one more line of it is new, unless the cue only moves the lines up.
        said_again = 1 < count == len(lines) and len(set(lines)) == 1 and end - start >= _INSTANT
        return count - said_again


def _overlap(before: list[str], now: list[str]) -> int:
    """How many of the last lines of ``before`` are the first ones of ``now``."""
    return next((count for count in range(min(len(before), len(now)), 0, -1) if before[-count:] == now[:count]), 0)


def _one(sender: str | None, lines: list[str], head: str, raw: list[str], begins: bool) -> Cue:
    return Cue(sender, " ".join(lines), html.unescape("\n".join((head, *raw))), begins)


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def _is_name(text: str) -> bool:
    """Whether it is two words or more that all begin as names do."""
    words = text.split()
    return len(words) > 1 and not any(word[0].islower() for word in words)


def _name_in(id: str) -> str | None:
    """The name in a cue's id, such as `Ann Lee` or `12 "Ann Lee" (16778240)`; None where it is a number or a key."""
    found = _ID.fullmatch(id)
    if found is None or _NO_NAME.match(found["name"]) or len(found["name"].split()) > 5 or found["name"][0].islower():
        return None
    return clean(found["name"]) or None


def _names(start: str) -> tuple[frozenset[str], bool]:
    """Names that stand before a colon more than once, or in voices; whether the ids of cues are names."""
    voices = {
        " ".join(html.unescape(each).split()) for each in re.findall(r"<v(?:\.[^ \t>]*)?[ \t]+([^<>\n]+)>", start)
    }
    ids, before_colon = list[str](), Counter[str]()
    last = ""
    for line in start.splitlines():
        if "-->" in line:
            if last.strip():
                ids.append(last.strip())
        elif line.strip():
            plain = html.unescape(_TAG.sub("", line)).strip()
            marked = CHEVRONS.match(plain) or _DASH.match(plain)
            if (found := turn(marked["rest"] if marked else plain)) and found.text:
                before_colon[found.sender] += 1
        last = line
    said = {name for name, count in before_colon.items() if count > 1 and not name[0].islower()}
    named = [name for each in ids if (name := _name_in(each))]
    is_sure = any(_SURE_ID.fullmatch(each) for each in ids)
    by_id = 2 * len(named) >= len(ids) and (is_sure or (len(ids) > 1 and len(set(named)) < len(named)))
    return frozenset(voices | said), by_id


def _rolls(start: str) -> bool:
    """Whether its cues move lines up the screen, as captions that a machine made do: most show again what the one before did."""
    pairs = again = growing = 0
    instant = _WORD_TIME.search(start) is not None
    before: list[str] = []
    now: list[str] = []
    in_cue = False
    for line in [*start.splitlines(), "00:00:00.000 --> 00:00:00.000"]:
        if times := _TIMES.search(line):
            if before and now:
                pairs += 1
                shared = _overlap(before, now)
                again += shared > 0
                growing += 0 < shared < len(now)
            before, now, in_cue = now or before, [], True
            instant = instant or 0 < _seconds(times["end"]) - _seconds(times["start"]) < _INSTANT
        elif in_cue and (text := " ".join(html.unescape(_TAG.sub("", line)).split())) and not text.isdigit():
            now.append(text)
    return 2 * again >= pairs > 0 and (instant or growing > 2)


def _blocks(file: InputFile, format: str) -> Iterator[str | Fault]:
    """The cues, which blank lines part. In SRT, text after a blank line belongs to the cue before it."""
    held = ""
    for block in _parted(file, format):
        if isinstance(block, Fault):
            yield block
        elif format == "vtt":
            if not _NO_CUE.match(block):
                yield block
        elif held and "-->" not in block and not _NUMBERED.match(block) and len(held) <= _LONGEST_CUE:
            held = f"{held}\n{block}"
        else:
            if held:
                yield held
            held = block
    if held:
        yield held


def _parted(file: InputFile, format: str) -> Iterator[str | Fault]:
    """The lines between blank ones. In WebVTT a cue waits for its text: YouTube's begin with a line of blanks."""
    held: list[str] = []
    size = waited = 0
    for _, line in file.lines():
        if isinstance(line, Fault):
            yield line
            continue
        cut, waits = 0, bool(held) and format == "vtt" and "-->" in held[-1]
        if not line.strip():
            cut, waited = 0 if waits else len(held), len(held)
        elif size > _LONGEST_CUE:
            cut = len(held)
        elif format == "vtt" and "-->" in line and any("-->" in each for each in held):
            # The cue before it shows nothing, or no blank line parts the two; a line behind a blank one is this cue's id.
            cut = len(held) - (not waits and waited == len(held) - 1)
        if cut:
            yield "\n".join(held[:cut]).removeprefix("\ufeff")
            held, waited = held[cut:], 0
            size = sum(map(len, held))
        if line.strip():
            held.append(line)
            size += len(line)
    if held:
        yield "\n".join(held).removeprefix("\ufeff")
