"""The labelled contexts, read and compared: `python -m tests.content_types` prints what differs."""

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


def compared(chosen: Sequence[Example]) -> list[tuple[Example, str | None]]:
    """Each with the type that it was taken for."""
    readings = read_all(one.text for one in chosen)
    return [(one, content_type(reading)) for one, reading in zip(chosen, readings, strict=True)]
