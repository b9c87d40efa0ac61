"""What people state in their turns: passages of sentences that stand together (DESIGN §16, keep first, judge later).

A passage is a part of one turn in its own words, without what states nothing: questions, orders to the assistant, thanks and
greetings, and small talk where it can be told. What the assistant says counts where the person takes it up; then it stands before
their yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jochi_workers.derive.extract.checks import orders
from jochi_workers.derive.extract.lists import words_in
from jochi_workers.derive.extract.messages import Message
from jochi_workers.language.relevance import LEAST_RELEVANT, relevance
from jochi_workers.language.sentences import sentences
from jochi_workers.language.speech import act, affirms, asks, tells

LONGEST = 200
"""Characters of a passage, where its sentences are not longer. Measured on the set of agents (docs/reference/agent-set.md): shorter
ones lose what a value is of, longer ones hold two things of which one changes."""
_LEAST_WORDS = 2
"""A single word says something only behind a question, or beside other sentences."""
LONGEST_SENTENCE = 600
"""Characters of what is dictated without any mark; more is cut at a blank."""
CUT = "…"
_END = re.compile(r"[.!?…。！？।][\s\"'”’»)\]]*$")
_ROLES = words_in("assistants")


class Passage(NamedTuple):
    """``turn``: the number of its turn, from 1. ``sentences``: those that it is made of, as they were said. ``answers``: the other
    speaker's question that the turn answers, or ''. ``taken_up``: what the assistant said and this says yes to, or ''."""

    turn: int
    speaker: str
    sentences: tuple[str, ...]
    answers: str = ""
    taken_up: str = ""

    @property
    def text(self) -> str:
        """Who says what. A sentence without an end has an ellipsis, so that it and the next one stay two."""
        ended = [one if _END.search(one) else f"{one} {CUT}" for one in self.sentences[:-1]]
        own = " ".join((*ended, *self.sentences[-1:]))
        taken_up = self.taken_up if not self.taken_up or _END.search(self.taken_up) else f"{self.taken_up} {CUT}"
        return f"{taken_up} {self.speaker}: {own}".strip() if self.speaker else f"{taken_up} {own}".strip()


class _Turn(NamedTuple):
    speaker: str
    sentences: list[str]
    states: list[bool]

    @property
    def question(self) -> str:
        return self.sentences[-1] if self.sentences and asks(self.sentences[-1]) else ""

    @property
    def statement(self) -> str:
        return next((one for one, states in zip(self.sentences[::-1], self.states[::-1], strict=True) if states), "")


def is_assistant(speaker: str) -> bool:
    """Whether a speaker is the program that somebody talks to."""
    return speaker.casefold() in _ROLES


def passages(turns: Sequence[Message], before: Message | None, language: str) -> Iterator[Passage]:
    """Those of ``turns``, in their order. ``before``: what was said just before the first."""
    read = _read([*([before] if before else []), *turns], language)
    start = 1 if before else 0
    for place in range(start, len(read)):
        turn = read[place]
        answered = read[place - 1] if place and read[place - 1].speaker != turn.speaker else None
        if not is_assistant(turn.speaker):
            yield from _of_turn(place - start + 1, turn, answered, language)


def _read(turns: Sequence[Message], language: str) -> list[_Turn]:
    """All of them at once: one call of the model costs less than many. What the assistant says nobody has to judge."""
    said = [[part for one in sentences(turn.text) for part in _cut(" ".join(one.text.split()))] for turn in turns]
    states = [[act(one, language) == "statement" and not orders(one) for one in each] for each in said]
    open_ = [
        (place, number)
        for place, turn in enumerate(turns)
        if not is_assistant(turn.speaker)
        for number, one in enumerate(states[place])
        if one
    ]
    known = relevance([said[place][number] for place, number in open_]) or [1.0] * len(open_)
    for (place, number), chance in zip(open_, known, strict=True):
        states[place][number] = chance >= LEAST_RELEVANT
    return [_Turn(turn.speaker, own, stating) for turn, own, stating in zip(turns, said, states, strict=True)]


def _cut(sentence: str) -> Iterator[str]:
    while len(sentence) > LONGEST_SENTENCE:
        end = sentence.rfind(" ", LONGEST_SENTENCE // 2, LONGEST_SENTENCE)
        end = end if end > 0 else LONGEST_SENTENCE
        yield sentence[:end]
        sentence = sentence[end:].strip()
    if sentence:
        yield sentence


def _of_turn(number: int, turn: _Turn, answered: _Turn | None, language: str) -> Iterator[Passage]:
    kept = [one for one, states in zip(turn.sentences, turn.states, strict=True) if states]
    question = answered.question if answered else ""
    taken_up = ""
    if answered and is_assistant(answered.speaker) and turn.sentences and affirms(turn.sentences[0], language):
        taken_up = question or answered.statement
        if taken_up and turn.sentences[0] not in kept[:1]:
            kept.insert(0, turn.sentences[0])
    for place, group in enumerate(_groups(kept)):
        if question or taken_up or any(tells(one, language, _LEAST_WORDS) for one in group):
            yield Passage(number, turn.speaker, group, question, "" if place else taken_up)


def _groups(kept: Sequence[str]) -> Iterator[tuple[str, ...]]:
    group: list[str] = []
    for one in kept:
        if group and sum(map(len, group)) + len(one) > LONGEST:
            yield tuple(group)
            group = []
        group.append(one)
    if group:
        yield tuple(group)
