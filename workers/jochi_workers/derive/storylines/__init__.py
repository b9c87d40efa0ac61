"""Storylines: what goes on around one person, concept or entity for a time, in two or three sentences (seed 002, Nightly Storyline
Promotion and Refresh). Themes are made in the same way, of storylines (`derive.macros`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.extractive import most_telling
from jochi_workers.derive.compress.model_summariser import word_limit
from jochi_workers.derive.derivation import Derivation
from jochi_workers.handler import Row


def source_texts(row: Row) -> str:
    """All that an output is made of."""
    return "\n".join(each["content"] for each in row["inputs"])


def offline(row: Row, counter: TokenCounter) -> str:
    """The sentences that say most, as they stand, in the order of time; all of it where there is room."""
    return most_telling(source_texts(row), row["most_tokens"], counter)


def story_faults(row: Row, output: str, counter: TokenCounter) -> tuple[str, ...]:
    """It may say nothing that its sources don't, but for the name of its anchor."""
    return faults(f"{row['name'] or ''}\n{source_texts(row)}", output, share=1.0, counter=counter, keep=False)


def words(row: Row) -> Mapping[str, Any]:
    """What the prompt speaks of."""
    return {"name": row["name"] or "somebody", "words": word_limit(row["most_tokens"])}


DERIVATION = Derivation(
    name="storylines",
    folder=Path(__file__).parent,
    output=str,
    offline=offline,
    faults=story_faults,
    example={"name": "somebody", "words": 10**9},
    words=words,
)
