"""Words that are only written otherwise: compounds with and without a hyphen, German without umlauts.

The dictionary decides. Where it knows another word that could be meant, nothing is changed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from jochi_workers.guard import lists
from jochi_workers.guard.inflect import inflected, lemma
from jochi_workers.guard.lists import Language, grammar
from jochi_workers.guard.scan import Token

_LEAST_OF_A_WORD = 3
_UMLAUTS = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"))
_CLOSED = (
    "article",
    "be",
    "have",
    "do",
    "modal",
    "preposition",
    "pronoun",
    "possessive",
    "quantifier",
    "not",
    "to",
    "by",
    "of",
)
_VERBS = frozenset({"ing", "ed", "irregular"})


def together(
    left: tuple[Token, ...], right: tuple[Token, ...], language: Language
) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Both texts, with a compound that one writes with a hyphen written so in the other, and accents that one left out."""
    if language == "de":
        left, right = _owned(left, right), _owned(right, left)
    left, right = _accents(left, right, language), _accents(right, left, language)
    ours, theirs = _compounds(left), _compounds(right)
    if ours.keys() == theirs.keys():
        return left, right
    return _hyphened(left, theirs, language), _hyphened(right, ours, language)


_FORMS = {
    "fr": re.compile(r"é(?:e?s?)$"),
    "es": re.compile(r"[áéíó]$|[áé](?:s|n|is|mos)$"),
    "pt": re.compile(r"[áéíóâêô]$|[áéâê](?:s|m|is|mos|eis)$"),
    "it": re.compile(r"[òàéèì]$"),
    "nl": re.compile(r"(?!)"),
}
"""Endings whose accent tells one form of a verb from another: `llamo` and `llamó`, `démarre` and `démarré`."""
_ACCENTS = {"a": "áàâãä", "e": "éèêë", "i": "íìîï", "o": "óòôõö", "u": "úùûü", "c": "ç", "n": "ñ"}
_MOST_SPELLINGS = 10_000


def _accents(tokens: tuple[Token, ...], other: tuple[Token, ...], language: Language) -> tuple[Token, ...]:
    """`reunion` as `reunión` where the other text writes so: the dictionary has no such word, and that one alone with accents."""
    if language not in _FORMS:
        return tokens
    theirs = {plain: t.text for t in other if t.kind == "word" and (plain := _bare(t.text)) != t.text.casefold()}
    return tuple(
        Token("word", _cased(theirs[t.text.casefold()], t.text))
        if t.kind == "word"
        and t.text.casefold() in theirs
        and _left_out(theirs[t.text.casefold()].casefold(), language)
        else t
        for t in tokens
    )


def _bare(word: str) -> str:
    """In folded case, without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))


@lru_cache(maxsize=4096)
def _left_out(word: str, language: Language) -> bool:
    """Whether this word without its accents can be no other."""
    bare = _bare(word)
    base = lemma(bare, language)
    if _FORMS[language].search(word) or lemma(word, language) is None or base not in (None, word):
        return False
    spellings = [""]
    for letter in bare:
        spellings = [start + c for start in spellings for c in (letter, *_ACCENTS.get(letter, ""))]
        if len(spellings) > _MOST_SPELLINGS:
            return False
    return not any(lemma(other, language) is not None for other in spellings if other not in (bare, word))


def _owned(tokens: tuple[Token, ...], other: tuple[Token, ...]) -> tuple[Token, ...]:
    """`Igors Hund` as `Hund von Igor`, where the other text names Igor so."""
    owners = {name.text for von, name in pairwise(other) if von == Token("word", "von")}
    found = list(tokens)
    for place in range(len(tokens) - 1):
        owner, thing = tokens[place : place + 2]
        words = owner.kind == thing.kind == "word" and thing.text[:1].isupper()
        if words and owner.text[-1:] == "s" and owner.text[:-1] in owners:
            found[place : place + 2] = [thing, Token("word", "von"), Token("word", owner.text[:-1])]
            break
    return tuple(found)


def _compounds(tokens: tuple[Token, ...]) -> dict[str, str]:
    """Words of two parts with a hyphen between: in folded case, as written."""
    return {t.text.casefold(): t.text for t in tokens if t.kind == "word" and t.text.count("-") == 1}


def _hyphened(tokens: tuple[Token, ...], compounds: dict[str, str], language: Language) -> tuple[Token, ...]:
    joined = {word.replace("-", ""): text for word, text in compounds.items() if _joinable(word, language)}
    parted = {tuple(word.split("-")): text for word, text in compounds.items() if _partable(word, language)}
    if not joined and not parted:
        return tokens
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        pair = tokens[place : place + 2]
        folded = tuple(token.text.casefold() for token in pair if token.kind == "word")
        counted = bool(found) and _counts(found[-1], language)  # "five light-years" aren't "five light years"
        text = joined.get(folded[0]) if tokens[place].kind == "word" else None
        if text is None and folded in parted and not counted:
            text = parted[folded]
            place += 1
        found.append(tokens[place] if text is None else Token("word", _cased(text, pair[0].text)))
        place += 1
    return tuple(found)


def _counts(token: Token, language: Language) -> bool:
    return token.kind == "number" or (language == "en" and token.text.casefold() in lists.numbers("en", "numerals"))


def _cased(text: str, like: str) -> str:
    return text[0].upper() + text[1:] if like[0].isupper() else text[0].lower() + text[1:]


@lru_cache(maxsize=4096)
def _joinable(word: str, language: Language) -> bool:
    """Whether a compound without its hyphen can only be this one: `e-mail`, but not `re-sign`, nor `Staub-Ecken` (Stau-Becken)."""
    first, _, last = word.partition("-")
    if (
        language not in ("en", "de", "nl")
        or not first.isalpha()
        or not last.isalpha()
        or first in grammar(language, "prefix")
    ):
        return False
    joined = first + last
    if language == "en" and lemma(joined, language) is None and lemma(word, language) is None:
        return False
    return not any(
        _known(joined[:cut], language) and _known(joined[cut:], language)
        for cut in range(_LEAST_OF_A_WORD, len(joined) - _LEAST_OF_A_WORD + 1)
        if cut != len(first)
    )


@lru_cache(maxsize=4096)
def _partable(word: str, language: Language) -> bool:
    """Whether two words are this compound: it is in the dictionary, and neither a small word nor a verb's form may be meant."""
    first, _, last = word.partition("-")
    if language == "de":
        return False  # "zeigt Kinder Bilder" shows them to children
    if lemma(word, language) is None or any(first in grammar(language, group) for group in (*_CLOSED, "prefix")):
        return False
    if language != "en":
        return not any(last in grammar(language, group) for group in _CLOSED)
    counts = any(first in lists.numbers("en", name) for name in ("numerals", "ordinals"))
    how = first.endswith("ly") or first in grammar("en", "compound_adverb")
    return not counts and (how or inflected(last, "en")[1] not in _VERBS)


