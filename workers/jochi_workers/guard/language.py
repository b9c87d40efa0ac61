"""Which language a text is in, as far as it matters: one that is read, or something else.

Frequent words and dictionaries tell English and German. py3langid is asked where they don't: it alone would take one short text in
twenty for another language, so it must be sure, and against other languages' frequent words it says nothing.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, cast

from jochi.extras import extra_named
from jochi_workers.guard.inflect import lemma
from jochi_workers.guard.lists import LANGUAGES, READ, WORDED, Language, by_language, closed, numbers

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

LanguageCode = Language | Literal["other", "unclear"]
_LEAST_KNOWN = 0.5
_FEW = 2
_SURE = 0.6
_AGREED = 0.5
_DOUBTED = 0.3
_AHEAD = 0.2
_MOST_HEARD = 2_000


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


def detect_language(words: list[str]) -> LanguageCode:
    """The language of these words as written; `unclear` where too little speaks for any, `other` for mixtures too."""
    first = _by_words(words)
    counted = _counted(words)
    if not words or (first in LANGUAGES and counted[first] > _FEW):
        return first
    likely, sure = _likely(words)
    if likely == first:
        return first
    known = likely in READ and sure >= _SURE
    if first == "unclear":
        return cast("Language", likely) if known else first
    most = max(counted.values())
    if first == "other":
        ahead = most > 1 and [name for name, count in counted.items() if count == most] == [likely]
        agreed = likely in WORDED and sure >= (_AHEAD if ahead else _AGREED) and counted[likely] == most
        return cast("Language", likely) if agreed else first
    if known and counted[likely] >= counted[first]:
        return cast("Language", likely)
    heard = 0 < counted.get(likely, 0) >= counted[first] and sure >= _DOUBTED
    # "a", "in", "no" and "me" are words of English and of others.
    shared = counted[first] > 0 and most >= counted[first] and all(map(_shared, words))
    return "unclear" if heard or shared or most > counted[first] + 1 else first


def _shared(word: str) -> bool:
    """Whether it is no frequent word of English or German, or a small word of another language that is read, too."""
    folded = word.casefold()
    lists = dict(by_language())
    frequent = any(folded in lists[name] for name in LANGUAGES)
    return not frequent or any(folded in closed(name) for name in WORDED)


def _counted(words: list[str]) -> dict[str, int]:
    """How many of the words are frequent in each language, or small words of its grammar."""
    folded = [word.casefold() for word in words]
    return {
        name: sum(word in frequent or (name in WORDED and word in _small(name)) for word in folded)
        for name, frequent in by_language()
    }


@cache
def _small(language: Language) -> frozenset[str]:
    """Small words of its grammar, days and months."""
    return closed(language).union(numbers(language, "weekdays"), numbers(language, "months"))


def _likely(words: list[str]) -> tuple[str, float]:
    """What py3langid hears with and without words that may be names, which sound like another language as often as not."""
    small = [word.lower() for place, word in enumerate(words) if place == 0 or not word[:1].isupper()]
    (more, sure), (less, unsure) = sorted(
        (_heard(" ".join(heard)[:_MOST_HEARD]) for heard in (words, small)), key=_sureness
    )[::-1]
    return more, sure if more == less else sure - unsure


def _sureness(heard: tuple[str, float]) -> float:
    return heard[1]


@cache
def _identifier() -> LanguageIdentifier:
    with extra_named():
        from py3langid.langid import LanguageIdentifier

    made = LanguageIdentifier.from_model_file("data/model.npz.xz", norm_probs=True)
    made.set_languages([name for name, _ in by_language()])
    return made


@lru_cache(maxsize=1024)
def _heard(text: str) -> tuple[str, float]:
    """What py3langid takes it for among the languages whose frequent words are known, and its probability."""
    language, sure = _identifier().classify(text)
    return str(language), float(sure)


def _by_words(words: list[str]) -> LanguageCode:
    """By frequent words and dictionaries: English, German, `unclear`, or `other`.

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
    mono = all(word.islower() for word in words) or all(word.isupper() for word in words)
    small = [
        word.casefold()
        for word in words
        if (mono or word.islower())
        and len(word) > 2
        and word.casefold() not in english
        and word.casefold() not in german
    ] or (folded if len(folded) < 4 and not more else [])
    if more:
        best_: Language = "en" if own["en"] > own["de"] else "de"
        known = more > _FEW or len(small) < 2 or _known_share(small, best_, mono=mono) >= _LEAST_KNOWN
        return best_ if known else "unclear"
    shares = {name: _known_share(small, name, mono=mono) for name in LANGUAGES}
    first, second = sorted(LANGUAGES, key=lambda name: -shares[name])
    return first if shares[first] >= _LEAST_KNOWN and shares[first] > shares[second] else "unclear"


def _known_share(words: list[str], language: Language, *, mono: bool) -> float:
    """The share of words that the dictionary has; German nouns count only where nothing tells them from other words."""
    if not words:
        return 0.0
    bases = [lemma(word, language) for word in words]
    return sum(base is not None and (mono or language == "en" or base[:1].islower()) for base in bases) / len(words)
