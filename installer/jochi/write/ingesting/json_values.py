"""JSON of other programs: read, and written so that a person finds in it what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic_core import from_json

from jochi.errors import UsageError
from jochi.text.visible import visible
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.source import Fault

_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
_HALF_ESCAPED = re.compile(
    r"\\(?:x([0-9A-F]{2})|u[Dd][89ABab][0-9A-Fa-f]{2}(?:\\u[Dd][C-Fc-f][0-9A-Fa-f]{2})?|u[Dd][C-Fc-f][0-9A-Fa-f]{2}|.)",
    re.DOTALL,
)
_BLANKS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "b": "\b"}


Json = dict[str, Any]
"""An object of JSON."""


def objects(value: object) -> list[Json]:
    """The objects of a list; none where it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def parse_json(text: str | bytes) -> Any:
    """What the JSON says; ValueError if it is none.

    Read are also half a surrogate pair, which Node writes where it cuts a text, and `\\x0B`, which Telegram writes for a control
    character.
    """
    try:
        return from_json(text, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        decoded = text.decode() if isinstance(text, bytes) else text
        mended = _HALF_ESCAPED.sub(_mended, decoded) if "\\" in decoded else decoded
        if mended == decoded:
            raise
        return from_json(mended, allow_inf_nan=False, cache_strings="keys")


def json_lines(file: InputFile) -> Iterator[tuple[str, object]]:
    """Of each line that isn't blank where it stands, and what it says; a fault for one that can't be read."""
    for number, line in file.lines():
        where = f"line {number}"
        if isinstance(line, Fault):
            yield where, line
        elif line.strip():
            try:
                yield where, parse_json(line)
            except ValueError:
                yield where, Fault(where, "The line is no JSON: write one object a line.")


def json_objects(file: InputFile) -> Iterator[tuple[str, Json] | Fault]:
    """Of each line that isn't blank where it stands, and the object that it is; else a fault."""
    for where, value in json_lines(file):
        if isinstance(value, dict):
            yield where, value
        else:
            yield value if isinstance(value, Fault) else Fault(where, "The line is no object of JSON.")


def look_ahead(file: InputFile, note: Callable[[Json], None]) -> None:
    """Shows ``note`` each object of JSON Lines, for what only the whole file tells; the file is then where it was."""
    start = file.stream.tell()
    for record in json_objects(file):
        if isinstance(record, tuple):
            note(record[1])
    file.stream.seek(start)


def whole(file: InputFile) -> Any:
    """What a file of JSON says. UsageError if it is too large, or none."""
    try:
        return parse_json(file.text())
    except ValueError:
        raise UsageError(
            "the file begins like JSON and isn't",
            where=file.where,
            fix="export it anew, or give JSON Lines: one message a line",
        ) from None


def readable(value: object) -> str:
    """``value`` as JSON without escapes but those of `"` and backslash: letters are letters, and the ends of lines are such.

    `json.loads(readable(value), strict=False)` gives it back, its texts `visible`. ValueError for a number that is too long.
    """
    dumped = json.dumps(value, ensure_ascii=False)
    return visible(_ESCAPED.sub(_unescaped, dumped) if "\\" in dumped else dumped)


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _BLANKS.get(found[2], found[0])


def _mended(found: re.Match[str]) -> str:
    if found[1]:
        return f"\\u00{found[1]}"
    return "\ufffd" if len(found[0]) == len(r"\ud83d") else found[0]
