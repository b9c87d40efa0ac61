"""Readers of raw sources: what comes out of small files of each format, and that no file does harm."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import tracemalloc
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from textwrap import dedent
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jochi.errors import JochiError, UsageError
from jochi.text.content import is_blank
from jochi.text.visible import visible
from jochi.write.ingesting import READERS, Fault, Message, Omission, Piece, Source, read
from jochi.write.ingesting.html import text_of
from jochi.write.ingesting.input_file import LARGEST_WHOLE, LONGEST_LINE
from jochi.write.ingesting.json_values import readable
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.replies import remove_quotations
from jochi.write.ingesting.speech import remove_fillers

UTC = timezone.utc
NINE = datetime(2026, 1, 31, 9, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def pieces(data: str | bytes, **how: str) -> list[Piece]:
    return list(read(io.BytesIO(data.encode() if isinstance(data, str) else data), **how))  # type: ignore[arg-type]


def messages(data: str | bytes, **how: str) -> list[tuple[Source, Message]]:
    found = pieces(data, **how)
    assert not [piece for piece in found if isinstance(piece, Fault)]
    return [piece for piece in found if isinstance(piece, tuple)]


def told(found: list[Piece]) -> list[tuple[object, ...]]:
    """Of each message its source's id and title, sender, moment and text; of each fault where it is."""
    return [
        (piece.where,)
        if isinstance(piece, Fault)
        else (piece[0].id, piece[0].title, piece[1].sender, piece[1].at and f"{piece[1].at:%d %H:%M}", piece[1].text)
        for piece in found
        if not isinstance(piece, Omission)
    ]


MAIL = """\
From: =?utf-8?q?Ann_M=C3=BCller?= <ann@acme.example>
To: bob@acme.example
Subject: Re: AW: The house
Message-ID: <2@acme.example>
References: <1@acme.example> <1b@acme.example>
Date: Sat, 31 Jan 2026 10:00:00 +0100
"""
PLAIN = "Content-Type: text/plain; charset=utf-8\n\n"
HTML = "Content-Type: text/html; charset=utf-8\n\n"

