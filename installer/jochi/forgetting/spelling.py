"""What a phrase is looked for by: its words, and the canonical forms of what it names, so that it is found in another spelling."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from jochi.forgetting.words import pattern_of_words, phrase, says, spots, words
from jochi.text.forms import FormQuery, find_forms, read_query

_ROWS = {"id-less": "id", "latin": "name", "script": "name", "cjk": "name", "plain": "name"}


@dataclass(frozen=True)
class Spelling:
    """One spelling of what is to be forgotten. ``source_key``: of the memory that says that it is one; None: as it was asked.

    ``national_only``: of a telephone number without a country, where several countries have it: those with one are others.
    """

    text: str
    source_key: str | None = None
    national_only: bool = False
    words: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", phrase(self.text))

    @cached_property
    def form_query(self) -> FormQuery | None:
        """Its canonical forms."""
        found = read_query(self.text)
        return found.national_only() if found is not None and self.national_only else found

    def kinds(self) -> list[str]:
        """How it is looked for: words, and as a mail, ip, hex, tel, id or name."""
        kinds = {kind.partition("/")[0] for kind in (self.form_query.kinds if self.form_query else ())}
        return ["words", *sorted({_ROWS.get(kind, kind) for kind in kinds})]

    def places(self, text: str) -> list[tuple[int, int]]:
        """Where ``text`` says it: (start, stop) in characters of the composed (NFC) text."""
        found = spots(words(text), self.words)
        if self.form_query is not None:
            found += [
                (one.start, one.stop)
                for one in find_forms(text, self.form_query.kinds)
                if one.form in self.form_query.forms
            ]
        return list(dict.fromkeys(found))

    def says(self, text: str) -> bool:
        """Whether ``text`` says it."""
        if says(text, self.words):
            return True
        if self.form_query is None:
            return False
        return any(one.form in self.form_query.forms for one in find_forms(text, self.form_query.kinds))

    def international_numbers(self, text: str) -> set[str]:
        """The numbers with a country that it may be in ``text``, where it is a telephone number without one."""
        every = read_query(self.text)
        if every is None or every == every.national_only():
            return set()
        found = list(find_forms(text, ("tel",)))
        places = {(one.start, one.stop) for one in found if one.form in every.forms - every.national_only().forms}
        return {one.form for one in found if (one.start, one.stop) in places and one.form.startswith("tel:")}

    def rows(self, text: str) -> list[tuple[str, ...]]:
        """The words by which ``text`` says it."""
        composed = unicodedata.normalize("NFC", text)
        return list(dict.fromkeys(phrase(composed[start:stop]) for start, stop in self.places(text)))


_LATIN = r"\x00-" + "\u017f\u0300-\u036f\u2000-\u2bff\ufe00-\ufe0f\U0001f000-\U0001faff"
"""Latin letters, their marks, punctuation, symbols: a text that has anything else is read for names in other scripts."""


def pattern(spellings: Iterable[Spelling], phrases: Iterable[Sequence[str]] = ()) -> str | None:
    """Regular expression for the database of texts (NFKD, lower case) that may have one of the forms, or the words of one or of
    ``phrases`` with what `folded_needle` doesn't find between their letters; None: the needles find all."""
    spellings = list(spellings)
    every = [each.form_query for each in spellings if each.form_query is not None and each.form_query.pattern]
    found = [f".*(?:{'|'.join(dict.fromkeys(each.pattern for each in every))}).*"] if every else []
    if any(each.scripts for each in every):
        found.insert(0, f"[{_LATIN}]*+.+")
    if in_words := pattern_of_words([each.words for each in spellings if each.words] + [*phrases]):
        found.append(in_words)
    return f"(?s)(?:{'|'.join(found)})" if found else None


def count_kinds(spellings: Sequence[Spelling]) -> dict[str, int]:
    """In how many ways of each kind they are looked for: what a receipt may say."""
    return dict(Counter(kind for each in spellings for kind in each.kinds()))
