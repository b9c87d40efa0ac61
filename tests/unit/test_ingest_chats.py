"""Files as chats, channels and meetings are exported, each beside what comes out of it; that no line is lost or another's."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jochi.write.ingesting import Fault, Message, Source, read

FILES = Path(__file__).parents[1] / "ingest_files"


def said(data: str, name: str) -> list[tuple[str | None, str]]:
    """Who said what; nothing was left out, nothing couldn't be read."""
    pieces = list(read(io.BytesIO(data.encode()), name=name))
    assert all(isinstance(piece, tuple) for piece in pieces)
    return [(piece[1].sender, piece[1].text) for piece in pieces if isinstance(piece, tuple)]


MARK = "\u200e"
AT = datetime(2025, 2, 27, 11, 58, tzinfo=timezone.utc)
# How a phone writes the beginning of a line, by the format of its language.
WHATSAPP = {
    "[%d.%m.%y, %H:%M:%S] ": (True, False),
    "[%m/%d/%y, %I:%M:%S\u202f%p] ": (True, True),
    "%d/%m/%Y, %H:%M - ": (False, False),
    "%m/%d/%y, %I:%M\u202f%p - ": (False, True),
    "%Y. %m. %d. %H:%M - ": (False, False),
}
NAMES = ("Ann", "+1 555 0100", "Dr. Bo Ray", "Chi (work)")
LINES = (
    "yes",
    "at 9:30: by bus",
    "Ann: no",
    "[9:15, 1/2/2025] Bo: pasted",
    "",
    "- one",
    "\u201cquoted: so\u201d",
    "12/12/24",
    "<3",
    "See: this",
)


@st.composite
def chats(draw: st.DrawFn) -> tuple[str, list[tuple[object, ...]]]:
    """A chat as WhatsApp exports it, and what is to come out: sender, minute and text, or why a message is left out."""
    form, (iphone, unpadded) = draw(st.sampled_from(list(WHATSAPP.items())))
    text, expected = "", list[tuple[object, ...]]()
    at = AT
    for _ in range(draw(st.integers(4, 12))):
        at += timedelta(minutes=draw(st.integers(1, 3_000)))
        name, lines = draw(st.sampled_from(NAMES)), draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=3))
        head = at.strftime(form)
        if unpadded:
            head = head.replace("[0", "[").replace("/0", "/").removeprefix("0")
        own = MARK if iphone else ""
        said = "\n".join(lines)
        kind = draw(st.sampled_from(("said", "said", "said", "media", "deleted", "notice")))
        if kind == "said" and said.strip() and lines[0]:
            text += f"{head}{name}: {said}\n"
            expected.append((name, at.replace(second=0), said.strip()))
        elif kind == "media":
            text += f"{own}{head}{name}: {MARK}image omitted\n" if iphone else f"{head}{name}: <Media omitted>\n"
            expected.append(("media",))
        elif kind == "deleted":
            text += f"{head}{name}: {own}This message was deleted\n"
            expected.append(("deleted message",))
        else:
            text += (
                f"{head}{name}: {own}{name} left\n" if iphone else f'{head}{name} changed the subject to "A: {name}"\n'
            )
            expected.append(("notice",))
    at = datetime(2025, 12, 31, 12, tzinfo=timezone.utc)
    return text + f"{at.strftime(form)}Ann: end\n", [*expected, ("Ann", at, "end")]


@settings(max_examples=60)
@given(chats())
def test_whatsapp_loses_and_miscredits_nothing(chat: tuple[str, list[tuple[object, ...]]]) -> None:
    """Each message is its sender's with all its lines, or it is named."""
    found = [
        (piece[1].sender, piece[1].at and piece[1].at.replace(second=0), piece[1].text)
        if isinstance(piece, tuple)
        else (piece.why,)
        for piece in read(io.BytesIO(chat[0].encode()), name="WhatsApp Chat with Ann.txt")
    ]
    assert found == chat[1]


def clock(at: int, point: str = ".") -> str:
    """``at``, in milliseconds, as subtitles write it."""
    return f"{at // 3_600_000:02}:{at // 60_000 % 60:02}:{at // 1_000 % 60:02}{point}{at % 1_000:03}"


WORDS = ("never", "so we go", "the rule: wait", "yes", "and it is", "5 of them")


