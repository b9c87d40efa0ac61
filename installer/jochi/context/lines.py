"""A memory as one line of Markdown, and back: whatever it holds, it opens nothing and ends nothing.

Reading what `write` made of a text gives that text, if it is `plain`. Escapes are Markdown's own backslashes, so every viewer
shows the memory as it is. Code spans and emphasis stay as they are written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from jochi.text.imports import IMPORT, escape_imports, unescape_imports
from jochi.text.visible import visible

_LETTERS = "bcdfghjkmnpqrstvwxz23456789"  # no vowels, so that an id is no word, and nothing that looks like another
_SHORTEST, _LONGEST = 3, 7


class Piece(NamedTuple):
    """A part of what was read: the text before an id, and the id. The last piece has none. ``comments``: those that stood in the
    text, which they are no part of."""

    text: str
    id: str | None
    comments: tuple[str, ...] = ()


def plain(text: str) -> str:
    """``text`` in one line: only what is `visible`, and blanks are one space each."""
    return " ".join(visible(text).split())


def outside_code(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Where the pattern is found in ``text`` but in no block of code between fences."""
    blocks = [code.span() for code in _FENCE.finditer(text.replace("\r\n", " \n"))]
    return [found for found in pattern.finditer(text) if not any(start <= found.start() < end for start, end in blocks)]


