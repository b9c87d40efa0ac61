"""Sentences that say that two spellings are of one thing: "also known as", "same number, written …", a name in two scripts.

What is found is a link with its evidence, the memory that says it. Nothing is stored: what is to be forgotten is read anyway, so
a link is there in whatever order memories were written, and is gone with the sentence that told of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

import regex
from anyascii import anyascii

from jochi.text.forms import read_query
from jochi.toml import beside

_WINDOW = 160
"""Characters before and behind a spelling in which another is looked for."""

_LEAST = 5
"""Characters of an identifier: of a shorter one too much would go."""
_LEAST_ALIKE = 0.5
"""How much of a name in another script must be read in it, where nothing else says that it is the same."""

_MARK = r"[\s,;:()\[\]\"“”„'‘’«»–—=/-]"
_NAME_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_PARTICLES = frozenset(
    ("van", "von", "de", "der", "den", "da", "di", "del", "al", "el", "bin", "ibn", "la", "le", "zu", "af")
)
_NAMES = regex.compile(rf"(?<!\w){_NAME_WORD}(?:[ \u00a0]{_NAME_WORD})*(?!\w)")
_TOKEN = re.compile(r"\S+")
_CODE = re.compile(r"[(+＋]?[^\s,;\"“”„'‘’«»]*\d[^\s,;\"“”„'‘’«»]*|[A-Z]{1,4}(?:-[A-Z]{1,4})*|\S+@\S+")
"""A part of an identifier: a digit is in it, or few capitals are all of it."""
_MOST_WORDS = 6
_QUOTED = re.compile(r"[\"“„‘«]([^\"“”„‘’«»\n]{2,60})[\"”“’»]")
_OWNERS = ("'s", "’s")
_IS = frozenset(("is", "was", "ist", "war"))
_OWNS = re.compile(r"(?:['’]s?|s)\s+")
_END = re.compile(r"[.!?](?=\s)|\n")


class _Mention(NamedTuple):
    """A spelling in a text. ``kind``: name, identifier, or reachable (a telephone, a mail address: nobody's name)."""

    text: str
    start: int
    stop: int
    kind: str


class _Lists(NamedTuple):
    cores: re.Pattern[str]
    scripts: re.Pattern[str]
    owned: re.Pattern[str]
    between: frozenset[str]
    names: frozenset[str]
    identifiers: frozenset[str]
    joins: frozenset[str]
    no_names: frozenset[str]


@cache
def _lists() -> _Lists:
    data = beside(__file__, "equivalent_words.toml")

    def every(name: str) -> frozenset[str]:
        return frozenset(word for language in data.values() for word in language[name])

    def pattern(name: str) -> re.Pattern[str]:
        phrases = sorted(every(name), key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases))})(?!\w)")

    between, names, identifiers = every("between"), every("names"), every("identifiers")
    spoken = frozenset(word for phrase in every("scripts") for word in phrase.split())
    no_names = every("no_names") | between | names | identifiers | spoken
    return _Lists(
        pattern("cores"), pattern("scripts"), pattern("owned"), between, names, identifiers, every("joins"), no_names
    )


def find_equivalents(text: str, start: int, stop: int) -> Iterator[str]:
    """The other spellings that ``text`` (in NFC) says to be the same as what stands from ``start`` to ``stop``."""
    one = _mention(text, start, stop)
    after, before = text[stop : stop + _WINDOW], text[max(0, start - _WINDOW) : start]
    here = max(0, start - _WINDOW)
    found = [
        *(_moved(other, stop) for other in _mentions(after)),
        *(_moved(other, here) for other in _mentions(before)),
    ]
    equivalents: dict[tuple[str, bool], _Mention] = {}
    for other in found:
        behind = other.start >= stop
        first, second = (one, other) if behind else (other, one)
        if _fit(one, other) and _says_same(text, first, second):
            # Of one that is in another the longer one is meant.
            known = equivalents.get((other.kind, behind))
            if known is None or len(other.text) > len(known.text):
                equivalents[other.kind, behind] = other
    yield from dict.fromkeys(other.text for other in equivalents.values())


def _moved(one: _Mention, by: int) -> _Mention:
    return one._replace(start=one.start + by, stop=one.stop + by)


def _mention(text: str, start: int, stop: int) -> _Mention:
    return _Mention(text[start:stop], start, stop, _kind(text[start:stop]))


def _kind(text: str) -> str:
    found = read_query(text)
    kinds = {kind.partition("/")[0] for kind in found.kinds} if found else set()
    if kinds & {"mail", "tel"} or "@" in text:
        return "reachable"
    return "identifier" if any(character.isdigit() for character in text) else "name"


def _mentions(text: str) -> Iterator[_Mention]:
    yield from _codes(text)
    for found in _NAMES.finditer(text):
        yield from _names(text, found)
    for found in _QUOTED.finditer(text):
        yield _mention(text, *found.span(1))


