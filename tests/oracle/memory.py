"""A memory as the oracle sees it: labels, properties, and what hangs on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

OWN_NAMES = {"created_at": "opened", "read": "done", "pinned": "sticky"}
"""What a Ticket calls these (tests/policy.toml): opened is milliseconds since 1970, in UTC."""

_EARLIEST = datetime(1990, 1, 1, tzinfo=timezone.utc)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _understood(own: str, value: Any) -> Any:
    """A Ticket's own moment as a zoned one, if it has the type it should have; else as it is."""
    if own == "opened" and isinstance(value, int) and not isinstance(value, bool):
        moment = _EPOCH + timedelta(milliseconds=value)
        return moment if moment >= _EARLIEST else value
    return value


@dataclass(frozen=True)
class Link:
    """A relationship of a memory, ``direction`` "out" or "in" as seen from it, and the other end's labels and properties."""

    type: str
    direction: str
    labels: tuple[str, ...]
    properties: dict[str, Any] = field(default_factory=dict)

    @property
    def live(self) -> bool:
        """Whether what hangs there is not a tombstone (DESIGN §4: whatever other labels a stale save gave back to it)."""
        return "Tombstone" not in self.labels


@dataclass(frozen=True)
class Memory:
    """``labels`` without :Curated; ``linked`` ids of Agents that a relationship joins it with; ``links`` what else hangs on it;
    ``touched``: a touch of it (:JochiAccess) is not folded yet. An absent property is not in ``properties``."""

    id: str
    labels: tuple[str, ...]
    properties: dict[str, Any] = field(default_factory=dict)
    linked: tuple[str, ...] = ()
    touched: bool = False
    scope: str = "default"
    links: tuple[Link, ...] = ()

    @property
    def key(self) -> str:
        """What everything refers to a memory by (DESIGN §4)."""
        return f"{self.scope}/{self.id}"

    def _own(self, name: str) -> str:
        return OWN_NAMES.get(name, name) if "Ticket" in self.labels else name

    def has(self, name: str) -> bool:
        """Whether the property is there, under the name that this kind has for it."""
        return self._own(name) in self.properties

    def get(self, name: str) -> Any:
        """The property, or None."""
        own = self._own(name)
        return _understood(own, self.properties.get(own)) if own != name else self.properties.get(name)

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
