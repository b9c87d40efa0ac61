"""Whether a summary may stand in place of what it was made of (docs/reference/compression.md). Pure: no model, no database."""

from __future__ import annotations

import re

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.particulars import Fact, counted, language_of, reader, required, words
from jochi_workers.language.sentences import sentences

REASONS = (
    *("empty", "too long", "language", "lost number", "lost date", "lost identifier", "lost name"),
    *("made up number", "made up date", "made up identifier", "made up name", "made up words"),
)
"""Why a summary is rejected, in the order in which it is asked; the first counts."""

_NUMBERS = frozenset({"number", "ordinal", "version"})
_DATES = frozenset({"date", "month", "weekday", "time"})
_LEAST_SHARED = 0.5
_CAPITAL = re.compile(r"(?<![\w.])[^\W\d_a-z][\w'-]*")
_LINKED = re.compile(r"\w[\w-]*\.\w{2,}/|www\.|://", re.IGNORECASE)


def faults(original: str, summary: str, *, share: float, counter: TokenCounter, keep: bool = True) -> tuple[str, ...]:
    """The codes of all reasons against it; empty: it may be stored. ``share``: of the original's tokens, at most.

    ``keep``: nothing that matters may be lost, as where it takes the original's place.
    """
    if not summary.strip() or not words(summary):
        return ("empty",)
    found: set[str] = set()
    if counter.count(summary) > share * counter.count(original):
        found.add("too long")
    told, now = language_of(original), language_of(summary)
    if told != now and {told, now} & {"en", "de"} and "unclear" not in (told, now):
        found.add("language")
    language = reader(told)
    before, after = sentences(original), sentences(summary)
    had, has = set(counted(before, language)), set(counted(after, language))
    if keep:
        found |= {f"lost {_called(fact)}" for fact in required(before, language) - has}
    found |= {f"made up {_called(fact)}" for fact in has - had}
    known, new = words(original), words(summary)
    if any(not words(capital[0]) <= known for capital in _CAPITAL.finditer(summary) if not _begins(summary, capital)):
        found.add("made up name")
    if len(_LINKED.findall(summary)) > len(_LINKED.findall(original)):
        found.add("made up identifier")
    if len(new & known) < _LEAST_SHARED * len(new):
        found.add("made up words")
    return tuple(reason for reason in REASONS if reason in found)


def _called(fact: Fact) -> str:
    kind = fact[0].partition(" ")[0]
    if kind in _DATES:
        return "date"
    return "number" if kind in _NUMBERS or kind == "quantity" else kind


def _begins(text: str, capital: re.Match[str]) -> bool:
    """Whether a word has its capital because a sentence begins with it."""
    before = text[: capital.start()].rstrip(" \t\"'([*-")
    return not before or before[-1] in ".!?…:\n"
