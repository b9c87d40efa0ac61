"""Storylines: what goes on around one person, concept or entity for a time, in two or three sentences (seed 002, Nightly Storyline
Promotion and Refresh). Themes are made in the same way, of storylines (`derive.macros`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.extractive import most_telling
from jochi_workers.derive.compress.model_summariser import word_limit
from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.extract.messages import messages
from jochi_workers.derive.extract.names import canonical_name
from jochi_workers.derive.extract.names import words as words_of
from jochi_workers.guard.lists import by_language
from jochi_workers.handler import Row
from jochi_workers.language.reader import language_of
from jochi_workers.language.sentences import sentences

_LEAST_WORDS = 3
_FULL = 12
"""More words than this make a sentence no more telling."""
_ANCHOR = 2.0
"""What the name of what it is about counts for, in words."""


class _Event(NamedTuple):
    """What a source says happened. ``text``: with its day and who says it. ``source``: its place in time."""

    source: int
    place: int
    score: float
    text: str


def source_texts(row: Row) -> str:
    """All that an output is made of, with the days of the sources where they are known."""
    return "\n".join(_dated(each) for each in row["inputs"])


def _dated(each: Mapping[str, Any]) -> str:
    return f"{each['day']}\n{each['content']}" if each.get("day") else str(each["content"])


def offline(row: Row, counter: TokenCounter) -> str:
    """The sentences that say most, as they stand, in the order of time; all of it where there is room."""
    return most_telling(source_texts(row), row["most_tokens"], counter)


def events(row: Row, counter: TokenCounter) -> str:
    """What happened, in the order of time: of each source the sentence that says most, with its day and who says it, the first and
    the last source before those between; then second ones, while there is room. Questions and greetings say nothing."""
    found = [_events(number, each, row["name"] or "") for number, each in enumerate(row["inputs"])]
    last = len(found) - 1
    best = sorted((each[0] for each in found if each), key=lambda one: (one.source not in (0, last), -one.score))
    rest = sorted((one for each in found for one in each[1:]), key=lambda one: -one.score)
    chosen: list[_Event] = []
    for one in (*best, *rest):
        told = sorted((*chosen, one))
        if counter.count("\n".join(each.text for each in told)) <= row["most_tokens"]:
            chosen = told
    return "\n".join(each.text for each in chosen) or offline(row, counter)


def _events(number: int, source: Mapping[str, Any], anchor: str) -> list[_Event]:
    """Of one source, the most telling first."""
    content = str(source["content"])
    frequent = dict(by_language()).get(language_of(content), frozenset())
    name = set(canonical_name(anchor).split("-"))
    return sorted(_sentences(number, source, name, frequent), key=lambda one: -one.score)


def _sentences(number: int, source: Mapping[str, Any], anchor: set[str], frequent: frozenset[str]) -> Iterator[_Event]:
    place = 0
    for message in messages(str(source["content"])):
        head = ", ".join(each for each in (source.get("day"), message.speaker) if each)
        for one in sentences(message.text):
            own = words_of(one.text)
            place += 1
            if len(own) < _LEAST_WORDS or one.text.rstrip().endswith("?"):
                continue
            telling = min(_FULL, len({*own} - frequent)) + _ANCHOR * bool(anchor & {*own, *words_of(message.speaker)})
            text = " ".join(one.text.split())
            yield _Event(number, place, telling, f"{head}: {text}" if head else text)


def story_faults(row: Row, output: str, counter: TokenCounter) -> tuple[str, ...]:
    """It may say nothing that its sources don't, but for the name of its anchor and their days."""
    text = f"{row['name'] or ''}\n{source_texts(row)}"
    return faults(text, output, share=math.inf, counter=counter, keep=False)


def words(row: Row) -> Mapping[str, Any]:
    """What the prompt speaks of."""
    return {"name": row["name"] or "somebody", "words": word_limit(row["most_tokens"])}


DERIVATION = Derivation(
    name="storylines",
    folder=Path(__file__).parent,
    output=str,
    offline=events,
    faults=story_faults,
    example={"name": "somebody", "words": 10**9},
    words=words,
    texts=lambda row: [_dated(each) for each in row["inputs"]],
)
