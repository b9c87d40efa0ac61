"""Large files of JSON, an element at a time: an export of 200 MB takes the memory of one conversation.

The end of an element is found by its brackets, then pydantic reads it. So an element that is no JSON, or is too large, is one
fault, and the others go in.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

from jochi.errors import UsageError
from jochi.write.ingesting.input_file import LARGEST_WHOLE, InputFile
from jochi.write.ingesting.json_values import parse_json

Path = tuple[str, ...]
"""The way to a value from the root: a key in an object, `*` in an array."""

_CHUNK = 256 * 1024
_LONGEST_VALUE = 64 * 1024
"""Bytes of a text beside the elements, such as the name of a chat."""
_TOKEN = re.compile(rb'"[^"]*"?|[\[\]{},:]|[^\s"\[\]{},:]+')
_BRACKET = re.compile(rb'"[^"]*"?|[\[\]{}]')


class Element(NamedTuple):
    """An element: its ``number`` in its array, from 1; what it says, or a ValueError; what stands beside the array so far."""

    number: int
    value: object
    beside: dict[str, Any]


def elements(file: InputFile, *wanted: Path) -> Iterator[Element]:
    """The values on the ``wanted`` ways, in the order of the file. The root is `()`.

    A file that ends too early gives a ValueError as its last element. UsageError for one that isn't JSON at all, and for a text
    in it that is longer than what may be read whole.
    """
    walk = _Walk(_Bytes(_utf8(file), file.where), wanted)
    found = False
    for element in walk.run():
        found = True
        yield element
    if walk.broken:
        if not found:
            raise UsageError("the file begins like JSON and isn't", where=file.where, fix="export it anew")
        yield Element(0, ValueError("The file ends too early, or is no JSON from here on: export it anew."), {})


def _utf8(file: InputFile) -> IO[bytes]:
    charset = file.charset()
    if charset == "utf-8-sig":
        file.stream.seek(3, io.SEEK_CUR)
    return file.stream if charset in ("utf-8", "utf-8-sig") else io.BytesIO(file.text().encode())


class _Bytes:
    """What is read of the file: as it is, and masked, where no escaped quotation mark is left; both from ``at`` on."""

    def __init__(self, stream: IO[bytes], where: str) -> None:
        self.stream, self.where = stream, where
        self.plain, self.masked, self.held, self.at = bytearray(), bytearray(), b"", 0

    def more(self) -> bool:
        """Reads on, twice as much each time; False at the end of the file."""
        if len(self.plain) - self.at > LARGEST_WHOLE:
            raise UsageError(
                f"a text in the file is larger than {LARGEST_WHOLE // 1024**2} MB",
                where=self.where,
                fix="look whether the file is whole",
            )
        chunk = self.stream.read(max(_CHUNK, len(self.plain)))
        if not chunk and not self.held:
            return False
        chunk, self.held = self.held + chunk, b""
        if chunk.endswith(b"\\") and (len(chunk) - len(chunk.rstrip(b"\\"))) % 2 and len(chunk) > 1:
            chunk, self.held = chunk[:-1], b"\\"
        self.plain += chunk
        self.masked += chunk.replace(rb"\\", b"__").replace(rb"\"", b"__")
        return True

    def token(self, pattern: re.Pattern[bytes]) -> bytes:
        """The next one, of which ``at`` is behind the end; empty at the end of the file."""
        while True:
            found = pattern.search(self.masked, self.at)
            if found is None:
                self.at = len(self.masked)
            elif found.end() < len(self.masked) or found[0][:1] in b"[]{},:" or _ended(found[0]):
                self.at = found.end()
                return bytes(found[0]) if len(found[0]) == 1 else bytes(self.plain[found.start() : found.end()])
            if not self.more():
                return b""

    def brackets(self, depth: int) -> int:
        """Goes on to where no bracket is open, or as far as was read; how many are open there."""
        for found in _BRACKET.finditer(self.masked, self.at):
            char = self.masked[found.start()]
            if char in b"[{":
                depth += 1
            elif char in b"]}":
                depth -= 1
                if not depth:
                    self.at = found.end()
                    return 0
            elif not _ended(found[0]):
                self.at = found.start()
                return depth
        self.at = len(self.masked)
        return depth

    def forget(self) -> None:
        """Lets go what lies before ``at``."""
        if self.at > _CHUNK:
            del self.plain[: self.at], self.masked[: self.at]
            self.at = 0


def _ended(token: bytes) -> bool:
    return len(token) > 1 and token[:1] == token[-1:] == b'"'


@dataclass
class _Frame:
    """An open array or object that leads to something wanted."""

    is_object: bool
    key: str | None = None
    number: int = 0
    values: dict[str, Any] = field(default_factory=dict)


class _Walk:
    def __init__(self, data: _Bytes, wanted: tuple[Path, ...]) -> None:
        self.data, self.wanted = data, wanted
        self.frames: list[_Frame] = []
        self.broken = False

    def run(self) -> Iterator[Element]:
        while token := self.data.token(_TOKEN):
            frame = self.frames[-1] if self.frames else None
            if token in (b"}", b"]"):
                if frame is None:
                    break
                self.frames.pop()
            elif token == b",":
                if frame is not None:
                    frame.key = None
            elif frame is not None and frame.is_object and frame.key is None:
                if not token.startswith(b'"'):
                    break
                frame.key = str(_value(token))
            elif token != b":":
                if frame is not None:
                    frame.number += 1
                yield from self._take(token)
            self.data.forget()
        self.broken = self.broken or bool(token) or bool(self.frames)

    def _take(self, token: bytes) -> Iterator[Element]:
        path = tuple(frame.key or "" if frame.is_object else "*" for frame in self.frames)
        frame = self.frames[-1] if self.frames else _Frame(is_object=False)
        beside = next((each.values for each in reversed(self.frames) if each.is_object), {})
        leads = [way[len(path)] == "*" for way in self.wanted if len(way) > len(path) and way[: len(path)] == path]
        if (token == b"[" and True in leads) or (token == b"{" and False in leads):
            self.frames.append(_Frame(token == b"{"))
        elif path in self.wanted:
            value = _value(token if token not in (b"{", b"[") else self._container(keep=True))
            if not self.broken:
                yield Element(max(frame.number, 1), value, beside)
        elif token not in (b"{", b"["):
            if frame.is_object and frame.key is not None and len(token) <= _LONGEST_VALUE:
                frame.values[frame.key] = _value(token)
        else:
            self._container(keep=False)

    def _container(self, *, keep: bool) -> bytes:
        """The object or array whose opening bracket was read last; empty if it is too large, or nobody wants it."""
        data, depth = self.data, 1
        start = data.at - 1
        while depth := data.brackets(depth):
            if keep and data.at - start > LARGEST_WHOLE:
                keep = False
            if not keep:
                data.forget()
            if not data.more():
                self.broken = True
                return b""
        return bytes(data.plain[start : data.at]) if keep and data.at - start <= LARGEST_WHOLE else b""


def _value(data: bytes) -> object:
    if not data:
        return ValueError(f"It is larger than {LARGEST_WHOLE // 1024**2} MB.")
    try:
        return parse_json(data)
    except ValueError:
        return ValueError("It is no JSON, or isn't UTF-8.")
