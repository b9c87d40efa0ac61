"""A word's base form, and which of its forms it is: what may be compared across forms and what may not."""

from __future__ import annotations

from functools import lru_cache

from jochi.extras import extra_named
from jochi_workers.guard.lists import Language, grammar

with extra_named():
    from simplemma.strategies import DictionaryLookupStrategy

_DICTIONARY = DictionaryLookupStrategy()
_VOWELS = "aeiou"
_SAME_IN_ENGLISH = ({"present", "s"}, {"present", ""}, {"verb", ""})


@lru_cache(maxsize=65536)
def lemma(word: str, language: Language) -> str | None:
    """The dictionary's base form, None for a word it doesn't have."""
    return _DICTIONARY.get_lemma(word, language)


@lru_cache(maxsize=65536)
def inflected(word: str, language: Language) -> tuple[str, str]:
    """The base form in folded case, and the form: '', s, ed, ing or irregular in English; the word itself in German."""
    return _english(word.casefold()) if language == "en" else _german(word)


def _english(word: str) -> tuple[str, str]:
    if len(word) < 4 or "-" in word or not word.isascii() or word in grammar("en", "degree"):
        return _irregular(word) if len(word) < 4 and word.isascii() else (word, "")
    for ending, form in (("ing", "ing"), ("ied", "ed"), ("ed", "ed"), ("ies", "s"), ("es", "s"), ("s", "s")):
        if word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            for base in _bases(word[: -len(ending)], ending):
                if len(base) > 1 and lemma(base, "en") == base:
                    return base, form
    return _irregular(word)


def _bases(stem: str, ending: str) -> list[str]:
    if ending in ("ied", "ies"):
        return [stem + "y", stem + "ie"]
    if ending == "s":
        return [stem]
    if ending == "es":
        return [stem, stem + "e"] if stem.endswith(("s", "x", "z", "ch", "sh", "o")) else []
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in _VOWELS:
        return [stem, stem[:-1], stem + "e"] if stem[-1] in "lszf" else [stem[:-1], stem, stem + "e"]
    short = len(stem) > 1 and stem[-1] not in _VOWELS + "wxy" and stem[-2] in _VOWELS and stem[-3:-2] not in _VOWELS
    return [stem + "e", stem] if short else [stem, stem + "e"]


def _irregular(word: str) -> tuple[str, str]:
    base = lemma(word, "en")
    if base is None or base == word or not base.isascii() or word.endswith(("er", "est", "s", "ly")):
        return word, ""
    return base.casefold(), "irregular"


def _german(word: str) -> tuple[str, str]:
    folded = word.casefold()
    if len(word) < 4 or folded in grammar("de", "degree"):
        return folded, folded
    base = lemma(word, "de") or lemma(folded, "de")
    return (base or word).casefold(), folded


def compatible(left: str, right: str, language: Language, *, noun: bool) -> bool:
    """Whether two forms of one word may stand for each other: not one and many of a thing, nor fast and faster."""
    if left == right:
        return True
    if language == "en":
        return {left, right} in _SAME_IN_ENGLISH
    if noun:
        return _case_only(left, right) or _case_only(right, left)
    return _adjective(left) == _adjective(right)


def _case_only(shorter: str, longer: str) -> bool:
    return longer in (shorter + "s", shorter + "es") or (
        longer == shorter + "n" and shorter.endswith(("e", "er", "el"))
    )


def _adjective(word: str) -> str:
    """Without the ending that agrees with a noun. "-er" stays: it may compare."""
    for ending in ("en", "em", "es", "e"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)]
    return word
