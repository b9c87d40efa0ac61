"""What sources that tell of the same things come to (seed 002, Memory Consolidation; docs/reference/meaning.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.extractive import most_telling
from jochi_workers.derive.compress.model_summariser import word_limit
from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.storylines import source_texts
from jochi_workers.handler import Row
from jochi_workers.language.sentences import sentences


def _offline(row: Row, counter: TokenCounter) -> str:
    """Of the sentences that name one of the things, or of all where none does, those that say most of what they share, as they
    stand, each once, in the order of time."""
    said_once = {
        part.text: f"{part.speaker}: {part.text}" if part.speaker else part.text
        for part in sentences(source_texts(row))
    }
    names = [name.casefold() for name in row["names"]]
    about = [said for said in said_once.values() if any(name in said.casefold() for name in names)] or list(
        said_once.values()
    )
    return most_telling("\n".join(about), row["most_tokens"], counter)


def _faults(row: Row, output: str, counter: TokenCounter) -> tuple[str, ...]:
    """It may say nothing that its sources don't, but for the names of the things."""
    return faults(f"{', '.join(row['names'])}\n{source_texts(row)}", output, share=1.0, counter=counter, keep=False)


def _words(row: Row) -> Mapping[str, Any]:
    return {"names": ", ".join(row["names"]) or "the same things", "words": word_limit(row["most_tokens"])}


def _properties(row: Row, _output: str) -> Mapping[str, Any]:
    return {
        **{"lifetime": "forever", "added_by": "meaning"},
        **{"source_count": len({key.partition("#")[0] for key in row["sources"]})},
        **{"first_source_at": row["first_at"], "last_source_at": row["last_at"]},
    }


DERIVATION = Derivation(
    name="meaning",
    folder=Path(__file__).parent,
    output=str,
    offline=_offline,
    faults=_faults,
    example={"names": "somebody", "words": 10**9},
    words=_words,
    properties=_properties,
)