@settings(max_examples=60)
@given(st.lists(st.sampled_from(WORDS), min_size=6, max_size=14), st.booleans())
def test_captions_that_roll_say_each_line_once(lines: list[str], srt: bool) -> None:
    """A line moves up when the next one comes; one that is said twice is there twice."""
    data = "" if srt else "WEBVTT\nKind: captions\nLanguage: en\n\n"
    for number, line in enumerate(lines):
        at, before = 2_000 * number, lines[number - 1] if number else " "
        first, *others = line.split()
        timed = line if srt else first + "".join(f"<{clock(at + 100)}><c> {each}</c>" for each in others)
        point = "," if srt else "."
        for start, end, text in ((at, at + 1_990, f"{before}\n{timed}"), (at + 1_990, at + 2_000, f"{line}\n ")):
            head = f"{2 * number + (start > at) + 1}\n" if srt else ""
            data += f"{head}{clock(start, point)} --> {clock(end, point)}\n{text}\n\n"
    assert said(data, "a.srt" if srt else "a.vtt") == [(None, " ".join(lines))]


TALKS = {
    "a.vtt": ("WEBVTT\n\n", "{clock} --> {end}\n<v {name}>{text}</v>\n\n"),
    "b.vtt": ("WEBVTT\n\n", "k/{number}-0\n{clock} --> {end}\n<v {name}>\n{text}\n\n"),
    "c.vtt": ("WEBVTT\n\n", '{number} "{name}" (17)\n{clock} --> {end}\n{text}\n\n'),
    "d.srt": ("", "{number}\n{clock} --> {end}\n>> {name}: {text}\n\n"),
    "e.txt": ("", "{name}  {short}\n{text}\n\n"),
    "f.txt": ("", "[{name}] {full}\n{text}\n\n"),
    "g.txt": ("", "{full} From {name} to Everyone:\n\t{text}\n"),
    "h.txt": ("", "[{full}] {name}: {text}\n"),
    "i.txt": ("", "{name} ({short}):\n{text}\n\n"),
    "k.md": ("", "[2026-01-31 09:{number:02}:00] {name}: {text}  \n"),
    "j.txt": ("", "0:{number}:0.0 --> 0:{number}:2.5\n{name}\n{text}\n\n"),
}


@settings(max_examples=100)
@given(
    st.sampled_from(list(TALKS)),
    st.lists(
        st.tuples(st.sampled_from(("Ann Lee", "Bo", "Speaker 2")), st.sampled_from(WORDS)), min_size=3, max_size=10
    ),
)
def test_each_turn_is_its_speaker_s(name: str, turns: list[tuple[str, str]]) -> None:
    """In each form of captions and transcripts: every word is there, and whose it is."""
    turns = [("Ann Lee", "at first"), ("Bo", "at last"), ("Ann Lee", "again"), *turns]
    before, form = TALKS[name]
    data = before
    for number, (speaker, text) in enumerate(turns, 1):
        at = 61_000 * number
        times = {"short": f"{at // 60_000}:{at // 1_000 % 60:02}", "full": clock(at)[:8]}
        point = "," if name.endswith("srt") else "."
        data += form.format(
            number=number, name=speaker, text=text, clock=clock(at, point), end=clock(at + 900, point), **times
        )
    expected: list[tuple[str, str]] = []
    for speaker, text in turns:
        if expected and expected[-1][0] == speaker and not name.endswith(("txt", "md")):
            expected[-1] = speaker, f"{expected[-1][1]} {text}"
        else:
            expected.append((speaker, text))
    assert said(data, name) == expected


def rich(*texts: str) -> list[dict[str, Any]]:
    """Blocks as Slack keeps what a person typed."""
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text} for text in texts]}
    return [{"type": "rich_text", "elements": [section]}]


@st.composite
def slack_messages(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[object, ...]]:
    """A message of one of the kinds in an export, and who says what by it, or why it is left out or couldn't be read."""
    user = draw(st.sampled_from(("U07AAAAAAA", "U07BBBBBBB")))
    name = {"U07AAAAAAA": "Ann", "U07BBBBBBB": "U07BBBBBBB"}[user]
    text = draw(st.sampled_from(("yes", "Ann: no", "a <b> &amp; c", "first\nsecond")))
    shown = text.replace("<b>", "b").replace("&amp;", "&")
    return draw(
        st.sampled_from(
            (
                ({"user": user, "text": text}, (name, shown)),
                ({"user": user, "text": "", "blocks": rich("say ", "so")}, (name, "say so")),
                ({"user": user, "text": text, "files": [{"name": "a.png"}]}, (name, f"{shown}\n[attached: a.png]")),
                ({"user": user, "text": "", "files": [{"id": "F1"}]}, ("media",)),
                (
                    {"subtype": "bot_message", "username": "CI", "text": "", "attachments": [{"text": text}]},
                    ("CI", shown),
                ),
                ({"user": user, "text": text, "subtype": "channel_topic"}, ("notice",)),
                ({"user": user, "text": text, "subtype": "tombstone"}, ("deleted message",)),
                ({"user": user, "text": "", "attachments": [{"is_share": True, "text": text}]}, ("words of another",)),
                ({"user": user, "text": ""}, ("fault",)),
            )
        )
    )


