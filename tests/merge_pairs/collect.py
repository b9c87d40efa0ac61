"""The whole set, its seen part and its unseen part."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tests.merge_pairs import observations
from tests.merge_pairs.differences import differences
from tests.merge_pairs.pair import READ_LANGUAGES, Language, Pair
from tests.merge_pairs.sameness import sameness

DIFFERENT_PER_CLASS = 204
SAME_PER_CLASS = {
    "paraphrase": 1_200,
    "format": 480,
    "case": 150,
    "punctuation": 150,
    "white space": 150,
    "unicode": 150,
    "filler": 150,
}
"""Pairs of a class in English, and as many in German."""
UNREAD_LANGUAGES: tuple[Language, ...] = ("zh", "ja")
UNREAD_DIFFERENT_PER_CLASS = 12
UNREAD_SAME_PER_CLASS = {"paraphrase": 48, "format": 18, "punctuation": 9, "white space": 9, "filler": 9}


@lru_cache(maxsize=2)
def pairs(locomo: Path | None = None) -> tuple[Pair, ...]:
    """All pairs; with those of LoCoMo's observations if its file is given. No two have the same texts."""
    made: dict[frozenset[str], Pair] = {}
    for pair in _all(locomo):
        made.setdefault(frozenset((pair.left, pair.right)), pair)
    return tuple(made.values())


def seen(locomo: Path | None = None) -> tuple[Pair, ...]:
    """What whoever writes the guard may look at."""
    return tuple(pair for pair in pairs(locomo) if not pair.unseen)


def unseen(locomo: Path | None = None) -> tuple[Pair, ...]:
    """What is kept for the figure at the end."""
    return tuple(pair for pair in pairs(locomo) if pair.unseen)


def _all(locomo: Path | None) -> Iterator[Pair]:
    for language in READ_LANGUAGES:
        yield from differences(language, DIFFERENT_PER_CLASS)
        yield from sameness(language, SAME_PER_CLASS)
    for language in UNREAD_LANGUAGES:
        yield from differences(language, UNREAD_DIFFERENT_PER_CLASS)
        yield from sameness(language, UNREAD_SAME_PER_CLASS)
    if locomo is not None:
        yield from observations.observed(locomo)
