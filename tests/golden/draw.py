"""Draws the store from the oracle's own strategies, around thresholds at each instant. The result is kept as data, so that a
change of the strategies, or another version of Hypothesis, changes no golden."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.golden.coded import coded
from tests.golden.store import DAYS, day
from tests.oracle import Memory
from tests.oracle.strategies import KINDS, LIVED, memories
from tests.scored_memories import aging, scored

_PASSES = 5
"""Hypothesis begins with what is simplest; the last of so many is like any other."""


@st.composite
def _some(draw: st.DrawFn, now: datetime, turn: int) -> list[Memory]:
    """Of every kind in turn, of every lifecycle in turn, some with a score, some on their way through it."""
    at = turn * 12
    return [
        *(draw(memories(now, turn * 9 + i, KINDS)) for i in range(9)),
        *(draw(memories(now, at + i)) for i in range(4)),
        *(draw(memories(now, at + i, LIVED)) for i in range(12)),
        *(draw(scored(now, at + i)) for i in range(3)),
        *(draw(aging(now, at + i)) for i in range(8)),
    ]


def draw() -> str:
    """The store's memories, one a line."""
    return "".join(json.dumps(line, separators=(",", ":"), sort_keys=True) + "\n" for line in _lines())


def _lines() -> Iterator[dict[str, Any]]:
    for turn, at in enumerate(DAYS):
        for number, memory in enumerate(_last_of(_some(day(at), turn), turn)):
            yield _line(replace(memory, id=f"d{at:03d}-{number:02d}"))


def _last_of(strategy: st.SearchStrategy[list[Memory]], number: int) -> list[Memory]:
    found: list[list[Memory]] = []

    @seed(number)
    @given(strategy)
    @settings(
        max_examples=_PASSES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def keep(some: list[Memory]) -> None:
        found.append(some)

    keep()
    return found[-1]


def _line(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "scope": memory.scope,
        "labels": memory.labels,
        "properties": coded(memory.properties),
        "linked": memory.linked,
        "touched": memory.touched,
        "links": [[link.type, link.direction, link.labels, coded(link.properties)] for link in memory.links],
    }
