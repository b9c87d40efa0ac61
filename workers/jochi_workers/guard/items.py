"""The pieces of a text that mean something, in a form in which the same is equal."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """``kind``: what a difference in it is called; ``key``: equal for the same meaning; ``text``: as written.

    ``form``: the inflection of a word (see `inflect`). ``readings``: what a unit's name may stand for.
    """

    kind: str
    key: str
    text: str
    form: str = ""
    readings: frozenset[str] = frozenset()


VALUES = frozenset(
    {"number", "quantity", "date", "month", "weekday", "time", "ordinal", "version", "identifier", "quoted"}
)
MOMENTS = frozenset({"date", "month", "weekday", "time"})
DURATIONS = frozenset(
    {"millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century"}
)
PERIODS = frozenset(
    {"hour", "day", "week", "month", "quarter", "year", "stunde", "tag", "woche", "monat", "quartal", "jahr"}
)

WHEN = "at a time"


class Phrase(NamedTuple):
    """A preposition and what it governs; ``marker`` is `at a time` for moments that say only when."""

    marker: str
    items: tuple[Item, ...]

    @property
    def moment(self) -> bool:
        """Whether it says when, or how long."""
        if not self.items:
            return False
        last = self.items[-1]
        return last.kind in MOMENTS or bool(last.readings & DURATIONS) or self.marker == WHEN


class Separator(NamedTuple):
    """A comma, a conjunction, the end of a sentence."""

    word: str


Element = Item | Phrase | Separator
