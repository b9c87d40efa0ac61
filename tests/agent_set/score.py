"""Judges what a system remembered of a conversation, by strings alone and without a model (METHOD.md).

Of any system: `judged` takes texts and knows nothing of where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tests.agent_set.conversation import Conversation, Groups, Outdated, Question, Statement

HITS = 3
"""So many hits of a question are looked at."""

ANSWERS, CURRENT, TOKENS = "answers", "nothing outdated", "tokens of the hits"
FACTS, KEPT_OUT = "facts", "kept out"
MUSTS, MUST_NOTS = "start: musts", "start: must-nots kept out"
LAST_VALUE, EARLIER_VALUES = "slots: last value", "slots: earlier values gone"
STAYS, FALSE_REPLACEMENTS = "stays", "false replacements"
MEASURES = (
    *(ANSWERS, CURRENT, TOKENS, FACTS, KEPT_OUT, MUSTS, MUST_NOTS, LAST_VALUE, EARLIER_VALUES, STAYS),
    FALSE_REPLACEMENTS,
)


@dataclass(frozen=True)
class Remembered:
    """What a system made of one conversation, as texts.

    ``hits``: of each question, in their order, what it hands over, best first. ``statements``: all that it holds to be true, one
    thing said each; None where it has none (then only ``hits`` are judged). ``replaced``: those that it holds no longer.
    ``entries``: of what an assistant reads before the next conversation, one list item each.
    """

    hits: tuple[tuple[str, ...], ...]
    statements: tuple[str, ...] | None = None
    replaced: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """One entry of the key, judged. ``wanted`` in words, ``seen``: the texts that it was judged by, where they show why."""

    measure: str
    right: bool
    wanted: str
    seen: tuple[str, ...] = ()


class Count(NamedTuple):
    """``right`` ``of`` so many; of tokens their sum and the number of questions."""

    right: int = 0
    of: int = 0

    @property
    def share(self) -> float | None:
        """None where there was nothing to judge."""
        return self.right / self.of if self.of else None


def has(text: str, groups: Groups) -> bool:
    """Whether of each group one string occurs in ``text``, case ignored."""
    folded = text.casefold()
    return all(any(each.casefold() in folded for each in group) for group in groups)


def outdated(text: str, entry: Outdated) -> bool:
    """Whether ``text`` says what was and not what is."""
    folded = text.casefold()
    return entry.old.casefold() in folded and (entry.new is None or entry.new.casefold() not in folded)


def answers(question: Question, hits: Sequence[str]) -> bool:
    """Whether one of the hits has all groups."""
    return any(has(hit, question.has) for hit in hits)


def current(question: Question, hits: Sequence[str]) -> bool:
    """Whether none of the hits is outdated."""
    return not any(outdated(hit, entry) for hit in hits for entry in question.outdated)


def falsely_replaced(statement: Statement, remembered: Remembered) -> bool:
    """Whether what still holds stands in what was replaced, and in nothing that holds."""
    live = remembered.statements or ()
    return not _stands(statement, live) and _stands(statement, remembered.replaced)


def judged(conversation: Conversation, remembered: Remembered, *, k: int = HITS) -> Iterator[Verdict]:
    """Each entry of the key, in its order; of ``k`` hits. False replacements are in `sums`: their share is one of statements."""
    for question, all_hits in zip(conversation.questions, remembered.hits, strict=True):
        hits = all_hits[:k]
        yield Verdict(ANSWERS, answers(question, hits), f"{question.ask} → {_words(question.has)}", hits)
        if question.outdated:
            wanted = f"{question.ask} → nothing with {_lines(question.outdated)}"
            old = tuple(hit for hit in hits if not current(question, (hit,)))
            yield Verdict(CURRENT, not old, wanted, old)
    live = remembered.statements
    if live is None:
        return
    for fact in conversation.facts:
        yield Verdict(FACTS, _stands(fact, live), _of_turn(conversation, fact), _if_replaced(fact, remembered))
    for never in conversation.never:
        said = tuple(text for text in live if has(text, never.has))
        yield Verdict(KEPT_OUT, not said, f"{never.why}: {_words(never.has)}", said)
    for groups in conversation.must:
        yield Verdict(MUSTS, any(has(entry, groups) for entry in remembered.entries), _words(groups))
    for entry in conversation.must_not:
        idle = tuple(text for text in remembered.entries if outdated(text, entry))
        yield Verdict(MUST_NOTS, not idle, _lines((entry,)), idle)
    for slot in conversation.slots:
        last, name = _word(slot.values[-1]), f"{slot.subject}, {slot.attribute}: {' → '.join(slot.values)}"
        yield Verdict(LAST_VALUE, any(map(last, live)), name)
        earlier = [_word(value) for value in slot.values[:-1]]
        left = tuple(text for text in live if not last(text) and any(said(text) for said in earlier))
        if earlier:
            yield Verdict(EARLIER_VALUES, not left, name, left)
    for stay in conversation.stays:
        yield Verdict(STAYS, _stands(stay, live), _of_turn(conversation, stay), _if_replaced(stay, remembered))


def sums(
    pairs: Iterable[tuple[Conversation, Remembered]], count: Callable[[str], int], *, k: int = HITS
) -> dict[str, Count]:
    """Each measure that could be judged, over all of these. ``count``: the tokens of a text."""
    found: dict[str, Count] = {}

    def add(measure: str, right: int, of: int) -> None:
        before = found.get(measure, Count())
        found[measure] = Count(before.right + right, before.of + of)

    for conversation, remembered in pairs:
        for verdict in judged(conversation, remembered, k=k):
            add(verdict.measure, verdict.right, 1)
        add(TOKENS, sum(count(hit) for hits in remembered.hits for hit in hits[:k]), len(remembered.hits))
        if remembered.statements is not None:
            lost = {
                each.has for each in (*conversation.facts, *conversation.stays) if falsely_replaced(each, remembered)
            }
            add(FALSE_REPLACEMENTS, len(lost), len(remembered.statements) + len(remembered.replaced))
    return found


def _stands(statement: Statement, texts: Iterable[str]) -> bool:
    return any(has(text, statement.has) for text in texts)


def _if_replaced(statement: Statement, remembered: Remembered) -> tuple[str, ...]:
    """The replaced texts that say it, where no other does."""
    if not falsely_replaced(statement, remembered):
        return ()
    return tuple(f"replaced: {text}" for text in remembered.replaced if has(text, statement.has))


def _word(value: str) -> Callable[[str], bool]:
    """Whether a text has it as a word or words of its own: a value may be as short as 7."""
    pattern = re.compile(rf"(?<!\w){re.escape(value.casefold())}(?!\w)")
    return lambda text: pattern.search(text.casefold()) is not None


def _words(groups: Groups) -> str:
    return " and ".join("/".join(group) for group in groups)


def _lines(entries: Iterable[Outdated]) -> str:
    return ", ".join(entry.old + (f" without {entry.new}" if entry.new else "") for entry in entries)


def _of_turn(conversation: Conversation, statement: Statement) -> str:
    return f"{_words(statement.has)}  (turn {statement.turn}: {conversation.turns[statement.turn - 1].line})"
