"""What of a folder is read: conversations, and what people wrote. What programs are made of or make is left out and named; a file
that a person names is read whatever it is (docs/reference/ingesting.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from datetime import tzinfo
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any

from jochi.errors import UsageError
from jochi.extras import extra_named
from jochi.toml import beside
from jochi.write.ingesting.input_file import InputFile, NoText, open_input
from jochi.write.ingesting.readers import conversation, guess, read_opened, text
from jochi.write.ingesting.source import Fault, Omission, OmittedFile, Piece

HIDDEN, LINK, BUILD, CODE, SETTINGS, LOCK, LICENCE, DATA, BINARY, UNKNOWN = (
    *("hidden", "link", "output of a build", "source code", "configuration", "lock file", "licence", "data"),
    *("binary file", "no format that is known"),
)
"""Why a file of a folder is left out."""

_LOOKED_AT = 100
_MAILDIR = re.compile(r"\d{9,}\.\S+\.")
"""So many faults without a message tell that JSON is no conversation."""
_PROSE = 0.85
"""Share of letters, blanks and marks of sentences in what people write."""
_MARKS = frozenset(".,;:!?'\"()-–—…’‘“”„«»¿¡。、，！？·*#>")
_LONGEST_WORD = 120
_ENDS_OF_CODE = ("{", "}", ";", "};", ");", "[", "]")


def files_in(folder: Path) -> Iterator[Path | OmittedFile | Fault]:
    """The files to be read in a folder and in folders in it, in the order of their names; and what is left out, a folder in one
    piece. Links aren't followed: what they lead to may lie outside of the folder."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            why = None if path == folder else _left(path)
            inside = sorted(path.iterdir(), reverse=True) if why is None and path.is_dir() else None
            if inside is not None and path != folder and _is_built(path, {each.name for each in inside}):
                why = BUILD
        except OSError as error:
            yield Fault(path_text(path), f"It can't be read: {error.strerror or error}.")
            continue
        if why is not None:
            yield OmittedFile(path_text(path), why)
        elif inside is not None:
            waiting += inside
        else:
            yield path


def path_text(path: Path) -> str:
    """A path as text, also one whose name is no UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def read_found(path: Path, *, format: str | None, zone: tzinfo) -> Iterator[Piece]:
    """The pieces of a file of a folder, as ``format`` or as it is guessed. One that can't be read is one fault, one that nobody
    reads is one `OmittedFile`; the files after it go in."""
    try:
        with open_input(path, None) as file:
            if not file.head:
                return
            found = format or guess(file)
            if format is None and found == text.NAME and not _is_written(file):
                yield OmittedFile(path_text(path), UNKNOWN)
                return
            pieces = read_opened(file, found, zone)
            if format is None and found == conversation.NAME:
                begin = _begin(pieces)
                if begin is None:
                    yield OmittedFile(path_text(path), UNKNOWN)
                    return
                pieces = chain(begin, pieces)
            yield from pieces
    except NoText:
        yield OmittedFile(path_text(path), BINARY)
    except UsageError as error:
        yield Fault("the file", f"{error.what[:1].upper()}{error.what[1:]}.")


def _left(path: Path) -> str | None:
    """Why a file or a folder is left out by its name and kind; None: it isn't."""
    if path.name.startswith("."):
        return HIDDEN
    if path.is_symlink():
        return LINK
    if path.is_dir():
        return None
    # One that has gone meanwhile is told where it is opened.
    return _kind_of(path.name) if path.is_file() or not path.exists() else BINARY


def _kind_of(name: str) -> str | None:
    """What a file of this name is, where that is nothing that people say or write; None: it may be."""
    with extra_named():
        from identify.identify import tags_from_filename

    if _MAILDIR.match(name):
        return None
    known: dict[str, Any] = beside(__file__, "folder.toml")
    kinds = {"lock": LOCK, "licence": LICENCE, "configuration": SETTINGS, "data": DATA, "binary": BINARY}
    for kind, patterns in known["names"].items():
        if _matches(name, patterns):
            return kinds[kind]
    tags = tags_from_filename(name)
    told = tags - {"text"}
    if not tags or told == {"json"} or (told and told.issubset(known["tags"]["prose"])):
        return None
    if any(tag.endswith("-lock") for tag in tags):
        return LOCK
    named = (kinds[kind] for kind in ("binary", "configuration", "data") if tags.intersection(known["tags"][kind]))
    return next(named, CODE if told else SETTINGS)


def _is_built(path: Path, inside: Collection[str]) -> bool:
    known = beside(__file__, "folder.toml")["folders"]
    if _matches(path.name, known["always"]) or any(name in inside for name in known["inside"]):
        return True
    return path.name in known["maybe"] and any(_matches(each.name, known["beside"]) for each in path.parent.iterdir())


def _matches(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _begin(pieces: Iterator[Piece]) -> list[Piece] | None:
    """The pieces up to the first message; None where JSON is no conversation: no message, or one with neither sender nor moment."""
    begin: list[Piece] = []
    for piece in pieces:
        begin.append(piece)
        if isinstance(piece, tuple):
            return begin if piece[1].sender or piece[1].at else None
        if len(begin) > _LOOKED_AT:
            return None
    return begin if any(isinstance(piece, Omission) for piece in begin) or not begin else None


def _is_written(file: InputFile) -> bool:
    """Whether text that has no other format is a person's: its name says so, or it reads like sentences."""
    with extra_named():
        from identify.identify import tags_from_filename

    return bool(tags_from_filename(file.name or "").intersection(("plain-text", "rst", "asciidoc"))) or is_prose(
        file.start()
    )


def is_prose(text: str) -> bool:
    """Whether a text without a format reads like what people write: words and marks of sentences, no program, no table of
    figures."""
    text = text.strip().removeprefix("\ufeff")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or text.startswith(("#!", "<?", "<!", "-----BEGIN", "{")):
        return False
    like = sum(each.isalpha() or each.isspace() or each in _MARKS for each in text)
    code = sum(line.endswith(_ENDS_OF_CODE) for line in lines)
    longest = max(len(word) for word in text.split())
    return like >= _PROSE * len(text) and 5 * code < len(lines) and (longest <= _LONGEST_WORD or not text.isascii())
