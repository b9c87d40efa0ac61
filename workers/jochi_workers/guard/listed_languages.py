"""Languages that are read by their words alone: everything means something and stands where it stands, but for what is listed here.

No dictionary and no grammar: two forms of one word are two words, articles and prepositions count. Numbers, units, dates and
times are read as in English and German. A list's members and a clause or phrase of time or place in front of a comma may move.
"""

from __future__ import annotations

import re

from jochi_workers.guard import lists
from jochi_workers.guard.atoms import answers, phrase, unworded
from jochi_workers.guard.elements import GENITIVE
from jochi_workers.guard.items import MOMENTS, Element, Item, Separator
from jochi_workers.guard.lists import Language, grammar
from jochi_workers.guard.moments import moment
from jochi_workers.guard.quantities import quantity
from jochi_workers.guard.scan import Token
from jochi_workers.guard.word_order import binds

_HOURS = re.compile(r"(\d{1,2})h(\d{2})")
_FUNCTION = ("article", "be", "have", "modal", "preposition", "pronoun", "possessive", "quantifier", "subordinator")
_SILENT = frozenset({",", ".", "!", "\n", "–", "…", ":", ";", "(", ")"})


def listed_elements(tokens: list[Token], language: Language) -> list[Element]:
    """In the order of the text, but for what moves to the end."""
    tokens = _taken_apart(tokens, language)
    row: list[Element] = []
    place = 0
    first = True
    while place < len(tokens):
        token = tokens[place]
        value = moment(tokens, place, language) or quantity(tokens, place, language)
        together = None if value else phrase(tokens, place, lists.phrases(language))
        if value:
            row.append(value[0])
            place += value[1]
        elif together:
            row.append(Item("word", together[0], token.text))
            place += together[1]
        else:
            row += _word(tokens, place, language, first) if token.kind == "word" else _other(token, first)
            place += 1
        first = token.kind == "mark" and (first or token.text in (".", "!", "?", ":", "\n", ";"))
    return _behind(row, language)


def _taken_apart(tokens: list[Token], language: Language) -> list[Token]:
    """`l'ufficio` as two words; `15h30` and `15 h 30` as times; in Italian `le ore 15` as `le 15`."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        kind, text = tokens[place]
        following = tokens[place + 1 : place + 3]
        hours = _HOURS.fullmatch(text) if kind == "identifier" and language in ("fr", "pt") else None
        if hours:
            found.append(Token("clock", f"{hours[1]}:{hours[2]}"))
        elif kind == "word" and "'" in text[1:-1]:
            head, _, tail = text.partition("'")
            found += [Token("word", head + "'"), Token("word", tail)]
        elif language == "it" and text.casefold() == "ore" and _timed(found, following):
            pass
        elif kind == "number" and language in ("fr", "pt") and _clocked(text, following):
            found.append(Token("clock", f"{text}:{following[1].text}"))
            place += 2
        else:
            found.append(tokens[place])
        place += 1
    return found


def _timed(before: list[Token], following: list[Token]) -> bool:
    """Whether `ore` stands between `alle` and a number."""
    return (
        bool(before and following)
        and before[-1].text.casefold() in grammar("it", "timed_by")
        and following[0].kind in ("number", "clock")
    )


def _clocked(text: str, following: list[Token]) -> bool:
    return (
        len(following) > 1
        and following[0] == Token("word", "h")
        and re.fullmatch(r"\d{1,2}", text) is not None
        and re.fullmatch(r"[0-5]\d", following[1].text) is not None
    )


def _word(tokens: list[Token], place: int, language: Language, first: bool) -> list[Element]:
    text = tokens[place].text
    folded = text.casefold()
    if language == "fr":
        folded = folded.replace("œ", "oe").replace("æ", "ae")
    folded = lists.pairs(language, "synonyms").get(folded, folded)

    def is_(group: str) -> bool:
        return folded in grammar(language, group)

    if is_("and") or is_("or"):
        return [Separator("and" if is_("and") else "or")]
    if is_("not") or is_("never"):
        answer = "," if answers(tokens, place) else ""
        return [Item("negation", folded + answer, text)]
    if any(map(is_, _FUNCTION)):
        return [Item("function", folded, text.lower())]
    return [Item("name" if text[:1].isupper() and not first else "word", folded, text)]


def _other(token: Token, first: bool) -> list[Element]:
    found: list[Element] = []
    for atom in unworded(token, first):
        if atom.item:
            found.append(atom.item)
        else:
            found.append(GENITIVE if atom.kind == "genitive" else Separator(atom.word))
    return found


def _behind(row: list[Element], language: Language) -> list[Element]:
    """What tells when, where or on what condition, in front of the only comma, goes to the end: `Si llueve, Anna lee`."""
    end = len(row)
    while end and _silent(row[end - 1]):
        end -= 1
    silent = [at for at, element in enumerate(row[:end]) if _silent(element)]
    if len(silent) != 1 or row[silent[0]] != Separator(",") or not _opens(row[: silent[0]], language):
        return row
    if any(isinstance(element, Item) and binds((element.kind, element.key), language) for element in row[silent[0] :]):
        return row  # "El lunes, Ana dijo que Ben viene"
    joined = max(
        (at for at, one in enumerate(row[:end]) if one in (Separator("and"), Separator("or"))), default=end - 2
    )
    if end - 1 - joined > 1:
        return row  # "El lunes, Ana canta y Ben baila"
    last = row[end - 1]
    if isinstance(last, Item) and any(last.key in grammar(language, group) for group in _NARROWS):
        return row  # "Le lundi, Anna mange surtout"
    return [*row[silent[0] + 1 : end], *row[: silent[0]], *row[end:]]


_NARROWS = ("focus", "quantifier", "not", "never")


def _silent(element: Element) -> bool:
    return isinstance(element, Separator) and element.word in _SILENT


def _opens(front: list[Element], language: Language) -> bool:
    if not front or not all(isinstance(element, Item) for element in front):
        return False
    items = [element for element in front if isinstance(element, Item)]
    day = (
        len(items) == len(("el", "lunes")) and items[0].key in grammar(language, "article") and items[1].kind in MOMENTS
    )
    return items[0].kind in MOMENTS or day or (len(items) > 1 and items[0].key in grammar(language, "opener"))
