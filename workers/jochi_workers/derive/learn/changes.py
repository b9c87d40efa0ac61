"""What a new statement changes of what was known (DESIGN §16, replacement is a first-class change). Pure: no model, no database.

Two sentences speak of the same thing where they share rare words; the newer one changes the older where it says so (`no longer`,
`moved to`, `sorry, I meant …`: `speech.toml`), or gives another value of a kind that the older one has. It replaces it where
both hold; else it may replace it, and the older one stands behind it (`MAY_REPLACE`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import regex

from jochi.text.dictionary import base_form, is_known
from jochi_workers.guard import lists
from jochi_workers.language import moments
from jochi_workers.language.speech import has

_WORD = regex.compile(r"[^\W_]+(?:[._/@:#+-][^\W_]+)*|[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_PART = regex.compile(r"[^\W_]+")
_TIME = re.compile(r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2}\s?(?:uhr|am|pm|h)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,])[$€£¥]?\s?\d[\d.,' ]*\d%?|(?<![\w.,])[$€£¥]?\d%?")
_SURE = 2
"""Rare words that a newer sentence shares with an older one of the same thing."""
_LEMMAS = frozenset({"en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru"})


@dataclass(frozen=True)
class Sentence:
    """One sentence as it is compared."""

    text: str
    language: str

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its words that tell what it is about, in their base forms; a compound's parts too."""
        common = _common()
        found: set[str] = set()
        for written in _WORD.findall(self.text):
            for part in {written, *_PART.findall(written)}:
                if _CJK.search(part):
                    found |= {part[at : at + 2] for at in range(len(part) - 1)}
                elif not part.isdigit() and len(part) > 1 and part.casefold() not in common:
                    found.add(_stem(part, self.language))
        return frozenset(found)

    @cached_property
    def values(self) -> dict[str, frozenset[str]]:
        """Its values by their kind: time, date, number, identifier, name."""
        found: dict[str, set[str]] = {}
        rest = self.text
        for one in moments.find_spans(self.text, self.language):
            found.setdefault("date", set()).add(one.text.casefold())
            rest = rest.replace(one.text, " ")
        for one in _TIME.findall(rest):
            found.setdefault("time", set()).add(one.casefold())
        rest = _TIME.sub(" ", rest)
        for place, written in enumerate(_WORD.findall(rest)):
            if re.search(r"\d", written) and re.search(r"[^\W\d_]", written):
                found.setdefault("identifier", set()).add(written.casefold())
            elif (place and written[0].isupper() and self.language != "de") or (
                place and written[0].isupper() and not is_known(written, "de")
            ):
                found.setdefault("name", set()).add(written.casefold())
        for one in _NUMBER.findall(rest):
            found.setdefault("number", set()).add(one.strip())
        return {kind: frozenset(one) for kind, one in found.items()}

    def _is_name(self, word: str) -> bool:
        """In German every noun has a capital."""
        return self.language != "de" or not is_known(word, "de")


class Change(NamedTuple):
    """``old``: the place of the older statement. ``sure``: the newer one takes its place; else it may."""

    old: int
    sure: bool


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    return frozenset(word for _, words in lists.by_language() for word in words)


def _stem(word: str, language: str) -> str:
    return base_form(word, language) if language in _LEMMAS else word.casefold()


def changes(new: Sequence[Sentence], known: Sequence[Sequence[Sentence]]) -> list[Change]:
    """What the sentences of ``new`` change of ``known``, older statements of the same scope; each is told once. A statement of
    several sentences is never replaced: what else it says may still hold."""
    weights = _weights([*known, new])
    found: dict[int, bool] = {}
    for sentence in new:
        change = _change(sentence, known, weights)
        if change is not None:
            found[change.old] = change.sure or found.get(change.old, False)
    return [Change(old, sure) for old, sure in found.items()]


def _weights(texts: Iterable[Sequence[Sentence]]) -> dict[str, float]:
    """How rare each stem is among the statements."""
    stems = [{stem for one in sentences for stem in one.stems} for sentences in texts]
    counted = Counter(stem for each in stems for stem in each)
    return {stem: math.log(1 + len(stems) / count) for stem, count in counted.items()}


def _change(new: Sentence, known: Sequence[Sequence[Sentence]], weights: dict[str, float]) -> Change | None:
    """Of the older sentence that shares the rarest words, the last of equals."""
    if has(new.text, "stays", new.language) or has(new.text, "unreal", new.language):
        return None
    best: tuple[float, int, Sentence] | None = None
    for place, sentences in enumerate(known):
        for old in sentences:
            shared = sum(weights[stem] for stem in new.stems & old.stems)
            if shared and (best is None or (shared, place) >= best[:2]):
                best = (shared, place, old)
    if best is None:
        return None
    _, place, old = best
    if len(new.stems & old.stems) < _SURE:
        return None
    if has(new.text, "change", new.language):
        return Change(place, len(known[place]) == 1)
    other_value = any(new.values[kind] - values for kind, values in old.values.items() if kind in new.values)
    return Change(place, False) if other_value else None
