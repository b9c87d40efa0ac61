"""Files of raw sources: opened, told from what is no text, read by lines or whole within limits."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jochi.errors import UsageError
from jochi.text.visible import visible
from jochi.write.ingesting.charsets import charset_of
from jochi.write.ingesting.source import Fault

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of a line (characters, where the file isn't UTF-8), its end not counted."""
LARGEST_WHOLE = 32 * 1024 * 1024
"""Bytes of a file, or of an e-mail, that has to be read whole."""
_HEAD = 64 * 1024
_IN_MEMORY = 8 * 1024 * 1024
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_BINARY = {
    b"\x1f\x8b": ("packed with gzip", "unpack it"),
    b"PK\x03\x04": ("a zip archive or an office document", "unpack it, or save the document as text"),
    b"%PDF": ("a PDF", "save it as text"),
    b"\xd0\xcf\x11\xe0": ("an old office document or an Outlook message", "save it as text, or the message as .eml"),
    b"!BDN": ("an Outlook data file", "export it as mbox"),
}
"""By its first bytes what a file is, and what to do."""
_JSON = re.compile(r"\{|\[\s*\{|\[[\n\r ]")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x08\x1b"))
_TOO_LONG = f"The line is longer than {LONGEST_LINE // 1024**2} MB."


class NoText(UsageError):
    """The file is binary, or packed."""


@dataclass
class InputFile:
    """An open file: ``stream`` is at its start (seekable), ``head`` are its first 64 kB, ``where`` is for errors.

    ``path``: where it lies, for what stands in files beside it; None of a stream.
    """

    stream: IO[bytes]
    head: bytes
    where: str
    name: str | None
    folder: str | None
    path: Path | None = None

    @property
    def suffix(self) -> str:
        """The last suffix of its name, in small letters, with its dot; empty where it has none."""
        return Path(self.name or "").suffix.lower()

    def provenance(self, origin: str) -> dict[str, str | float]:
        """Where messages of this file come from; ``origin`` is the format it is read as."""
        return {"origin": origin} if self.name is None else {"origin": origin, "file": self.name}

    def charset(self) -> str:
        """A codec for the file, told by its first bytes. UsageError where nobody can tell."""
        for mark, name in _BOMS.items():
            if self.head.startswith(mark):
                return name
        found = charset_of(self.head, cut=len(self.head) == _HEAD)
        if found is None:
            raise UsageError(
                "the file isn't UTF-8, and what else it may be can't be told", where=self.where, fix="save it as UTF-8"
            )
        return found

    def start(self) -> str:
        """The first characters, for a guess at the format; of bytes in several charsets, as an e-mail may be, what is ASCII."""
        try:
            charset = self.charset()
        except UsageError:
            charset = "ascii"
        return self.head.decode(charset, "ignore")

    def is_json(self) -> bool:
        """Whether it begins like an object of JSON, or like an array of some; an array of none, too."""
        start = self.start().lstrip("\ufeff \t\r\n")
        return start.rstrip() == "[]" or _JSON.match(start) is not None

    def lines(self) -> Iterator[tuple[int, str | Fault]]:
        """Each line with its number from 1, without its end (LF or CRLF). A fault stands for one that can't be read."""
        charset = self.charset()
        lines = self._utf8_lines() if charset in ("utf-8", "utf-8-sig") else self._other_lines(charset)
        for number, line in enumerate(lines, 1):
            yield number, Fault(f"line {number}", line.args[0]) if isinstance(line, ValueError) else line

    def text(self) -> str:
        """All of it, with LF at the ends of lines. UsageError if it is too large, or holds what isn't in its charset."""
        data = self.stream.read(LARGEST_WHOLE + 1)
        if len(data) > LARGEST_WHOLE:
            raise UsageError(
                f"the file is larger than {LARGEST_WHOLE // 1024**2} MB, and this format has to be read whole",
                where=self.where,
                fix="divide it, or give JSON Lines: one message a line",
            )
        charset = self.charset()
        try:
            return data.decode(charset, "strict" if charset.startswith("utf-8") else "replace").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise UsageError(
                "the file isn't UTF-8", where=f"{self.where}, line {line}", fix="save it as UTF-8"
            ) from None

    def _utf8_lines(self) -> Iterator[str | ValueError]:
        first = True
        while line := self.stream.readline(LONGEST_LINE + 2):
            if _too_long(line, b"\n", b"\r"):
                while line and not line.endswith(b"\n"):
                    line = self.stream.readline(LONGEST_LINE)
                yield ValueError(_TOO_LONG)
            else:
                try:
                    yield line.decode("utf-8-sig" if first else "utf-8").removesuffix("\n").removesuffix("\r")
                except UnicodeDecodeError:
                    yield ValueError("The line isn't UTF-8, as the lines before it are.")
            first = False

    def _other_lines(self, charset: str) -> Iterator[str | ValueError]:
        # Seldom enough to be read leniently: a byte that the charset doesn't know is U+FFFD.
        decoded = io.TextIOWrapper(self.stream, charset, "replace", newline="\n")
        try:
            while line := decoded.readline(LONGEST_LINE + 2):
                if _too_long(line, "\n", "\r"):
                    while line and not line.endswith("\n"):
                        line = decoded.readline(LONGEST_LINE)
                    yield ValueError(_TOO_LONG)
                else:
                    yield line.removesuffix("\n").removesuffix("\r")
        finally:
            decoded.detach()


def _too_long(line: bytes | str, lf: bytes | str, cr: bytes | str) -> bool:
    return len(line) > LONGEST_LINE and len(line) - line.endswith(lf) - line.endswith(cr) > LONGEST_LINE  # type: ignore[arg-type]


@contextlib.contextmanager
def open_input(source: Path | str | IO[bytes], name: str | None) -> Iterator[InputFile]:
    """The file, or the bytes of a stream, ready to be read. ``name`` instead of the file's own, for a stream.

    UsageError for what can't be opened or is no text. A stream that can't go back to its start is copied, to disk if it is long;
    the caller's stream stays open.
    """
    with contextlib.ExitStack() as stack:
        if isinstance(source, str | Path):
            opened = Path(source)
            where = str(opened)
            stream = stack.enter_context(_open(opened))
            name, folder = name or opened.name, visible(opened.absolute().parent.name) or None
        else:
            stream, where, folder = source, name or "the stream", None
            if not stream.seekable():
                stream = stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
                shutil.copyfileobj(source, stream)
                stream.seek(0)
        start = stream.tell()
        head = stream.read(_HEAD)
        stream.seek(start)
        _refuse_binary(head, where)
        yield InputFile(
            stream,
            head,
            where,
            visible(Path(name).name) if name else None,
            folder,
            Path(source) if isinstance(source, str | Path) else None,
        )


def _open(path: Path) -> IO[bytes]:
    try:
        if path.is_dir():
            raise UsageError("that is a folder", where=str(path), fix="name the files in it")
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the file can't be read: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            fix="name a file that exists",
        ) from None


def _refuse_binary(head: bytes, where: str) -> None:
    for magic, (what, fix) in _BINARY.items():
        if head.startswith(magic):
            raise NoText(f"the file is {what}", where=where, fix=fix)
    if not head.startswith(tuple(_BOMS)) and len(head.translate(None, _CONTROLS)) < 0.9 * len(head):
        raise NoText("the file is binary, it holds no text", where=where, fix="save it as text (UTF-8)")
