"""E-mail (RFC 5322 with MIME): one message a file (.eml, Maildir) or a mailbox (mbox).

Known by its name (`.eml`, `.mbox`, `.mbx`), or by three headers of a mail at its head. Said by whom From names, else Sender, else
Reply-To, at the moment that Date names. Left out, and counted: quoted text, mails that a mailbox holds as deleted, mails that a
server keeps for itself, text that HTML hides, and Outlook's winmail.dat (TNEF), which isn't read; not counted: signatures.

A mailbox is cut only where a mail begins for sure (`_begins`); all other lines are part of the mail before, whatever they look
like: a line of a text may begin with `From `. So each line of the file is in a mail.
"""

from __future__ import annotations

import email
import email.errors
import email.header
import email.utils
import hashlib
import io
import re
from collections.abc import Iterator
from datetime import datetime, timezone, tzinfo
from email.message import Message as Part
from typing import IO

from jochi.errors import JochiError
from jochi.text.content import is_blank
from jochi.text.visible import visible
from jochi.write.ingesting.charsets import decode
from jochi.write.ingesting.html import text_of
from jochi.write.ingesting.input_file import LARGEST_WHOLE, LONGEST_LINE, InputFile
from jochi.write.ingesting.moments import plausible
from jochi.write.ingesting.replies import is_sent_on, remove_quotations, without_prefix
from jochi.write.ingesting.source import Fault, Message, Omission, Piece, Source, clean

NAME = "email"

_HEADER = re.compile(r"[\w-]+:|[ \t]")
_HEADERS = re.compile(
    r"^(?:Message-ID|MIME-Version|Received|Return-Path|Delivered-To|Date|From|To|Subject):", re.I | re.M
)

_LONGEST_HEADER = 10_000
_LONGEST_ADDRESS = 500
_LONGEST_TEXT = 4 * 1024 * 1024
_DEEPEST = 50
_MOST_LINES, _MOST_PARTS = 1_000_000, 50_000
"""Of each line of headers and of each part the parser makes an object; 32 MB of base64 are 440,000 lines."""
_MOST_WORK = 10_000_000
"""Lines times boundaries: the parser compares each line with each boundary that is open."""
_REMEMBERED = 100_000
"""Messages of a mailbox whose thread is known to those that name only what they answer."""
_MAILBOX = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*From[ \r\n]")
_DATED = re.compile(
    rb"From (?:\S+(?: at \S+)?)? *(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:[A-Z][a-z]{2} +\d\d?|\d\d? +[A-Z][a-z]{2} +\d{4})"
    rb" +\d\d:\d\d(?::\d\d)?(?: +(?:[A-Z]{2,5}|[+-]?\d{4}))*(?: remote from \S+)? *"
)
"""The line before a mail with its date (`man mbox`): From, who sent it or `-`, when it came."""
_BARE = re.compile(rb"From[ \t]*")
"""As Thunderbird writes it since 2024."""
_FIELD = re.compile(rb"(?:([!-9;-~]+)[ \t]*:|>From )")
_OWN_FIELDS = frozenset(
    (b"message-id", b"received", b"return-path", b"delivered-to", b"x-mozilla-status", b"x-gm-thrid", b"x-gmail-labels")
)
"""Headers that no person writes into a text."""
_MOST_FIELDS = 1_000
_ESCAPED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
# Parameters of headers are read in a time that grows with their square.
_LONG_HEADER = re.compile(rb"^content-[a-z-]+:(?:[^\n]|\n[ \t]){%d}" % _LONGEST_HEADER, re.IGNORECASE | re.MULTILINE)
_SHOWN = (
    "From",
    "Sender",
    "Reply-To",
    "To",
    "Cc",
    "Bcc",
    "Date",
    "Subject",
    "Message-ID",
    "In-Reply-To",
    "References",
    "List-Id",
)
_ID = re.compile(r"<([^<>\s]+)>")
_DELETED = 0x0008
"""In Thunderbird's X-Mozilla-Status: a mail that is gone from the folder, and in the file until that is compacted."""
_OF_THE_SERVER = "DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA"