def _known(word: str, language: Language) -> bool:
    return any(lemma(form, language) is not None for form in {word, word.capitalize()})


def written_out(tokens: list[Token]) -> list[Token]:
    """A German text with its umlauts, and `fürs` without the apostrophe that some write."""
    found: list[Token] = []
    for token in tokens:
        kind, text = token
        before = found[-1] if found else Token("", "")
        if kind == "genitive" and before.text.casefold() + "s" in lists.contracted("de"):
            found[-1] = Token("word", before.text + "s")
            continue
        # "Frau Mueller" may be called so; behind a small word ("Das Buero") nobody is.
        small = any(before.text.casefold() in grammar("de", group) for group in _CLOSED)
        named = text[:1].isupper() and before.text[:1].isupper() and not small
        found.append(Token(kind, umlauted(text)) if kind == "word" and not named else token)
    return found


@lru_cache(maxsize=65536)
def umlauted(word: str) -> str:
    """`fuehren` → `führen`, not `neue`, `Poet` or `Masse`: only if the dictionary has the other, and this one says nothing else."""
    folded = word.casefold()
    if not any(part in folded for part, _ in (*_UMLAUTS, ("ss", "ß"))):
        return word
    if _STREET.search(word):
        return _STREET.sub("straße", word)
    base = lemma(word, "de")
    for forms in ((*_UMLAUTS,), (("ss", "ß"),), (*_UMLAUTS, ("ss", "ß"))):
        other = _replaced(word, forms)
        theirs = lemma(other, "de") if other != word else None
        if theirs is not None and (base is None or base == theirs or (_replaced(base, _UMLAUTS) == theirs != base)):
            return other
    return word


_GRAVE = str.maketrans("aeiouAEIOU", "àèìòùÀÈÌÒÙ")
_ONE_ACCENT = str.maketrans("éóÉÓ", "èòÈÒ")
_MOST_OF_AN_ABBREVIATION = 6


def spelt_out(tokens: list[Token], language: Language) -> list[Token]:
    """Without abbreviations; in Italian `e'` and `perchè` as `è` and `perché` are read; no apostrophe at a word's end else."""
    short = lists.abbreviations(language)
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        kind, text = tokens[place]
        used = 1
        street = language == "de" and kind == "word" and text.endswith("str") and len(text) > len("Str")
        if street and place + 1 < len(tokens) and tokens[place + 1].text == ".":
            found.append(Token("word", text + "aße"))
            place += 2
            continue
        for length in range(_MOST_OF_AN_ABBREVIATION, 0, -1):
            part = tokens[place : place + length]
            written = "".join(token.text for token in part)
            if len(part) == length and written in short and all(t.kind in ("word", "mark", "identifier") for t in part):
                if (
                    short[written][0][:1].isupper()
                    and written[0].isupper()
                    and not _names(tokens[place + length :], language)
                ):
                    continue
                words = (
                    short[written] if written[0].islower() else (short[written][0].capitalize(), *short[written][1:])
                )
                found += [Token("word", word) for word in words]
                used = length
                break
        else:
            found.append(Token(kind, _accented(text, language)) if kind == "word" else tokens[place])
        place += used
    return found


def _names(following: list[Token], language: Language) -> bool:
    """Whether a title may stand in front: in German a street's or a noun's short form may stand anywhere."""
    return language == "de" or (bool(following) and following[0].kind == "word" and following[0].text[:1].isupper())


def _accented(word: str, language: Language) -> str:
    if language != "it":
        word = word.rstrip("'") if word[-1:] == "'" else word
        return word if word.isascii() or language != "en" else _borrowed(word)
    if word.endswith("'") and word.casefold() not in grammar("it", "elided"):
        word = word[:-2] + word[-2].translate(_GRAVE)
    return word.translate(_ONE_ACCENT)


@lru_cache(maxsize=4096)
def _borrowed(word: str) -> str:
    """An English word without accents, where that is no other word: `brûlée`, not `résumé` nor `Peña`."""
    bare = _bare(word)
    return bare if bare != word and word.islower() and bare.isascii() and lemma(bare, "en") is None else word


_STREET = re.compile(r"(?<=\w)strasse$")


def _replaced(word: str, forms: tuple[tuple[str, str], ...]) -> str:
    for part, letter in forms:
        word = word.replace(part, letter).replace(part.capitalize(), letter.upper())
    return word