@settings(max_examples=60)
@given(st.lists(slack_messages(), min_size=1, max_size=12))
def test_slack_loses_and_miscredits_nothing(messages: list[tuple[dict[str, Any], tuple[object, ...]]]) -> None:
    data = [message | {"ts": f"17698500{number:02}.000100"} for number, (message, _) in enumerate(messages)]
    around = {"messages": data, "users": {"U07AAAAAAA": "Ann"}}
    found = [
        (piece[1].sender, piece[1].text)
        if isinstance(piece, tuple)
        else ("fault",)
        if isinstance(piece, Fault)
        else (piece.why,)
        for piece in read(io.BytesIO(json.dumps(around).encode()), name="a.json")
    ]
    assert found == [expected for _, expected in messages]


def test_the_lists_of_a_slack_export(tmp_path: Path) -> None:
    """They are read anew when they change; one that can't be read is named where it is read itself, and people
    go by their ids."""
    day = tmp_path / "FC:F07CANVAS1:Plan" / "2026-01-31.json"
    day.parent.mkdir()
    day.write_text(json.dumps([{"user": "U07AAAAAAA", "text": "Why?", "ts": "1769850000.000100"}]))
    people = tmp_path / "users.json"

    def found() -> list[object]:
        return [(piece[0].title, piece[1].sender) if isinstance(piece, tuple) else piece.where for piece in read(day)]

    for changed, (listed, expected) in enumerate(
        (
            ('[{"id": "U07AAAAAAA", "name": "ann"}]', [("Plan", "ann")]),
            ('[{"id": "U07AAAAAAA", "name": "ann", "profile": {"real_name": "Ann Lee"}}]', [("Plan", "Ann Lee")]),
            ("[{", [("Plan", "U07AAAAAAA")]),
        )
    ):
        people.write_text(listed)
        os.utime(people, (changed, changed))
        assert found() == expected
    assert [type(piece) for piece in read(people, format="slack")] == [Fault]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("WhatsApp Chat with Ann.txt", "12/31/24, 9:05\u202fPM - Ann: " + "word " * 100 + "\n"),
        ("talk.txt", "Ann Lee  0:03\n" + "word " * 100 + "\n\n"),
        ("talk.vtt", "00:01:00.000 --> 00:01:01.000\n<v Ann>" + "word " * 200 + ".\n\n"),
    ],
)
def test_long_chats_in_bounded_memory(name: str, one: str, tmp_path: Path) -> None:
    """However long, in a few megabytes: each message once."""
    (tmp_path / name).write_text(("WEBVTT\n\n" if name.endswith("vtt") else "") + one * 5_000, encoding="utf-8")
    tracemalloc.start()
    try:
        count = sum(isinstance(piece, tuple) for piece in read(tmp_path / name))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 5_000
    assert peak < 3 * 1024**2, f"{peak:,}"


@pytest.mark.parametrize(
    "text",
    [
        "Intro  0:00\nVerse one  0:35\nChorus  1:10\nVerse two  1:50\n",
        "9:00\nbreakfast\n10:30\nwalk\n12:00\nlunch\n",
        "Bread  0:45\n\nFlour: 500 g\nWater: 300 g\nSalt: 10 g\n",
        "Dear all,\nplease note: the office is closed.\nHours: 9:00\nPhone: 555\nBest\nAnn\n",
        "31/12/24: paid the rent\n01/01/25: nothing\n",
    ],
)
def test_notes_with_times_are_notes(text: str) -> None:
    assert {source.source_type for source, _ in messages(text)} == {"text-note"}


def messages(text: str) -> list[tuple[Source, Message]]:
    return [piece for piece in read(io.BytesIO(text.encode()), name="a.txt") if isinstance(piece, tuple)]


def test_a_time_that_was_said_stays() -> None:
    assert said("Ann: When?\nBo:\n10:30\nAnn: Fine.\nBo: Yes.\n", "a.txt")[1] == ("Bo", "10:30")


def test_a_list_of_another_program_is_none_of_slack(tmp_path: Path) -> None:
    (tmp_path / "users.json").write_text('[{"id": 17, "name": "Ann", "content": "hi"}]')
    pieces = [piece for piece in read(tmp_path / "users.json") if isinstance(piece, tuple)]
    assert [source.provenance["origin"] for source, _ in pieces] == ["conversation"]
