"""Whether a text says a phrase: word for word, identifiers whole (issue: `alice@acme.io` is not in `alice.smith@acme.io`)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

_TOGETHER = r"@._+\-/\\:#&%'’"
"""What stands between the letters of a mail address, a path, a number, a version: within a word it holds it together."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts without blanks between words: each character is a word of its own."""

_WORD = re.compile(rf"[{_CJK}]|(?:(?![{_CJK}])[\w\u0300-\u036f{_TOGETHER}])+")
_EDGES = "._-/\\:#&%'’"
_OWNERS = ("'s", "’s")
_FOLDABLE = 0x20000
"""No character from here on has two cases, or another one that means the same."""


@dataclass(frozen=True)
class Word:
    """A word as it is compared, and where it stands in the composed (NFC) text that it was read from."""

    folded: str
    start: int
    stop: int


def words(text: str) -> list[Word]:
    """The words of ``text`` in order: caseless, composed; marks at their edges and an owner's 's belong to no word."""
    return list(_words(text))


def _words(text: str) -> Iterator[Word]:
    for found in _WORD.finditer(unicodedata.normalize("NFC", text)):
        start, stop = found.span()
        raw = found[0]
        for address in ("mailto:", "tel:"):
            if raw.lower().startswith(address):
                start, raw = start + len(address), raw[len(address) :]
        left = raw.lstrip(_EDGES)
        start += len(raw) - len(left)
        right = left.rstrip(_EDGES)
        if right.lower().endswith(_OWNERS):
            right = right[:-2]
        stop = start + len(right)
        word = folded(right)
        if word:
            yield Word(word, start, stop)


def folded(text: str) -> str:
    """``text`` as words are compared: Unicode's caseless form, composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def phrase(text: str) -> tuple[str, ...]:
    """The words of a phrase that is looked for."""
    return tuple(word.folded for word in words(text))


def spots(found: Sequence[Word], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words ``wanted`` stand in a row among ``found``: (start, stop) in characters, in order, none overlapping."""
    n = len(wanted)
    return [(found[at].start, found[at + n - 1].stop) for at in rows([word.folded for word in found], wanted)]


def rows(words_of_text: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the words ``wanted`` begin in a row among those that are ``words_of_text``, in order, none overlapping."""
    n = len(wanted)
    at, result = 0, []
    while n and at + n <= len(words_of_text):
        if all(words_of_text[at + i] == wanted[i] for i in range(n)):
            result.append(at)
            at += n
        else:
            at += 1
    return result


def says(text: str, wanted: Sequence[str]) -> bool:
    """Whether ``text`` says the phrase."""
    return bool(spots(words(text), wanted))


def needle(wanted: Sequence[str]) -> str:
    """The longest word of a phrase: what a database can look for before anybody compares word for word."""
    return max(wanted, key=len)


def as_the_server_folds(text: str) -> str:
    """``text`` as the statements fold what they look through: toLower(normalize(…, NFKC))."""
    return unicodedata.normalize("NFKC", text).lower()


def folded_needle(wanted: Sequence[str]) -> str:
    """What the database looks for: it folds otherwise than we do, so letters that come out differently are left to us."""
    plain = needle(wanted)
    disputed = _disputed()
    parts = "".join("\0" if character in disputed else character for character in plain).split("\0")
    return max(parts, key=len)


@cache
def _disputed() -> frozenset[str]:
    """The letters that some character folds to here and not on the server: "s" may come from ß, "σ" from a final ς."""
    found: set[str] = set()
    for code in range(_FOLDABLE):
        # A capital may be written as several characters that only their small form is one of.
        for text in (chr(code), chr(code).upper()):
            ours = folded(text)
            if ours != as_the_server_folds(text):
                found.update(ours)
    return frozenset(found)