# File name; what stands in it; what comes out (`told`).
FILES: list[tuple[str, str, list[tuple[object, ...]]]] = [
    (
        "lines.jsonl",
        """\
        {"role": "user", "name": "Ann", "content": "Hi", "created_at": "2026-01-31T10:00:00+01:00", "conversation_id": "c1"}
        {"speaker": "Bob", "text": "Hello", "ts": 1769850000123, "conversation_id": "c2", "title": "House"}

        no JSON
        {"from": {"name": "Cy"}, "content": [{"type": "text", "text": "a"}, {"type": "image"}, "b"], "at": "2026-01-31 09:00"}
        {"content": " "}
        [3]
        {"messages": [{"author": "Di", "body": "x", "time": "1769850000"}], "id": 7}
        """,
        [
            ("c1", None, "Ann", "31 10:00", "Hi"),
            ("c2", "House", "Bob", "31 09:00", "Hello"),
            ("line 4",),
            (None, None, "Cy", "31 09:00", "a\nb"),
            ("line 6",),
            ("line 7, message 1",),
            ("7", None, "Di", "31 09:00", "x"),
        ],
    ),
    (
        "export.json",
        """\
        [{"id": "k", "title": "Trip", "mapping": {
            "a": {"message": {"author": {"role": "user"}, "create_time": 1769850000.5, "content": {"parts": ["hey"]}}},
            "b": {"message": null}}},
         {"uuid": "l", "chat_messages": [{"sender": "Ann", "text": "yes"}, 5]}]
        """,
        [
            ("k", "Trip", "user", "31 09:00", "hey"),
            ("l", None, "Ann", None, "yes"),
            ("conversation 2, message 2",),
        ],
    ),
    (
        "thread.json",
        """\
        {"ok": true, "users": {"U2": "Bob"}, "messages": [
          {"user": "U1", "text": "See <https://a.example|the page>, <@U2> &amp; <#C1|general>", "ts": "1769850000.000100",
           "thread_ts": "1769850000.000100", "user_profile": {"display_name": "", "real_name": "Ann"}, "edited": {"ts": "1"}},
          {"user": "U2", "text": "<!here> <mailto:a@b.example|a@b.example>", "ts": "1769850060.000200",
           "thread_ts": "1769850000.000100", "files": [{"name": "plan.pdf", "size": 3, "url_private": "https://t/?t=secret"}]},
          {"subtype": "tombstone", "text": "This message was deleted.", "ts": "1769850070.000200"},
          {"subtype": "bot_message", "username": "CI", "text": "", "attachments": [{"fallback": "green"}],
           "ts": "1769850080.000200", "channel": "C9"},
          {"text": "no ts"}]}
        """,
        [
            ("1769850000.000100", None, "Ann", "31 09:00", "See the page (https://a.example), @Bob & #general"),
            ("1769850000.000100", None, "Bob", "31 09:01", "@here a@b.example\n[attached: plan.pdf]"),
            ("C9/2026-01-31", "C9", "CI", "31 09:01", "green"),
            ("message 5",),
        ],
    ),
    (
        "talk.txt",
        """\
        Board, 31 January
        [2026-01-31 9:05] Ann Lee: Hi, um, you
        and you
        31.01.26, 09:06 - Bob: Ähm, ja.
        1/31/26, 9:07 AM - Bob: Uh-huh, see https://a.example: it is so
        Ann Lee (00:12:01): Hmm.
        Bob 00:12:09
        That was it.
        See you at 10:30
        and it is always as she says: so
        +49 170 123: +1
        """,
        [
            (None, None, None, None, "Board, 31 January"),
            (None, None, "Ann Lee", "31 09:05", "Hi, you\nand you"),
            (None, None, "Bob", "31 09:06", "ja."),
            (None, None, "Bob", None, "Uh-huh, see https://a.example: it is so"),
            (None, None, "Ann Lee", None, "Hmm."),
            (None, None, "Bob", None, "That was it.\nSee you at 10:30\nand it is always as she says: so"),
            (None, None, "+49 170 123", None, "+1"),
        ],
    ),
    (
        "call.vtt",
        """\
        WEBVTT Kind: captions

        NOTE made by hand

        1
        00:00:01.000 --> 00:00:02.000 align:start
        <v.loud Ann Lee>So we <i>go</i> &amp;

        00:00:02.000 --> 00:00:03.000
        <v Ann Lee>stay</v>
        <v Bob>No.

        later --> 00:00:05.000
        lost

        00:00:05.000 --> 00:00:06.000
        Bob: Never.

        in no cue
        """,
        [
            (None, None, "Ann Lee", None, "So we go & stay"),
            ("cue number 3",),
            ("cue number 5",),
            (None, None, "Bob", None, "No. Never."),
        ],
    ),
    (
        "film.srt",
        """\
        1
        00:00:01,000 --> 00:00:02,000
        <i>We go</i>

        home.

        2
        00:00:03,000 -> x
        lost
        """,
        [("cue number 2",), (None, None, None, None, "We go home.")],
    ),
    (
        "note.txt",
        "Milk is out.\nBuy some.\n\n\nCall Ann: soon.\n",
        [(None, None, None, None, "Milk is out.\nBuy some."), (None, None, None, None, "Call Ann: soon.")],
    ),
    (
        "plan.md",
        """\
        ---
        title: The plan
        date: 2026-01-31
        ---
        # Goals

        First we **rest**.

        - sleep
        - eat
        <!-- a comment -->

        | day | food |
        | --- | ---- |
        | Mon | rice |
        """,
        [
            (None, "The plan", None, "31 00:00", "title: The plan\ndate: 2026-01-31"),
            (None, "The plan", None, "31 00:00", "Goals"),
            (None, "The plan", None, "31 00:00", "First we **rest**."),
            (None, "The plan", None, "31 00:00", "sleep"),
            (None, "The plan", None, "31 00:00", "eat"),
            (None, "The plan", None, "31 00:00", "day: Mon; food: rice"),
        ],
    ),
    (
        "locomo.json",
        """\
        [{"sample_id": "s-1", "conversation": {
          "session_1_date_time": "9:00 am on 31 January, 2026",
          "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "Look", "blip_caption": "a cat"}, {"speaker": "Bob"}],
          "session_2_date_time": "soon", "session_2": []}}]
        """,
        [
            ("s-1/session_1", "s-1, session 1", "Ann", "31 09:00", "Look [shared image: a cat]"),
            ("s-1 session_1 turn 2",),
            ("s-1 session_2",),
        ],
    ),
    (
        "box.mbox",
        "From ann Sat Jan 31 09:00:00 2026\n"
        + MAIL
        + PLAIN
        + "Yes.\n>From here on\n\n"
        + "From x Sat Jan 31 09:00:00 2026\nnothing\n\n"
        + "From bob Sat Jan 31 09:00:00 2026\nFrom: bob@acme.example\nIn-Reply-To: <2@acme.example>\n"
        + "List-Id: <l.example>\n\nGood.\n",
        [
            ("1@acme.example", "The house", "Ann Müller", "31 10:00", "Yes.\nFrom here on"),
            ("message 2",),
            ("1@acme.example", None, "bob@acme.example", None, "Good."),
        ],
    ),
]


