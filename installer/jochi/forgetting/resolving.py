"""Which memory a description means: by its words, and by meaning where vectors are there (docs/reference/forgetting.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from jochi.forgetting.words import phrase

SURE = 0.75
"""Score from which the first one may be meant, without anybody being asked …"""
MARGIN = 0.25
"""… if it is so far before the second."""


@dataclass(frozen=True)
class Meant:
    """A candidate. ``score``: 0 to 1, the share of the description's words that the memory says, rare ones weighing more; with a
    ``cosine`` the mean of both. ``margin``: how far it is before the best of the others; negative behind it."""

    key: str
    kind: str | None
    content: str | None
    score: float
    margin: float


def ranked(about: str, found: Sequence[tuple[str, str | None, str | None, float | None]]) -> list[Meant]:
    """Memories (key, kind, content, cosine) that recall found, best first; equal ones in recall's order."""
    wanted = dict.fromkeys(phrase(about))
    said = [frozenset(phrase(content or "")) for _, _, content, _ in found]
    weight = {word: math.log(1 + (len(said) + 1) / (1 + sum(word in each for each in said))) for word in wanted}
    scores = []
    for (*_, cosine), each in zip(found, said, strict=True):
        words = sum(weight[word] for word in wanted if word in each) / (sum(weight.values()) or 1)
        scores.append(words if cosine is None else (words + max(0.0, cosine)) / 2)
    made = [
        Meant(key, kind, content, score, score - max((*scores[:at], *scores[at + 1 :]), default=0.0))
        for at, ((key, kind, content, _), score) in enumerate(zip(found, scores, strict=True))
    ]
    return sorted(made, key=lambda one: -one.score)


def alone(candidates: Sequence[Meant]) -> Meant | None:
    """The one that is meant without doubt; None where a person has to say."""
    first = next(iter(candidates), None)
    return first if first is not None and first.score >= SURE and first.margin >= MARGIN else None
