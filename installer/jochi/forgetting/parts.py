"""The parts of a text that a person may choose from, where it can't be told for sure which of its words say what.

They are parted by marks and by the words that join in any language (`clause_words.toml`), whether or not a clause ends there: that
is too weak to act on by itself, and good enough to be shown, each beside what would be left.
"""

from __future__ import annotations

import itertools
import unicodedata
from functools import cache
from typing import NamedTuple

import regex

from jochi.forgetting.clauses import is_verb, sentences, subject_of
from jochi.forgetting.statements import Statement
from jochi.forgetting.words import words
from jochi.text.kept import kept
from jochi.toml import beside

MOST = 12
"""Parts of one text; one with more is offered as a whole."""
_LONGEST = 4_000
"""Characters of a text that a person looks through for its parts."""

_WIDE = "、，；：。"
_NARROW = ",;:،؛—–"
_ENDS = regex.compile(r"[\s.\p{STerm}\"'”’]+$")


class Part(NamedTuple):
    """``text``: its own words. ``rest``: what the whole text says without it. ``start``, ``stop``: where it stands in the composed
    (NFC) text. ``full_text``: with the subject that it shares, where that is told."""

    text: str
    rest: str
    start: int
    stop: int
    full_text: str

    def as_statement(self) -> Statement:
        """As what is taken out of a text."""
        return Statement(self.text, self.full_text, ((self.start, self.stop),), (), ambiguous=True)


@kept(1_024)
def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of ``text`` in their order; none where it has one only, or more than anybody would read."""
    text = unicodedata.normalize("NFC", text)
    if len(text) > _LONGEST:
        return ()
    found: list[Part] = []
    at = 0
    for sentence in sentences(text):
        found += _parts(text, at, at + len(_ENDS.sub("", sentence)), at + len(sentence))
        at += len(sentence)
    if len(found) == 1 or len(found) > MOST:
        return ()
    return tuple(found)


def part_named(text: str, wanted: str) -> Part | None:
    """The part of ``text`` that has the words ``wanted``; None where there is none, or more than one."""
    own = [word.folded for word in words(wanted)]
    found = [one for one in parts_of(text) if [word.folded for word in words(one.text)] == own]
    return found[0] if len(found) == 1 else None


def _parts(text: str, start: int, stop: int, following: int) -> list[Part]:
    """Those of one sentence, which ends at ``stop`` but for its marks; the next one begins at ``following``."""
    edges = [(start, start)]
    for join in _joins().finditer(text, start, stop):
        begin, end = join.start(), join.end()
        if len(edges) > MOST:
            break
        if words(text[edges[-1][1] : begin]) and any(map(str.isalnum, text[end:stop])):
            edges.append((begin, end))
    edges.append((stop, stop))
    found = []
    subject = subject_of(text[start : edges[1][0]]) or ""

    def whole(part: str) -> str:
        """A part with the subject of the first one, where it begins with a verb."""
        own = words(part)
        return f"{subject} {part}" if subject and own and is_verb(own[0].folded) else part

    for number, ((begin, own), (end, behind)) in enumerate(itertools.pairwise(edges)):
        if number:
            rest = text[:begin] + text[end:]  # with the join before it
        elif end == stop:
            rest = text[:own] + text[following:]
        else:
            left = whole(text[behind:following])
            head = left[:1].upper() if text[own : own + 1].isupper() else left[:1]
            rest = text[:own] + head + left[1:] + text[following:]
        found.append(Part(text[own:end], rest.strip(), own, end, whole(text[own:end]) if number else text[own:end]))
    return found


@cache
def _joins() -> regex.Pattern[str]:
    data = beside(__file__, "clause_words.toml")
    others = data["other"].values()
    links = {word for name, each in data.items() if name != "other" for word in each["joins"]}
    links |= {word for each in others for word in each["links"]}
    spaced = "|".join(sorted((regex.escape(word) for word in links), key=len, reverse=True))
    endings = "|".join(regex.escape(end) for end in data["other"]["korean"]["behind"])
    thai = r"(?<=\p{Thai})\s+(?=\p{Thai})|(?<=\p{Thai})และ(?=\p{Thai})"
    return regex.compile(
        rf"(?<!\s)\s*(?:[{_WIDE}]\s*|[{_NARROW}](?=\s)\s*|\s[-—–]\s)(?:(?:{spaced})\s+)?"
        rf"|\s(?:{spaced})\s+|(?<=(?:{endings}))\s+(?=\p{{Hangul}})|{thai}",
        regex.IGNORECASE,
    )