@pytest.mark.parametrize(("name", "data", "expected"), FILES, ids=[name for name, _, _ in FILES])
def test_what_comes_out(name: str, data: str, expected: list[tuple[object, ...]]) -> None:
    """The format is told by name and content; CRLF, a byte order mark and UTF-16 change nothing."""
    data = dedent(data)
    assert told(pieces(data, name=name)) == expected
    if not name.endswith(".mbox"):  # it is bytes: each part says what its own are
        assert told(pieces("\ufeff" + data, name=name)) == expected
        assert told(pieces(data.encode("utf-16"), name=name)) == expected
    assert told(pieces(data.replace("\n", "\r\n"), name=name)) == expected
    assert all(
        is_blank(piece[1].text) is False and piece[0].provenance["file"] == name
        for piece in pieces(data, name=f"folder/{name}")
        if isinstance(piece, tuple)
    )


def test_kinds_of_sources() -> None:
    found = {
        name: {
            (piece[0].source_type, piece[0].context_type)
            for piece in pieces(dedent(data), name=name)
            if isinstance(piece, tuple)
        }
        for name, data, _ in FILES
    }
    assert found == {
        "lines.jsonl": {("conversation", None)},
        "export.json": {("conversation", None)},
        "locomo.json": {("conversation", None)},
        "thread.json": {("slack-thread", "channel"), ("slack-channel", "channel")},
        "talk.txt": {("transcript", None)},
        "call.vtt": {("transcript", None)},
        "film.srt": {("transcript", None)},
        "note.txt": {("text-note", None)},
        "plan.md": {("text-note", None)},
        "box.mbox": {("email", None), ("email", "list")},
    }


def test_a_day_of_a_slack_export(tmp_path: Path) -> None:
    """The folder of a day is its channel. A day is one in the zone that was given."""
    file = tmp_path / "general" / "2026-01-31.json"
    file.parent.mkdir()
    file.write_text(json.dumps([{"user": "U1", "text": "late", "ts": "1769900000.000100"}]))  # 22:53 UTC
    assert [piece[0].id for piece in read(file) if isinstance(piece, tuple)] == ["general/2026-01-31"]
    assert [piece[0].id for piece in read(file, zone=ZoneInfo("Asia/Tokyo")) if isinstance(piece, tuple)] == [
        "general/2026-02-01"
    ]


