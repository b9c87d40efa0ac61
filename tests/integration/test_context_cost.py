"""Choosing what an agent starts with follows what is looked at, never the history (seed 001; DESIGN §14)."""

from __future__ import annotations

import pytest
from tests.bench.context import NOW, fill, work

from jochi import Jochi

pytestmark = pytest.mark.server


def test_a_history_four_times_as_long_costs_nothing(jochi: Jochi) -> None:
    """Both are longer than what is looked at of the archive and of each section."""
    for scope, history in (("short", 2_000), ("long", 8_000)):
        fill(jochi, scope, history)
    short, long = (jochi.context(scope, at=NOW).entries for scope in ("short", "long"))
    assert [entry.text for entry in short] == [entry.text for entry in long]
    assert work(jochi, "long") <= 1.05 * work(jochi, "short")
