"""Levels of a context: of its whole text a summary, of that keywords (seed 001, Hierarchical Summarization Policy). On the way it
says what the text holds (seed 001, Enhanced CompressedContext Node)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.extractive import ExtractiveSummariser
from jochi_workers.derive.compress.model_summariser import word_limit
from jochi_workers.derive.compress.particulars import language_of, words
from jochi_workers.derive.derivation import Derivation
from jochi_workers.handler import Row
from jochi_workers.language import read
from jochi_workers.language.content_types import contains_pii, content_type
from jochi_workers.language.keywords import keywords
from jochi_workers.models import ProviderUnusable

_log = logging.getLogger(__name__)


def _offline(row: Row, counter: TokenCounter) -> str:
    text, room = row["inputs"][0]["content"], row["most_tokens"]
    if row["level"] == "summary":
        return ExtractiveSummariser(counter).summarise(text, room, keep=False).text
    chosen: list[str] = []
    for word in keywords(text, language_of(text)):
        new = words(word) - words(", ".join(chosen))
        if new and counter.count(", ".join([*chosen, word])) <= room:
            chosen.append(word)
    return ", ".join(chosen)


def _faults(row: Row, output: str, counter: TokenCounter) -> tuple[str, ...]:
    """A level is shorter, so much is lost. But it may say nothing that the longer one doesn't."""
    longer = row["inputs"][0]["content"]
    if row["level"] == "keywords":
        # Single words are no sentences that could be read.
        return () if words(output) <= words(longer) else ("made up words",)
    return faults(longer, output, share=1.0, counter=counter, keep=False)


def _words(row: Row) -> Mapping[str, Any]:
    return {"level": row["level"], "words": word_limit(row["most_tokens"])}


def _properties(row: Row, _output: str) -> Mapping[str, Any]:
    """`content_type` and `contains_pii` of the whole text, as far as no app has said them; keywords have those of their summary.
    `derived_marks` names those that were found here: they are found anew in another text."""
    own = row["own"]
    found = held(row["inputs"][0]["content"], own) if own else {}
    return {**row["said"], **found, "derived_marks": own or None}


def held(text: str, names: Sequence[str]) -> dict[str, Any]:
    """What the text holds, by the names of properties; None where it can't be told, as without the extra [language]."""
    try:
        reading = read(text)
    except ProviderUnusable as missing:
        say_once(str(missing))
        return dict.fromkeys(names)
    found = {"content_type": content_type(reading), "contains_pii": contains_pii(reading)}
    return {name: found[name] for name in names}


@cache
def say_once(why: str) -> None:
    """Logs what is missing here, not again for each text."""
    _log.warning("made without keywords, content_type and contains_pii: %s", why)


DERIVATION = Derivation(
    name="levels",
    folder=Path(__file__).parent,
    output=str,
    offline=_offline,
    faults=_faults,
    example={"level": "summary", "words": 10**9},
    words=_words,
    properties=_properties,
)
