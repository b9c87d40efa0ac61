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
from jochi_workers.derive.extract.key_terms import key_terms
from jochi_workers.derive.extract.messages import messages
from jochi_workers.handler import Row
from jochi_workers.language import read
from jochi_workers.language.content_types import contains_pii, content_type
from jochi_workers.language.keywords import keywords
from jochi_workers.language.sentences import sentences
from jochi_workers.models import ProviderUnusable

_log = logging.getLogger(__name__)
_MOST_WORDS = 20


def _offline(row: Row, counter: TokenCounter) -> str:
    text, room = _longer(row), row["most_tokens"]
    if row["level"] == "summary":
        return ExtractiveSummariser(counter).summarise(text, room, keep=False).text
    chosen: list[str] = []
    for word in _terms(text, row.get("whole")):
        new = words(word) - words(", ".join(chosen))
        if new and new <= words(text) and counter.count(", ".join([*chosen, word])) <= room:
            chosen.append(word)
    return ", ".join(chosen)


def _longer(row: Row) -> str:
    """The text that a level is made of: of a conversation that was observed all turns, in their order."""
    return "\n".join(each["content"] for each in row["inputs"])


def _terms(summary: str, whole: str | None) -> tuple[str, ...]:
    """What a summary is about, and nobody who speaks in it or in the whole text: as names and nouns, else in single words."""
    said = sentences(summary)
    # A summary has few lines: each name before a colon is a speaker's.
    speakers = {one.speaker for one in said} | {one.speaker for one in messages(whole or "")}
    if found := key_terms(summary, _MOST_WORDS, speakers):
        return found
    names = words(" ".join(speakers))
    rest = keywords("\n".join(one.text for one in said), language_of(summary))
    return tuple(word for word in rest if not words(word) & names)


def _faults(row: Row, output: str, counter: TokenCounter) -> tuple[str, ...]:
    """A level is shorter, so much is lost. But it may say nothing that the longer one doesn't."""
    longer = _longer(row)
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
    found = held(_longer(row), own) if own else {}
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
