"""How present memories are, at any time (seed 002, Memory Lifecycle & Decay; DESIGN §9): where they stand, in closed form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Salience:
    """Where a memory's salience stands, and how it falls from there until the next use.

    ``value`` 0–1 holds at ``since`` and before; None: it can't be known. ``since`` None: it doesn't fall. ``rate``: of a day.
    """

    key: str
    state: str | None
    value: float | None
    since: datetime | None
    rate: float | None

    def at(self, moment: datetime) -> float | None:
        """Its salience at ``moment`` (zoned), if it isn't used until then: value · e^(-rate · days). None if it can't be known."""
        if self.value is None or self.rate is None or self.since is None or moment <= self.since:
            return self.value
        return self.value * math.exp(-self.rate * ((moment - self.since) / _DAY))

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Salience:
        """From one entry of `memory/salience`, its moments as Python's."""
        return cls(entry["key"], entry["state"], entry["value"], entry["since"], entry["rate"])
