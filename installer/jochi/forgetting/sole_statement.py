"""Whether a memory makes one statement alone, and that of what is named."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from jochi.forgetting.clauses import reader_of
from jochi.forgetting.request_words import Language, chunks, is_listed, language_of
from jochi.forgetting.spelling import Spelling
from jochi.text.letters import folded


def is_parsed(text: str) -> bool:
    """Whether what a text states is read by a parse, or by the words that join clauses in its language."""
    return language_of(text).name == "de" or reader_of(text) is not None


_JOINS_BY_COMMA = frozenset(("zh", "ja", "ko", "th", "hi", "mr", "bn", "ta"))
"""Languages in which clauses of several subjects stand beside each other with a comma alone."""
_PARTS = re.compile(r"[,،](?!\d)|[;、，；؛—–]|\s-\s")
_ASIDES = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_STOPS = re.compile(r"(?<=[.!?])\s+|[。！？।؟\n]+")
_NAMED = "\ufffc"
"""Stands for what is named."""


def is_about_alone(text: str, spellings: Sequence[Spelling]) -> bool:
    """Whether a text makes one statement, and that of what is named: no clause of it is another one's."""
    text = unicodedata.normalize("NFC", text)
    language = language_of(text)
    for place in sorted({place for one in spellings for place in one.places(text)}, key=lambda place: -place[1]):
        text = text[: place[0]] + _NAMED + text[place[1] :]
    text = _ASIDES.sub(lambda found: "" if _NAMED in found[0] else found[0], text)
    if sum(any(map(str.isalnum, each)) for each in _sentences(text, language)) > 1:
        return False
    return not any(_is_anothers(part, at == 0, language) for at, part in enumerate(_PARTS.split(text)))


def _sentences(text: str, language: Language) -> Iterator[str]:
    """Its sentences: no title and no initial ends one."""
    at = 0
    for stop in _STOPS.finditer(text):
        word = re.split(r"\s", text[at : stop.start()])[-1].strip(".")
        if len(word) > 2 and folded(word) not in language.lists["titles"]:
            yield text[at : stop.start()]
            at = stop.end()
    yield text[at:]


def _is_anothers(part: str, first: bool, language: Language) -> bool:
    """Whether a part of a sentence may say something of somebody else."""
    joins, row = language.lists["joins"], chunks(part)
    named = _NAMED in part
    if language.unspaced:
        return any(len(word) > 1 and word in part for word in joins) or (not named and not first and len(part) > 4)
    if language.name in _JOINS_BY_COMMA and not named and not first and len(part.strip()) > 12:
        return True
    if any(one.folded in joins for one in row):
        return True
    # Whose it is can't be told of words between marks, unless they are few.
    return not named and (len(row) > 3 or any(each.text[:1].isupper() and not is_listed(each.text) for each in row))
