"""True duplicates of generated facts: two wordings, two ways to write a value, or a trivial variant."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

from tests.merge_pairs import facts, trivial
from tests.merge_pairs.facts import Fact, kind_of
from tests.merge_pairs.pair import CLASSES_OF_SAMENESS, Language, Pair, held_out, make
from tests.merge_pairs.statement import KINDS, draw, style

_MOST_ROUNDS = 300


def sameness(language: Language, wanted: dict[str, int]) -> Iterator[Pair]:
    """So many pairs of each class, a third of them of unseen facts."""
    for kind in CLASSES_OF_SAMENESS:
        number = wanted.get(kind, 0)
        for unseen, share in ((False, number - number // 3), (True, number // 3)):
            yield from _of_class(language, kind, share, unseen=unseen)


def _of_class(language: Language, kind: str, wanted: int, *, unseen: bool) -> Iterator[Pair]:
    able = [fact for fact in facts.facts(language) if held_out(fact.source) is unseen]
    made: set[frozenset[str]] = set()
    for number in count() if wanted else ():
        for fact in able:
            texts = _texts(fact, kind, Random(f"{fact.source}/{kind}/{number}"))
            if texts is not None and texts[0] != texts[1] and frozenset(texts) not in made:
                made.add(frozenset(texts))
                yield make(kind, language, texts, "same", fact.source)
            if len(made) == wanted:
                return
        if number == _MOST_ROUNDS:
            raise ValueError(f"only {len(made)} of {wanted} pairs {language}/{kind}")


def _texts(fact: Fact, kind: str, dice: Random) -> tuple[str, str] | None:
    given = draw(fact, dice)
    one, other = dice.sample(range(len(fact.wordings)), 2)
    written = style(fact, dice)
    if kind == "paraphrase":
        return given.text(one, written), given.text(other, style(fact, dice))
    if kind == "format":
        return given.text(one, written), given.text(one, style(fact, dice))
    kinds = KINDS[fact.language]
    any_case = all(kinds[kind_of(place)].any_case for place in fact.places)
    text = given.text(one, written)
    variant = trivial.variant(kind, text, fact.language, dice, any_case=any_case)
    return None if variant is None else (text, variant)
