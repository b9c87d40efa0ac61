"""One text, read: its language, its words as they stand, and what it says."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from jochi_workers.guard import lists
from jochi_workers.guard.atoms import answers, atoms
from jochi_workers.guard.clean import clean
from jochi_workers.guard.elements import elements
from jochi_workers.guard.items import Element
from jochi_workers.guard.language import LanguageCode, detect_language, readable_script
from jochi_workers.guard.listed_languages import listed_elements
from jochi_workers.guard.lists import READ, WORDED, Language, grammar
from jochi_workers.guard.scan import Token, is_unit, scan
from jochi_workers.guard.spelling import spelt_out

MOST_CHARACTERS = 20_000
_ANSWERS = frozenset({"no", "nein", "not", "nicht", "non", "pas", "não", "nee", "niet"})
_LONGEST_FILLER = 6
_BULLETS = frozenset("*•‣·-–")


class Reading(NamedTuple):
    """``plain``: the words and values in their order, without case and punctuation; identifiers as they are written.

    ``mono``: all letters are capitals, or none is, or every word has one. ``words``: as they are written. ``script``: every letter
    is Latin.
    """

    language: LanguageCode
    script: bool
    plain: tuple[str, ...]
    tokens: tuple[Token, ...]
    mono: bool
    words: tuple[str, ...]


@lru_cache(maxsize=512)
def read(text: str, language: LanguageCode | None = None) -> Reading:
    """Reads a text of at most `MOST_CHARACTERS`, in this language or in the one that it tells by itself."""
    cleaned = clean(text)
    tokens = _without_bullets(scan(cleaned))
    words = tuple(token.text.rstrip("'") for token in tokens if token.kind == "word")
    language = language or detect_language(list(words))
    tokens = _joined(_grouped(tokens, counted=language not in WORDED))
    if language in READ:
        tokens = _without_fillers(spelt_out(tokens, language), language)
    plain = tuple(
        _plain(token) for place, token in enumerate(tokens) if token.kind != "mark" or _mark_counts(tokens, place)
    )
    letters = [token.text for token in tokens if token.kind == "word"]
    mono = all(map(str.isupper, letters)) or all(map(str.islower, letters)) or _titled(letters, language)
    return Reading(language, readable_script(cleaned), plain, tuple(tokens), mono, words)


def _titled(words: list[str], language: LanguageCode) -> bool:
    """Whether every word has a capital, small ones too: `Anna Keeps The Keys In The Drawer`."""
    if language != "en" or not all(word[:1].isupper() for word in words):
        return False
    small = grammar("en", "article") | grammar("en", "preposition") | grammar("en", "be")
    return sum(word.casefold() in small for word in words[1:]) > 1


def _plain(token: Token) -> str:
    if token.kind == "mark":
        return "?" if token.text == "?" else ","
    if token.kind == "word":
        return token.text.casefold()
    return f"{token.kind} {token.text.casefold() if token.kind in ('version', 'clock', 'ordinal') else token.text}"


def _mark_counts(tokens: list[Token], place: int) -> bool:
    """A question, and the comma or full stop that makes an answer of `no`."""
    return tokens[place].text == "?" or (
        place > 0 and tokens[place - 1].text.casefold() in _ANSWERS and answers(tokens, place - 1)
    )


@lru_cache(maxsize=512)
def content_tokens(tokens: tuple[Token, ...], language: Language) -> tuple[Element, ...]:
    """What these tokens say in this language."""
    if language in WORDED:
        return tuple(listed_elements(list(tokens), language))
    return tuple(elements(atoms(list(tokens), language), language))


def _grouped(tokens: list[Token], *, counted: bool) -> list[Token]:
    """`12 500` as one number; not "12 500 g bags" where ``counted``."""
    found: list[Token] = []
    joined = False
    for place, token in enumerate(tokens):
        group = token.kind == "number" and _GROUP.fullmatch(token.text)
        if group and counted and place + 1 < len(tokens) and is_unit(tokens[place + 1].text):
            group = None
        goes_on = place > 0 and tokens[place - 1].kind == "number" and _GROUP.fullmatch(tokens[place - 1].text)
        if group and found and found[-1].kind == "number" and (_HEAD.fullmatch(found[-1].text) or (goes_on and joined)):
            found[-1] = Token("number", found[-1].text + token.text)
            joined = True
        else:
            found.append(token)
            joined = False
    return found


_HEAD = re.compile(r"[1-9]\d{0,2}")
_GROUP = re.compile(r"\d{3}")
_FROM = frozenset({"from", "between"})
_BETWEEN_NUMBERS = frozenset({"/", "–", "-"})


def _joined(tokens: list[Token]) -> list[Token]:
    """What stands between two numbers says something (`10–15`, `10/15`); `+` between two words is an "and"."""
    found = list(tokens)
    for place in range(1, len(tokens) - 1):
        before, (kind, text), behind = tokens[place - 1 : place + 2]
        if before.kind == behind.kind == "number" and kind == "mark" and text in _BETWEEN_NUMBERS:
            found[place] = Token("symbol", text.replace("-", "–"))
        elif before.kind == behind.kind == "number" and text == "to" and tokens[place - 2].text.casefold() not in _FROM:
            found[place] = Token("symbol", "–")
        elif before.kind == behind.kind == "word" and (kind, text) == ("symbol", "+"):
            found[place] = Token("word", "&")
    return found


def _without_bullets(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    for place, token in enumerate(tokens):
        starts = place == 0 or tokens[place - 1] == Token("mark", "\n")
        if starts and token.kind in ("symbol", "mark") and token.text in _BULLETS and place + 1 < len(tokens):
            continue
        found.append(token)
    return found


def _without_fillers(tokens: list[Token], language: Language) -> list[Token]:
    """Without what stands before or behind the statement and says nothing: `Note:`, `OK, noted:`, `Just so you know.`"""
    openers, closers = lists.fillers(language, "opener"), lists.fillers(language, "closer")
    for _ in range(2):
        cut = _cut(tokens, openers)
        if 0 < cut < len(tokens):
            tokens = tokens[cut:]
    for _ in range(2):
        end = len(tokens)
        while end and tokens[end - 1].kind == "mark":
            end -= 1
        start = end
        while start and tokens[start - 1].kind == "word" and end - start <= _LONGEST_FILLER + 1:
            start -= 1
        if 0 < start < end and tokens[start - 1].kind == "mark" and _said(tokens[start:end]) in closers:
            tokens = tokens[:start]
    return tokens


def _cut(tokens: list[Token], openers: frozenset[str]) -> int:
    """Where the statement begins behind an opener with its colon, dash, comma or full stop."""
    words: list[Token] = []
    for place, token in enumerate(tokens[: 2 * _LONGEST_FILLER]):
        if token.kind == "word":
            words.append(token)
            if token.text == "that" and len(words) > 1 and _said(words) in openers:
                return place + 1
        elif token.kind == "mark" and token.text in (":", "–", "-", ",", ".", "!", "…") and words:
            if _said(words) in openers and not (
                token.text == "," and len(words) == 1 and _said(words) in ("so", "well", "right", "also", "gut")
            ):
                return place + 1
            if token.text != ",":
                return 0
        else:
            return 0
    return 0


def _said(tokens: list[Token]) -> str:
    return " ".join(token.text.casefold() for token in tokens)
