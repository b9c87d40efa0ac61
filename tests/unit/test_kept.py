"""Nothing that was read of a text stays in the process once something is forgotten."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jochi.forgetting.clauses import forget_readings
from jochi.forgetting.equivalents import find_equivalents
from jochi.forgetting.request_words import chunks
from jochi.forgetting.statements import parse_statements
from jochi.forgetting.wording import pieces_of
from jochi.text.forms import find_forms
from jochi.text.kept import _clearers

TEXT = "Вера Рябова, also known as Vera R., lives at 5 Elm Street"


@pytest.mark.parametrize("read", [chunks, parse_statements, pieces_of])
def test_readings_are_kept_until_something_is_forgotten(read: Callable[[str], object]) -> None:
    before = read(TEXT)
    assert read(TEXT) is before
    forget_readings()
    assert read(TEXT) is not before


def test_all_caches_of_texts_are_emptied() -> None:
    list(find_equivalents(TEXT, 0, 11))
    list(find_forms(TEXT, ("name/10",)))
    parse_statements(TEXT)
    caches = [each.__self__ for each in _clearers]  # type: ignore[attr-defined]
    assert any(each.cache_info().currsize for each in caches)
    forget_readings()
    assert not any(each.cache_info().currsize for each in caches)
