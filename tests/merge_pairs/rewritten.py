"""Pairs as people and agents write one memory twice, and near ones that differ: a set by another hand than the guard's rules.

How it is made: see `rewritten/README.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random

from tests.merge_pairs.otherwise import Block, drawn
from tests.merge_pairs.pair import Language, Pair, make

LANGUAGES: tuple[Language, ...] = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "ru", "ja", "zh")
SEVERAL = "several"
"""Class of two texts that are both written otherwise than the first, each in its own way."""
_FOLDER = Path(__file__).with_name("rewritten")


def rewritten(*languages: Language) -> Iterator[Pair]:
    """All pairs of these languages; of all where none is named. No two have the same texts."""
    yield from drawn(_FOLDER, languages or LANGUAGES, _of)


def _of(block: Block, language: Language, lists: dict[str, tuple[str, ...]], dice: Random) -> Iterator[Pair]:
    values: dict[str, str] = {}
    for places, words in lists.items():
        for place, word in zip(places.split(), dice.sample(words, len(places.split())), strict=True):
            for number, form in enumerate(word.split("|")):
                values[f"{place}{number or ''}"] = form

    def filled(text: str) -> str:
        loud = re.sub(r"\{.*?\}", "", text).isupper()
        said = re.sub(r"\{([a-z]\d?)\}", lambda found: values[found[1]], text)
        return said.upper() if loud else said

    (_, said), *same = ((kind, filled(text)) for kind, text in block.same)
    for kind, text in same:
        yield make(kind, language, (said, text), "same", block.source)
    for (_, one), (_, two) in combinations(same, 2):
        if one != two:
            yield make(SEVERAL, language, (one, two), "same", block.source)
    for _, one in (("", said), *same):
        for kind, text in block.other:
            yield make(kind, language, (one, filled(text)), "different", block.source)
