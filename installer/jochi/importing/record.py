"""One memory on its way into the database, whatever it was read from or made by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from jochi.tokens import ESTIMATE_COUNTER, estimate

DEFAULT_SCOPE = "default"


def key_of(scope: str, id: str) -> str:
    """The key of a memory: `scope/id` (DESIGN §4)."""
    return f"{scope}/{id}"


class Place(NamedTuple):
    """Where a record was read: the file and its line, from 1. LoCoMo files have no lines: None."""

    file: str
    line: int | None = None


@dataclass(frozen=True)
class Relationship:
    """A relationship from the memory that holds it to another one, by type, scope and id."""

    type: str
    to_scope: str
    to_id: str
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def to_key(self) -> str:
        return key_of(self.to_scope, self.to_id)


@dataclass(frozen=True)
class MemoryRecord:
    """A memory with its checked properties (zoned datetimes, scalars, flat lists) and its relationships."""

    kind: str
    id: str
    scope: str = DEFAULT_SCOPE
    properties: Mapping[str, Any] = field(default_factory=dict)
    relationships: tuple[Relationship, ...] = ()
    place: Place | None = None

    @property
    def key(self) -> str:
        return key_of(self.scope, self.id)

    def stored(self, now: datetime) -> dict[str, Any]:
        """The properties that are stored beside key, scope and id. ``now`` stands in for a missing `created_at`.

        The statement that writes them adds `next_due` = `created_at`: the engine looks at the memory on its next tick
        and sets the true instant.
        """
        stored = {"tier": "HOT", "access_count": 0, "created_at": now, **self.properties, "revision": 0}
        content = stored.get("content")
        if "token_count" in stored:
            stored.setdefault("token_counter", "given")
        elif content is not None:
            stored["token_count"] = estimate(content)
            stored["token_counter"] = ESTIMATE_COUNTER
        return stored
