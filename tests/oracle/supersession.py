"""Slots: what holds of a subject's attribute, and what held before (seed 003, Memory States; peers A3, Temporal supersession).

The whole set of facts decides, so the order in which they arrived can't.
Ours, where seed and peers are silent:
- A slot is (scope, subject, attribute). Subject, attribute and values that are texts are compared in NFC, lower case, trimmed, each
  run of white space as one blank; other values as they are. Scopes are compared exactly.
- Later wins by ``valid_from``; absent, created_at stands in; neither: the fact is in no slot. At one instant the greater key wins.
  Neither confidence nor who vouches for it decides: time alone does.
- The same value again is no change: it confirms. Facts that follow each other with one value make one stretch, from the first of
  them on; that first one stands for it, the others confirm it. A stretch ends where the next one begins.
- A late fact splits a stretch it falls into, if its value differs: A, A and a late B between them are A, B, A.
- Two values at one instant: the one that lost has an empty stretch, and stays in the history.
- What begins in the future doesn't hold yet, and what it will replace holds until then.
- Attributes hold one value unless declared "many". Of many, each value is a history of its own: all hold, none replaces another.
- Facts that were pruned are not among those that are handed in.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise

from tests.oracle.memory import Memory

Slot = tuple[str, str, str]


@dataclass(frozen=True)
class Stretch:
    """A value and when it held: from ``valid_from`` on and before ``valid_to``. ``keys``: the fact that stands for it first."""

    value: object
    valid_from: datetime
    valid_to: datetime | None
    keys: tuple[str, ...]

    def holds(self, at: datetime) -> bool:
        """Whether it is what held at that instant."""
        return self.valid_from <= at and (self.valid_to is None or at < self.valid_to)


def normal(value: object) -> object:
    """What values are compared by: 1 is 1.0, and neither True nor "1"."""
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFC", value.lower()).split())
    if isinstance(value, list):
        return tuple(map(normal, value))
    return ("truth" if isinstance(value, bool) else "value"), value


def slot_of(fact: Memory) -> Slot | None:
    """Where it belongs; None: in no slot."""
    subject, attribute = fact.get("subject"), fact.get("attribute")
    if not isinstance(subject, str) or not isinstance(attribute, str) or fact.get("value") is None:
        return None
    if begins(fact) is None or not normal(subject) or not normal(attribute):
        return None
    return fact.scope, str(normal(subject)), str(normal(attribute))


def begins(fact: Memory) -> datetime | None:
    """From when on it says to hold."""
    return fact.moment("valid_from" if fact.get("valid_from") is not None else "created_at")


def histories(facts: Iterable[Memory], many: Collection[str] = ()) -> dict[Slot, list[Stretch]]:
    """What held in each slot, oldest first. ``many``: attributes, in their normal form, that hold several values at once."""
    slots: dict[Slot, list[Memory]] = {}
    for fact in facts:
        slot = slot_of(fact)
        if slot is not None:
            slots.setdefault(slot, []).append(fact)
    return {slot: _many(held) if slot[2] in many else _one(held) for slot, held in slots.items()}


def current(history: Iterable[Stretch], now: datetime) -> list[Stretch]:
    """What holds: of an attribute with one value one at most."""
    return [stretch for stretch in history if stretch.holds(now)]


def supersedes(history: list[Stretch]) -> list[tuple[str, str]]:
    """(newer, older) of the facts that stand for stretches, in a slot with one value."""
    return [(newer.keys[0], older.keys[0]) for older, newer in pairwise(history)]


def _one(facts: list[Memory]) -> list[Stretch]:
    runs = [list(run) for _value, run in groupby(sorted(facts, key=_order), key=lambda fact: normal(fact.get("value")))]
    starts = [_order(run[0])[0] for run in runs]
    return [
        Stretch(normal(run[0].get("value")), start, end, tuple(fact.key for fact in run))
        for run, start, end in zip(runs, starts, [*starts[1:], None], strict=True)
    ]


def _many(facts: list[Memory]) -> list[Stretch]:
    values = dict.fromkeys(normal(fact.get("value")) for fact in facts)
    found = [s for value in values for s in _one([fact for fact in facts if normal(fact.get("value")) == value])]
    return sorted(found, key=lambda stretch: (stretch.valid_from, stretch.keys))


def _order(fact: Memory) -> tuple[datetime, str]:
    moment = begins(fact)
    assert moment is not None  # only facts of a slot are ordered
    return moment, fact.key
