"""Names by their capitals, in languages that have them: what a reader misses, and all there is where there is no reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from jochi_workers.derive.extract.lists import words_in
from jochi_workers.guard import lists
from jochi_workers.guard.inflect import lemma

TITLES = words_in("titles")
_OPENERS = words_in("openers")
_GENERIC = words_in("generic")
_TIMES = frozenset(
    word
    for language in lists.LANGUAGES
    for name in ("months", "weekdays")
    for word in lists.numbers(language, name)
    if len(word) > 2
)
_MOST_WORDS = 4
_SHORT = 3
_WORD = re.compile(r"[^\W_](?:[\w+#]|['’.&-](?=\w))*")
_CONTRACTED = re.compile(r"(?:n['’]t|['’](?:d|ll|m|re|s|ve))$")
_POSSESSIVE = re.compile(r"['’]s$")
_ALL_NOUNS = frozenset({"de"})
"""Languages in which every noun has a capital."""


class CapitalRun(NamedTuple):
    """Words in a row that begin with a capital. ``within``: not only because a sentence begins there. ``title``: a person's title
    stands before. ``common``: a noun of the dictionary, in a language in which all have a capital."""

    text: str
    within: bool
    title: bool
    common: bool


def capital_runs(sentence: str, language: str) -> Iterator[CapitalRun]:
    """Those of one sentence as it has them, without words that begin it and have a capital nowhere else, greetings, days and
    months, and without possessive s."""
    run: list[re.Match[str]] = []
    begins = True
    for word in _WORD.finditer(sentence):
        capital = word[0][0].isupper()
        if run and not (capital and _goes_on(run[-1], sentence[run[-1].end() : word.start()])):
            yield from _read(sentence, run, language, begins=begins)
            run, begins = [], False
        if capital:
            run.append(word)
        else:
            begins = False
    if run:
        yield from _read(sentence, run, language, begins=begins)


def _goes_on(last: re.Match[str], between: str) -> bool:
    """Whether a name does: behind a full stop only after a short word (Dr. Petrov, J. Smith)."""
    return between == " " or (between == ". " and len(last[0]) < _SHORT)


def _read(sentence: str, run: list[re.Match[str]], language: str, *, begins: bool) -> Iterator[CapitalRun]:
    while run and (is_idle(run[0][0], language) or (begins and _is_word(run[0][0], language))):
        run, begins = run[1:], False
    while run and is_idle(run[-1][0], language):
        run = run[:-1]
    if not run or len(run) > _MOST_WORDS or all(word[0].casefold() in TITLES for word in run):
        return
    text = _POSSESSIVE.sub("", sentence[run[0].start() : run[-1].end()])
    title = run[0][0].casefold() in TITLES
    if len(text) > 1:
        common = len(run) == 1 and language in _ALL_NOUNS and lemma(text, "de") is not None
        yield CapitalRun(text, not begins, title, common)


def is_idle(word: str, language: str) -> bool:
    """Whether it is no part of a name: a small word, a greeting, a day, a month."""
    folded = _CONTRACTED.sub("", word.casefold())
    frequent = dict(lists.by_language())[language if language in lists.READ else "en"]
    return folded in _OPENERS | _GENERIC | _TIMES | frequent or folded.removesuffix("s") in _TIMES


def _is_word(word: str, language: str) -> bool:
    """Whether the dictionary has it in small letters."""
    known = language if language in lists.READ else "en"
    return word.casefold() not in TITLES and lemma(word.casefold(), known) is not None
