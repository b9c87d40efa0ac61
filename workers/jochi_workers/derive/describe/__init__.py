"""Descriptions of people, concepts and entities out of their notes, and of what they are to others, one sentence each (seed 002,
Nightly Description Consolidation; docs/reference/descriptions.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.model_summariser import word_limit
from jochi_workers.derive.derivation import BatchPrompt, Derivation
from jochi_workers.derive.handler import stored_text
from jochi_workers.derive.process import shortened
from jochi_workers.handler import Row
from jochi_workers.language.sentences import sentences


class DescriptionOutput(BaseModel):
    """What one thing is, and what it is to each of ``relations`` of the row, in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: Annotated[str, Field(max_length=4_000)]
    relations: Annotated[list[Annotated[str, Field(max_length=2_000)]], Field(max_length=100)] = Field(
        default_factory=list
    )


def _source_texts(row: Row) -> list[str]:
    """The notes, the newest first, then what only the description so far still says."""
    notes = [each["content"] for each in row["inputs"][1:]]
    before = (row["before"] or "").splitlines()
    return [*dict.fromkeys(notes), *(line for line in before if not any(line in note for note in notes))]


def _offline(row: Row, counter: TokenCounter) -> DescriptionOutput:
    """The notes that say most, as they stand; of a concept one sentence."""
    text = shortened("\n".join(_source_texts(row)), row["tokens"], counter)
    if row["thing"] == "Concept" and (parts := sentences(text)):
        text = f"{parts[0].speaker}: {parts[0].text}" if parts[0].speaker else parts[0].text
    return DescriptionOutput(
        description=text,
        relations=[shortened(each["notes"][-1], row["sentence_tokens"], counter) for each in row["relations"]],
    )


def _faults(row: Row, output: DescriptionOutput, counter: TokenCounter) -> tuple[str, ...]:
    """Nothing may be stated that isn't in the notes, nor in the description so far."""
    if len(output.relations) != len(row["relations"]):
        return ("not a sentence for each relationship",)
    name = row["inputs"][0]["content"]
    sources = ["\n".join([name, *_source_texts(row)])]
    sources += ["\n".join([name, each["name"] or "", *each["notes"]]) for each in row["relations"]]
    rooms = [row["tokens"], *(row["sentence_tokens"] for _ in row["relations"])]
    for source, text, room in zip(sources, [output.description, *output.relations], rooms, strict=True):
        if counter.count(text) > room:
            return ("too long",)
        if found := faults(source, text, share=1.0, counter=counter, keep=False):
            return found
    return ()


def _texts(row: Row) -> list[str]:
    name, *notes = (each["content"] for each in row["inputs"])
    relations = [
        f"Relationship {number} to {each['name'] or 'somebody'} ({each['type']}):\n"
        + "\n".join(reversed(each["notes"]))
        for number, each in enumerate(row["relations"], 1)
    ]
    return [f"Name: {name}", *([f"So far: {row['before']}"] if row["before"] else []), *notes, *relations]


_KINDS = {"Person": "a person", "Concept": "an idea or topic", "Entity": "a thing with a name"}


def _heading(n: int, row: Row) -> str:
    """How one of several things is told from the one before, and what is wanted of it."""
    words = _words(row)
    related = (
        f"{words['relations']} relationships of at most {words['sentence']} words each"
        if row["relations"]
        else "no relationships"
    )
    return f"Number {n}: {_KINDS[row['thing']]}; a description of at most {words['words']} words; {related}."


def _words(row: Row) -> Mapping[str, Any]:
    return {
        "thing": row["thing"],
        "words": word_limit(row["tokens"]),
        "relations": len(row["relations"]),
        "sentence": word_limit(row["sentence_tokens"]),
    }


def _made(row: Row, output: DescriptionOutput, counter: TokenCounter) -> Mapping[str, Any]:
    pairs = zip(row["relations"], output.relations, strict=True)
    return {
        **stored_text(output.description, counter),
        "relations": [
            {**{name: each[name] for name in ("to", "type", "notes")}, "description": text} for each, text in pairs
        ],
    }


DERIVATION = Derivation(
    name="describe",
    folder=Path(__file__).parent,
    output=DescriptionOutput,
    offline=_offline,
    faults=_faults,
    example={"thing": "Concept", "words": 10**9, "relations": 10**9, "sentence": 10**9},
    words=_words,
    texts=_texts,
    made=_made,
    together=BatchPrompt(_heading),
)
