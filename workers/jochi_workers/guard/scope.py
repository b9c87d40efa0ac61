"""Where a phrase in another place may belong to another verb: "Ann said on Monday that Ben left", "Ann said that Ben left on Monday"."""

from __future__ import annotations

from collections.abc import Sequence

from jochi_workers.guard.elements import Element, Phrase, Separator
from jochi_workers.guard.items import Item
from jochi_workers.guard.lists import Language, grammar

_FINITE = frozenset({"ed", "perfect", "had", "is going on", "was going on", "perfect is going on", "perfect was going on"})
_AUXILIARIES = frozenset({"be", "have", "do"})
_PRONOUNS = frozenset({"he", "she", "it"})


def tied(row: Sequence[Element], language: Language) -> bool:
    """Whether two verbs of one clause could each have what stands in front or behind."""
    return _tied_in_english(row) if language == "en" else _tied_in_german(row)


def _tied_in_english(row: Sequence[Element]) -> bool:
    finite = 0
    embeds = False
    before: Element | None = None
    for element in row:
        if isinstance(element, Separator):
            if embeds and element.word not in (",", "and", "or", ".", "!"):
                return True
            finite = 0
        elif isinstance(element, Phrase):
            if embeds and (element.marker == "to" or any(_acts(item, None) for item in element.items)):
                return True
        else:
            acts = _acts(element, before)
            if embeds and (acts or element.form == "s" or element.key in ("to", "that")):
                return True
            finite += acts
            embeds |= element.key in grammar("en", "embeds") and element.kind == "word"
        if finite > 1:
            return True
        before = element
    return False


def _acts(item: Item, before: Element | None) -> bool:
    named = isinstance(before, Item) and (before.kind == "name" or before.key in _PRONOUNS)
    return (
        item.form in _FINITE
        or (item.key in _AUXILIARIES and item.form in ("past", "present"))
        or (item.form == "s" and named)
        or (item.kind == "function" and (item.key in grammar("en", "modal") or item.key in grammar("en", "future")))
    )


def _tied_in_german(row: Sequence[Element]) -> bool:
    keys = {element.key for element in row if isinstance(element, Item)}
    return not keys & grammar("de", "transparent") and any(
        isinstance(element, Phrase)
        and element.marker == "zu"
        and any(item.text.islower() and item.text.endswith("n") for item in element.items)
        for element in row
    )
