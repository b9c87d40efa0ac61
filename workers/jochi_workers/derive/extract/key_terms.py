"""The names and noun phrases that somebody would search a text by (seed 002, Phase 1), as they stand in it: never a verb, a
greeting, an exclamation or a pronoun. What a reader finds, names by their capitals, and where there is no reader rare nouns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from jochi_workers.derive.extract.capitals import capital_runs, is_idle
from jochi_workers.derive.extract.lists import words_in
from jochi_workers.derive.extract.messages import messages
from jochi_workers.derive.extract.names import words
from jochi_workers.derive.extract.offline import clean_name
from jochi_workers.guard import lists
from jochi_workers.guard.inflect import inflected, lemma
from jochi_workers.language import Reading, read_all
from jochi_workers.language.keywords import keywords
from jochi_workers.language.reader import language_of
from jochi_workers.language.sentences import sentences
from jochi_workers.language.speech import act

MOST = 8
_MOST_WORDS = 3
_LEAST_LETTERS = 4
_NAMES = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "NORP"})
_EDGES = " \t\n\"'“”‘’.,!?;:()[]*_#"
_LABELS = re.compile(rf"^(?:(?:{'|'.join(words_in('labels'))}): +)+", re.IGNORECASE | re.MULTILINE)
"""What stands at the head of a line and is no part of what it says (Subject:, Note:)."""
_POSSESSIVE = re.compile(r"['’]s$")


class _Term(NamedTuple):
    """``name``: of somebody or something. ``place``: where it begins, in order."""

    text: str
    name: bool
    place: int


def key_terms(text: str, most: int = MOST, speakers: Iterable[str] = ()) -> tuple[str, ...]:
    """At most ``most``, the most telling first: names before other terms, what is said often before what is said once. Who takes
    part in a conversation (``speakers``: and those of whom the caller knows it) and what only greets or thanks are none.
    `JochiError` without the extra [language]."""
    parts = list(messages(text))
    language = language_of(" ".join(part.text for part in parts[:50])[:2_000]) if parts else "unclear"
    takes_part = {word for name in (*(part.speaker for part in parts), *speakers) for word in words(name)}
    said = [_telling(part.text, language, spoken=bool(takes_part)) for part in parts]
    if language in ("en", "unclear"):
        terms = [term for reading in read_all(said) for term in _of_reading(reading)]
    elif any(letter != letter.upper() for letter in text):
        terms = [term for each in said for term in _of_capitals(each, language)]
        terms += _rare(said, language)
    else:
        return keywords("\n".join(said), language)[:most]
    return tuple(islice(_ranked(terms, takes_part), most))


def _telling(text: str, language: str, *, spoken: bool) -> str:
    """Without greetings and thanks, and in a conversation without the names of those who speak once."""
    kept = []
    for line in _LABELS.sub("", text).splitlines():
        told = [one for one in sentences(line) if act(one.text, language) != "reaction"]
        whole = len(told) == len(sentences(line)) and not (spoken and told and told[0].speaker)
        kept.append(line if whole else " ".join(one.text for one in told))
    return "\n".join(kept)


def _ranked(terms: Sequence[_Term], takes_part: set[str]) -> Iterator[str]:
    found: dict[tuple[str, ...], list[_Term]] = {}
    for term in terms:
        found.setdefault(tuple(words(term.text)), []).append(term)
    # Of a name and its parts the whole.
    whole = [key for key in found if not any(key != other and _within(key, other) for other in found)]
    order = list(found)

    def rank(key: tuple[str, ...]) -> tuple[int, int]:
        own = [term for other in found if _within(other, key) for term in found[other]]
        name = any(term.name for term in found[key])
        return -(2 * name + len(own) + (len(key) > 1)), order.index(key)

    for key in sorted(whole, key=rank):
        if not set(key) <= takes_part:
            yield found[key][0].text


def _within(key: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(other[place : place + len(key)] == key for place in range(len(other) - len(key) + 1))


def _of_reading(reading: Reading) -> Iterator[_Term]:
    named = [(one.start, one.end) for one in reading.entities]
    for one in reading.entities:
        if one.type in _NAMES and (text := _without_verb(clean_name(one.text))):
            yield _Term(text, True, one.start)
    for sentence in reading.sentences:
        known = "\n".join(one.text for one in reading.entities if sentence.start <= one.start < sentence.end)
        for run in capital_runs(sentence.text, "en"):
            if run.text not in known:
                yield _Term(run.text, True, sentence.start)
    for span in reading.phrases:
        text = _cut(span.text)
        if text and not any(start < span.end and span.start < end for start, end in named):
            yield _Term(text, False, span.start)


def _of_capitals(text: str, language: str) -> Iterator[_Term]:
    days = lists.numbers(language, "weekdays") if language in lists.LANGUAGES else {}
    for one in sentences(text):
        for run in capital_runs(one.text, language):
            if run.text.casefold() in days:  # a short one, such as Fr
                continue
            yield _Term(run.text, not run.common, one.start)


def _rare(said: Sequence[str], language: str) -> Iterator[_Term]:
    """Single words that the text turns on and that are base forms, so no verb that says something: in a language in which not all
    nouns have a capital."""
    if language == "de" or language not in lists.READ:
        return
    for word in keywords("\n".join(said), language):
        base = lemma(word, language)
        if word.isalpha() and len(word) >= _LEAST_LETTERS and base in (word, word.removesuffix("s")):
            yield _Term(word, False, 0)


def _without_verb(name: str) -> str:
    """Without a verb with a capital that a sentence begins with (Visited Ann)."""
    first, _, rest = name.partition(" ")
    return rest if rest and inflected(first, "en")[1] in ("ed", "ing") else name


def _cut(text: str) -> str:
    """A noun phrase without small words and marks at its ends; '' where nothing is left, or too much."""
    parts = [_POSSESSIVE.sub("", word.strip(_EDGES)) for word in text.split()]
    while parts and (not parts[0] or is_idle(parts[0], "en")):
        parts = parts[1:]
    while parts and (not parts[-1] or is_idle(parts[-1], "en")):
        parts = parts[:-1]
    plain = not any(is_idle(word, "en") for word in parts) and any(word[0].isalpha() for word in parts)
    return " ".join(parts) if plain and len(parts) <= _MOST_WORDS and len("".join(parts)) > 2 else ""
