"""Mail as programs write it: what the sender wrote of a reply, what HTML shows, and each line of a mailbox in its message."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tally import examples

from jochi.text.visible import visible
from jochi.toml import tomllib
from jochi.write.ingesting import Fault, Omission, read, style
from jochi.write.ingesting.html import text_of
from jochi.write.ingesting.readers.mail import _mailbox
from jochi.write.ingesting.replies import remove_quotations

MAIL = Path(__file__).parent.parent / "ingest_files" / "mail"


@dataclass(frozen=True)
class Reply:
    """A mail: ``own`` is what its sender wrote of ``body``. ``aside``: no rule was written by looking at it."""

    name: str
    subject: str
    body: str
    own: str
    aside: bool


def replies_data() -> dict[str, Any]:
    return tomllib.loads((MAIL / "replies.toml").read_text(encoding="utf-8"))


def replies() -> list[Reply]:
    data = replies_data()
    found = []
    for language, said in data["languages"].items():
        for program, head in said["heads"]:
            mark = "" if program.startswith(("Outlook", "Apple")) else "> "
            quoted = "".join(f"{mark}{line}\n" for line in said["quoted"].split("\n"))
            found.append((f"{language}, {program}", "", f"{said['own']}\n\n{head}\n\n{quoted}", said["own"]))
    found += [(each["name"], each.get("subject", ""), each["body"], each["own"]) for each in data["mail"]]
    return [Reply(*each, aside=hashlib.sha256(each[0].encode()).digest()[0] % 3 == 0) for each in found]


def test_what_the_sender_wrote() -> None:
    """Of replies in 38 languages, by the programs that people use there."""
    table = replies()
    assert len(table) > 160
    assert [each.name for each in table if remove_quotations(each.body, each.subject)[0] != each.own] == []


LINE = st.sampled_from(
    (
        "",
        "From Monday 09:00 on the gate is closed.",
        "From ",
        "From",
        "From mira@ridge.example Sat Jan 31 09:00:00 2026",
        "From - Sat Jan 31 09:00:00 2026",
        ">From the hut",
        ">>From the hut",
        "> From the hut",
        ">quoted without a blank",
        "Subject: oil",
        "Note: From now on",
        "see you",
    )
)
BODY = st.lists(LINE, min_size=1, max_size=8)


def _mboxrd(body: list[str]) -> list[str]:
    return [f">{line}" if line.lstrip(">").startswith("From ") else line for line in body]


def _mboxo(body: list[str]) -> list[str]:
    return [f">{line}" if line.startswith("From ") else line for line in body]


WRITERS: dict[str, tuple[str, Callable[[list[str]], list[str]], bool]] = {
    "mboxrd": ("From mira@ridge.example Sat Jan 31 09:00:00 2026", _mboxrd, False),
    "mboxo": ("From MAILER-DAEMON Sat Jan 31 09:00:00 2026", _mboxo, False),
    "Thunderbird": ("From - Sat Jan 31 09:00:00 2026", _mboxrd, False),
    "Thunderbird, bare": ("From ", _mboxrd, False),
    "Takeout": ("From 1855555555555555551@xxx Sat Jan 31 08:00:00 +0000 2026", _mboxrd, False),
    "mboxcl2": ("From mira@ridge.example Sat Jan 31 09:00:00 2026", lambda body: body, True),
}
"""By program: the line before a mail, what it makes of a body, whether it says its length."""


@settings(max_examples=examples(100, 1_000))
@given(st.sampled_from(list(WRITERS)), st.lists(BODY, min_size=1, max_size=5), st.sampled_from(("\n", "\r\n")))
def test_each_line_of_a_mailbox_is_in_its_mail(writer: str, bodies: list[list[str]], end: str) -> None:
    """As often as it stands there, whatever it looks like: none is lost, cut off, or in another's mail."""
    separator, escape, is_sized = WRITERS[writer]
    data = ""
    for number, body in enumerate(bodies):
        text = "".join(f"{line}{end}" for line in [f"begin {number}", *escape(body), f"end {number}"])
        head = [
            separator,
            f"From: Mira {number} <m{number}@ridge.example>",
            f"Message-ID: <{number}@ridge.example>",
            "Date: x",
        ]
        head += [f"Content-Length: {len(text)}"] if is_sized else []
        data += end.join([*head, "", ""]) + text + end
    found = [piece for piece in read(io.BytesIO(data.encode()), name="a.mbox") if isinstance(piece, tuple)]
    assert [message.sender for _, message in found] == [f"Mira {number}" for number in range(len(bodies))]
    for (_, message), (number, body) in zip(found, enumerate(bodies), strict=True):
        shown = message.raw.partition("\n\n")[2].split("\n")
        assert [line.lstrip(">") for line in shown] == [
            f"begin {number}",
            *(line.lstrip(">") for line in body),
            f"end {number}",
        ]
        # What was quoted stays marked as quoted: nobody is credited with it.
        assert all(
            line.startswith(">") for line, was in zip(shown[1:], body, strict=False) if was.startswith(("> ", ">q"))
        )


