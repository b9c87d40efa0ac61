"""One memory on its way into the database, whatever it was read from or made by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from jochi.text.content_properties import content_properties
from jochi.text.slot_names import slot_name_of
from jochi.write.newborn import SHIPPED, Newborn

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

    def stored(self, now: datetime, newborn: Newborn = SHIPPED) -> dict[str, Any]:
        """The properties that are stored beside key, scope and id. ``now`` stands in for a missing `created_at`.

        An import claims no content for its own: a worker finds what is there twice.
        """
        stored = {**self.properties, "revision": 1}
        slot = slot_name_of(stored)
        if slot is not None:
            stored |= {"slot_name": slot.name, "slot_value": slot.value}
        content = stored.get("content")
        if content is not None:
            stored |= content_properties(content)
            if "embedding" in stored:
                stored["embedding_hash"] = stored["content_hash"]
        return newborn.completed(self.kind, stored, now)
