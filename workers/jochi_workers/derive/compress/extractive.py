"""A summary out of the original's own sentences: no model, no network, the same each time.

First the sentences that carry what a summary may not lose, as few tokens of them as will do (a greedy set cover); then those that
say most of what the text speaks of, until there is no room. Thanks, greetings and what was chosen already, in the same words or
nearly, say nothing more.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from jochi.text.tokens import TokenCounter, best_counter
from jochi_workers.derive.compress.particulars import facts, language_of, reader, required, words
from jochi_workers.derive.compress.protocol import Summary
from jochi_workers.guard.judge import judge
from jochi_workers.guard.lists import by_language
from jochi_workers.language.relevance import LEAST_RELEVANT, relevance
from jochi_workers.language.sentences import STAMP, Sentence, sentences
from jochi_workers.language.speech import tells

_LEAST_WORDS = 3
"""A sentence of fewer words takes the room of one that says more."""
_NEARLY = 0.7
"""Two sentences that share this part of their words may say the same: the guard of duplicates decides."""
_AT_ONCE = 8
"""Sentences that the model of relevance reads at once."""
_STAMPS = re.compile(rf"^{STAMP}", re.MULTILINE)
_WORDS = re.compile(r"\w+")


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
        parts = sentences(text) if keep else _spoken(text)
        if not parts:
            return Summary("")
        return Summary(_Choice(text, parts, most_tokens, self._counter, keep=keep).text())


class _Choice:
    def __init__(self, text: str, parts: list[Sentence], room: int, counter: TokenCounter, *, keep: bool) -> None:
        code = language_of(text)
        language = reader(code)
        self._parts = parts
        self._words = [frozenset(_WORDS.findall(part.text.casefold())) for part in parts]
        self._keep = keep
        self._count = counter.count
        self._room = room
        self._chosen: set[int] = set()
        self._lines: set[int] = set()
        self._used = 0
        self._facts = [frozenset((*facts(part.text, language), *facts(part.speaker, language))) for part in parts]
        self._tokens = [counter.count(part.text) + 1 for part in parts]
        self._needed = required(parts, language) if keep else set()
        self._worth = self._worths(language)
        self._telling = [place for place, part in enumerate(parts) if tells(part.text, code, _LEAST_WORDS)] or [
            *range(len(parts))
        ]

    def text(self) -> str:
        self._cover()
        self._fill(judged=not self._keep)
        if not self._chosen:
            self._fill(judged=False)
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

    def _is_new(self, place: int) -> bool:
        """Whether no sentence that was chosen says the same."""
        own, text = self._words[place], self._parts[place].text
        for other in self._chosen:
            others = self._words[other]
            if own == others and own:
                return False
            if own <= others or len(own & others) >= _NEARLY * len(own | others):
                verdict = judge(text, self._parts[other].text, cosine=1.0).verdict
                if verdict == "merge" or (own <= others and verdict != "veto"):
                    return False
        return True

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

    def _fill(self, *, judged: bool) -> None:
        """``judged``: without what the model of relevance takes for small talk, where it is installed."""
        order = sorted(self._telling, key=lambda place: (-self._worth[place], place))
        for start in range(0, len(order), _AT_ONCE):
            few = [place for place in order[start : start + _AT_ONCE] if self._fits(place)]
            known = relevance([self._parts[place].text for place in few]) if judged and few else None
            for place, chance in zip(few, known or [1.0] * len(few), strict=True):
                if chance >= LEAST_RELEVANT and self._fits(place) and self._is_new(place):
                    self._take(place)

    def _fits(self, place: int) -> bool:
        free = place not in self._chosen and self._worth[place] > 0
        return free and self._used + self._cost(place) <= self._room

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


def _spoken(text: str) -> list[Sentence]:
    """The sentences of a text that stays beside its summary: without the moments of its messages, and what goes on in an indented
    line is said by who began."""
    found: list[Sentence] = []
    lines = _STAMPS.sub("", text).splitlines()
    for part in sentences("\n".join(lines)):
        goes_on = found and not part.speaker and lines[part.line].startswith("  ")
        found.append(part._replace(speaker=found[-1].speaker, line=found[-1].line) if goes_on else part)
    return found


def most_telling(text: str, room: int, counter: TokenCounter) -> str:
    """All of ``text`` if it has at most ``room`` tokens, else the sentences that say most, as they stand.

    '' if none is short enough.
    """
    if counter.count(text) <= room:
        return text
    return ExtractiveSummariser(counter).summarise(text, room, keep=False).text
