"""People, concepts and entities of a source, what is said of them and how they hang together (seed 002, Phase 2: Extraction).

What they become in the graph, and which of them are known there already, is `procedures/derive/extract`'s."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jochi.deprecation import old_names
from jochi.text.tokens import TokenCounter
from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.extract.checks import faults
from jochi_workers.derive.extract.names import NameMatch, canonical_name, match_names, name_mark, words
from jochi_workers.derive.extract.offline import offline
from jochi_workers.derive.extract.output import MOST_THINGS, ExtractionOutput, Relation, Subpoint, Thing
from jochi_workers.derive.handler import edited, stored_text
from jochi_workers.handler import Row

__all__ = [
    "DERIVATION",
    "ExtractionOutput",
    "NameMatch",
    "Relation",
    "Subpoint",
    "Thing",
    "canonical_name",
    "drop_weak",
    "match_names",
]


def drop_weak(row: Row, output: ExtractionOutput) -> ExtractionOutput:
    """Without things that are less sure than `confidence` of the row or have no more than `subpoints`, and without their relations
    (seed 002: 7 of 10, more than 2). `owner` of the row goes too: that node is the profile's."""
    owner = canonical_name(row.get("owner") or "")
    things = tuple(
        thing
        for thing in output.things
        if thing.confidence >= row["confidence"]
        and len(thing.subpoints) > row["subpoints"]
        and (thing.kind != "Person" or not owner or canonical_name(thing.name) != owner)
    )
    kept = {thing.name for thing in things}
    relations = tuple(relation for relation in output.relations if {relation.of, relation.to} <= kept)
    return ExtractionOutput(things=things, relations=relations)


def _words(row: Row) -> Mapping[str, Any]:
    return {name: row.get(name) for name in ("confidence", "subpoints", "owner")} | {"most": MOST_THINGS}


def _made(row: Row, output: ExtractionOutput, counter: TokenCounter) -> Mapping[str, Any]:
    """What `derive/extract/store` gets: things by kind and canonical name, each note once whatever it is about, and which notes
    of earlier makings weren't made again. What isn't `sure` by itself adds up with what other sources say of the same name."""
    sure = {_id(thing) for thing in drop_weak(row, output).things}
    without_owner = drop_weak({**row, "confidence": 0, "subpoints": -1}, output)
    source = row["inputs"][0]["key"]
    ids = {thing.name: _id(thing) for thing in without_owner.things}
    things: dict[str, dict[str, Any]] = {}
    notes: dict[str, dict[str, Any]] = {}
    for thing in without_owner.things:
        known_as = _id(thing)
        if known_as is None:
            continue
        name = canonical_name(thing.name, thing.kind)
        about = things.setdefault(
            known_as,
            {
                **{"id": known_as, "kind": thing.kind, "name": thing.name, "type": thing.type, "notes": []},
                **{"canonical_name": name, "confidence": thing.confidence / 10, "sure": known_as in sure},
                **{"mark": name_mark(name, row["scope"]), "statements": 0},
            },
        )
        for subpoint in thing.subpoints:
            note = _note_id(source, subpoint.text)
            notes[note] = {"id": note, "lifetime": subpoint.lifetime, **stored_text(subpoint.text, counter)}
            about["notes"].append(note)
        about["statements"] = max(about["statements"], thing.statements, len(about["notes"]))
    relations = [
        {"of": ids[one.of], "to": ids[one.to], "type": one.type, "note": one.note}
        for one in without_owner.relations
        if ids[one.of] and ids[one.to]
    ]
    there = {f"{row['scope']}/{name}" for name in notes}
    ended = [
        {"key": one["key"], "content": one["content"]}
        for one in row["there"]
        if one["key"] not in there and not edited(one)
    ]
    return {
        "things": list(things.values()),
        "notes": list(notes.values()),
        "relations": relations,
        "ended": ended,
        "name_terms": "\n".join(map(_evidence, things.values())) or None,
    }


def _evidence(thing: Mapping[str, Any]) -> str:
    """What a source says of one name, a line of its `name_terms`: by the mark others find it, by the words forgetting does."""
    said = (thing["mark"], thing["kind"], thing["confidence"], thing["statements"], *words(thing["name"]))
    return " ".join(map(str, said))


def _id(thing: Thing) -> str | None:
    """By which a thing is known in its scope; None of a name without a letter."""
    name = canonical_name(thing.name, thing.kind)
    return f"{thing.kind.lower()}:{name}" if name else None


def _note_id(source: str, text: str) -> str:
    return "note-" + hashlib.sha256(f"{source}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:20]


DERIVATION = Derivation(
    name="extract",
    folder=Path(__file__).parent,
    output=ExtractionOutput,
    offline=offline,
    faults=faults,
    example={"confidence": 7.0, "subpoints": 2, "owner": "", "most": MOST_THINGS},
    words=_words,
    made=_made,
)

__getattr__ = old_names(__name__)
