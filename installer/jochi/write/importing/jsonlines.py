"""JSON Lines, read as a stream: one memory a line."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import IO

from pydantic_core import from_json

from jochi.write.importing import line as lines
from jochi.write.importing.files import Source
from jochi.write.importing.result import BadLine
from jochi.write.importing.spool import SeenKeys
from jochi.write.record import MemoryRecord, Place

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of a line, its end not counted."""
_COLUMN = re.compile(r"column (\d+)$")
"""Where the parser stopped; what it says besides is about grammar."""
_EXAMPLE = '{"kind": "Task", "id": "t1"}'


def read(
    source: Source,
    *,
    now: datetime,
    kinds: frozenset[str],
    on_bad: Callable[[BadLine], None],
) -> Iterator[MemoryRecord]:
    """The memories of a file, one at a time. Each line that holds none goes to ``on_bad`` with number and reason."""
    file = str(source.path)
    seen = SeenKeys()
    number = 0
    try:
        for number, raw in enumerate(lines_of(source.stream), start=1):
            try:
                if raw is None:
                    raise ValueError(f"the line is longer than {LONGEST_LINE // 1024**2} MB")
                if not raw.strip():
                    continue
                record = lines.record(json_value(raw), now=now, kinds=kinds, place=Place(file, number))
                first = seen.first_line(record.key, number)
                if first != number:
                    raise ValueError(f"the id {record.id!r} in scope {record.scope!r} is already that of line {first}")
            except ValueError as error:
                on_bad(BadLine(file, number, str(error)))
            else:
                yield record
    except (EOFError, OSError, zlib.error) as error:
        on_bad(BadLine(file, number + 1, f"the file can't be read from here on: {error}"))
    finally:
        seen.close()


def json_value(raw: bytes) -> object:
    """What a line of JSON says; ValueError if it is none."""
    try:
        decoded = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"is no UTF-8 from byte {error.start + 1} of the line on") from None
    try:
        return from_json(decoded, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        column = _COLUMN.search(str(error))
        where = "" if column is None else f" at character {column[1]}"
        raise ValueError(f"is no JSON{where}: write one object a line, such as {_EXAMPLE}") from None


def lines_of(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines without their ends (LF or CRLF); None for one that is too long, which is skipped in pieces."""
    while raw := stream.readline(LONGEST_LINE + 2):
        too_long = len(raw.removesuffix(b"\n").removesuffix(b"\r")) > LONGEST_LINE
        piece = raw
        while too_long and piece and not piece.endswith(b"\n"):
            piece = stream.readline(LONGEST_LINE)
        yield None if too_long else raw.removesuffix(b"\n").removesuffix(b"\r")
