"""Takes the clause that says something out of a text and leaves the rest, where that can be done without making nonsense.

What is kept is kept word for word. A sentence that says it goes as a whole, unless it goes on from a clause that doesn't with
a word that begins one (`clause_words.toml`): then only the clauses that say it go. The first clause of a sentence
holds its subject, so it is never cut out of a sentence whose rest stays.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jochi.forgetting.words import folded, says, words

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SENTENCE = re.compile(
    r"[^\n.!?。！？]*(?:[.!?。！？](?![\s\"'”’)\]]|$)[^\n.!?。！？]*)*[.!?。！？]*[\"'”’)\]]*(?:\s+|$)|\n+"
)
_LEAST = 2
"""Words that must be left, or it is no statement any more."""

_TITLE = re.compile(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|Nr|No|e\.g|i\.e|z\.B|ca|vs)\.\s*$")
"""Ends in a point that ends no sentence."""

_SHORT = re.compile(r"(?:^|[\s(])(?:St|Ave|Rd|Blvd|\w*[Ss]tr)\.\s*$")
"""Ends in a point that may end one: where the next word begins a clause."""


@cache
def _lists() -> tuple[re.Pattern[str], frozenset[str]]:
    data = tomllib.loads(Path(__file__).with_name("clause_words.toml").read_text(encoding="utf-8"))
    links = sorted({word for each in data.values() for word in each["joins"]}, key=len, reverse=True)
    begins = frozenset(word for each in data.values() for word in each["begins"])
    joined = "|".join(re.escape(word) for word in links)
    return re.compile(rf"\s*(?:[,;]\s*(?:(?:{joined})\s+)?|\s(?:{joined})\s+)", re.IGNORECASE), begins


def without(text: str, wanted: Sequence[str]) -> str | None:
    """``text`` without the clauses that say the phrase; None where nothing sensible would be left."""
    left = [part for part in (_cut(sentence, wanted) for sentence in sentences(text)) if part is not None]
    rest = "".join(left).strip()
    if not says(text, wanted) or says(rest, wanted) or len(words(rest)) < _LEAST:
        return None
    return rest


def sentences(text: str) -> list[str]:
    """The sentences with the blanks behind them; together they are the text."""
    found: list[str] = []
    for match in _SENTENCE.finditer(text):
        if found and not found[-1].endswith("\n") and _goes_on(found[-1], match[0]):
            found[-1] += match[0]
        elif match[0]:
            found.append(match[0])
    return found


def _goes_on(sentence: str, following: str) -> bool:
    """Whether what looks like the end of a sentence is none: too long a sentence only takes more away."""
    if not following or not following[0].isalnum() or _TITLE.search(sentence):
        return True
    if following[0].islower() or following[0].isdigit():
        return True
    first = words(following[:40])
    return bool(_SHORT.search(sentence)) and not (first and first[0].said in _lists()[1])


def _cut(sentence: str, wanted: Sequence[str]) -> str | None:
    if not says(sentence, wanted):
        return sentence
    parts, joins = _clauses(sentence)
    if says(parts[0], wanted) or len(parts) == 1:
        return None
    kept = parts[0]
    for part, join in zip(parts[1:], joins, strict=True):
        if not says(part, wanted):
            kept += join + part
    if says(kept, wanted):  # across the seam of two clauses
        return None
    tail = re.search(r"[.!?。！？]*[\"'”’)\]]*\s*$", sentence)
    end = tail[0] if tail else ""
    body = re.sub(r"[,;.!?。！？\s]+$", "", kept)
    return body + end if end.strip() else body + (". " if end else "")


def _clauses(sentence: str) -> tuple[list[str], list[str]]:
    """The clauses of a sentence and what joins them: cut only before a word that begins a clause."""
    pattern, begins = _lists()
    parts, joins, start = [], [], 0
    for match in pattern.finditer(sentence):
        following = words(sentence[match.end() : match.end() + 40])
        if match.start() == 0 or not following or following[0].start != 0 or following[0].said not in begins:
            continue
        if not sentence[match.end()].islower() and folded(sentence[match.end()]) != "i":
            continue
        parts.append(sentence[start : match.start()])
        joins.append(match[0])
        start = match.end()
    parts.append(sentence[start:])
    return parts, joins
