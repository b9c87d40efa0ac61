"""Which language a text is in, as far as it matters: English, German, or something that isn't read."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Literal

from jochi_workers.guard.inflect import lemma
from jochi_workers.guard.lists import LANGUAGES, Language, by_language

Told = Language | Literal["other", "unclear"]
_LEAST_KNOWN = 0.6


@lru_cache(maxsize=4096)
def _latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("LATIN ", "MICRO SIGN", "OHM SIGN", "FEMININE", "MASCULINE"))


def readable_script(text: str) -> bool:
    """Whether every letter is Latin."""
    return text.isascii() or all(
        character.isascii()
        or _latin(character)
        or unicodedata.category(character)[0] not in "LM"
        or character == "\u0308"
        for character in text
    )


def told(words: list[str]) -> Told:
    """The language of these words as written; `unclear` where too little speaks for any, `other` for mixtures too.

    Frequent words decide. Where a text has none, its words that begin small are looked up in both dictionaries.
    """
    folded = [word.casefold() for word in words]
    lists = dict(by_language())
    english, german = lists["en"], lists["de"]
    own = {"en": sum(word in english and word not in german for word in folded)}
    own["de"] = sum(word in german and word not in english for word in folded)
    for name, frequent in lists.items():
        if name in own:
            continue
        theirs = sum(word in frequent for word in folded)
        alone = len({word for word in folded if word in frequent and word not in english and word not in german})
        best = max(own.values())
        if alone and (
            theirs > best + sum(w in english and w in german for w in folded) or (alone > 1 and 2 * alone >= best)
        ):
            return "other"
    less, more = sorted(own.values())
    if more and 3 * less >= more and less:
        return "other"
    if more:
        return "en" if own["en"] > own["de"] else "de"
    small = [word for word in words if word.islower() and len(word) > 2] or (folded if len(folded) < 4 else [])
    shares = {
        name: sum(lemma(word, name) is not None for word in small) / len(small) if small else 0.0 for name in LANGUAGES
    }
    first, second = sorted(LANGUAGES, key=lambda name: -shares[name])
    return first if shares[first] >= _LEAST_KNOWN and shares[first] > shares[second] else "unclear"
