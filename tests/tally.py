"""How many examples a property test takes, and what they showed."""

from __future__ import annotations

import os
from collections.abc import Iterable


def expect_all_seen(lacking: Iterable[object]) -> None:
    """Nothing that is rare may be lost, unseen, by a change of the strategies. Asked only of the examples that are the same in
    every run: of the few that `make search` draws, one may lack by chance."""
    missing = sorted(map(str, lacking))
    assert os.environ.get("JOCHI_SEARCH") or not missing, missing


def examples(few: int, many: int) -> int:
    """Few in `make test`: as many as notice the mistakes of tests/mutants. Many in `make test-all` and `make search`."""
    return many if os.environ.get("JOCHI_TEST_ALL") or os.environ.get("JOCHI_SEARCH") else few
