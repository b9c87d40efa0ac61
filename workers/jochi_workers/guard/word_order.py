"""Order in the languages that are read by their words alone: what may stand in another place without a grammar to say why.

One clause only. What says when may stand anywhere, if nothing narrows it; a phrase in front may stand at the end. Nothing moves
where an infinitive or another clause could be what it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from jochi_workers.guard.items import MOMENTS
from jochi_workers.guard.lists import Language, grammar

Word = tuple[str, str]
"""Kind and key of an item, as they were matched."""
_INFINITIVE = {
    "fr": re.compile(r"\w{2,}(?:er|ir|re|oir)"),
    "es": re.compile(r"\w{2,}(?:[aeií]r)(?:[mts]e|l[aeo]s?|nos)?"),
    "it": re.compile(r"\w{2,}(?:[aei]r(?:e|[mts]i|l[aeio]))"),
    "pt": re.compile(r"\w{2,}(?:[aeiô]r)(?:-\w+)?"),
    "nl": re.compile(r"te|om"),
}
_MOST_OF_A_PHRASE = 4
_LEAST_LEFT = 3
_MOST_OF_A_SUBJECT = 3


def is_reordering(left: Sequence[Hashable], right: Sequence[Hashable], language: Language) -> bool:
    """Whether two rows of the same items, each one clause, differ only by where something free stands."""
    ours, theirs = (_words(row) for row in (left, right))
    if ours is None or theirs is None or any(binds(word, language) for word in ours):
        return False
    return _when_apart(ours, theirs, language) or _rotated(ours, theirs, language) or _rotated(theirs, ours, language)


def _words(row: Sequence[Hashable]) -> list[Word] | None:
    found: list[Word] = []
    for key in row:
        if not isinstance(key, tuple):
            return None
        found.append((str(key[0]), str(key[1])))
    return found


def _is(word: Word, language: Language, *groups: str) -> bool:
    return word[0] in ("word", "negation") and any(word[1] in grammar(language, group) for group in groups)


def binds(word: Word, language: Language) -> bool:
    """Whether it opens another clause, or may be an infinitive."""
    return (word[0] in ("word", "function") and word[1] in grammar(language, "subordinator")) or (
        word[0] == "word" and _INFINITIVE[language].fullmatch(word[1]) is not None
    )


def _moment(row: list[Word], language: Language) -> tuple[int, int] | None:
    """Where the only phrase that says when begins and ends; None if there is none, or two, or something narrows it."""
    places = [place for place, word in enumerate(row) if word[0] in MOMENTS]
    if not places or places[-1] - places[0] >= len(places):
        return None
    start, end = places[0], places[-1] + 1
    while start and _is(row[start - 1], language, "opener", "article", "each", "timed_by"):
        start -= 1
    narrowed = start and (
        row[start - 1][0] == "negation"
        or _is(row[start - 1], language, "preposition", "quantifier", "focus", "not", "never", "possessive", "modal")
    )
    opened = start < places[0] or row[start][0] == "weekday"
    return None if narrowed or not opened else (start, end)


def _when_apart(left: list[Word], right: list[Word], language: Language) -> bool:
    ours, theirs = _moment(left, language), _moment(right, language)
    if ours is None or theirs is None or left[slice(*ours)] != right[slice(*theirs)]:
        return False
    first, second = ([*row[:start], *row[end:]] for row, (start, end) in ((left, ours), (right, theirs)))
    return first == second or (
        _behind_its_subject(first, second, language, front=not ours[0])
        or _behind_its_subject(second, first, language, front=not theirs[0])
    )


def _rotated(left: list[Word], right: list[Word], language: Language) -> bool:
    """`En Lima vive Ana` and `Ana vive en Lima`: a phrase in front of the one stands at the end of the other."""
    for size in range(2, min(_MOST_OF_A_PHRASE, len(left) - _LEAST_LEFT) + 1):
        phrase, rest = left[:size], left[size:]
        narrowed = _is(
            right[-size - 1], language, "quantifier", "focus", "not", "never", "preposition", "article", "modal"
        )
        if (
            phrase != right[-size:]
            or not _is(phrase[0], language, "opener")
            or narrowed
            or right[-size - 1][0] == "negation"
        ):
            continue
        if any(_is(word, language, "be", "have", "modal", "not", "never") for word in phrase):
            continue
        if rest == right[:-size] or _behind_its_subject(rest, right[:-size], language, front=True):
            return True
    return False


def _behind_its_subject(verb_first: list[Word], other: list[Word], language: Language, *, front: bool) -> bool:
    """Behind a phrase in front, Dutch puts the verb before its subject; others one without an object (`se firmó el pacto`)."""
    if not front:
        return False
    if language == "nl":
        return any(
            verb_first == [verb, *other[:size], *other[size + 1 :]]
            for size in range(1, min(_MOST_OF_A_SUBJECT, len(other) - 1) + 1)
            for verb in [other[size]]
            if verb[0] == "word" and _subject(other[:size], language)
        )
    size = 2
    return (
        _is(other[0], language, "article")
        and (_is(verb_first[0], language, "be") or verb_first[0][1] == "se")
        and verb_first == [*other[size:], *other[:size]]
    )


def _subject(words: list[Word], language: Language) -> bool:
    """Whether these may be a subject: one word, or an article or possessive with what it belongs to."""
    return len(words) == 1 or _is(words[0], language, "article", "possessive")
