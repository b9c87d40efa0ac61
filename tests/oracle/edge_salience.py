"""Relationships with salience: seed 002's lifecycle for "all relationship types", by the formulas of memories.

Ours, where the seed is silent:
- A relationship is used when somebody says so (edges/reinforce), not when recall passes along it (DESIGN §9: only what was used).
- Nothing falls before a use of an edge was reported in the scope that it starts in; what is ephemeral has its deadline anyway.
- Relationships are semantic: 90 days. None is the owner. No rail is theirs: the memories at its ends are protected by theirs.
- Uses are counted when they are reported, at most so many in a window; one that isn't counted still moves last_accessed_at.
- When a look archives, archived_at is the look's moment and the salience stands where it fell due.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tests.oracle import salience, states
from tests.oracle.memory import Memory
from tests.oracle.policies import deadline, keep_forever
from tests.oracle.reading import number, text

Properties = Mapping[str, Any]
_OF_MEMORIES_ONLY = ("recall_count", "last_recalled_at")
_MOMENTS = ("last_accessed_at", "prev_accessed_at")


@dataclass(frozen=True)
class LivingEdge:
    """From one memory's key to another's. An absent property is not in ``properties``."""

    id: str
    start: str
    end: str
    properties: dict[str, Any] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        """Where its uses are reported."""
        return self.start.split("/")[0]

    @property
    def read(self) -> Memory:
        """As the formulas of memories read it."""
        return Memory(self.id, ("RELATED_TO",), self.properties, scope=self.scope)

    def with_(self, properties: Properties) -> LivingEdge:
        """The same edge with these properties and no others; None is absent."""
        return replace(self, properties={name: value for name, value in properties.items() if value is not None})


def salience_now(edge: LivingEdge, now: datetime, first: datetime | None) -> float | None:
    """What it is worth at ``now``; None: it can't be known. ``first``: when a use was first reported in its scope."""
    return salience.salience_now(edge.read, now, first)


def due(edge: LivingEdge, first: datetime | None) -> datetime | None:
    """When it is archived; None: never, unknown, or it is."""
    if text(edge.read, "state", "candidate") in (None, "archived"):
        return None
    return min((at for at in (deadline(edge.read), _fades(edge.read, first)) if at), default=None)


def _fades(read: Memory, first: datetime | None) -> datetime | None:
    """The first whole second at which it is below 0.01: edges have no horizon. Beyond the calendar is never."""
    stored, rate = number(read, "salience", salience.INITIAL, most=1), salience.rate_of(read)
    start = salience.falls_from(read, first)
    if stored is None or rate is None or start is None or _stays(read, rate):
        return None
    if stored < salience.FADED or not rate:
        return start if stored < salience.FADED else None
    try:
        seconds = math.floor(round(math.log(stored / salience.FADED) / rate * 86_400, 3)) + 1
        return start + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _stays(read: Memory, rate: float) -> bool:
    """Whether no salience archives it: kept for ever, or a candidate that waits for its first use."""
    return keep_forever(read) or (rate == 0 and text(read, "state", "candidate") == "candidate")


def looked_at(edge: LivingEdge, now: datetime, first: datetime | None) -> LivingEdge:
    """What a look at ``now`` leaves."""
    at = due(edge, first)
    if at is None or at > now:
        return edge
    anchored = states.faded_at(edge.read, at, first)
    return edge.with_(edge.properties | {"state": "archived", "archived_at": now} | anchored)


def used(edge: LivingEdge, at: datetime, first: datetime | None, counts: bool = True) -> LivingEdge:
    """A use at ``at``, counted or too many for its window."""
    after = states.used(edge.read, at, at if first is None else min(first, at)).properties
    if not counts:
        return edge.with_(edge.properties | {name: after.get(name) for name in _MOMENTS})
    return edge.with_({name: value for name, value in after.items() if name not in _OF_MEMORIES_ONLY})
