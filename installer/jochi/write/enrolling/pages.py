"""Walks the nodes of a label in stretches of bounded length, without an index read held open between them (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jochi.compile.rendering import render_for_label
from jochi.database.database import Database

CHUNK = 50_000
"""Nodes of one read. Their element ids are kept until they are written; reading starts again after them."""


class NodeRange(NamedTuple):
    """Part of a label's nodes: element ids of those not curated, of those an enrolment made, and how many others."""

    seen: int
    fresh: list[str]
    enrolled: list[str]
    others: int


def node_ranges(database: Database, label: str, chunk: int = CHUNK) -> Iterator[NodeRange]:
    """All nodes with ``label``, oldest first. What others delete meanwhile may hide a few: walk again until nothing is new."""
    text = render_for_label("enrol/spool", label)
    skip = 0
    while True:
        row: dict[str, Any] = database.run(text, {"skip": skip, "chunk": chunk}, write=False)[0]
        yield NodeRange(row["seen"], row["fresh"], row["ours"], row["others"])
        if row["seen"] < chunk:
            return
        skip += row["seen"]


def pages(ids: Sequence[str], size: int) -> Iterator[list[str]]:
    """``ids`` in lists of at most ``size``."""
    for start in range(0, len(ids), size):
        yield list(ids[start : start + size])