def digest(text: str) -> str:
    """A short hash of the words as they are written, whatever the blanks between them. In code of several lines these count."""
    said = [" ".join(part.split()) for part in _FENCE.split(text)[::_GROUPS]]
    for at, code in enumerate(_FENCE.finditer(text)):
        said[at] += "\n" + re.sub(rf"^[ \t]{{0,{len(code['within'])}}}|[ \t]+$", "", code[0], flags=re.MULTILINE) + "\n"
    return hashlib.sha256("".join(said).strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def digests(text: str) -> set[str]:
    """Of a memory as it is, and in one line, as files of earlier versions have it."""
    return {digest(visible(text)), digest(plain(text))}


def line_ids(keys: Iterable[str]) -> dict[str, str]:
    """A short id for each key, of keys that are all different. It depends on the key, and is longer where two would be the same."""
    found: dict[str, str] = {}
    for key in keys:
        number = int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        letters = ""
        while len(letters) < _SHORTEST or letters in found:
            number, letter = divmod(number, len(_LETTERS))
            letters += _LETTERS[letter]
        found[letters] = key
    return {key: letters for letters, key in found.items()}


def write(text: str) -> str:
    """A `plain` text as Markdown that stays within its list item."""
    return _START.sub(r"\g<0>\\", _RAW.sub(_escaped, text), count=1)


def escape_code(code: str) -> str:
    """Code of several lines, in which no reader finds a path to load or a comment. `unescape_code` gives it again."""
    return _CODE_SIGN.sub(lambda sign: f"{sign[1]}\\{sign[2]}", escape_imports(code))


def unescape_code(code: str) -> str:
    return unescape_imports(_CODE_SIGN_ESCAPED.sub(r"\1\2", code))


def earlier(at: datetime | None) -> str:
    """What stands before a memory that a newer one of its matter stands above: `Earlier (2026-03-02): `."""
    return f"Earlier ({at:%Y-%m-%d}): " if at else "Earlier (?): "


def without_earlier(text: str) -> str:
    """The text without what `earlier` wrote before it."""
    return _EARLIER.sub("", text, count=1)


def is_earlier(text: str) -> bool:
    return _EARLIER.match(text) is not None


def read(markdown: str) -> Iterator[Piece]:
    """What `write` or a person wrote, with the ids and comments that stand in it taken out. Backslashes in code escape nothing,
    an id in a comment is none, and a comment in code is code."""
    text: list[str] = []
    comments: list[str] = []
    at = 0
    for token in _WRITTEN.finditer(markdown):
        text.append(markdown[at : token.start()])
        at = token.end()
        if token["id"]:
            yield Piece("".join(text), token["id"], tuple(comments))
            text.clear()
            comments.clear()
        elif token["comment"]:
            comments.append(token[0])
        else:
            text.append(token["escaped"] or token[0])
    yield Piece("".join(text) + markdown[at:], None, tuple(comments))


def mark(line_id: str) -> str:
    """The comment that carries a line's id."""
    return f"<!--{line_id}-->"


def marks_in(text: str) -> set[str]:
    """Whatever looks like the id of a line, wherever it stands."""
    return {found["id"] for found in re.finditer(_MARK, text)}


def begins_with_mark(markdown: str) -> bool:
    return re.match(rf"\s*{_MARK}", markdown) is not None


def without_marks(markdown: str) -> str:
    return re.sub(rf"[ \t]*{_MARK}", "", markdown)


def without_comments(html: str) -> Piece:
    """A block of HTML or of another kind that is kept as it is written; a comment that isn't closed goes to its end."""
    return Piece(_COMMENT.sub("", html), None, tuple(_COMMENT.findall(html)))


def without_struck(markdown: str) -> str:
    """The text without what is struck out (`~~so~~`). In code the sign is code."""
    return _STRUCK.sub(lambda found: found["code"] or "", markdown).strip()


def _escaped(token: re.Match[str]) -> str:
    if token["code"]:
        return token[0]
    if token["ticks"]:
        return token[0].replace("`", "\\`")
    return token[0] + "\\" if token["close"] else "\\" + token[0]


_FENCE = re.compile(
    r"^(?P<within>[ \t]*)(?P<fence>`{3,}|~{3,})[^\n`]*\n(?:(?![ \t]*(?P=fence)[ \t]*$).*\n)*[ \t]*(?P=fence)[ \t]*$",
    re.MULTILINE,
)
_GROUPS = _FENCE.groups + 1
_CODE_SIGN = re.compile(r"(<(?=\\*!--)|--(?=\\*>))(\\*)")
_CODE_SIGN_ESCAPED = re.compile(r"(<(?=\\+!--)|--(?=\\+>))\\(\\*)")
_EARLIER = re.compile(r"Earlier \((?:[0-9]{4,}-[0-9]{2}-[0-9]{2}|\?)\):(?: |$)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PUNCTUATION = r"[!-/:-@\[-`{-~]"
# A code span that holds the mark of a comment is none to us: tools that look for comments don't know about code. Neither is one
# that holds an import behind its first character: agents look for those in code as well.
_CODE = rf"(?P<code>(?<!`)(?P<run>`+)(?!`)(?!<!|-->).(?:(?!<!|-->|{IMPORT}).)*?(?<!`)(?P=run)(?!`))"
_MARK = rf"<!--(?P<id>[{_LETTERS}]{{{_SHORTEST},{_LONGEST}}})-->"
_RAW = re.compile(
    rf"""
      {_CODE}
    | (?P<ticks>`+)                 # no code span, or none to us
    | \\(?={_PUNCTUATION})          # would escape what follows
    | <(?=[A-Za-z/!?])              # a tag, a comment, an address
    | (?P<close>--(?=>))            # the end of a comment
    | &(?=\#?\w+;)                  # a character by its name
    | (?<=<)!|!(?=\[)               # a comment for tools that know no backslashes; an image, which a viewer would fetch
    | {IMPORT}                      # the path of a file, which an agent would load
    """,
    re.VERBOSE | re.DOTALL,
)
# What opens a block at the start of an item: a numbered list; a heading, a list, a quotation, a fence, the definition of a link.
# Dashes alone make a ruler of the whole item ("- --"), three stars or underscores a ruler in it.
_START = re.compile(r"^(?:[0-9]{1,9}(?=[.)](?: |$))|(?=#{1,6}(?: |$)|[-+*](?: |$)|([-*_])(?:\1| )*$|>|~~~|\[.*\]:))")
# Code of a person's may show a comment, but hides no id.
_SHOWN = rf"(?<!`)(?P<ticked>`+)(?!`)(?:(?!{_MARK.replace('?P<id>', '?:')}).)+?(?<!`)(?P=ticked)(?!`)"
_STRUCK = re.compile(rf"{_CODE}| ?(?<![~\\])~~(?![\s~])(?:(?!\n\n).)+?(?<![\s~\\])~~(?!~)", re.DOTALL)
_WRITTEN = re.compile(rf"{_CODE}|\\(?P<escaped>{_PUNCTUATION})|{_SHOWN}|{_MARK}|(?P<comment><!--.*?-->)", re.DOTALL)
