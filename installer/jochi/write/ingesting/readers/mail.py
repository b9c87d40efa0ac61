"""E-mail (RFC 5322 with MIME): one message a file (.eml, Maildir) or a mailbox (mbox)."""

from __future__ import annotations

import email
import email.errors
import email.header
import email.utils
import hashlib
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
from jochi.write.ingesting.replies import remove_quotations
from jochi.write.ingesting.source import Fault, Message, Piece, Source, clean

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
_MAILBOX = re.compile(rb"From \S+.*\d\d:\d\d")
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
_PREFIX = re.compile(r"(?:(?:re|aw|antw|sv|fwd?|wg|tr|rv|vs|enc|doorst)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
_FORWARDED = re.compile(r"(?:fwd?|wg|tr|rv|enc|doorst)\s*:", re.IGNORECASE)


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
    for number, data in enumerate(_mailbox(file.stream) if file.head.startswith(b"From ") else _single(file.stream), 1):
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
    """The messages of an mbox file; of one that is too large, its beginning and more than is allowed."""
    held: list[bytes] = []
    size, blank = 0, True
    while line := stream.readline(LONGEST_LINE):
        if blank and _MAILBOX.match(line):
            if held:
                yield b"".join(held)
            held, size = [], 0
        elif size <= LARGEST_WHOLE:
            if line.startswith(b">") and line.lstrip(b">").startswith(b"From "):
                line = line[1:]
            held.append(line)
            size += len(line)
        blank = not line.strip()
    if held:
        yield b"".join(held)


def _message(data: bytes, where: str, file: InputFile, zone: tzinfo, roots: dict[str, str]) -> Iterator[Piece]:
    message = email.message_from_bytes(data)
    headers: dict[str, str] = {}
    for name, value in message.raw_items():
        headers.setdefault(name.lower(), " ".join(str(value)[:_LONGEST_HEADER].split()))
    if not headers.keys() & {"from", "date", "message-id", "subject"}:
        yield Fault(where, "This is no e-mail: it has no headers such as From, Date and Subject.")
        return
    own = next(iter(_ids(headers.get("message-id", ""))), None)
    found = _Found(own or where)
    found.read(message, 0)
    yield from found.faults
    subject = _header(headers.get("subject", ""))
    forwarded = _FORWARDED.match(subject) is not None
    whole, marked = clean("\n\n".join(found.shown)), clean("\n\n".join(found.marked))
    # Who sends on a message without a word of her own says what stands in it.
    text = whole if forwarded else remove_quotations(marked)
    text = whole if is_blank(text) else text
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
        _PREFIX.sub("", subject, count=1) or None,
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
                whole, marked = text_of(text)
            except ValueError as error:
                self.faults.append(Fault(where, error.args[0]))
            else:
                self.shown.append(whole)
                self.marked.append(marked)
        else:
            self.shown.append(text)
            self.marked.append(text)

    def _attachment(self, part: Part) -> None:
        name = clean(_header(part.get_filename() or "")).replace("\n", " ") or "without a name"
        data = part.get_payload(decode=True)
        if not isinstance(data, bytes):
            data = part.as_bytes()
        self.files.append(name)
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