def knows(file: InputFile) -> bool:
    """Whether its name says that it is mail, or it begins with three headers of one."""
    if file.suffix in (".eml", ".mbox", ".mbx"):
        return True
    head, _, _ = file.start().lstrip("\ufeff \t\r\n").replace("\r\n", "\n").partition("\n\n")
    head = re.sub(r"\AFrom .*\n", "", head)
    return all(_HEADER.match(line) for line in head.split("\n")) and len(_HEADERS.findall(head)) >= 3


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages of a file in their order, each in the thread that its headers name."""
    roots: dict[str, str] = {}
    for number, data in enumerate(_mailbox(file.stream) if _MAILBOX.match(file.head) else _single(file.stream), 1):
        where = f"message {number}"
        if len(data) > LARGEST_WHOLE:
            yield Fault(where, f"The message is larger than {LARGEST_WHOLE // 1024**2} MB.")
        elif _LONG_HEADER.search(data):
            yield Fault(where, f"A Content header is longer than {_LONGEST_HEADER:,} characters.")
        elif _too_much(data):
            yield Fault(where, "The message has too many lines, or too many parts.")
        else:
            try:
                yield from list(_message(data, where, file, zone, roots))
            except JochiError:
                raise
            except Exception:  # the parser of the standard library doesn't say what it raises for a hostile message
                yield Fault(where, "This is no e-mail that can be read: its structure is broken.")


def _too_much(data: bytes) -> bool:
    lines = data.count(b"\n")
    boundaries = 1 + data.lower().count(b"boundary")
    return lines > _MOST_LINES or data.count(b"\n--") > _MOST_PARTS or lines * boundaries > _MOST_WORK


def _single(stream: IO[bytes]) -> Iterator[bytes]:
    if data := stream.read(LARGEST_WHOLE + 1):
        yield data


def _mailbox(stream: IO[bytes]) -> Iterator[bytes]:
    """The messages of an mbox file; of one that is too large, its beginning and more than is allowed.

    As long as each message before kept to its own Content-Length (mboxcl2), that says where it ends. Else `>From ` is unescaped.
    """
    held: list[bytes] = []
    size, blank, in_head, sized, keeps = 0, True, True, None, True
    started = True  # a line begins here, and no rest of a long one
    while line := stream.readline(LONGEST_LINE):
        if started and line.startswith(b"From") and _begins(stream, line, blank):
            if held:
                yield _unescaped(b"".join(held))
            held, size, in_head, sized = [], 0, True, None
        elif size <= LARGEST_WHOLE and (held or line.strip(b"\xef\xbb\xbf\r\n")):
            held.append(line)
            size += len(line)
        blank, started = not line.strip(), line.endswith(b"\n")
        if in_head and line.lower().startswith(b"content-length:") and line[15:].strip().isdigit():
            sized = int(line[15:].strip()[:12])
        if in_head and blank and held:
            in_head = False
            body = _sized(stream, sized) if keeps and sized is not None else None
            keeps = body is not None
            if body is not None:
                held.append(body if b"\nFrom " in b"\n" + body else _unescaped(body))
                yield b"".join(held)
                held, size, blank, started = [], 0, True, True
    if held:
        yield _unescaped(b"".join(held))


def _begins(stream: IO[bytes], line: bytes, blank: bool) -> bool:
    """Whether a mail begins behind this line: for sure, so that what a person wrote isn't cut. ``blank``: the line before is.

    A line with a date as programs write it separates after a blank line. Where none is before it, or the line is bare `From `,
    headers of a mail must follow; after `From ` and anything else one that only programs write.
    """
    line = line.rstrip(b"\r\n")
    is_dated = _DATED.fullmatch(line) is not None
    if is_dated and blank:
        return True
    is_bare = _BARE.fullmatch(line) is not None
    if not (is_dated or (blank and (is_bare or line.startswith(b"From ")))):
        return False
    names: set[bytes] = set()
    at = stream.tell()
    for _ in range(_MOST_FIELDS):
        following = stream.readline(LONGEST_LINE)
        if not following.strip() or _DATED.fullmatch(following.rstrip()):
            break
        if names and following.startswith((b" ", b"\t")):
            continue
        found = _FIELD.match(following)
        if found is None:
            names.clear()
            break
        names.add((found[1] or b"").lower())
    stream.seek(at)
    return bool(names & _OWN_FIELDS) or (
        (is_dated or is_bare) and b"from" in names and not names.isdisjoint((b"date", b"subject"))
    )


def _sized(stream: IO[bytes], length: int) -> bytes | None:
    """The body of ``length`` bytes where a mail begins behind it, or the file ends; else None, and nothing is read."""
    at = stream.tell()
    stream.seek(0, io.SEEK_END)
    if at + length <= stream.tell():
        stream.seek(at + length)
        line = stream.readline(LONGEST_LINE)
        while line and not line.strip():
            line = stream.readline(LONGEST_LINE)
        if not line or (line.startswith(b"From") and _begins(stream, line, True)):
            stream.seek(at)
            body = stream.read(min(length, LARGEST_WHOLE + 1))
            stream.seek(at + length)
            return body
    stream.seek(at)
    return None


def _unescaped(data: bytes) -> bytes:
    """``data`` without the `>` that mailboxes put before `From `. A `>` stays among lines that are quoted without a blank."""

    def without(found: re.Match[bytes]) -> bytes:
        before = data.rfind(b"\n", 0, max(found.start() - 1, 0)) + 1
        after = data.find(b"\n", found.end()) + 1
        is_quoted = any(
            data[at : at + 1] == b">" and data[at + 1 : at + 2] not in b" >\r\n" and not data.startswith(b">From ", at)
            for at in (before if found.start() else -1, after or len(data))
            if 0 <= at < len(data)
        )
        return b">" if is_quoted and not data.startswith(b">>", found.start()) else b""

    return _ESCAPED.sub(without, data)


def _message(data: bytes, where: str, file: InputFile, zone: tzinfo, roots: dict[str, str]) -> Iterator[Piece]:
    message = email.message_from_bytes(data)
    headers: dict[str, str] = {}
    for name, value in message.raw_items():
        headers.setdefault(name.lower(), " ".join(str(value)[:_LONGEST_HEADER].split()))
    if not headers.keys() & {"from", "date", "message-id", "subject"}:
        yield Fault(where, "This is no e-mail: it has no headers such as From, Date and Subject.")
        return
    own = next(iter(_ids(headers.get("message-id", ""))), None)
    subject = _header(headers.get("subject", ""))
    if re.fullmatch("[0-9a-fA-F]{4}", status := headers.get("x-mozilla-status", "")) and int(status, 16) & _DELETED:
        yield Omission(own or where, "deleted message")
        return
    if subject == _OF_THE_SERVER:
        yield Omission(own or where, "message of the server")
        return
    found = _Found(own or where)
    found.read(message, 0)
    yield from found.faults
    title = without_prefix(subject)
    whole, marked = clean("\n\n".join(found.shown)), clean("\n\n".join(found.marked))
    # Who sends on a message without a word of her own says what stands in it.
    text, is_quoting = (whole, False) if is_sent_on(subject, whole) else remove_quotations(marked, title)
    if is_blank(text):
        text = whole
    elif is_quoting:
        yield Omission(own or where, "quoted text")
    if found.hides:
        yield Omission(own or where, "hidden text")
    if found.packed and is_blank(text):
        yield Fault(
            own or where,
            "Outlook packed its text into winmail.dat (TNEF), which isn't read. Ask for it as HTML or plain text.",
        )
        return
    if found.packed:
        yield Omission(own or where, "winmail.dat")
    if is_blank(text) and not found.faults:
        text = subject
    if is_blank(text) and found.files:
        text = f"[attached: {', '.join(found.files)}]"
    if is_blank(text):
        if not found.faults:
            yield Fault(where, "The message says nothing.")
        return
    root = _root(own, headers, roots)
    if own is not None and root is not None:
        if len(roots) >= _REMEMBERED:
            del roots[next(iter(roots))]
        roots[own] = root
    headers_text = [f"{name}: {_header(headers[name.lower()])}" for name in _SHOWN if name.lower() in headers]
    source = Source(
        "email",
        root,
        title or None,
        "list" if "list-id" in headers else None,
        file.provenance(NAME),
    )
    raw = clean("\n".join([*headers_text, "", whole, *(["", *found.attachments] if found.attachments else [])]))
    yield source, Message(own, _date(headers.get("date", ""), zone), _sender(headers), text, raw)


class _Found:
    """What the parts of a message hold: texts whole and with quotations marked, attached files, faults."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts = 0
        self.shown: list[str] = []
        self.marked: list[str] = []
        self.files: list[str] = []
        self.attachments: list[str] = []
        self.hides = self.packed = False
        self.faults: list[Fault] = []

    def read(self, part: Part, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError("nested too deep")
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            parts = [each for each in part.get_payload() if isinstance(each, Part)]
            if part.get_content_subtype() == "alternative":
                parts = [_best(parts)] if parts else []
            for each in parts:
                self.read(each, depth + 1)
            return
        self._parts += 1
        is_text = part.get_content_type() in ("text/plain", "text/html") and not part.is_multipart()
        if is_text and part.get_content_disposition() != "attachment" and part.get_filename() is None:
            self._text(part)
        else:
            self._attachment(part)

    def _text(self, part: Part) -> None:
        where = f"part {self._parts} of {self._name}"
        text = _text(part)
        if text is None:
            self.faults.append(Fault(where, "Its charset is none that is known, and what it is can't be told."))
        elif len(text) > _LONGEST_TEXT:
            self.faults.append(Fault(where, f"Its text is longer than {_LONGEST_TEXT // 1024**2} MB."))
        elif part.get_content_subtype() == "html":
            try:
                seen = text_of(text)
            except ValueError as error:
                self.faults.append(Fault(where, error.args[0]))
            else:
                self.shown.append(seen.text)
                self.marked.append(seen.own)
                self.hides = self.hides or seen.hides
                if not seen.is_whole:
                    self.faults.append(
                        Fault(where, "Its style sheets are too long: what they hide may be in the text.")
                    )
        else:
            self.shown.append(text)
            self.marked.append(text)

    def _attachment(self, part: Part) -> None:
        name = clean(_header(part.get_filename() or "")).replace("\n", " ") or "without a name"
        data = part.get_payload(decode=True)
        if not isinstance(data, bytes):
            data = part.as_bytes()
        self.files.append(name)
        if (
            part.get_content_type() in ("application/ms-tnef", "application/vnd.ms-tnef")
            or name.lower() == "winmail.dat"
        ):
            self.packed = True
        digest = hashlib.sha256(data).hexdigest()
        self.attachments.append(
            f"Attachment: {name} ({part.get_content_type()}, {len(data):,} bytes, SHA-256 {digest})"
        )


def _best(parts: list[Part]) -> Part:
    """Of several forms of one text, the plain one if it says anything, else HTML or what holds it."""
    for each in parts:
        if each.get_content_type() == "text/plain" and not is_blank(_text(each) or ""):
            return each
    last = [each for each in parts if each.get_content_type() == "text/html" or each.is_multipart()]
    return (last or parts)[-1]


def _text(part: Part) -> str | None:
    data = part.get_payload(decode=True)
    text = decode(data, part.get_content_charset()) if isinstance(data, bytes) else None
    return None if text is None else text.replace("\r\n", "\n")


def _root(own: str | None, headers: dict[str, str], roots: dict[str, str]) -> str | None:
    """The Message-ID of the first message of the thread, as far as headers and the messages before this one tell."""
    for name in ("references", "in-reply-to"):
        if before := _ids(headers.get(name, "")):
            return roots.get(before[0], before[0])
    return own


def _ids(header: str) -> list[str]:
    text = visible(header)
    return _ID.findall(text) or text.split()[:1]


def _sender(headers: dict[str, str]) -> str | None:
    for header in ("from", "sender", "reply-to"):
        value = headers.get(header, "")
        name, address = email.utils.parseaddr(value[:_LONGEST_ADDRESS])
        if found := clean(_header(name) or address or _header(value)):
            return found
    return None


def _date(header: str, zone: tzinfo) -> datetime | None:
    try:
        # -0000 is UTC, said by who keeps his own zone to himself.
        return plausible(email.utils.parsedate_to_datetime(header), timezone.utc if "-0000" in header else zone)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _header(value: str) -> str:
    """A header without its encodings (RFC 2047), and without what is invisible."""
    data = value.encode("utf-8", "surrogateescape")
    text = decode(data, None) or data.decode("utf-8", "replace")
    try:
        parts = email.header.decode_header(text)
    except (email.errors.HeaderParseError, ValueError):
        parts = [(text, None)]
    texts = []
    for part, charset in parts:
        if isinstance(part, str):
            texts.append(part)
        elif charset is None:  # what stands between encoded words, as the parser packs it
            texts.append(part.decode("raw_unicode_escape"))
        else:
            texts.append(decode(part, charset) or part.decode("utf-8", "replace"))
    return " ".join(visible("".join(texts)).split())
