"""What was learned together: memory boxes and traces (seed 003, Memory Box Lifecycle; docs/reference/observing.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.graph.driver_values import to_python


@dataclass(frozen=True)
class Box:
    """A box. ``state``: open or sealed, then ``seal_reason`` says why."""

    key: str
    topics: tuple[str, ...]
    state: str
    memory_count: int
    last_added_at: datetime
    seal_reason: str | None


@dataclass(frozen=True)
class BoxMember:
    """A memory in a box."""

    key: str
    kind: str
    content: str | None
    tier: str | None
    state: str | None
    box: str
    category: str | None
    said_at: datetime


@dataclass(frozen=True)
class BoxContents:
    """``boxes``: the box itself, or those of a trace, the earliest first. ``memories``: in the order in which they were said."""

    key: str
    topics: tuple[str, ...]
    boxes: tuple[Box, ...]
    memories: tuple[BoxMember, ...]


def box_contents(engine: Engine, key: str, *, include_superseded: bool = False, limit: int = 200) -> BoxContents:
    """What lies in a memory box, or in all boxes of a trace (`scope/id` of either), in the order in which it was said.

    Facts that don't hold (any more) on request. Writes nothing. `UsageError` where there is no such box or trace.
    """
    request: dict[str, Any] = {"key": key, "include_superseded": include_superseded, "limit": limit}
    row = to_python(engine.call("memory/boxed", request, write=False))
    if row["kind"] is None:
        raise UsageError(
            f"{key!r} is no box and no trace", fix="`jochi recall` finds them: --kind MemoryBox, --kind Trace"
        )
    boxes = tuple(Box(**{**box, "topics": tuple(box["topics"] or ())}) for box in row["boxes"])
    return BoxContents(key, tuple(row["topics"]), boxes, tuple(BoxMember(**each) for each in row["memories"]))
