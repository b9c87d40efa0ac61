"""Whether a text says a phrase: word for word, identifiers whole (issue: `alice@acme.io` is not in `alice.smith@acme.io`).

What a word is made of in each script, and which marks tell it from others, says `jochi.text.letters`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import regex

from jochi.text.letters import FORMAT, SPACED, TWICE_CODED, UNSPACED, bare, folded, is_unspaced

READING = 2
"""Number of the rules by which texts are read as words and forms. A seal is of the reading that it was made by, and as long
as there are seals of an earlier one, texts are read by that as well. What changes a reading gets a new number."""

_TOGETHER = r"@._+\-/\\:#&%'’"
"""What stands between the letters of a mail address, a path, a number, a version: within a word it holds it together."""

_EDGES = "._-/\\:#&%'’"
_OWNERS = ("'s", "’s")
_ASCII = re.compile(rf"[A-Za-z0-9{_TOGETHER}]+")
_WORD = regex.compile(rf"{UNSPACED}|[{SPACED}{_TOGETHER}]+", regex.V1)
_LEFT_EDGE = regex.compile(rf"^[[{re.escape(_EDGES)}{FORMAT}]--[\u200c\u200d]]++", regex.V1)
_RIGHT_EDGE = regex.compile(rf"[[{re.escape(_EDGES)}{FORMAT}]--[\u200c\u200d]]++$", regex.V1)
_FOLDABLE = 0x20000
"""No character from here on has two cases, or another one that means the same."""

_FIRST_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_FIRST_WORD = re.compile(rf"[{_FIRST_CJK}]|(?:(?![{_FIRST_CJK}])[\w\u0300-\u036f{_TOGETHER}])+")
"""A word of the first reading (until 0.2), which knew no vowel signs of India and no points: `words`."""


@dataclass(frozen=True)
class Word:
    """A word as it is compared, and where it stands in the composed (NFC) text that it was read from."""

    folded: str
    start: int
    stop: int


def words(text: str, reading: int = READING) -> list[Word]:
    """The words of ``text`` in order: caseless, composed, without points; marks at their edges and an owner's 's belong to no word.
    In scripts without blanks each syllable is one, and each run of katakana."""
    return list(_first_words(text) if reading == 1 else _words(text))


def _words(text: str) -> Iterator[Word]:
    if text.isascii():
        yield from _trimmed(((found.start(), found[0]) for found in _ASCII.finditer(text)), folded)
        return
    parts: list[tuple[int, str]] = []
    for found in _WORD.finditer(unicodedata.normalize("NFC", text)):
        raw = _RIGHT_EDGE.sub("", found[0])
        left = _LEFT_EDGE.sub("", raw)
        parts.append((found.start() + len(raw) - len(left), left))
    yield from _trimmed(parts, folded)


def _first_words(text: str) -> Iterator[Word]:
    found = _FIRST_WORD.finditer(unicodedata.normalize("NFC", text))
    yield from _trimmed(((one.start(), one[0]) for one in found), _first_folded)


def _first_folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def _trimmed(parts: Iterable[tuple[int, str]], fold: Callable[[str], str]) -> Iterator[Word]:
    for start, raw in parts:
        for address in ("mailto:", "tel:"):
            if raw[: len(address)].lower() == address:
                start, raw = start + len(address), raw[len(address) :]
        left = raw.lstrip(_EDGES)
        start += len(raw) - len(left)
        right = left.rstrip(_EDGES)
        if right[-2:].lower() in _OWNERS:
            right = right[:-2]
        word = fold(right)
        if word:
            yield Word(word, start, start + len(right))


def phrase(text: str, reading: int = READING) -> tuple[str, ...]:
    """The words of a phrase that is looked for."""
    return tuple(word.folded for word in words(text, reading))


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


def whole_words(text: str, start: int, stop: int) -> tuple[int, int]:
    """The place with the whole of the words in which it begins and ends: an earlier reading may have cut through them."""
    found = words(text)
    return (
        next((word.start for word in found if word.start <= start < word.stop), start),
        next((word.stop for word in found if word.start < stop <= word.stop), stop),
    )


def says(text: str, wanted: Sequence[str]) -> bool:
    """Whether ``text`` says the phrase."""
    return bool(wanted) and max(map(bare, wanted), key=len) in bare(text) and bool(spots(words(text), wanted))


# What a database looks for before anybody compares word for word. A text that says the phrase has the needle (folded as the
# statements do), or it matches the pattern: where joiners or points stand between the letters, or blanks in a script without them.


def needle(wanted: Sequence[str]) -> str:
    """The longest word of a phrase, or row of words of a script without blanks."""
    return "".join(_longest_row(wanted))


def as_the_server_folds(text: str) -> str:
    """``text`` as the statements fold what they look through: toLower(normalize(…, NFKC))."""
    return unicodedata.normalize("NFKC", text).lower()


def folded_needle(wanted: Sequence[str]) -> str:
    """What the database looks for: it folds otherwise than we do, so letters that come out differently are left to us."""
    return max(_undisputed(needle(wanted)), key=len)


_MARK = r"\p{M}\p{Cf}\p{Cn}\u0640\u07fa\u115f\u1160\u3164\uffa0"
"""What may stand between the letters of a word. What Java doesn't know yet (Cn) may be a mark by now."""
_PLAIN = r"\x00-\xac\xae-\u02ff"
"""None of these: most texts have nothing else, and this is read fast."""
_BETWEEN_WORDS = r"[^\p{L}\p{N}_]*+"


