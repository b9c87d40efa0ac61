"""The statements of the set written by hand: worse figures, or a kind of sentence that falls off, fail here."""

from __future__ import annotations

import pytest
from tests.language_set.measure import examples, figures

ALL = examples()


def test_precision_and_recall() -> None:
    found = figures(ALL)
    assert found.expected > 190
    assert found.precision >= 0.96
    assert found.recall >= 0.94


@pytest.mark.parametrize("kind", dict.fromkeys(one.kind for one in ALL))
def test_no_kind_falls_off(kind: str) -> None:
    found = figures([one for one in ALL if one.kind == kind])
    assert found.precision >= 0.8
    assert found.recall >= 0.75
