"""What of a text may neither be lost nor made up: numbers with their units, dates, identifiers, names.

Read by the guard's readers.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

import regex

from jochi_workers.guard.clean import clean
from jochi_workers.guard.items import Item, Phrase
from jochi_workers.guard.language import LanguageCode, detect_language
from jochi_workers.guard.lists import Language
from jochi_workers.guard.reading import content_tokens, read
from jochi_workers.guard.scan import scan
from jochi_workers.language.sentences import Sentence

KINDS = frozenset(
    {"number", "quantity", "date", "month", "weekday", "time", "ordinal", "version", "identifier", "name"}
)

Fact = tuple[str, str]
"""(kind, key): equal for the same meaning, however it is written."""


_LOOSE_QUOTE = re.compile(r"(?<!\w)'|'(?!\w)|\"")
_WORD = regex.compile(r"[^\W\d_]+")


def language_of(text: str) -> LanguageCode:
    return detect_language([token.text for token in scan(clean(text)) if token.kind == "word"])


@lru_cache(maxsize=4096)
def _facts_of(text: str, language: Language) -> tuple[Fact, ...]:
    # Behind quotation marks the guard reads nothing: here everything counts.
    reading = read(_LOOSE_QUOTE.sub(" ", clean(text)))
    items: list[Item] = []
    for element in content_tokens(reading.tokens, language):
        if isinstance(element, Item):
            items.append(element)
        elif isinstance(element, Phrase):
            items += element.items
    return tuple((_kind(item), item.key) for item in items if item.kind in KINDS)


def _kind(item: Item) -> str:
    if item.kind == "quantity":
        # 3 kg and 3 km have one key; what the unit may stand for tells them apart.
        return "quantity " + "|".join(sorted(item.readings))
    return item.kind


def facts(text: str, language: Language) -> tuple[Fact, ...]:
    """The facts of one sentence or name, as often as they are there."""
    return _facts_of(text, language)


def reader(language: LanguageCode) -> Language:
    """By whose grammar a text is read: what isn't German is read as English, whose numbers, identifiers and names look alike."""
    return "de" if language == "de" else "en"


def counted(parts: list[Sentence], language: Language) -> Counter[Fact]:
    """How often each fact is there. A speaker counts once for each line."""
    found: Counter[Fact] = Counter()
    counted_speakers: set[tuple[int, str]] = set()
    for part in parts:
        found.update(facts(part.text, language))
        if part.speaker and (part.line, part.speaker) not in counted_speakers:
            counted_speakers.add((part.line, part.speaker))
            found.update(facts(part.speaker, language))
    return found


def required(parts: list[Sentence], language: Language) -> set[Fact]:
    """What is stated more than once or in the first sentence."""
    if not parts:
        return set()
    first = {*facts(parts[0].text, language), *(facts(parts[0].speaker, language) if parts[0].speaker else ())}
    return first | {fact for fact, n in counted(parts, language).items() if n > 1}


def words(text: str) -> set[str]:
    """Its words without case."""
    return {word.casefold() for word in _WORD.findall(clean(text))}
