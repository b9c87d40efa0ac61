"""A memory as the oracle sees it: labels, properties, and what hangs on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any


@dataclass(frozen=True)
class Memory:
    """``labels`` without :Curated; ``linked`` ids of Agents that a relationship joins it with; ``touched``: a touch of it
    (:JochiAccess) is not folded yet. An absent property is not in ``properties``."""

    id: str
    labels: tuple[str, ...]
    properties: dict[str, Any] = field(default_factory=dict)
    linked: tuple[str, ...] = ()
    touched: bool = False
    scope: str = "default"

    @property
    def key(self) -> str:
        """What everything refers to a memory by (DESIGN §4)."""
        return f"{self.scope}/{self.id}"

    def has(self, name: str) -> bool:
        """Whether the property is there."""
        return name in self.properties

    def get(self, name: str) -> Any:
        """The property, or None."""
        return self.properties.get(name)

    def moment(self, name: str) -> datetime | None:
        """A zoned datetime (in UTC: Python adds days by the wall clock of a zone), or None: absent or anything else is unknown."""
        value = self.get(name)
        return value.astimezone(timezone.utc) if is_moment(value) else None


def is_moment(value: Any) -> bool:
    """All datetimes are zoned (DESIGN §4)."""
    return isinstance(value, datetime) and value.tzinfo is not None


def is_number(value: Any) -> bool:
    """An integer or a float; not NaN, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
