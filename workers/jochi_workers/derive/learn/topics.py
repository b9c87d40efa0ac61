"""What a conversation is about: the words that it comes back to. Boxes and traces compare them (seed 003, Memory Box Lifecycle)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from jochi_workers.derive.extract.checks import sentences_without_orders
from jochi_workers.derive.extract.lists import words_in
from jochi_workers.derive.extract.messages import messages
from jochi_workers.derive.extract.names import singular, words
from jochi_workers.guard import lists

_SHORTEST, _LONGEST = 4, 40


def topics(text: str, before: Sequence[str], *, context: int, most: int) -> list[str]:
    """The ``most`` frequent words of the last ``context`` turns of ``before`` and all of ``text``, which are batches of turns; of
    equal ones those that came first. The turns of a batch alone share too few words with the next one's to tell a shift."""
    texts = [message.text for message in messages(text)]
    earlier = [message.text for batch in before for message in messages(batch)]
    turns = [*earlier[len(earlier) - max(0, min(len(earlier), context - len(texts))) :], *texts]
    counted = Counter(
        word for turn in turns for sentence in sentences_without_orders(turn) for word in content_words(sentence)
    )
    return [word for word, _ in counted.most_common(most)]


def content_words(text: str) -> list[str]:
    """Words that carry meaning, in singular: neither frequent in a language nor empty."""
    return [
        word
        for word in map(singular, words(text))
        if _SHORTEST <= len(word) <= _LONGEST and word.isalpha() and word not in _empty()
    ]


@lru_cache(maxsize=1)
def _empty() -> frozenset[str]:
    generic = (words_in(name) for name in ("generic", "openers", "roles", "events"))
    return frozenset().union(*generic, *(known for _, known in lists.by_language()))