HEADERS = st.sampled_from(("From: Ann <a@b.example>", "Date: x", "Content-Length: 30", "X-Mozilla-Status: 0001"))
SEPARATORS = st.sampled_from(
    (*(separator for separator, _, _ in WRITERS.values()), "From ann", "From ???@??? Sat Jan 31 09:00:00 2026")
)


@settings(max_examples=examples(100, 1_000))
@given(st.lists(LINE | SEPARATORS | HEADERS, max_size=30))
def test_no_line_of_any_mailbox_is_lost(lines: list[str]) -> None:
    """Put together, what the mails are cut into is the file, but for lines that separate and `>` before `From `."""
    data = "".join(f"{line}\n" for line in ["From ann", *lines]).encode()
    kept = b"".join(_mailbox(io.BytesIO(data))).split(b"\n")
    for line in data.split(b"\n"):
        if kept and line.lstrip(b">") == kept[0].lstrip(b">"):
            kept.pop(0)
        else:
            assert not line or line.startswith(b"From"), line
    assert kept in ([], [b""])


# HTML, and what a person sees of it.
SEEN: dict[str, tuple[str, str]] = {
    "no letters but larger ones inside": ("<body style='font-size:0'>a<p style='font-size:14px'>b</p>c</body>", "b"),
    "letters of a part": (
        "<div style='font-size:0'>a<p style='font-size:2em'>b</p><p style='font:12px/1 x'>c</p></div>",
        "c",
    ),
    "one pixel": ("<p style='font-size:1px'>a</p><p style='font-size:9px'>b</p><p style='font:0/0 x'>c</p>", "b"),
    "a class": ("<style>.pre{display:none}</style><div class='x pre'>a</div>b", "b"),
    "important, later, closer": (
        "<style>#c{display:block}.h{display:none!important}p.s{display:block}.s{display:none}i{display:none}i{display:inline}"
        "</style><p class=h id=c style='display:block'>a</p><p class=s>b</p><i>c</i>",
        "b c",
    ),
    "below each other": (
        "<style>.x .h{display:none}.y > .h{display:none}</style><div class=x><p><b class=h>a</b></p></div>"
        "<div class=y><b class=h>b</b><p><b class=h>c</b></p></div><b class=h>d</b>",
        "c d",
    ),
    "attributes": (
        "<style>[data-x^='h']{display:none}p[title]{display:none}</style><p data-x=hid>a<p title=t>b<p>c",
        "c",
    ),
    "a window on a screen": (
        "<style>@media print{.p{display:none}}@media (max-width:600px){.m{display:none}}@media screen{.s{display:none}}"
        "@media only screen and (min-width:600px){.d{display:block!important}}.d{display:none}</style>"
        "<p class=p>a<p class=m>b<p class=s>c<p class=d>d",
        "a b d",
    ),
    "a template": ("<template><p>a</p></template><p>b</p>", "b"),
    "colours in new words": (
        "<p style='color:rgb(0 0 0 / 0%)'>a</p><p style='color:rgb(0 0 0 / 90%)'>b</p><p style='color:hsl(0 0% 0% / 0)'>c</p>"
        "<p style='background:rgb(0 0 0);color:rgb(0 0 0 / 1)'>d</p>",
        "b",
    ),
    "visibility comes back": ("<div style='visibility:hidden'>a<b style='visibility:visible'>b</b>c</div>", "b"),
    "nothing of it shows through": (
        "<p style='opacity:0'>a<b style='opacity:1'>b</b></p><p style='opacity:.9'>c</p>",
        "c",
    ),
    "colour of the paper": (
        "<p style='color:#fff'>a</p><p style='color:#FFFFFE;background:#fff'>b</p><p style='color:white;background:#000'>c</p>"
        "<table bgcolor='#003366'><tr><td style='color:#036'>d<td style='color:#fff'>e</table><font color=white>f</font>",
        "c e",
    ),
    "one sees through the letters": (
        "<p style='color:transparent'>a</p><p style='color:rgba(0,0,0,0)'>b</p><p style='color:#0000'>c</p>d",
        "d",
    ),
    "white on a picture": (
        "<div style='background:url(a.png)'><p style='color:#fff'>a</p></div><td background=x style='color:#fff'>b",
        "a b",
    ),
    "white where a rule that isn't understood paints": (
        "<style>p:first-child{background:#000}</style><p style='color:#fff'>a</p>",
        "a",
    ),
    "a link has its own colour": (
        "<div style='color:#fff'>a<a href=x>b</a><a href=x style='color:#fff'>c</a></div>",
        "b",
    ),
    "off the page": (
        "<p style='position:absolute;left:-9999px'>a</p><p style='text-indent:-9999px'>b</p><p style='left:-9999px'>c</p>"
        "<p style='margin-left:-999em'>d</p><p style='position:absolute;clip:rect(0,0,0,0)'>e</p>"
        "<p style='transform:scale(0)'>f</p>",
        "c",
    ),
    "no height": (
        "<div style='max-height:0;overflow:hidden'>a</div><div style='height:0px;overflow:hidden'>b</div>"
        "<div style='max-height:0'>c</div><div style='height:20px;overflow:hidden'>d</div>"
        "<b style='width:0;overflow:hidden'>e</b>",
        "c d e",
    ),
    "the attribute": ("<p hidden>a</p><p hidden style='display:block'>b</p>", "b"),
    "for Outlook": ("<p style='mso-hide:all'>a</p><!--[if mso]><p>b</p><![endif]--><p>c</p>", "c"),
    "what no selector of ours fits": ("<style>p:not(.x)::before{content:'y'}@import 'x';{}}</style><p>a</p>", "a"),
}


