"""Numbers in digits and in words: English and German by the lists, other languages by text2num."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from jochi.extras import extra_named
from jochi_workers.guard.lists import Language, closed, grammar, numbers
from jochi_workers.guard.scan import Token

with extra_named():
    from text_to_num import text2num

_GROUPS = {"en": re.compile(r"\d{1,3}(?:[,']\d{3})+"), "de": re.compile(r"\d{1,3}(?:[.']\d{3})+")}
_DECIMAL = {"en": ".", "de": ","}
_MOST_WORDS = 12


def digits(written: str, language: Language | None) -> str:
    """`'6850'` for `6,850` in English and `6.850` in German; the number as it is written where the language isn't known.

    Zeros at the end stay: 1.10 and 1.1 are two versions. Where both marks stand, the last one is the decimal's.
    """
    minus = "-" if written.startswith("-") else ""
    plain = written.lstrip("+-").rstrip(".")
    if language is None:
        return minus + plain
    decimal = _DECIMAL.get(language, ",")
    other = "," if decimal == "." else "."
    if "." in plain and "," in plain:
        decimal, other = (".", ",") if plain.rfind(".") > plain.rfind(",") else (",", ".")
        return minus + plain.replace(other, "").replace("'", "").replace(decimal, ".")
    head, mark, tail = plain.partition(decimal)
    if _GROUPS.get(language, _GROUPS["de"]).fullmatch(head):
        head = head.replace(other, "").replace("'", "")
    return minus + head + ("." + tail if mark else "")


def amount(literal: str) -> str:
    """The same number without what only looks different: `2.50` is `2.5` where it counts something."""
    if not re.fullmatch(r"-?\d{1,40}(?:\.\d{1,40})?", literal):
        return literal
    value = Decimal(literal)
    return f"{value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize():f}"


def spelt(tokens: list[Token], place: int, language: Language) -> tuple[int, int]:
    """The number whose words begin here, and how many tokens they are; (0, 0) if none does."""
    if language in ("en", "de"):
        return _english(tokens, place) if language == "en" else _german(tokens, place)
    return _other(tokens, place, language)


def power(word: str, language: Language) -> int:
    """By how much this word multiplies a number in digits before it: `mille`, `Millionen`; 0 if it doesn't."""
    if language in ("en", "de"):
        return numbers(language, "numerals").get(word.casefold(), 0)
    value = _valued(word.casefold(), language) or 0
    return value if value == 1000 else 0


def _other(tokens: list[Token], place: int, language: Language) -> tuple[int, int]:
    if _valued(tokens[place].text.casefold(), language) is None:
        return 0, 0
    end = place
    while end < len(tokens) and end - place < _MOST_WORDS and tokens[end].kind == "word":
        end += 1
    for last in range(end, place, -1):
        value = _valued(" ".join(token.text.casefold() for token in tokens[place:last]), language)
        if value is not None:
            alone = last == place + 1 and _says_another_thing(tokens, place, language)
            return (0, 0) if alone else (value, last - place)
    return 0, 0


def _says_another_thing(tokens: list[Token], place: int, language: Language) -> bool:
    """Whether a number word alone may be an article, or in French "new": `un vélo neuf`, not `neuf vélos`."""
    word = tokens[place].text.casefold()
    following = _word(tokens, place + 1)
    return word in grammar(language, "article") or (
        word in grammar(language, "doubtful") and (not following or following in closed(language))
    )


@lru_cache(maxsize=4096)
def _valued(words: str, language: Language) -> int | None:
    """The number that these words are to the last, None if they are none."""
    try:
        return int(text2num(words, language))
    except ValueError:
        return None


def _english(tokens: list[Token], place: int) -> tuple[int, int]:
    words = numbers("en", "numerals")
    total = part = 0
    used = end = place
    last: int | None = None
    if tokens[place].text.casefold() == "a" and words.get(_word(tokens, place + 1), 0) >= 100:
        end, part, last = place + 1, 1, 1  # "a hundred"
    while end < len(tokens) and end - place < _MOST_WORDS:
        kind, text = tokens[end]
        folded = text.casefold()
        if kind == "word" and folded in words:
            value = words[folded]
            if value >= 100:
                if last is None:
                    break
                if value == 100:
                    part *= 100
                else:
                    total, part = total + part * value, 0
            else:
                fits = last is None or last >= 100 or (20 <= last < 100 and 0 < value < 10)
                if not fits:
                    break
                part += value
            last = value
            end += 1
            used = end
        elif (
            last is not None
            and last >= 100
            and kind == "word"
            and folded == "and"
            and end + 1 < len(tokens)
            and words.get(tokens[end + 1].text.casefold(), 100) < 100
        ):
            end += 1
        elif kind == "word" and "-" in folded and all(piece in words for piece in folded.split("-")):
            tens, ones = words[folded.split("-")[0]], words[folded.split("-")[-1]]
            if folded.count("-") > 1 or not (20 <= tens < 100 and 0 < ones < 10) or not (last is None or last >= 100):
                break
            part += tens + ones
            last = ones
            end += 1
            used = end
        else:
            break
    return (total + part, used - place) if used > place else (0, 0)


def _word(tokens: list[Token], place: int) -> str:
    return tokens[place].text.casefold() if place < len(tokens) and tokens[place].kind == "word" else ""


def _german(tokens: list[Token], place: int) -> tuple[int, int]:
    kind, text = tokens[place]
    if kind != "word":
        return 0, 0
    folded = text.casefold()
    value = german_compound(folded)
    if value is None or folded in ("ein", "hundert", "tausend"):
        return 0, 0
    used = 1
    if place + 1 < len(tokens):
        power = numbers("de", "numerals").get(tokens[place + 1].text.casefold(), 0)
        if power >= 1_000_000 and value < 1000:
            return value * power, 2
    return value, used


@lru_cache(maxsize=4096)
def german_compound(word: str) -> int | None:
    """`zweihundertfünfundzwanzig` → 225; None if it is no number below a million."""
    word = word.replace("ß", "ss")
    parts = {key.replace("ß", "ss"): value for key, value in numbers("de", "numerals").items()}
    return _german_below(word, parts, 1_000_000) if len(word) <= 60 else None


def _german_below(word: str, parts: dict[str, int], limit: int) -> int | None:
    value = parts.get(word)
    if value is not None and (value < limit or value <= 100) and value < 1_000_000:
        return value
    for name, power in (("tausend", 1000), ("hundert", 100)):
        if power < limit and name in word:
            head, _, tail = word.partition(name)
            above = _german_below(head, parts, power) if head else 1
            below = _german_below(tail.removeprefix("und"), parts, power) if tail else 0
            if above is not None and below is not None:
                return above * power + below
            return None
    ones, found, tens = word.partition("und")
    if found and parts.get(ones, 99) in range(1, 10) and parts.get(tens, 0) in range(20, 100, 10):
        return parts[ones] + parts[tens]
    return None
