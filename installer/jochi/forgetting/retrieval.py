"""Memories that a request may mean, as recall finds them: by its words, by words of the same kind, and by vectors where they are
there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from jochi.forgetting.candidates import Memory
from jochi.forgetting.statements import related_words
from jochi.forgetting.wording import other_forms
from jochi.policy.forgetting import Forgetting

Embed = Callable[[str], Sequence[float]]
"""Makes a text a vector of the policy's model."""


def memories_about(
    about: str,
    recall: Callable[..., Any],
    policy: Forgetting,
    *,
    scope: str,
    embed: Embed | None = None,
    key: str | None = None,
    include_superseded: bool = False,
) -> list[Memory]:
    """What the client's ``recall`` finds, at most ``[forgetting] looked_at``, best first; of ``key`` alone where it is given."""
    hits = recall(
        " ".join((about, *related_words(about), *other_forms(about))),
        vector=None if embed is None else embed(about),
        scope=scope,
        k=policy.looked_at,
        include_containers=True,
        include_archived=True,
        include_superseded=include_superseded,
    )
    return [Memory(hit.key, hit.kind, hit.content, hit.cosine) for hit in hits if key is None or hit.key == key]


def cosine_to(about: str, embed: Embed) -> Callable[[str], float]:
    """The cosine of the request and a text."""
    wanted = list(embed(about))

    @cache
    def cosine(text: str) -> float:
        made = list(embed(text))
        length = math.hypot(*wanted) * math.hypot(*made)
        return sum(a * b for a, b in zip(wanted, made, strict=True)) / length if length else 0.0

    return cosine
