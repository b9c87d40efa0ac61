"""What a sentence of a conversation does: it states something, asks, orders, or only reacts; and what its words say of the rest.

The words are data (`speech.toml`), by language; a text of a language that isn't listed is read by all of them. Rules of grammar
play no part: people who chat leave capitals, question marks and half of the sentence out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

import regex

from jochi.toml import beside

Act = Literal["statement", "question", "order", "reaction"]
Sign = Literal["change", "stays", "unreal", "hearsay", "rule"]

_WORD = regex.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ASKED = re.compile(r"[?？؟][\s\"'”’»)\]]*(?:[:;]-?[)D(P])?$")
_LEADING = " -–—*•>\"'“„«([…."
_NAME = 1
"""Words behind a greeting that can be no more than a name."""
_GAP = r"(?:\s+[^\W_]+){0,3}?\s+"


def asks(sentence: str) -> bool:
    """Whether it ends with a question mark."""
    return _ASKED.search(sentence.rstrip()) is not None


def act(sentence: str, language: str) -> Act:
    """What ``sentence`` does. A rule for the future (`never touch …`) is a statement, though it is said as an order."""
    text = _plain(sentence)
    rest = _without_reactions(text, language)
    if not _WORD.search(rest):
        return "reaction"
    if asks(sentence):
        return "question"
    if _pattern(language, "orders", "start").match(rest) and not has(sentence, "rule", language):
        return "order"
    return "statement"


def tells(sentence: str, language: str, least: int) -> bool:
    """Whether ``sentence`` says something where it stands alone: it is no thanks and no greeting, and has at least so many words.
    Scripts without capitals may have no blanks between words: there any sentence is long enough."""
    short = len({*_WORD.findall(sentence.casefold())}) < least and sentence.upper() != sentence.lower()
    return not short and act(sentence, language) != "reaction"


def affirms(text: str, language: str) -> bool:
    """Whether it begins with a yes: what was said or offered before is taken up."""
    plain = _plain(text)
    begun = any(_pattern(language, "yes", "start").match(one) for one in (plain, _without_reactions(plain, language)))
    return begun and not declines(text, language)


def declines(text: str, language: str) -> bool:
    """Whether it begins with a no."""
    return _pattern(language, "no", "start").match(_plain(text)) is not None


def has(text: str, sign: Sign, language: str) -> bool:
    """Whether a text has words that say so: of a change, that something stays, that it isn't real (a condition, a wish), that
    somebody else says it, of a rule."""
    return _pattern(language, sign, "anywhere").search(_plain(text)) is not None


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).lstrip(_LEADING)


def _without_reactions(text: str, language: str) -> str:
    """The rest of a sentence behind thanks, greetings, interjections; nothing, where nothing but a name stands behind them."""
    starts = [_pattern(language, name, "start") for name in ("reactions", "yes", "no")]
    begun = False
    while found := next((match for one in starts if (match := one.match(text)) and match.end()), None):
        text = text[found.end() :].lstrip(_LEADING + ",;:!)")
        begun = True
    rest = _WORD.findall(_pattern(language, "reactions", "anywhere").sub(" ", text))
    return "" if not rest or (begun and len(rest) <= _NAME and not re.search(r"\d", text)) else text


@cache
def _pattern(language: str, name: str, place: Literal["start", "anywhere"]) -> re.Pattern[str]:
    """One that finds the phrases of a list. In a phrase `…` stands for up to three words."""
    listed = beside(__file__, "speech.toml")
    chosen: Sequence[str] = (language,) if language in listed else tuple(listed)
    phrases = {phrase for code in chosen for phrase in listed[code].get(name, ())}
    each = (_GAP.join(re.escape(part.strip()) for part in phrase.split("…")) for phrase in phrases)
    joined = "|".join(sorted((one for one in each if one), key=len, reverse=True)) or r"(?!)"
    # Scripts without blanks have no ends of words.
    bounds = ("", "") if chosen == ("ja",) else (r"(?<![\w])", r"(?![\w])")
    before = "" if place == "start" else bounds[0]
    return re.compile(rf"{before}(?:{joined}){bounds[1]}")
