"""Whether what was learned may be stored: nothing that the turns don't say. Pure: no model, no database."""

from __future__ import annotations

import math

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import REASONS as _REASONS
from jochi_workers.derive.compress.checks import faults as summary_faults
from jochi_workers.derive.extract.checks import orders, sentences_without_orders
from jochi_workers.derive.extract.names import bare, words
from jochi_workers.derive.learn.output import LearningOutput
from jochi_workers.derive.learn.passages import CUT
from jochi_workers.handler import Row
from jochi_workers.language.sentences import sentences

REASONS = (
    "instruction",
    "no such turn",
    "no such statement",
    "made up name",
    *(each for each in _REASONS if each != "made up name"),
)
"""Why it is rejected, in the order in which it is asked; the first counts."""


def faults(row: Row, output: LearningOutput, counter: TokenCounter) -> tuple[str, ...]:
    """The codes of all reasons against it; empty: it may be stored. Nothing of a text stands in them."""
    found: set[str] = set()
    # What somebody answers or takes up may have been said just before.
    source = "\n".join((*row["before"][-1:], *(each["content"] for each in row["inputs"])))
    # What speaks to whoever learns is no source of anything.
    cleaned = "\n".join(" ".join(sentences_without_orders(line)) for line in source.splitlines())
    folded = f" {bare(' '.join(words(cleaned)))} "
    texts = [fact.text for fact in output.facts]
    if any(map(orders, texts)):
        found.add("instruction")
    if any(fact.turn > len(row["turns"]) for fact in output.facts):
        found.add("no such turn")
    if any(fact.of is not None and fact.of > len(row["statements"]) for fact in output.facts):
        found.add("no such statement")
    names = [name for fact in output.facts for name in (*fact.entities, fact.subject, fact.value) if name]
    if not all(name in cleaned or f" {bare(' '.join(words(name)))} " in folded for name in names):
        found.add("made up name")
    plain = " ".join(cleaned.split())
    new = [
        text
        for text in texts
        if any(" ".join(one.text.split()).removesuffix(f" {CUT}") not in plain for one in sentences(text))
    ]
    if new:
        found |= {*summary_faults(cleaned, "\n".join(new), share=math.inf, counter=counter, keep=False)}
    return tuple(reason for reason in REASONS if reason in found)


def _plain(sentence: str) -> str:
    return " ".join(sentence.split()).removesuffix(f" {CUT}")
