"""Of a raw source a summary, keywords and tags (seed 002, Phase 1). The vector of the summary stands for the source."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import regex
from pydantic import BaseModel, ConfigDict, Field

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.extractive import most_telling
from jochi_workers.derive.compress.model_summariser import word_limit
from jochi_workers.derive.compress.particulars import words
from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.extract.key_terms import key_terms
from jochi_workers.derive.extract.messages import without_attachments
from jochi_workers.derive.levels import held, say_once
from jochi_workers.handler import Row
from jochi_workers.models import ProviderUnusable

_TAG = regex.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,2}")
"""A tag is one to three words: it states nothing."""


class ProcessingOutput(BaseModel):
    """What is made of a source."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary: Annotated[str, Field(max_length=4_000)]
    keywords: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=20)] = Field(default_factory=list)
    tags: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=10)] = Field(default_factory=list)


def _offline(row: Row, counter: TokenCounter) -> ProcessingOutput:
    """The sentences that say most, or a short text as it is. Its tags are what is known of the source and its text."""
    text = row["inputs"][0]["content"]
    found: tuple[str, ...] = ()
    try:
        found = key_terms(text)
    except ProviderUnusable as missing:
        say_once(str(missing))
    # That nothing else was found is no evidence of chitchat.
    known = (row["source_type"], row["context_type"], held(without_attachments(text), ["content_type"])["content_type"])
    tags = dict.fromkeys(tag.replace("-", " ") for tag in known if tag and tag != "chitchat")
    return ProcessingOutput(
        summary=shortened(text, row["most_tokens"], counter),
        keywords=list(found),
        tags=[tag for tag in tags if _TAG.fullmatch(tag)],
    )


def shortened(text: str, room: int, counter: TokenCounter) -> str:
    """The sentences that say most. Where none is short enough, the beginning of the first."""
    whole = most_telling(text, room, counter)
    if whole.strip():
        return whole
    all_words = text.split()
    most = max(1, min(len(all_words), room))
    while most > 1 and counter.count(" ".join(all_words[:most]) + " …") > room:
        most = most * 2 // 3
    return " ".join(all_words[:most]) + " …"


def _faults(row: Row, output: ProcessingOutput, counter: TokenCounter) -> tuple[str, ...]:
    """A summary is short, so much is lost. But nothing may be stated that the source doesn't say."""
    text = row["inputs"][0]["content"]
    if not words(", ".join(output.keywords)) <= words(text):
        return ("made up words",)
    if not all(_TAG.fullmatch(tag) for tag in output.tags):
        return ("a tag that isn't a word or two",)
    return faults(text, output.summary, share=1.0, counter=counter, keep=False)


def _words(row: Row) -> Mapping[str, Any]:
    return {"what": row["source_type"] or "a text", "words": word_limit(row["most_tokens"]) // 2}


def _properties(row: Row, output: ProcessingOutput) -> Mapping[str, Any]:
    text = row["inputs"][0]["content"]
    found = held(text, ["contains_pii"]) | held(without_attachments(text), ["content_type"])
    return {"keywords": output.keywords, "tags": output.tags, **found}


DERIVATION = Derivation(
    name="process",
    folder=Path(__file__).parent,
    output=ProcessingOutput,
    offline=_offline,
    faults=_faults,
    example={"what": "conversation", "words": 10**9},
    words=_words,
    text=lambda output: str(output.summary),
    properties=_properties,
)
