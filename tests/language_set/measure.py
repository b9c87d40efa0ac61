"""The set, read and compared: a statement counts as right where subject, verb, object, negation and modality are those written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from jochi_workers.language import Reading, read_all

_FILE = Path(__file__).with_name("sentences.txt")
Said = tuple[str, str, str, str]
"""Subject, verb, object, marks, without case; `-` for nothing."""


class Example(NamedTuple):
    """``kind``: its heading."""

    kind: str
    text: str
    expected: tuple[Said, ...]


class Figures(NamedTuple):
    """How many statements are right, said and expected."""

    right: int
    said: int
    expected: int

    @property
    def precision(self) -> float:
        return self.right / self.said

    @property
    def recall(self) -> float:
        return self.right / self.expected


def examples() -> list[Example]:
    """All of them; a statement has three parts, and marks where it isn't stated plainly."""
    found: list[Example] = []
    kind = ""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = line[3:]
        elif line.startswith("  "):
            subject, verb, object_, *marks = (part.strip() for part in line.casefold().split("|"))
            last = found[-1]
            said = (subject, verb, object_, marks[0] if marks else "")
            found[-1] = last._replace(expected=(*last.expected, said))
        elif line and not line.startswith("#"):
            found.append(Example(kind, line, ()))
    return found


def said_by(reading: Reading) -> list[Said]:
    """Its statements as the file writes them."""
    return [
        (
            one.subject.text.casefold() if one.subject else "-",
            one.verb,
            one.object.text.casefold() if one.object else "-",
            " ".join(filter(None, ("not" if one.negated else "", one.modality))),
        )
        for one in reading.statements
    ]


def compared(chosen: Sequence[Example]) -> Iterator[tuple[Example, Counter[Said], Counter[Said]]]:
    """Each with what is said too much and what is missing."""
    for example, reading in zip(chosen, read_all(one.text for one in chosen), strict=True):
        said, expected = Counter(said_by(reading)), Counter(example.expected)
        yield example, said - expected, expected - said


def figures(chosen: Sequence[Example]) -> Figures:
    right = said = expected = 0
    for example, too_much, missing in compared(chosen):
        right += len(example.expected) - missing.total()
        said += len(example.expected) - missing.total() + too_much.total()
        expected += len(example.expected)
    return Figures(right, said, expected)
