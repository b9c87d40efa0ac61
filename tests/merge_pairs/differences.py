"""Must-not-merge pairs of generated facts: two statements with one difference in what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from random import Random

from tests.merge_pairs import facts
from tests.merge_pairs.facts import Fact, kind_of
from tests.merge_pairs.pair import CLASSES_OF_DIFFERENCE, Language, Pair, held_out, make
from tests.merge_pairs.statement import KINDS, Statement, draw, style

REWORDED = 0.25
"""Share of pairs whose sides are also worded or written differently."""
_MOST_ROUNDS = 300


def differences(language: Language, wanted: int) -> Iterator[Pair]:
    """``wanted`` pairs of each class that the language's facts have, a third of them of unseen facts."""
    for kind in CLASSES_OF_DIFFERENCE:
        for unseen, share in ((False, wanted - wanted // 3), (True, wanted // 3)):
            yield from _of_class(language, kind, share, unseen=unseen)


def ways(fact: Fact, kind: str) -> list[str]:
    """In which ways a fact can be changed in a class: places, or one of `swap`, `deny`, `reverse`."""
    if kind == "role":
        return ["swap"] if fact.swap else []
    if kind == "negation":
        return ["deny"] if fact.negatable else []
    if kind == "antonym":
        return ["reverse"] if fact.reversible else []
    kinds = KINDS[fact.language]
    return [place for place in fact.places if kind in kinds[kind_of(place)].changes]


def changed(given: Statement, kind: str, way: str, dice: Random) -> Statement:
    """The statement with one difference."""
    if way == "swap":
        return given.swapped()
    if way == "deny":
        return replace(given, denied=not given.denied)
    if way == "reverse":
        return replace(given, reversed_=not given.reversed_)
    change = KINDS[given.fact.language][kind_of(way)].changes[kind]
    while True:
        made = given.with_key(way, change(given.keys[way], dice, held_out(given.fact.source)))
        if made.sound:
            return made


def _of_class(language: Language, kind: str, wanted: int, *, unseen: bool) -> Iterator[Pair]:
    able = [
        (fact, way) for fact in facts.facts(language) if held_out(fact.source) is unseen for way in ways(fact, kind)
    ]
    made: set[frozenset[str]] = set()
    for number in count() if able else ():
        for fact, way in able:
            dice = Random(f"{fact.source}/{kind}/{way}/{number}")
            pair = _pair(draw(fact, dice), kind, way, language, dice)
            texts = frozenset((pair.left, pair.right))
            if len(texts) == 2 and texts not in made:
                made.add(texts)
                yield pair
            if len(made) == wanted:
                return
        if number == _MOST_ROUNDS:
            raise ValueError(f"only {len(made)} of {wanted} pairs {language}/{kind}")


def _pair(one: Statement, kind: str, way: str, language: Language, dice: Random) -> Pair:
    other = changed(one, kind, way, dice)
    wording = dice.randrange(len(one.fact.wordings))
    written = style(one.fact, dice)
    left = one.text(wording, written)
    if one.fact.swap and way == "swap":  # a name goes to its new place as it is written
        first, second = one.fact.swap
        written = {**written, first: written[second], second: written[first]}
    reworded = dice.random() < REWORDED
    if reworded:
        wording, written = dice.randrange(len(one.fact.wordings)), style(one.fact, dice)
    right = other.text(wording, written)
    texts = (left, right) if dice.random() < 0.5 else (right, left)
    return make(kind, language, texts, "different", one.fact.source, reworded=reworded)
