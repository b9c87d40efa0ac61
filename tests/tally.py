"""What the examples of a property test showed."""

from __future__ import annotations

import os
from collections.abc import Iterable


def expect_all_seen(lacking: Iterable[object]) -> None:
    """Nothing that is rare may be lost, unseen, by a change of the strategies. Asked only of the examples that are the same in
    every run: of the few that `make search` draws, one may lack by chance."""
    missing = sorted(map(str, lacking))
    assert os.environ.get("JOCHI_SEARCH") or not missing, missing
