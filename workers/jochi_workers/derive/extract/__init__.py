"""People, concepts and entities of a source, what is said of them and how they hang together (seed 002, Phase 2: Extraction).

What they become in the graph, and which of them are known there already, is `procedures/derive/extract`'s."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.extract.checks import faults
from jochi_workers.derive.extract.names import Alike, alike, canonical_name
from jochi_workers.derive.extract.offline import offline
from jochi_workers.derive.extract.output import MOST_THINGS, Extracted, Relation, Subpoint, Thing
from jochi_workers.handler import Row

__all__ = [
    "DERIVATION",
    "Alike",
    "Extracted",
    "Relation",
    "Subpoint",
    "Thing",
    "alike",
    "canonical_name",
    "worth_keeping",
]


def worth_keeping(row: Row, output: Extracted) -> Extracted:
    """Without things that are less sure than `confidence` of the row or have no more than `subpoints`, and without their relations
    (seed 002: 7 of 10, more than 2)."""
    things = tuple(
        thing
        for thing in output.things
        if thing.confidence >= row["confidence"] and len(thing.subpoints) > row["subpoints"]
    )
    kept = {thing.name for thing in things}
    relations = tuple(relation for relation in output.relations if {relation.of, relation.to} <= kept)
    return Extracted(things=things, relations=relations)


def _words(row: Row) -> Mapping[str, Any]:
    return {name: row.get(name) for name in ("confidence", "subpoints", "owner")} | {"most": MOST_THINGS}


def _text(output: Extracted) -> str:
    """What is said, a thing a paragraph."""
    return "\n\n".join("\n".join((thing.name, *(one.text for one in thing.subpoints))) for thing in output.things)


DERIVATION = Derivation(
    name="extract",
    folder=Path(__file__).parent,
    output=Extracted,
    offline=offline,
    faults=faults,
    example={"confidence": 7.0, "subpoints": 2, "owner": "", "most": MOST_THINGS},
    words=_words,
    text=_text,
)
