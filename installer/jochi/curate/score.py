"""What memories are worth, term by term (seed 000, Option B; docs/reference/score.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from jochi.database.batches import chunks
from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.graph.driver_values import to_python

CHUNK = 2_000
"""Keys of one read."""
PAGE = 5_000
"""Memories that one read of the list of what could be added looks at."""

TERMS = ("type_weight", "recency", "frequency", "quality", "centrality", "cross_agent", "bloat")
"""In the seed's order; bloat is what is taken off."""


@dataclass(frozen=True)
class Term:
    """What a term adds, and what it could add at best; the same where nothing about it is unknown."""

    value: float
    most: float

    @property
    def known(self) -> bool:
        """Whether nothing about it is unknown."""
        return self.value == self.most


@dataclass(frozen=True)
class Scored:
    """The Memory Value Score of one memory at one moment.

    ``mvs`` is the score, ``most`` what it is at best: what could cost the memory a tier or its life goes by that. ``above`` and
    ``above_most``: both less the type weight. ``kind``: whose weight and half-life it has; None: no row of the policy names it.
    ``band``: where the score stands in the policy's ``profile``; ``acting``: where what is unknown leaves it;
    ``action``: what that band asks for, rails and TTLs aside, with ``missing``, what could be added to it.
    ``rails`` protect it now and change no number. ``stored`` and ``stored_at``: the score as the last look left it.
    """

    key: str
    kind: str | None
    terms: Mapping[str, Term]
    mvs: float
    most: float
    above: float
    above_most: float
    profile: Literal["seed", "relative"]
    band: str
    acting: str
    action: str
    missing: tuple[str, ...]
    rails: frozenset[str]
    tokens: int
    target: int
    stored: float | None
    stored_at: datetime | None

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Scored:
        """From one entry of `score/score`."""
        own = {
            "terms": {name: Term(*entry["terms"][name]) for name in TERMS},
            "missing": tuple(entry["missing"]),
            "rails": frozenset(entry["rails"]),
            "stored": to_python(entry["stored"]),
            "stored_at": to_python(entry["stored_at"]),
        }
        return cls(**{name: own[name] if name in own else entry[name] for name in cls.__dataclass_fields__})


def scores(engine: Engine, keys: Iterable[str], *, at: datetime) -> list[Scored]:
    """Of memories, each once, sorted by key, in reads of 2,000; see `Jochi.score`. Raises `UsageError`."""
    if isinstance(keys, str | bytes):
        raise UsageError("keys is one text, not a list of keys", fix="give a list, such as ['default/m1']")
    found: list[Scored] = []
    for chunk in chunks(dict.fromkeys(keys), CHUNK):
        row = engine.call("score/score", {"now": at, "keys": chunk}, write=False)
        found += map(Scored.from_entry, row["memories"])
    return sorted(found, key=lambda one: one.key)


@dataclass(frozen=True)
class Improvable:
    """A memory that its score's band wants something added to.

    ``missing``: of embedding, tokens (a worker adds these), keywords and confidence (only people and apps can); ``mvs``: its score
    at the last look.
    """

    key: str
    kind: str | None
    missing: tuple[str, ...]
    mvs: float | None


def improvable(engine: Engine, scope: str | None = None) -> Iterator[Improvable]:
    """Memories to which their score's band wants something added, by key; None: of all scopes. Reads all keys, page by page.

    A worker adds tokens and embeddings by itself. What gets its keywords or confidence leaves the list at its next look.
    """
    prefix = "" if scope is None else f"{scope}/"
    after: str | None = ""
    while after is not None:
        row = engine.call("score/improvable", {"prefix": prefix, "after": after, "page": PAGE}, write=False)
        for each in row["memories"]:
            yield Improvable(each["key"], each["kind"], tuple(each["missing"]), each["mvs"])
        after = row["last"]
