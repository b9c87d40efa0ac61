"""Choosing what an agent starts with follows what is looked at, never the history (seed 001; DESIGN §14)."""

from __future__ import annotations

import pytest
from tests.bench.context import NOW, fill, work

from jochi import Jochi

pytestmark = [pytest.mark.server, pytest.mark.slow]


def test_a_history_five_times_as_long_costs_nothing(jochi: Jochi) -> None:
    """Both are longer than what is looked at of the archive and of each section. How much of that is the same memories differs."""
    for scope, history in (("short", 8_000), ("long", 40_000)):
        fill(jochi, scope, history)
    short, long = (jochi.context(scope, at=NOW).entries for scope in ("short", "long"))
    assert [entry.text for entry in short] == [entry.text for entry in long]
    assert work(jochi, "long") <= 1.1 * work(jochi, "short")
