"""Variants of a text that nobody would call another memory: case, punctuation, white space, Unicode forms, filler words.

The filler words were written for this set. White space and Unicode forms are those that copying from web pages, documents and
terminals leaves behind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from random import Random

KINDS = ("case", "punctuation", "white space", "unicode", "filler")

_FILLERS = {
    "en": (
        "Note: {}",
        "Note to self: {}",
        "FYI: {}",
        "Reminder: {}",
        "For the record: {}",
        "Just so you know: {}",
        "By the way: {}",
        "Good to know: {}",
        "Please note: {}",
        "OK, noted: {}",
        "{} Just so you know.",
        "{} FYI.",
        "{} Thanks!",
    ),
    "de": (
        "Notiz: {}",
        "Hinweis: {}",
        "Zur Info: {}",
        "Zur Erinnerung: {}",
        "Kurz notiert: {}",
        "Übrigens: {}",
        "Nur fürs Protokoll: {}",
        "Gut zu wissen: {}",
        "Bitte beachten: {}",
        "Okay, notiert: {}",
        "{} Nur zur Info.",
        "{} Danke!",
        "{} Gut zu wissen.",
    ),
    "zh": ("备注:{}", "提醒一下:{}", "顺便说一句,{}"),
    "ja": ("メモ:{}", "ちなみに、{}", "念のため:{}"),
}
_LONG_WORD = re.compile(r"(?<![^ ])[^\W\d_]{8,}(?![^ .,])")
_STOPS = ".。"


def variant(kind: str, text: str, language: str, dice: Random, *, any_case: bool = True) -> str | None:
    """A variant of the text, or None if it has none of that kind. ``any_case``: nothing in it means another thing in capitals."""
    if kind == "filler":
        return dice.choice(_FILLERS[language]).format(text)
    if kind == "case" and not any_case:
        return None
    made = [made for change in _CHANGES[kind] if (made := change(text, dice)) != text]
    return dice.choice(made) if made else None


def _first_small(text: str, dice: Random) -> str:
    return text[0].lower() + text[1:]


def _no_stop(text: str, dice: Random) -> str:
    return text[:-1] if text[-1] in _STOPS else text


def _exclaimed(text: str, dice: Random) -> str:
    return text[:-1] + "!" if text[-1] in _STOPS else text


def _dots(text: str, dice: Random) -> str:
    return text[:-1] + " …" if text[-1] in _STOPS else text


def _fewer_commas(text: str, dice: Random) -> str:
    return text.replace(", ", " ") if text.count(",") == 1 else text


def _other_quotes(text: str, dice: Random) -> str:
    if "„" in text:
        return text.replace("„", "»").replace("“", "«")
    return re.sub(r'"([^"]*)"', r"'\1'", text)


def _bullet(text: str, dice: Random) -> str:
    return f"* {text}"


def _around(text: str, dice: Random) -> str:
    return dice.choice(("  {}", "{} ", "\t{}", "{}\n", "\n{}\n")).format(text)


def _at_a_blank(*others: str) -> Callable[[str, Random], str]:
    def change(text: str, dice: Random) -> str:
        places = [place for place, character in enumerate(text) if character == " "]
        if not places:
            return text
        place = dice.choice(places)
        return text[:place] + dice.choice(others) + text[place + 1 :]

    return change


def _decomposed(text: str, dice: Random) -> str:
    return unicodedata.normalize("NFD", text)


def _curly(text: str, dice: Random) -> str:
    return re.sub(r'"([^"]*)"', "“\\1”", text).replace("'", "’")


def _soft_hyphen(text: str, dice: Random) -> str:
    words = list(_LONG_WORD.finditer(text))
    if not words:
        return text
    place = dice.choice(words).start() + 4
    return f"{text[:place]}\u00ad{text[place:]}"


def _ligature(text: str, dice: Random) -> str:
    return re.sub(r"(?<=[a-z])fi(?=[a-z]* )", "ﬁ", text)


def _byte_order_mark(text: str, dice: Random) -> str:
    return f"\ufeff{text}"


_CHANGES: dict[str, tuple[Callable[[str, Random], str], ...]] = {
    "case": (lambda text, dice: text.lower(), lambda text, dice: text.upper(), _first_small),
    "punctuation": (_no_stop, _exclaimed, _dots, _fewer_commas, _other_quotes, _bullet),
    "white space": (
        _around,
        _at_a_blank("  ", "   ", "\t"),
        _at_a_blank("\u00a0", "\u202f", "\u2009"),
        _at_a_blank("\n", "\r\n"),
    ),
    "unicode": (_decomposed, _curly, _soft_hyphen, _ligature, _byte_order_mark),
}