def test_what_raw_holds() -> None:
    """Everything that was sent, decoded; of attached files only what they are."""
    pdf = b"%PDF secret"
    mail = (
        MAIL
        + "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=c\n\n"
        + "--c\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe\n> alt\n"
        + "--c\nContent-Type: text/html\n\n<p>Gr&uuml;&szlig;e in HTML\n--c--\n"
        + "--b\nContent-Type: application/pdf; name=plan.pdf\nContent-Transfer-Encoding: base64\n\n"
        + base64.b64encode(pdf).decode()
        + "\n--b--\n"
    )
    [(_, message)] = messages(mail, name="a.eml")
    assert message == Message(
        "2@acme.example",
        NINE,
        "Ann Müller",
        "Grüße",
        "From: Ann Müller <ann@acme.example>\nTo: bob@acme.example\nDate: Sat, 31 Jan 2026 10:00:00 +0100\n"
        "Subject: Re: AW: The house\nMessage-ID: <2@acme.example>\nReferences: <1@acme.example> <1b@acme.example>\n\n"
        f"Grüße\n> alt\n\nAttachment: plan.pdf (application/pdf, 11 bytes, SHA-256 {hashlib.sha256(pdf).hexdigest()})",
    )
    slack = dedent(next(data for name, data, _ in FILES if name == "thread.json"))
    assert "secret" not in "".join(piece[1].raw for piece in pieces(slack, name="t.json") if isinstance(piece, tuple))
    cues = messages("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>One\n<v Bob>Two\n", name="a.vtt")
    assert [message.raw for _, message in cues] == [
        "00:01.000 --> 00:02.000\n<v Ann>One",
        "00:01.000 --> 00:02.000\n<v Bob>Two",
    ]


BODIES: dict[str, tuple[str, str]] = {
    "below": ("On Fri, Jan 30, 2026 at 10:00 AM Bob <b@x.example> wrote:\n> Friday?\n\nYes.\n", "Yes."),
    "between": (
        "Hi\n\nIl giorno ven 30 gen 2026 alle ore 10:00 Bob\n<b@x.example> ha scritto:\n\n> Eins?\n\nSì.\n\n>> zwei\n> drei\nNo.",
        "Hi\n\nSì.\n\nNo.",
    ),
    "whose is not told": ("On 3 March, Ann wrote:\n> q\n\nMy answer.", "On 3 March, Ann wrote:\n\nMy answer."),
    "no mark": ("Ja.\n\nAm 30.01.2026 um 10:00 schrieb Bob <b@x.example>:\n\nFreitag?\n", "Ja."),
    "outlook": (
        "Fine.\n\nFrom: Bob <b@x.example>\nSent: Friday, 30 January 2026 10:00\nTo: Ann\nSubject: Re: x\n\nFriday?\n",
        "Fine.",
    ),
    "no head": (
        "On Monday I wrote:\n\nthe list\n\nTo: be or not\nDate: never\n",
        "On Monday I wrote:\n\nthe list\n\nTo: be or not\nDate: never",
    ),
    "thanks": ("Thanks, that works.\n\n- one\n- two\n", "Thanks, that works.\n\n- one\n- two"),
    "signature": ("Yes.\n\n-- \nAnn\nAcme\n", "Yes."),
    "mobile": ("Yes.\n\nSent from my iPhone", "Yes."),
    "long end": ("a\n--\n" + "b\n" * 16, "a\n--\n" + ("b\n" * 16).strip()),
    "quoted only": ("> a", ""),
    "long line": ("x" * 600 + "\n\nOn Jan 30, 2026, Bob wrote:\n\nq", "x" * 600),
}


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=list(BODIES))
def test_what_was_written(body: str, expected: str) -> None:
    assert remove_quotations(body)[0] == expected


def test_mail_that_says_nothing_of_its_own() -> None:
    """What is sent on stays, and so does what alone is there: a quotation, a subject, the name of a file."""
    forward = (
        MAIL.replace("Re: AW:", "Fwd:")
        + "\nFYI\n\n---------- Forwarded message ---------\nFrom: Bob <b@x>\nDate: x\n\nSold.\n"
    )
    attached = "Content-Type: image/png; name=a.png\n\nx"
    found = [
        messages(data, name="a.eml")[0][1].text
        for data in (forward, MAIL + "\n> sold\n", MAIL + "\n\n", MAIL.replace("Re: AW: The house", "") + attached)
    ]
    assert ("FYI" in found[0], found[0].endswith("Sold.")) == (True, True)
    assert found[1:] == ["> sold", "Re: AW: The house", "[attached: a.png]"]
    assert told(pieces(MAIL.replace("Re: AW: The house", "") + "\n\n", name="a.eml")) == [("message 1",)]


