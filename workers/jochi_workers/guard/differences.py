"""What stands in one text and not in the other, and what that difference is called."""

from __future__ import annotations

from collections.abc import Sequence

from jochi_workers.guard import lists
from jochi_workers.guard.items import Item
from jochi_workers.guard.lists import Language

_WORDS = frozenset({"word", "name", "function"})
_VALUES = ("number", "quantity", "ordinal", "version", "identifier", "quoted", "weekday", "month", "date", "time")
_CODES = {"ordinal": "number", "negation": "negation"}


def veto_codes(left: Sequence[Item], right: Sequence[Item], language: Language, *, in_one_place: bool) -> set[str]:
    """The differences that rule a merge out. ``in_one_place``: the one word left over on each side stands in the same place."""
    found: set[str] = set()
    for kind in _VALUES:
        ours, theirs = _of(left, kind), _of(right, kind)
        if kind == "quantity" and ours and theirs:
            found |= _quantities(ours, theirs)
        elif ours and theirs:
            found.add(_CODES.get(kind, kind))
    if (_of(left, "number") and _of(right, "quantity")) or (_of(right, "number") and _of(left, "quantity")):
        found |= _number_or_unit(_of(left, "number", "quantity"), _of(right, "number", "quantity"))
    if (_of(left, "version") and _of(right, "number")) or (_of(right, "version") and _of(left, "number")):
        found.add("version")
    if (_of(left, "month") and _of(right, "date")) or (_of(right, "month") and _of(left, "date")):
        found.add("date")
    if len(_of(left, "negation")) != len(_of(right, "negation")):
        found.add("negation")
    found |= opposed(
        [item.key for item in left if item.kind in _WORDS],
        [item.key for item in right if item.kind in _WORDS],
        language,
    )
    found |= opposed(
        [item.text.casefold() for item in left if item.kind in _WORDS],
        [item.text.casefold() for item in right if item.kind in _WORDS],
        language,
    )
    if _names(left) and _names(right) and (_of(left, "name") or _of(right, "name")):
        found.add("name")
    elif in_one_place and not found and _of(left, *_WORDS) and _of(right, *_WORDS):
        found.add("word")
    return found


def flag_codes(left: Sequence[Item], right: Sequence[Item]) -> set[str]:
    """What was found in one text only, where that doesn't rule a merge out."""
    return {
        "wording" if item.kind in _WORDS else "inflection" if item.kind == "form" else item.kind
        for item in (*left, *right)
    }


def opposed(left: Sequence[str], right: Sequence[str], language: Language) -> set[str]:
    """The codes of sets in which a word of one text stands against another word of the other text."""
    sets = lists.opposites(language)
    ours = {place: (word, code) for word in left for place, code in sets.get(word, ())}
    found: set[str] = set()
    for word in right:
        for place, code in sets.get(word, ()):
            if place in ours and ours[place][0] != word:
                found.add(code)
    return found


def _names(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.kind == "name" or (item.kind == "word" and item.text[:1].isupper())]


def _of(items: Sequence[Item], *kinds: str) -> list[Item]:
    return [item for item in items if item.kind in kinds]


def _quantities(left: list[Item], right: list[Item]) -> set[str]:
    found: set[str] = set()
    if {item.key for item in left} != {item.key for item in right}:
        found.add("number")
    ours = frozenset().union(*(item.readings for item in left))
    theirs = frozenset().union(*(item.readings for item in right))
    if not ours & theirs:
        money = lists.currencies()
        found.add("currency" if ours & money and theirs & money else "unit")
    return found or {"unit"}


def _number_or_unit(left: list[Item], right: list[Item]) -> set[str]:
    return {"number"} if {item.key for item in left} != {item.key for item in right} else {"unit"}
