"""A file of the mirror: front matter, and the text below it.

Front matter is one `name: value` a line, each value in JSON, which is YAML as well. Reading what `render` made gives the same
again, whatever the text holds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jochi.text.imports import escape_json_imports
from jochi.text.visible import visible


@dataclass(frozen=True)
class Document:
    """``front``: values by name, what isn't JSON as text."""

    front: Mapping[str, Any]
    body: str


def render(front: Mapping[str, Any], body: str) -> str:
    """The file's text. ``front``: what JSON can hold, by names of letters, digits and `_`."""
    lines = "".join(f"{name}: {_value(value)}\n" for name, value in front.items())
    return f"---\n{lines}---\n\n{body}\n"


def parse(text: str) -> Document | None:
    """What `render` made, also after an editor changed the ends of lines; None for a file without front matter."""
    found = _FRONT.match(text)
    if found is None:
        return None
    body = text[found.end() :]
    front = {}
    for line in found["lines"].splitlines():
        name, colon, value = line.partition(":")
        if colon:
            front[name.strip()] = _read(value.strip())
    return Document(front, body.removesuffix("\r\n" if found["end"] == "\r\n" else "\n"))


def visible_text(body: str) -> str:
    """The text as a person sees it: ends of lines don't count, nor blanks at its end."""
    return body.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def digest(body: str) -> str:
    """A short hash of what is `visible_text`."""
    return hashlib.sha256(visible_text(body).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _value(value: Any) -> str:
    encoded = json.dumps(value, ensure_ascii=False)
    # What nobody sees, or could be taken for the end of a line, stands there by its number.
    is_plain = visible(encoded) == encoded and len(encoded.splitlines()) == 1
    return escape_json_imports(encoded if is_plain else json.dumps(value))


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


_FRONT = re.compile(
    r"\A\ufeff?---[ \t]*(?P<end>\r?\n)(?P<lines>(?:(?!---[ \t]*\r?\n)[^\n]*\n)*)---[ \t]*\r?\n(?:\r?\n)?"
)
