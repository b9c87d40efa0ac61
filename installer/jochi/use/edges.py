"""Edges with a confidence: saying that they were observed, and what waits to be charged (docs/reference/edges.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from jochi.database.batches import batch_name, chunks
from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.graph.driver_values import to_python
from jochi.use.salience import Salience

CHUNK = 2_000
"""Observations in one transaction."""

_SAMPLES = 3

Outcome = Literal["reinforced", "uncounted", "unknown", "undeclared", "unreadable", "wrong"]


@dataclass(frozen=True)
class Edge:
    """A relationship between two memories by their keys (`scope/id`). ``id``: of parallel ones, that with this property `id`."""

    start: str
    type: str
    end: str
    id: str | None = None

    def __str__(self) -> str:
        return f"{self.start} -{self.type}-> {self.end}" + ("" if self.id is None else f" ({self.id})")


@dataclass(frozen=True)
class ReinforceResult:
    """What became of a call: how many of its edges were reinforced, taken before (``repeated``), and not.

    ``unknown``: no such edge between live memories; ``undeclared``: the policy has no such type; ``unreadable``: its confidence
    is no number; ``uncounted``: with a salience, and used as often as one window counts already. ``samples`` names some of these.
    """

    reinforced: int
    repeated: int = 0
    unknown: int = 0
    undeclared: int = 0
    unreadable: int = 0
    uncounted: int = 0
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class WaitingEdge:
    """An edge that waits for its next charge. ``confidence`` is None where it can't be read, ``anchor`` what windows count from."""

    start: Annotated[str | None, Field(validation_alias="from")]
    end: Annotated[str | None, Field(validation_alias="to")]
    confidence: float | None
    anchor: datetime | None
    next_due: datetime


@dataclass(frozen=True)
class EdgeTypeReport:
    """Edges of one type: ``stored`` counts all of them, ``due`` those that wait; ``next_due`` is when the first one comes up.

    ``lifecycle``: what time takes from them, "confidence" or "salience".
    """

    type: str
    one_way: bool
    lifecycle: str
    stored: int
    due: int
    next_due: datetime | None
    samples: tuple[WaitingEdge, ...]


@dataclass(frozen=True)
class EdgeReport:
    """All declared types. ``walked_at``: when the last walk ended that looks for edges that something else wrote."""

    types: tuple[EdgeTypeReport, ...]
    walked_at: datetime | None


def reinforce(engine: Engine, edges: Iterable[Edge], *, now: datetime, batch: str | None = None) -> ReinforceResult:
    """Reports observations in transactions of 2,000; see `Jochi.reinforce`.

    Every chunk carries an id of its own, made from ``batch``, so that neither the driver's retries nor a caller who repeats the
    call with the same ``batch`` and the same edges reinforce twice. Raises `UsageError` for wrong input.
    """
    if isinstance(edges, Edge):
        raise UsageError("edges is one edge, not a list of them", fix="give [Edge(start, type, end)]")
    name = batch_name(batch)
    counts: Counter[str] = Counter()
    samples: list[str] = []
    for number, chunk in enumerate(chunks(map(_checked, edges), CHUNK)):
        links = [_link(edge) for edge in chunk]
        row = engine.call("edges/reinforce", {"now": now, "links": links, "batch": f"{name}/{number}"})
        if row["problem"] is not None:
            raise UsageError(row["problem"], where="reinforce", fix="see docs/reference/edges.md")
        if row["repeated"]:
            counts["repeated"] += len(chunk)
            continue
        for edge, result in zip(chunk, row["results"], strict=True):
            counts[result["outcome"]] += 1
            if result["outcome"] != "reinforced" and len(samples) < _SAMPLES:
                samples.append(f"{edge}: {result['outcome']}")
    return ReinforceResult(
        counts["reinforced"],
        counts["repeated"],
        counts["unknown"],
        counts["undeclared"],
        counts["unreadable"],
        counts["uncounted"],
        tuple(samples),
    )


def salience(engine: Engine, edges: Iterable[Edge], *, at: datetime) -> list[Salience | None]:
    """Where the salience of edges stands, in their order, in reads of 2,000; see `Jochi.edge_salience`. Raises `UsageError`."""
    found: list[Salience | None] = []
    for chunk in chunks(map(_checked, edges), CHUNK):
        row = engine.call("edges/salience", {"now": at, "links": [_link(edge) for edge in chunk]}, write=False)
        found += [
            None if entry is None else Salience.from_entry({"key": str(edge), **entry})
            for edge, entry in zip(chunk, to_python(row["edges"]), strict=True)
        ]
    return found


def _link(edge: Edge) -> dict[str, str | None]:
    return {"from": edge.start, "type": edge.type, "to": edge.end, "id": edge.id}


def _checked(edge: Edge) -> Edge:
    if not isinstance(edge, Edge) or not all(isinstance(part, str) for part in (edge.start, edge.type, edge.end)):
        raise UsageError(f"{edge!r} is no Edge", fix="give Edge('scope/id', 'SAME_ENTITY', 'scope/id')")
    return edge
