"""A fact with values in its places, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Any

from tests.merge_pairs import chinese, english, german, japanese
from tests.merge_pairs.facts import Fact, fill, kind_of
from tests.merge_pairs.pair import held_out
from tests.merge_pairs.values import Forms, Kind

KINDS: Mapping[str, Mapping[str, Kind]] = {
    "en": english.KINDS,
    "de": german.KINDS,
    "zh": chinese.KINDS,
    "ja": japanese.KINDS,
}
_USUAL = 0.6
"""Share of values written in their first form."""

Style = Mapping[str, float]
"""How each place is written: below `_USUAL` in its first form, above it in one of the others."""


@dataclass(frozen=True)
class Statement:
    """``keys``: the meaning of each place's value."""

    fact: Fact
    keys: Mapping[str, Any]
    denied: bool = False
    reversed_: bool = False

    def with_key(self, place: str, key: Any) -> Statement:
        """The same with one other value."""
        return replace(self, keys={**self.keys, place: key})

    def swapped(self) -> Statement:
        """The same with its two roles the other way round."""
        assert self.fact.swap
        one, other = self.fact.swap
        return replace(self, keys={**self.keys, one: self.keys[other], other: self.keys[one]})

    @property
    def sound(self) -> bool:
        """Whether values of one kind all differ, and an upgrade goes up."""
        pairs = [(a, b) for a, b in combinations(self.keys, 2) if kind_of(a) == kind_of(b)]
        rising = "version2" not in self.keys or self.keys["version"] < self.keys["version2"]
        return rising and all(self.keys[a] != self.keys[b] for a, b in pairs)

    def text(self, wording: int, style: Style) -> str:
        """The statement in one of its wordings."""
        kinds = KINDS[self.fact.language]
        texts = {place: _form(kinds[kind_of(place)].forms(key), style[place]) for place, key in self.keys.items()}
        written = self.fact.wordings[wording]
        text = fill(written, texts, denied=self.denied, reversed_=self.reversed_)
        first = written[1:].partition("}")[0] if written.startswith("{") else None
        begins = first is not None and kinds[kind_of(first)].begins
        return text[0].upper() + text[1:] if begins else text


def draw(fact: Fact, dice: Random) -> Statement:
    """The fact with values; denied or reversed every second time, where it can be."""
    kinds, unseen = KINDS[fact.language], held_out(fact.source)
    while True:
        keys = {place: kinds[kind_of(place)].draw(dice, unseen) for place in fact.places}
        denied = fact.negatable and dice.random() < 0.5
        reversed_ = fact.reversible and dice.random() < 0.5
        made = Statement(fact, keys, denied, reversed_)
        if made.sound:
            return made


def style(fact: Fact, dice: Random) -> Style:
    """A way to write each place."""
    return {place: dice.random() for place in fact.places}


def _form(forms: Forms, at: float) -> str:
    if at < _USUAL or len(forms) == 1:
        return forms[0]
    return forms[1 + int((at - _USUAL) / (1 - _USUAL) * (len(forms) - 1))]
