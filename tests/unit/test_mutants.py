"""The mutants of `make mutants` are of the code as it is now."""

from __future__ import annotations

from tests.mutants.__main__ import misplaced, table


def test_each_changes_a_text_that_is_there_once() -> None:
    assert misplaced(table()) == []