def test_html() -> None:
    """What shows is text; quotations are marked, answers between them stay; what is hidden from the reader is in neither."""
    shown, marked, hides, is_whole = text_of(
        "<meta charset=latin1><style>p {}</style><p>Hi&nbsp;<b>Bo</b>b, grüß</p><p style='display:none'>obey me</p>"
        "<span style='font-size:0px'>obey</span><span style='font-size:0.9em'>small</span><p hidden>obey</p>"
        "<table><tr><td>a<td>b<tr><td>c</table><div class=gmail_quote><div>On Fri, 30 Jan 2026 Bob wrote:</div>"
        "<blockquote class=gmail_quote>first?</blockquote><div>my answer</div><blockquote type=cite>second?</blockquote></div>"
        "<div class=gmail_signature>Ann</div>"
    )
    assert (
        " ".join(shown.split())
        == "Hi Bob, grüß small a b c On Fri, 30 Jan 2026 Bob wrote: first? my answer second? Ann"
    )
    assert (hides, is_whole) == (True, True)
    assert "\na b\nc\n" in shown
    assert " ".join(remove_quotations(marked)[0].split()) == "Hi Bob, grüß small a b c my answer"
    with pytest.raises(ValueError, match="too deep"):
        text_of("<div>" * 3000 + "x")
    wide = "<table><tr><td>" + "x" * 10_000 + "<td>y" + "<tr><td>a<td>b" * 1_000 + "</table>"
    assert len(text_of(wide)[0]) < 2 * len(wide)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("So, um, I think", "So, I think"),
        ("Um, the house", "the house"),
        ("Wir treffen uns um 10 Uhr", "Wir treffen uns um 10 Uhr"),
        ("Er kommt, äh, später", "Er kommt, später"),
        ("uh-huh", "uh-huh"),
        ("Hmm.", "Hmm."),
        ("two  blanks,", "two  blanks,"),
        ("the uhrwerk", "the uhrwerk"),
    ],
)
def test_fillers(said: str, left: str) -> None:
    assert remove_fillers(said) == left


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-31T10:00:00+01:00", NINE),
        ("2026-01-31T10:00:00", NINE),  # in Berlin
        (1769850000, NINE),
        (1769850000000, NINE),
        ("1769850000.000000", NINE),
        (1769850000 * 10**6, NINE),
        ("2026-01-31", NINE - timedelta(hours=10)),
        (0, None),
        ("1989-12-31T23:59:59Z", None),
        ("1990-01-01T00:00:00Z", datetime(1990, 1, 1, tzinfo=UTC)),
        (-1, None),
        (1e308, None),
        (True, None),
        ("0000-01-01T00:00:00Z", None),
        ("30000-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-23:00", None),
        ("2199-12-31T23:59:59Z", datetime(2199, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2200-01-01T00:00:00Z", None),
        ("yesterday", None),
        (None, None),
    ],
)
def test_moments(value: object, expected: datetime | None) -> None:
    assert moment(value, BERLIN) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def seen(value: object) -> object:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [seen(each) for each in value]
    return {visible(key): seen(each) for key, each in value.items()} if isinstance(value, dict) else value


@given(JSON)
@example('C:\\new\\table "x" \\\\n \n\t\u2028')
def test_raw_json_comes_back(value: object) -> None:
    """Its texts as a person sees them, and to be found as they are written."""
    assert readable({"a": 'ü\n"\u2028'}) == '{"a": "ü\n\\"\u2028"}'
    raw = readable(value)
    assert json.loads(raw, strict=False) == seen(value)
    assert visible(raw) == raw


