"""Where a phrase in another place may belong to another verb: "Ann said on Monday that Ben left", "… that Ben left on Monday"."""

from __future__ import annotations

from collections.abc import Sequence

from jochi_workers.guard.items import Element, Item, Phrase, Separator
from jochi_workers.guard.lists import Language, grammar
from jochi_workers.guard.shape import LIST

_FINITE = frozenset(
    {"ed", "perfect", "had", *(f"{time} going on" for time in ("is", "was", "perfect is", "perfect was"))}
)
_AUXILIARIES = frozenset({"be", "have", "do"})
_PRONOUNS = frozenset({"he", "she", "it"})


def tied(row: Sequence[Element], language: Language, *, listed: bool) -> bool:
    """Whether two verbs could each have what stands in front or behind. ``listed``: what "and" joins is one clause."""
    if language != "en":
        return _tied_in_german(row)
    found = [_verbs(part) for part in _clauses(row, listed=listed)]
    return any(verbs is None or verbs > 1 for verbs in found)


def _clauses(row: Sequence[Element], *, listed: bool) -> list[list[Element]]:
    found: list[list[Element]] = [[]]
    for element in row:
        if isinstance(element, Separator) and not (listed and element.word in LIST):
            found.append([])
        found[-1].append(element)
    return found


def _verbs(clause: Sequence[Element]) -> int | None:
    """How many verbs could act on their own; None if one says what another does: "said Ben left", "asked Ben to call"."""
    finite = 0
    embeds = False
    verb: Element | None = None
    before: Element | None = None
    members: list[list[Item]] = [[]]
    for element in clause:
        if isinstance(element, Separator):
            members.append([])
        elif isinstance(element, Phrase):
            if embeds and (element.marker == "to" or any(_acts(item, None) for item in element.items)):
                return None
        else:
            acts = _acts(element, before)
            follows = isinstance(before, Item) and before.kind == "name" and element.kind == "word"
            many = element.form == "s" and before is not verb  # "reads books" has one verb
            if embeds and (acts or follows or many or element.key in ("to", "that")):
                return None
            finite += acts
            if element.kind == "word" and element.key in grammar("en", "embeds"):
                embeds, verb = True, element
            members[-1].append(element)
        before = element
    # "the man plays and the dog barks": of a noun's plural and a verb only its length may tell.
    clauses = sum(
        len(member) > 1 and any(item.form == "s" or _acts(item, None) for item in member) for member in members
    )
    return max(finite, clauses if len(members) > 1 else 0)


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