@pytest.mark.parametrize(("html", "seen"), SEEN.values(), ids=list(SEEN))
def test_what_a_person_sees(html: str, seen: str) -> None:
    assert " ".join(text_of(html).text.split()) == seen


def test_style_sheets_are_read_in_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what would take too long the rest is left alone, and said: then nothing is hidden by its colour; inline styles count."""
    chains = "".join(f"div div div div .x{n % 2} {{visibility:hidden}} .y{n} {{color:#fff}}" for n in range(40))
    html = f"<style>{chains}</style>{'<div class=x0>' * 40}deep{'</div>' * 40}<p hidden>hidden</p><p class=y1>white</p>"
    assert text_of(html) == ("", "", True, True)
    monkeypatch.setattr(style, "_MOST_TESTS", 1_000)
    shown, _, _, is_whole = text_of(html)
    assert (is_whole, "white" in shown, "hidden" in shown) == (False, True, False)
    monkeypatch.setattr(style, "_LONGEST_SHEETS", 100)
    assert not text_of(html).is_whole


def test_outlooks_packet_is_named() -> None:
    """winmail.dat isn't read: beside a text it is left out, alone it is what can't be read."""
    head = "From: a@b.example\nSubject: x\nDate: Sat, 31 Jan 2026 09:00:00 +0100\nMIME-Version: 1.0\n"
    packet = "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64\n\neJ8+\n"
    both = (
        head
        + f"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nHello.\n--b\n{packet}--b--\n"
    )
    for mail, kinds in ((both, [Omission, tuple]), (head + packet, [Fault])):
        assert [type(piece) for piece in read(io.BytesIO(mail.encode()), name="a.eml")] == kinds


OTHERS = ("Yes.", "-- ", "_____", "> > deep", "Begin forwarded message:")
HEADS = [head for said in replies_data()["languages"].values() for _, head in said["heads"]]


@settings(max_examples=examples(60, 1_000))
@given(st.lists(LINE | st.sampled_from(HEADS) | st.sampled_from(OTHERS), max_size=12))
def test_nothing_is_put_into_what_the_sender_wrote(parts: list[str]) -> None:
    """Its lines are lines of the mail in their order; a marked line is in it only where somebody sends it on."""
    lines = "\n".join(parts).split("\n")
    own, is_quoting = remove_quotations("\n".join(lines))
    rest = iter(line.strip() for line in lines)
    assert all(line.strip() in rest for line in own.split("\n") if line)
    assert "forwarded" in own or not any(line.startswith(">") for line in own.split("\n"))
    assert is_quoting or not any(line.startswith(">") for line in lines) or "forwarded" in own


# HTML of replies, as programs write it; what the sender wrote.
HTML_REPLIES: dict[str, tuple[str, str]] = {
    "Outlook, mobile, German": (
        "<div>Ja, gern.</div><div id='ms-outlook-mobile-signature'>Outlook f&uuml;r <a href='https://aka.ms/o0ukef'>iOS</a>"
        " beziehen</div><hr tabindex=-1><div id=divRplyFwdMsg><b>Von:</b> Uta &lt;u@rehm.example&gt;<br>"
        "<b>Gesendet:</b> Freitag, 30. Januar"
        " 2026 10:04<br><b>An:</b> Jan &lt;j@voss.example&gt;<br><b>Betreff:</b> Ort<div>&nbsp;</div></div><div>Wo?</div>",
        "Ja, gern.",
    ),
    "Outlook, Mac, Polish": (
        "<p>Ok</p><div style='border:none;border-top:solid #B5C4DF 1.0pt'><p><b>"
        "<span style='color:black'>Od: </span></b>Ewa &lt;"
        "ewa@lis.example&gt;<br><b>Data: </b>piątek, 30 stycznia 2026 o 10:04<br><b>Do: </b>Jan<br><b>Temat: </b>Klucz"
        "</p></div><p>Gdzie?",
        "Ok",
    ),
    "Apple Mail, Danish": (
        "Kommer.<br><br><div dir=ltr>Sendt fra min iPhone</div><div><br><blockquote type=cite>Den 30. jan. 2026 kl. 10.04"
        " skrev Mads &lt;mads@krog.example&gt;:<br></blockquote></div><blockquote type=cite><div>Hvor?</div></blockquote>",
        "Kommer.",
    ),
    "Gmail, Japanese": (
        "<div dir=ltr>はい。</div><br><div class=gmail_quote><div class=gmail_attr>2026年1月30日(金) 10:04 森 &lt;"
        "<a href='mailto:h@mori.example'>h@mori.example</a>&gt;:<br></div><blockquote class=gmail_quote>"
        "<div>鍵は？</div></blockquote></div>",
        "はい。",
    ),
    "Thunderbird, French, an answer below": (
        "<p>Oui.</p><div class=moz-cite-prefix>Le 30/01/2026 à 10:04, Zoé a écrit :<br></div><blockquote type=cite><p>Où ?</p>"
        "</blockquote><p>Là-bas.</p><div class=moz-signature>-- <br>Luc</div>",
        "Oui.\n\nLà-bas.",
    ),
    "Proton Mail": (
        "<div>Yes</div>"
        "<div class=protonmail_quote>On Friday, January 30th, 2026 at 10:04, Liv &lt;liv@reed.example&gt; wrote:<br>"
        "<blockquote class=protonmail_quote>Now?</blockquote></div>",
        "Yes",
    ),
}


@pytest.mark.parametrize(("html", "own"), HTML_REPLIES.values(), ids=list(HTML_REPLIES))
def test_what_the_sender_wrote_in_html(html: str, own: str) -> None:
    assert remove_quotations(visible(text_of(html).own)) == (own, True)