SAMPLES = [
    *(dedent(data).encode() for _, data, _ in FILES),
    (MAIL + HTML + "<p>x<blockquote>y").encode(),
    *(path.read_bytes() for path in sorted((Path(__file__).parent.parent / "ingest_files").glob("*/*.json*"))),
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good file with something cut, put in, or said twice."""
    data = draw(st.sampled_from(SAMPLES))
    start, stop = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
    put = draw(
        st.binary(max_size=20)
        | st.sampled_from([b"\x00", b"\xed\xa0\x80", "\u202e".encode(), b"\r", b"{", b'"', b"-->", b">"])
    )
    return data[:start] + put + draw(st.sampled_from([data[start:], data[stop:]]))


def found_or_refused(data: bytes, format: str | None) -> list[Piece]:
    try:
        return list(read(io.BytesIO(data), format=format))
    except JochiError as error:
        return [] if error.fix else [Fault("", "")]


@settings(max_examples=400)
@given(st.binary() | damaged(), st.sampled_from([None, *READERS]))
@example(b"\r!", "markdown")
@example(b"From: a\nReferences: \0\n\nx", "email")
def test_no_bytes_do_harm(data: bytes, format: str | None) -> None:
    """Whatever comes: pieces that can be stored, or an error that says what to do."""
    for piece in found_or_refused(data, format):
        if isinstance(piece, Fault):
            assert piece.where
            assert piece.why.endswith(".")
        elif isinstance(piece, Omission):
            assert piece.where
            assert piece.why
        else:
            source, message = piece
            assert not is_blank(message.text)
            assert not is_blank(message.raw)
            assert message.at is None or message.at.utcoffset() is not None
            for text in (source.id, source.title, message.id, message.sender, message.text, message.raw):
                assert text is None or (text != "" and visible(text) == text)


REFUSED: dict[str, tuple[bytes, str | None, str]] = {
    "PDF": (b"%PDF-1.7\n", None, "PDF"),
    "gzip": (b"\x1f\x8b\x08", None, "gzip"),
    "zip": (b"PK\x03\x04", None, "zip"),
    "binary": (bytes(range(256)), None, "binary"),
    "no array": (b'[{"a"', None, "isn't"),
    "no Slack": (b'{"messages": 1}', "slack", "no messages"),
    "no LoCoMo": (b"[1]", "locomo", "isn't LoCoMo"),
    "unknown format": (b"x", "fax", "unknown"),
    "not UTF-8": (b"# a\n" + b"x" * 70_000 + b"\xff", "markdown", "isn't UTF-8"),
    "large": (b'[{"content": "' + b"x" * LARGEST_WHOLE, None, "larger than"),
}


@pytest.mark.parametrize(("data", "format", "what"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_refused(data: bytes, format: str | None, what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        list(read(io.BytesIO(data), format=format))
    assert caught.value.fix


def test_what_is_no_file(tmp_path: Path) -> None:
    for path, what in ((tmp_path, "folder"), (tmp_path / "none.txt", "can't be read"), (Path("a\0b"), "can't be read")):
        with pytest.raises(UsageError, match=what):
            list(read(path))
    for nothing in ("", "[]", "[]\n"):
        (tmp_path / "empty").write_text(nothing)
        assert list(read(tmp_path / "empty")) == []


def test_limits_and_charsets() -> None:
    """A line that is too long, in a wrong charset, in no charset: the others go in."""
    say = b'{"content": "%s"}\n'
    fits = say % (b"x" * (LONGEST_LINE - 15))
    assert len(fits) == LONGEST_LINE + 1
    found = pieces(fits + say % (b"x" * (LONGEST_LINE - 14)) + say % b"\xff" + say % b"y", name="a.jsonl")
    assert [row[-1] if len(row) == 1 else str(row[-1])[0] for row in told(found)] == ["x", "line 2", "line 3", "y"]
    latin = "Grüße aus München, für alle, die schöne Bücher hätten.\n".encode("latin-1")
    assert messages(latin, name="a.txt")[0][1].text == latin.decode("latin-1").strip()
    noise = bytes(Random(1).choices(range(32, 256), k=3000))
    mixed = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ngood\n--b\nContent-Type: image/png\n\n" + noise
    assert messages(MAIL.encode() + mixed)[0][1].text == "good"
    wrong = MAIL.encode() + b"Content-Type: text/plain; charset=no-such\n\n" + "schön".encode()
    assert messages(wrong, name="a.eml")[0][1].text == "schön"
    no_charset = MAIL + "Content-Type: text/plain; charset=punycode\n\nabc-def"
    assert messages(no_charset, name="a.eml")[0][1].text == "abc-def"
    bad = (
        MAIL.encode()
        + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ngood\n--b\nContent-Type: text/html\n\n"
        + b"<div>" * 5000
    )
    assert told(pieces(bad, name="a.eml")) == [
        ("part 2 of 2@acme.example",),
        ("1@acme.example", "The house", "Ann Müller", "31 10:00", "good"),
    ]
    for depth, faults in ((50, 0), (51, 1), (5000, 1)):
        levels = (f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(depth))
        nested = pieces(MAIL + "".join(levels) + "\nx\n", name="a.eml")
        assert sum(isinstance(piece, Fault) for piece in nested) == faults == len(told(nested)) - 1 + faults
    parts = MAIL + "Content-Type: multipart/mixed; boundary=b\n\n" + "--b\n\nx\n" * 51_000
    assert told(pieces(parts, name="a.eml")) == [("message 1",)]
    forwards = MAIL + "Content-Type: message/rfc822\n\n" * 5000
    assert told(pieces(forwards, name="a.eml")) == [("message 1",)]


class OneWay(io.BytesIO):
    """A stream that can't go back, such as a pipe."""

    def seekable(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("name", "one", "count"),
    [
        ("thread.jsonl", b'{"content": "%s", "id": %%d, "thread_id": "t"}\n' % (b"word " * 100), 10_000),
        pytest.param(
            "thread.mbox",
            b"From a Sat Jan 31 09:00:00 2026\nMessage-ID: <%%d@b>\n\n%s\n\n" % (b"word " * 500),
            2_000,
            marks=pytest.mark.exhaustive,
        ),
        pytest.param("thread.txt", b"%%d %s\n\n" % (b"word " * 100), 10_000, marks=pytest.mark.exhaustive),
        pytest.param(
            "session.jsonl",
            b'{"type": "user", "isSidechain": false, "uuid": "%%d", "message": {"role": "user", "content": "%s"}}\n'
            % (b"word " * 100),
            10_000,
            marks=pytest.mark.exhaustive,
        ),
        (
            "conversations.json",
            b'[{"id": "%%d", "mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["%s"]}}}}}]\n'
            % (b"word " * 1000),
            1_200,
        ),
        pytest.param(
            "result.json",
            b'{"type": "personal_chat", "id": 1, "messages": [{"id": %%d, "type": "message", "from": "A", "text": "%s"}]}\n'
            % (b"word " * 1000),
            1_200,
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_long_threads_in_bounded_memory(name: str, one: bytes, count: int, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"".join(one % n for n in range(count)))  # five megabytes
    tracemalloc.start()
    try:
        read_ = sum(isinstance(piece, tuple) for piece in read(tmp_path / name))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read_ == count
    assert peak < 3 * 1024**2, f"{peak:,}"


def test_lists_within_lists_stay_small() -> None:
    """YAML may name a list in a list sixty times over; nobody writes that out."""
    lists = "".join(f"b{n + 1}: &b{n + 1} [*b{n}, *b{n}]\n" for n in range(60))
    assert messages(f"---\nb0: &b0 [x]\n{lists}title: *b60\n---\n# Head\n", name="a.md")[0][0].title == "Head"


def test_a_stream_that_cannot_go_back() -> None:
    data = b'{"content": "x"}\n' * 3
    assert [piece[1].text for piece in read(OneWay(data), name="a.jsonl") if isinstance(piece, tuple)] == ["x"] * 3


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, data in (
        ("inscriptis", MAIL + HTML + "x"),
        ("webvtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nx"),
        ("yaml", "---\na: b\n---\n"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(JochiError, match="ingest") as caught:
            pieces(data, name="a.md" if module == "yaml" else "a")
        assert caught.value.fix == "pip install 'jochi[ingest]'"
