"""The labelled contexts and messages, read and compared: `python -m tests.content_types` prints what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from jochi_workers.language import read_all
from jochi_workers.language.content_types import content_type


class Example(NamedTuple):
    """``held_back``: it wasn't looked at while the rules were written."""

    type: str
    text: str
    held_back: bool


def examples() -> list[Example]:
    found: list[Example] = []
    seen: Counter[str] = Counter()
    for line in Path(__file__).with_name("contexts.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            type, _, text = line.partition(": ")
            seen[type] += 1
            found.append(Example(type, text, seen[type] % 2 == 0))
    return found


class Message(NamedTuple):
    """``fitting``: the types that it may be taken for; `none` for no type."""

    language: str
    fitting: frozenset[str]
    text: str
    held_back: bool


def messages() -> list[Message]:
    """Of teams and families, in four languages."""
    found: list[Message] = []
    for name in ("messages", "messages_held_back"):
        for line in Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                head, _, text = line.partition(": ")
                language, _what, *fitting = head.split()
                found.append(Message(language, frozenset(fitting), text, name != "messages"))
    return found


KEYWORDS = {
    "task": "please can bitte peux s'il puedes por",
    "preference": "like love prefer mag liebe mieux aime gusta prefiero",
    "insight": "because since decided agreed weil beschlossen entschieden parce décidé choisi porque decidido elegimos",
}
"""What a naive way looks for; what has none of these words is chitchat, as in the seed, where what is nothing else is."""


def by_keyword(text: str) -> str:
    """The type of which most keywords stand in ``text``."""
    words = Counter(text.casefold().replace(",", " ").replace(".", " ").split())
    counts = {type: sum(words[word] for word in keywords.split()) for type, keywords in KEYWORDS.items()}
    best = max(counts, key=lambda type: counts[type])
    return best if counts[best] else "chitchat"


class Tally(NamedTuple):
    right: int
    wrong: int
    unknown: int


def tallied(chosen: Sequence[Message], taken: Sequence[str | None]) -> Tally:
    """``taken``: the type of each; None: none."""
    pairs = [(one, found or "none") for one, found in zip(chosen, taken, strict=True)]
    right = sum(found in one.fitting for one, found in pairs)
    unknown = sum(found == "none" and "none" not in one.fitting for one, found in pairs)
    return Tally(right, len(pairs) - right - unknown, unknown)


def compared(chosen: Sequence[Example]) -> list[tuple[Example, str | None]]:
    """Each with the type that it was taken for."""
    readings = read_all(one.text for one in chosen)
    return [(one, content_type(reading)) for one, reading in zip(chosen, readings, strict=True)]
