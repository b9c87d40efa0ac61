"""One memory on its way into the database, whatever it was read from or made by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from jochi.content import content_hash
from jochi.importing.kinds import EMBEDDED_WITH
from jochi.slot_names import slot_name_of
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

    def stored(self, now: datetime, embedded_with: Mapping[str, str] = EMBEDDED_WITH) -> dict[str, Any]:
        """The properties that are stored beside key, scope and id. ``now`` stands in for a missing `created_at`.

        They are those of `_macros/newborn.j2`. The statement that writes them adds `next_due` = `created_at`: the engine
        looks at the memory on its next tick and sets the true instant. An import claims no content for its own: a worker
        finds what is there twice, so there is always something left to prepare.
        """
        stored = {"tier": "HOT", "access_count": 0, "created_at": now, **self.properties, "revision": 1}
        slot = slot_name_of(stored)
        if slot is not None:
            stored |= {"slot_name": slot.name, "slot_value": slot.value, "slot_due": now}
        content = stored.get("content")
        if content is not None:
            stored["content_hash"] = content_hash(content)
            stored["prepare_due"] = stored["similar_due"] = now
            model = embedded_with.get(self.kind)
            if model is not None and ("embedding" not in stored or stored.get("embedding_model") != model):
                stored["embed_due"] = now
            elif "embedding" in stored:
                stored["embedding_hash"] = stored["content_hash"]
        if "token_count" in stored:
            stored.setdefault("token_counter", "given")
        elif content is not None:
            stored["token_count"] = estimate(content)
            stored["token_counter"] = ESTIMATE_COUNTER
        return stored