def _codes(text: str) -> Iterator[_Mention]:
    """The longest rows of parts of identifiers."""
    row: list[tuple[int, int]] = []
    for found in [*_TOKEN.finditer(text), None]:
        start = stop = last = 0
        if found is not None:
            core = found[0].strip(".,;:!?\"“”„'‘’«»[]{}<>")
            core = core if core.count("(") == core.count(")") else core.strip("()")
            start = found.start() + found[0].find(core)
            stop, last = start + len(core), found.end()
            if core and _CODE.fullmatch(core):
                # A mark before a part ends what was before it.
                if row and start > found.start():
                    yield from _code(text, row)
                    row = []
                row.append((start, stop))
                if stop == last:
                    continue
        yield from _code(text, row)
        row = []


def _code(text: str, row: list[tuple[int, int]]) -> Iterator[_Mention]:
    if row and len(row) <= _MOST_WORDS * 2:
        one = _mention(text, row[0][0], row[-1][1])
        if "@" in one.text or sum(map(str.isdigit, one.text)) >= 2:
            yield one


def _names(text: str, found: re.Match[str]) -> Iterator[_Mention]:
    """The rows of words in a run of them that are written like names."""
    row = [(found.start() + word.start(), found.start() + word.end()) for word in re.finditer(r"\S+", found[0])]
    first = 0
    for at in range(len(row) + 1):
        word = text[slice(*row[at])] if at < len(row) else ""
        written = bool(word) and not word[0].islower() and word.lower() not in _lists().no_names
        if not written and not (word in _PARTICLES and first < at < len(row) - 1):
            if first < at <= first + _MOST_WORDS:
                start, stop = row[first][0], row[at - 1][1]
                yield _mention(text, start, stop - 2 if text[start:stop].endswith(_OWNERS) else stop)
            first = at + 1


def names(text: str) -> Iterator[str]:
    """The rows of words in a text that are written like names."""
    for found in _NAMES.finditer(text):
        yield from (one.text for one in _names(text, found))


def _fit(one: _Mention, other: _Mention) -> bool:
    """Whether both may be spellings of one thing: nobody's name is a telephone number."""
    if one.text == other.text or (other.kind == "identifier" and len(other.text) < _LEAST):
        return False
    kinds = {one.kind, other.kind}
    return len(kinds) == 1 or kinds == {"name", "identifier"}


def _says_same(text: str, first: _Mention, second: _Mention) -> bool:
    between = text[first.stop : second.start]
    lists = _lists()
    nouns = lists.identifiers if first.kind == second.kind != "name" else lists.names
    if _only(between, nouns, first.kind != "name"):
        return True
    scripts = _scripts(first.text, second.text)
    if scripts and lists.scripts.search(between.lower()) and _all_known(lists.scripts.sub(" ", between.lower()), nouns):
        return True
    if (
        scripts
        and _all_known(between.lower().replace("（", "("), nouns | lists.joins)
        and _alike(first.text, second.text)
    ):
        return True
    if re.fullmatch(rf"{_MARK}+", between) and "=" in between:
        return True
    joined = between.strip(" \"“”„'‘’«»\u00a0").lower()
    if joined in _IS and (theirs := _OWNS.match(text, second.stop)) and lists.owned.match(text.lower(), theirs.end()):
        return True
    if joined in lists.joins or joined in ("&", "/", "+", ","):
        behind = text[second.stop : second.stop + _WINDOW]
        end = _END.search(behind)
        behind = behind[: end.start()] if end else behind.rstrip(".!?")
        return _only(behind, nouns, first.kind != "name")
    return False


def _only(text: str, nouns: frozenset[str], identifiers: bool) -> bool:
    """Whether the words say that two are the same, and nothing else. One of them may begin a sentence: "Same number, written …"."""
    lower = text.lower()
    cores = _lists().cores
    if not cores.search(lower) or "\n" in text.strip("\n"):
        return False
    rest = cores.sub(" ", lower)
    if not identifiers and set(cores.findall(lower)) == {"same"} and not nouns.intersection(rest.split()):
        return False  # "same here, Bob"
    if identifiers:
        rest = re.sub(r"^\s*\.(?=\s)", " ", rest)
    return _all_known(rest, nouns)


def _all_known(rest: str, nouns: frozenset[str]) -> bool:
    known = _lists().between | nouns
    return all(word in known for word in re.sub(_MARK, " ", rest).replace("i.e.", "i.e").split())


def _scripts(one: str, other: str) -> bool:
    """Whether they are written in two scripts."""
    return _is_latin(one) != _is_latin(other)


def _is_latin(text: str) -> bool:
    return all(unicodedata.name(each, "").startswith("LATIN") for each in text if each.isalpha())


def _alike(one: str, other: str) -> bool:
    left, right = (re.sub("[^a-z]", "", anyascii(each).lower()) for each in (one, other))
    return SequenceMatcher(None, left, right, autojunk=False).ratio() >= _LEAST_ALIKE
