"""What any system is to beat: the turns themselves, searched by their vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from tests.agent_set.conversation import Conversation
from tests.agent_set.score import TOKENS, Remembered, sums

from jochi_workers.embeddings import Provider, embed_question

MOST = 30
"""Turns that a baseline hands over at most where it may have as many tokens as another system."""
_CHUNK = 64


class Baseline(NamedTuple):
    """``remembered``: of each conversation, in their order; ``k``: so many hits of a question are handed over."""

    name: str
    k: int
    remembered: Sequence[Remembered]


def nearest(similarities: Sequence[float], k: int) -> list[int]:
    """The ``k`` nearest turns, best first."""
    return [int(n) for n in np.argsort(-np.asarray(similarities), kind="stable")[:k]]


def newest_of_near(similarities: Sequence[float], k: int) -> list[int]:
    """Of the twice as many nearest the ``k`` newest, newest first."""
    return sorted(nearest(similarities, 2 * k), reverse=True)[:k]


RANKINGS: dict[str, Callable[[Sequence[float], int], list[int]]] = {
    "raw turns": nearest,
    "newest first": newest_of_near,
}


class RawTurns:
    """The turns of ``conversations`` and their questions, embedded once by ``provider``."""

    def __init__(self, conversations: Sequence[Conversation], provider: Provider) -> None:
        self.conversations = conversations
        self.similarities = [
            question_vectors(provider, [question.ask for question in each.questions])
            @ vectors(provider, [turn.line for turn in each.turns]).T
            for each in conversations
        ]

    def ranked(self, ranking: str, k: int) -> Baseline:
        """At ``k`` hits a question."""
        remembered = [
            Remembered(
                tuple(
                    tuple(conversation.turns[n].line for n in RANKINGS[ranking](row, k))
                    for row in similarities.tolist()
                )
            )
            for conversation, similarities in zip(self.conversations, self.similarities, strict=True)
        ]
        return Baseline(ranking, k, remembered)

    def with_tokens(self, ranking: str, tokens: float, count: Callable[[str], int]) -> Baseline:
        """At the ``k`` whose hits have, on average, a number of tokens that is nearest to ``tokens``."""

        def off(baseline: Baseline) -> float:
            pairs = zip(self.conversations, baseline.remembered, strict=True)
            return abs((sums(pairs, count, k=baseline.k)[TOKENS].share or 0) - tokens)

        return min((self.ranked(ranking, k) for k in range(1, MOST + 1)), key=off)


def vectors(provider: Provider, texts: Sequence[str]) -> Any:
    """One row a text, of length 1. Like lengths together: a run of a model takes as long as its longest text."""
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
    rows: list[list[float]] = [[]] * len(texts)
    for at in range(0, len(order), _CHUNK):
        chunk = order[at : at + _CHUNK]
        for n, made in zip(chunk, provider.embed([texts[n] for n in chunk]), strict=True):
            rows[n] = made.vector
    return np.array(rows)


def question_vectors(provider: Provider, texts: Sequence[str]) -> Any:
    """One row a text, as the model wants a question."""
    return np.array([embed_question(provider, text) for text in texts])
