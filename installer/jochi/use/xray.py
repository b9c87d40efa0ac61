"""What the score of a recalled memory is made of (seed 003, recall X-ray; docs/reference/recall.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jochi import clock
from jochi.database.engine import Engine


@dataclass(frozen=True)
class Part:
    """One term of a sum, by its name or by the key of the memory that it comes from."""

    name: str
    amount: float


@dataclass(frozen=True)
class XRay:
    """What the ranking made a score of.

    ``parts`` add up to the score. Of a hit: vector and text (each scaled by its best), state and disputed (of facts),
    replaces (up to the place of an older statement that it may replace); of
    what edges lead to: activation, what remains of it after the refinement, and by key the memories that the rest flows from.
    ``seeds``: of what edges lead to, the hits by key, which add up to its activation. The others don't move the score:
    ``salience`` 0–1 now, ``mvs`` (Memory Value Score), ``value`` 0–1 with ``retention`` KEEP, SUMMARIZE or ARCHIVE; each None
    where the memory has none.
    """

    parts: tuple[Part, ...]
    seeds: tuple[Part, ...] = ()
    salience: float | None = None
    mvs: float | None = None
    value: float | None = None
    retention: str | None = None


def xray_of(row: dict[str, Any]) -> XRay | None:
    """The parts out of a row of `memory/recall` or `memory/recall_spread`; None where they weren't asked for."""
    parts, seeds = row.pop("parts"), row.pop("seeds", None)
    return None if parts is None else XRay(_parts(parts), _parts(seeds or ()))


def values_of(engine: Engine, keys: list[str]) -> dict[str, dict[str, Any]]:
    """By key what memories are worth beside their score."""
    rows = engine.call("memory/salience", {"now": clock.now(), "keys": keys}, write=False)["memories"]
    return {
        row["key"]: {"value": row["value_score"], **{name: row[name] for name in ("salience", "mvs", "retention")}}
        for row in rows
    }


def with_values(xray: XRay | None, more: Mapping[str, Any] | None) -> XRay | None:
    """With what the memory is worth."""
    return None if xray is None else replace(xray, **(more or {}))


def _parts(rows: Iterable[Mapping[str, Any]]) -> tuple[Part, ...]:
    return tuple(Part(row["name"], row["amount"]) for row in rows)
