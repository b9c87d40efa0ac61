"""The guard on the seen part of the test set, every pair as if it were as near as can be. A guard that gets worse fails here."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.merge_pairs import pairs
from tests.merge_pairs.judges import GuardAlone
from tests.merge_pairs.measure import Ruled, of_class, of_languages, precision, recall, rule, wrong
from tests.merge_pairs.pair import CLASSES_OF_DIFFERENCE, READ_LANGUAGES
from tests.tally import examples


@pytest.fixture(scope="module")
def ruled() -> Sequence[Ruled]:
    return rule(GuardAlone(), [pair for pair in pairs(None) if not pair.unseen][:: examples(2, 1)])


def test_it_merges_nothing_that_differs(ruled: Sequence[Ruled]) -> None:
    assert wrong(ruled).whole > 2_000
    assert [one.pair.id for one in ruled if one.verdict == "merge" and not one.pair.may_merge] == []
    assert precision(ruled).bound >= 0.995


@pytest.mark.parametrize("kind", CLASSES_OF_DIFFERENCE)
def test_it_merges_none_of_any_class(ruled: Sequence[Ruled], kind: str) -> None:
    found = wrong(of_class(ruled, kind))
    assert found.whole > 50
    assert found.part == 0


def test_it_merges_nothing_in_languages_that_it_does_not_read(ruled: Sequence[Ruled]) -> None:
    found = [one for one in of_languages(ruled, "zh", "ja") if one.verdict == "merge"]
    assert len(of_languages(ruled, "zh", "ja")) > 100
    assert found == []


@pytest.mark.parametrize("language", READ_LANGUAGES)
def test_it_recognises_most_of_what_is_the_same(ruled: Sequence[Ruled], language: str) -> None:
    """What it doesn't it flags; the cosine that the product asks for besides takes some more."""
    assert recall(of_languages(ruled, language)).bound >= 0.5
