"""Personal data and what else has a form of its own, by Presidio's recognisers: their patterns and checksums, without its engine.

A recogniser gets windows: short runs of a text in which its data can stand. So the work grows with the text, however it is
made, and is bounded for a text of nothing but digits.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from jochi_workers.language.extra import packages
from jochi_workers.language.reading import Personal

MOST_WINDOWS = 200
"""Windows of one text that are looked at; with more, the reading is partial."""
LONGEST_WINDOW = 80
LEAST_SCORE = 0.3

_GENERIC = "presidio_analyzer.predefined_recognizers"
# Runs of what numbers are written with, which may hold short words (`DE89 3704 …`).
_NUMBERS = re.compile(
    r"(?<![^\W_])[+(]{0,2}[A-Z]{0,6}\d[\dA-Z.:()/-]*(?:[ \u00a0](?=[(+]?[\dA-Z]{1,8})[(+]?[\dA-Z.:()/-]+)*"
)
_INNER = re.compile(r"\w[@.:]+[\w/:]")
_WORD = re.compile(r"\S{5,}")
_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Z])(?:[A-Z0-9]+[-_])*[A-Z0-9]{2,40}(?![\w-])")


class PatternMatches(NamedTuple):
    """``matches``: those by pattern, without overlaps. ``complete``: whether every window was looked at."""

    matches: tuple[Personal, ...]
    complete: bool


def match_patterns(text: str) -> PatternMatches:
    """Mail and web addresses, phone, bank and card numbers, numbers of persons, addresses of machines."""
    found: list[Personal] = []
    for count, (kind, start, end) in enumerate(_windows(text)):
        if count == MOST_WINDOWS:
            return PatternMatches(tuple(without_overlaps(found)), False)
        part = text[start:end]
        for recogniser in _recognisers()[kind]:
            if _can(recogniser, part):
                for result in recogniser.analyze(part, recogniser.supported_entities):
                    if result.score >= LEAST_SCORE:
                        first, last = start + result.start, start + result.end
                        found.append(Personal(result.entity_type, text[first:last], first, last, float(result.score)))
    return PatternMatches(tuple(without_overlaps(found)), True)


def identifiers(text: str) -> Iterator[tuple[int, int]]:
    """What looks like a number of something: capitals and digits in one word (`INC-2041`, `A380`)."""
    for found in _IDENTIFIER.finditer(text):
        yield found.start(), found.end()


def without_overlaps(found: Iterable[Personal]) -> list[Personal]:
    """Of those that overlap the surest, else the longest; in the order of the text."""
    taken = SpanSet()
    kept = [
        one
        for one in sorted(found, key=lambda each: (-each.score, each.start - each.end, each.start, each.type))
        if taken.add(one.start, one.end)
    ]
    return sorted(kept, key=lambda each: each.start)


class SpanSet:
    """Stretches of a text that don't overlap, each found by halving: their number doesn't make it slow."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def is_free(self, start: int, end: int) -> bool:
        place = bisect_left(self._starts, end)
        return place == 0 or self._ends[place - 1] <= start

    def add(self, start: int, end: int) -> bool:
        """Whether it was free; then it no longer is."""
        if not self.is_free(start, end):
            return False
        place = bisect_left(self._starts, start)
        self._starts.insert(place, start)
        self._ends.insert(place, end)
        return True


def _windows(text: str) -> Iterator[tuple[str, int, int]]:
    """("address" or "number", start, end). A long run is cut into windows that overlap by half."""
    if _INNER.search(text):
        for word in _WORD.finditer(text):
            if _INNER.search(word[0]):
                yield from _cut("address", word.start(), word.end())
    for run in _NUMBERS.finditer(text):
        if sum(map(str.isdigit, run[0])) >= 6:
            yield from _cut("number", run.start(), run.end())


def _cut(kind: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    while end - start > LONGEST_WINDOW:
        yield kind, start, start + LONGEST_WINDOW
        start += LONGEST_WINDOW // 2
    yield kind, start, end


_NEEDS = {"EMAIL_ADDRESS": "@", "URL": ".", "MAC_ADDRESS": ":"}


def _can(recogniser: Any, part: str) -> bool:
    needed = _NEEDS.get(recogniser.supported_entities[0])
    return needed is None or needed in part


@cache
def _recognisers() -> dict[str, list[Any]]:
    """Presidio's own, made once; what its addresses end with comes from the list in its package, never from the network."""
    presidio, tld = packages(_GENERIC, "tldextract")
    ends = tld.TLDExtract(suffix_list_urls=(), cache_dir=None)

    class Mail(presidio.EmailRecognizer):  # type: ignore[misc, name-defined]
        def validate_result(self, pattern_text: str) -> bool:
            return bool(ends(pattern_text).top_domain_under_public_suffix)

    numbers = (
        *(
            "PhoneRecognizer",
            "IbanRecognizer",
            "CreditCardRecognizer",
            "UsSsnRecognizer",
            "NhsRecognizer",
            "EsNifRecognizer",
        ),
        *("ItFiscalCodeRecognizer", "InAadhaarRecognizer"),
    )
    return {
        "address": [
            Mail(),
            *(getattr(presidio, name)() for name in ("UrlRecognizer", "IpRecognizer", "MacAddressRecognizer")),
        ],
        "number": [getattr(presidio, name)() for name in numbers],
    }
