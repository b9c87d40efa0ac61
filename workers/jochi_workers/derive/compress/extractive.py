"""A summary out of the original's own sentences: no model, no network, the same each time.

First the sentences that carry what a summary may not lose, as few tokens of them as will do (a greedy set cover); then those that
say most of what the text speaks of, until there is no room.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from jochi.text.tokens import TokenCounter, best_counter
from jochi_workers.derive.compress.particulars import facts, language_of, reader, required, words
from jochi_workers.derive.compress.protocol import Summary
from jochi_workers.guard.lists import by_language
from jochi_workers.language.sentences import Sentence, sentences


class ExtractiveSummariser:
    """``counter`` decides how many tokens a sentence has: the one that the checks count with."""

    name = "extractive"
    model: str | None = None
    prompt: str | None = None
    paid = False
    overhead = 0
    fixed = True

    def __init__(self, counter: TokenCounter | None = None) -> None:
        self._counter = counter or best_counter()

    def summarise(self, text: str, most_tokens: int, *, keep: bool = True) -> Summary:
        """``keep``: first what a summary may not lose that takes the text's place."""
        parts = sentences(text)
        if not parts:
            return Summary("")
        return Summary(_Choice(text, parts, most_tokens, self._counter, keep=keep).text())


class _Choice:
    def __init__(self, text: str, parts: list[Sentence], room: int, counter: TokenCounter, *, keep: bool) -> None:
        language = reader(language_of(text))
        self._parts = parts
        self._count = counter.count
        self._room = room
        self._chosen: set[int] = set()
        self._lines: set[int] = set()
        self._used = 0
        self._facts = [frozenset((*facts(part.text, language), *facts(part.speaker, language))) for part in parts]
        self._tokens = [counter.count(part.text) + 1 for part in parts]
        self._needed = required(parts, language) if keep else set()
        self._worth = self._worths(language)

    def text(self) -> str:
        self._cover()
        self._fill()
        text = self._rendered(self._chosen)
        # Tokens of sentences don't add up to those of the whole: what is over goes, the least first, but nothing that is needed.
        for place in sorted(self._chosen, key=lambda place: self._worth[place]):
            if self._count(text) <= self._room:
                break
            rest = self._chosen - {place}
            if self._needed <= self._carried(rest):
                self._chosen, text = rest, self._rendered(rest)
        return text

    def _worths(self, language: str) -> list[float]:
        frequent = dict(by_language())[language]
        words_of_parts = [words(part.text) - frequent for part in self._parts]
        of_all = Counter(word for each in words_of_parts for word in each)
        return [
            sum(math.log1p(of_all[word] - 1) for word in each) / math.sqrt(tokens)
            for each, tokens in zip(words_of_parts, self._tokens, strict=True)
        ]

    def _cost(self, place: int) -> int:
        part = self._parts[place]
        return self._tokens[place] + (
            self._count(part.speaker) + 2 if part.speaker and part.line not in self._lines else 0
        )

    def _take(self, place: int) -> None:
        self._used += self._cost(place)
        self._chosen.add(place)
        self._lines.add(self._parts[place].line)

    def _carried(self, places: Iterable[int]) -> set[tuple[str, str]]:
        return {fact for place in places for fact in self._facts[place]}

    def _cover(self) -> None:
        open_ = set(self._needed)
        while open_:
            rest = [
                place for place in range(len(self._parts)) if place not in self._chosen and self._facts[place] & open_
            ]
            if not rest:
                return
            best = max(
                rest,
                key=lambda place: (len(self._facts[place] & open_) / self._cost(place), self._worth[place], -place),
            )
            self._take(best)
            open_ -= self._facts[best]
        # What a later choice has made needless.
        for place in sorted(self._chosen, key=lambda place: -self._tokens[place]):
            rest_ = self._chosen - {place}
            if self._needed <= self._carried(rest_):
                self._chosen = rest_
        chosen, self._chosen, self._lines, self._used = sorted(self._chosen), set(), set(), 0
        for place in chosen:
            self._take(place)

    def _fill(self) -> None:
        for place in sorted(range(len(self._parts)), key=lambda place: (-self._worth[place], place)):
            if place not in self._chosen and self._worth[place] > 0 and self._used + self._cost(place) <= self._room:
                self._take(place)

    def _rendered(self, places: set[int]) -> str:
        lines: list[str] = []
        last: int | None = None
        for place in sorted(places):
            part = self._parts[place]
            if part.line != last:
                lines.append(f"{part.speaker}: {part.text}" if part.speaker else part.text)
            else:
                lines[-1] += " " + part.text
            last = part.line
        return "\n".join(lines)


def most_telling(text: str, room: int, counter: TokenCounter) -> str:
    """All of ``text`` if it has at most ``room`` tokens, else the sentences that say most, as they stand.

    '' if none is short enough.
    """
    if counter.count(text) <= room:
        return text
    return ExtractiveSummariser(counter).summarise(text, room, keep=False).text