def pattern_of_words(phrases: Iterable[Sequence[str]]) -> str | None:
    """Regular expression of Java's for what the needles don't find, of a text in NFKD, lower case; None: they find all."""
    marked: dict[str, None] = {}
    parted: dict[str, None] = {}
    for wanted in phrases:
        row = _longest_row(wanted)
        pieces = [piece for word in row for piece in _undisputed(word)]
        if len(row) == 1:
            marked[_with_marks(bare(max(pieces, key=len)))] = None
        elif len(pieces) == len(row):
            parted[_BETWEEN_WORDS.join(map(_with_marks, map(bare, pieces)))] = None
        else:  # a letter that the server folds otherwise: what stands beside it is looked for alone
            parted[_with_marks(bare(max(pieces, key=len)))] = None
    found = []
    if letters := [each for each in marked if each]:
        found.append(rf"(?=[{_PLAIN}]*+[^{_MARK}]*+.).*(?:{'|'.join(letters)}).*")
    if letters := [each for each in parted if each]:
        found.append(f".*(?:{'|'.join(letters)}).*")
    return "|".join(found) or None


def _with_marks(letters: str) -> str:
    return f"[{_MARK}]*+".join(map(re.escape, letters))


def _longest_row(wanted: Sequence[str]) -> list[str]:
    rows: list[list[str]] = []
    for word in wanted:
        if rows and is_unspaced(word) and is_unspaced(rows[-1][-1]):
            rows[-1].append(word)
        else:
            rows.append([word])
    return max(rows, key=lambda row: len("".join(row)))


def _undisputed(word: str) -> list[str]:
    """Its parts between letters that the server may fold otherwise: also those that it or this Python may be too old to know."""
    disputed = _disputed()
    unknown = (character in disputed or unicodedata.category(character) == "Cn" for character in word)
    return "".join("\0" if out else character for out, character in zip(unknown, word, strict=True)).split("\0")


@cache
def _disputed() -> frozenset[str]:
    """The letters that some character folds to here and not on the server: "s" may come from ß, "σ" from a final ς."""
    found: set[str] = set(TWICE_CODED)
    for code in range(_FOLDABLE):
        # A capital may be written as several characters that only their small form is one of.
        for text in (chr(code), chr(code).upper()):
            ours = folded(text)
            if ours != as_the_server_folds(text):
                found.update(ours)
    return frozenset(found)
