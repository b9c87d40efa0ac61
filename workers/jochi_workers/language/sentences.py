"""Where sentences begin and end, by rules that hold for many languages: the only home of this question."""

from __future__ import annotations

import re
from typing import NamedTuple

import regex


class Sentence(NamedTuple):
    """``speaker``: what stands before it with a colon at the head of its line, or empty. ``line``: its number, from 0.
    ``start``: where its text begins in the whole."""

    text: str
    speaker: str
    line: int
    start: int = 0


SPEAKER = regex.compile(r"([^\W\d_][\w.'-]*(?: [^\W\d_][\w.'-]*){0,3}): +(?=\S)")
"""Who speaks, at the head of a line, up to where the words begin."""
STAMP = r"\[\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?\] *"
"""When something was said, at the head of a line of a source's text."""
_END = re.compile(
    r"(?<=[.!?…])[\"')\]]*\s+(?=[\"'(\[]*[^\W_])|(?<=[.!?…])[\"')\]]+\s+|(?<=[。！？؟।])[\"')\]」』）]*\s*(?=\S)"
)
_NO_END = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|\d{1,2}|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|No|Nr|vs|etc|approx|ca|bzw|usw|e\.g|i\.e|z\.B|d\.h)\.$",
    re.IGNORECASE,
)
_LONGEST_NO_END = 9


def sentences(text: str) -> list[Sentence]:
    """The sentences of ``text``, line by line, in time that grows with it. An abbreviation, an initial, an ordinal end none."""
    found: list[Sentence] = []
    place = 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        whole = line.strip()
        offset = place + (len(line) - len(line.lstrip()))
        place += len(line)
        head = SPEAKER.match(whole)
        speaker = head[1] if head else ""
        start = head.end() if head else 0
        first = start
        for end in _END.finditer(whole, start):
            # What stands before the line's own text is no part of it.
            tail = whole[max(first, end.start() - _LONGEST_NO_END) : end.start()]
            if not _NO_END.search(tail):
                _add(found, whole, (start, end.end()), speaker, number, offset)
                start = end.end()
        _add(found, whole, (start, len(whole)), speaker, number, offset)
    return found


def _add(found: list[Sentence], line: str, place: tuple[int, int], speaker: str, number: int, offset: int) -> None:
    part = line[place[0] : place[1]]
    if text := part.strip():
        found.append(Sentence(text, speaker, number, offset + place[0] + len(part) - len(part.lstrip())))
