"""The word lists: small text files beside this module, each with its source at its head. Babel names the currencies, and for the
languages of `WORDED` months, days of the week and units too.

A line is `key = one | another` or `code: one | another`; `#` begins a comment. Everything is read once.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Literal

from jochi.extras import extra_named

with extra_named():
    from babel import Locale
    from babel.numbers import get_currency_name
    from babel.units import format_unit

Language = Literal["en", "de", "fr", "es", "it", "pt", "nl"]
LANGUAGES: tuple[Language, ...] = ("en", "de")
"""Read with their grammar."""
WORDED: tuple[Language, ...] = ("fr", "es", "it", "pt", "nl")
"""Read by their words alone (`worded`)."""
READ = frozenset((*LANGUAGES, *WORDED))
_REMARK = re.compile(r"[\d(]")


@cache
def lines(folder: str, name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each line's key and its words, as written. Raises ValueError for a line without a key."""
    found: list[tuple[str, tuple[str, ...]]] = []
    text = (files(__package__) / "words" / folder / f"{name}.txt").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        separator = " = " if " = " in line else (" =" if line.endswith(" =") else ": ")
        key, between, rest = line.partition(separator)
        if not between:
            raise ValueError(f"{folder}/{name}.txt, line {number}: no key")
        found.append((key.strip(), tuple(word.strip() for word in rest.split(" | ") if word.strip())))
    return tuple(found)


@cache
def named_currencies(language: Language) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each currency's ISO 4217 code and its names in Unicode CLDR, without those that hold a year or a remark in brackets."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for code in sorted(Locale(language).currencies):
        names = [get_currency_name(code, count, locale=language).casefold() for count in (None, 1, 2)]
        if plain := tuple(dict.fromkeys(name for name in names if not _REMARK.search(name))):
            found.append((code, plain))
    return tuple(found)


@cache
def grammar(language: Language, group: str) -> frozenset[str]:
    """The words of a closed class, in folded case; empty where the language has none."""
    return frozenset(word.casefold() for key, words in lines(language, "grammar") if key == group for word in words)


@cache
def closed(language: Language) -> frozenset[str]:
    """The words of all closed classes, in folded case."""
    return frozenset(word.casefold() for _, words in lines(language, "grammar") for word in words)


@cache
def words(group: str) -> frozenset[str]:
    """Words of no language, as they are written."""
    return frozenset(word for key, words in lines("any", "apart") if key == group for word in words)


@cache
def pairs(language: Language, name: str) -> dict[str, str]:
    """Each word's key, both in folded case; a key stands for itself."""
    found: dict[str, str] = {}
    for key, words in lines(language, name):
        for word in (key, *words):
            found.setdefault(word.casefold(), key.casefold())
    return found


@cache
def numbers(language: Language, name: str) -> dict[str, int]:
    """Each word's number, by the word in folded case."""
    if language in WORDED:
        locale = Locale(language)
        if name == "months":
            return {word.casefold(): int(key) for key, word in locale.months["format"]["wide"].items()}
        if name == "weekdays":
            return {word.casefold(): int(key) + 1 for key, word in locale.days["format"]["wide"].items()}
        return {}
    return {word.casefold(): int(key) for key, words in lines(language, name) for word in words}


@cache
def contracted(language: Language) -> dict[str, tuple[str, ...]]:
    """What a contraction stands for, in folded case."""
    if language == "de":
        return {
            short.casefold(): (long.casefold(),)
            for key, words in lines("de", "grammar")
            if key == "contraction"
            for short, _, long in (word.partition("=") for word in words)
        }
    return {key.casefold(): tuple(words[0].casefold().split()) for key, words in lines("en", "contractions")}


@cache
def abbreviations(language: Language) -> dict[str, tuple[str, ...]]:
    """What an abbreviation stands for, by how it is written without blanks; with a capital too, where it may begin a sentence."""
    found: dict[str, tuple[str, ...]] = {}
    for key, words in lines(language, "short"):
        for word in words:
            found[word] = tuple(key.split())
            if len(word) > len("u."):
                found[word[0].upper() + word[1:]] = tuple(key.split())
    return found


@cache
def opposites(language: Language) -> dict[str, tuple[tuple[int, str], ...]]:
    """The sets that a word stands in, each with its number and the code of the reason."""
    found: dict[str, list[tuple[int, str]]] = {}
    for place, (code, words) in enumerate(lines(language, "opposites")):
        for word in words:
            found.setdefault(word.casefold(), []).append((place, code))
    return {word: tuple(sets) for word, sets in found.items()}


@cache
def fillers(language: Language, place: str) -> frozenset[str]:
    """What says nothing: ``place`` is opener, closer or particle."""
    return frozenset(word.casefold() for key, words in lines(language, "fillers") if key == place for word in words)


@cache
def phrases(language: Language) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Synonyms of several words by their first word: the words and the key, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for key, words in lines(language, "synonyms"):
        for word in (key, *words):
            split = tuple(word.casefold().split())
            if len(split) > 1:
                found.setdefault(split[0], []).append((split, key.casefold()))
    return {first: tuple(sorted(all_, key=lambda one: -len(one[0]))) for first, all_ in found.items()}


@cache
def units(language: Language) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]], int]:
    """What units and currencies a name may stand for: as written, in folded case; and the most words that a name has."""
    exact: dict[str, set[str]] = {}
    folded: dict[str, set[str]] = {}
    if language in WORDED:
        named = _named_units(language)
        money = named_currencies(language)
    else:
        named = lines(language, "units")
        money = (*named_currencies(language), *lines(language, "currencies_more"))
    for key, words in (*named, *lines(language, "units_more"), *money):
        coded = (key,) if len(key) == 3 and key.isupper() else ()
        for word in (*words, *coded):
            exact.setdefault(word, set()).add(key)
            if len(word) > 2:
                folded.setdefault(word.casefold(), set()).add(key)
    most = max(len(word.split()) for word in exact)
    return (
        {word: frozenset(keys) for word, keys in exact.items()},
        {word: frozenset(keys) for word, keys in folded.items()},
        most,
    )


def _named_units(language: Language) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What Unicode CLDR calls the units that English texts are read with; no form that is a word or a letter of its own."""
    small = closed(language)
    glued = {word for key, words in lines("any", "apart") if key == "unit" for word in words}
    found = []
    for key, _ in lines("en", "units"):
        try:
            forms = {
                format_unit(number, key, length, locale=language) for number in (1, 2) for length in ("long", "short")
            }
        except ValueError:  # a unit that this version of CLDR doesn't have
            continue
        words = sorted({form[1:].strip() for form in forms if form[:1] in "12" and form[1:].strip()})
        found.append((key, tuple(w for w in words if w.casefold() not in small and (len(w) > 1 or w in glued))))
    return tuple(found)


@cache
def currencies() -> frozenset[str]:
    """Keys of `units` that are money."""
    return frozenset(
        key for language in LANGUAGES for key, _ in (*named_currencies(language), *lines(language, "currencies_more"))
    )


@cache
def by_language() -> tuple[tuple[str, frozenset[str]], ...]:
    """Frequent words of many languages, the read ones first."""
    return tuple((key, frozenset(word.casefold() for word in words)) for key, words in lines("any", "languages"))
