"""What happened at three granularities (seed 002, Retrieval Granularity Controls; docs/reference/explore.md): sources,
storylines, themes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.graph.driver_values import read_as
from jochi.use.recall import Hit, RecallResult, recall

Granularity = Literal[1, 2, 3]

_KNOWN = ("Person", "Concept", "Entity")
KINDS: dict[Granularity, tuple[str, ...]] = {
    1: ("SourceSummary", "Source", *_KNOWN),
    2: ("Storyline",),
    3: ("Macro",),
}
"""What is searched at each granularity, each by vectors of its own; at 1 people, concepts and entities, too (seed 002, Hybrid
Retrieval)."""

AS_GOOD = 0.05
"""A coarser granularity is chosen if its best hit is at most so much farther (raw cosine) than the best of all."""
MEMBERS = 50


@dataclass(frozen=True)
class Member:
    """A memory beneath another. ``content``: of a source its summary. ``source_count``: of storylines, themes and what is
    mentioned."""

    key: str
    kind: str
    title: str | None
    content: str | None
    started_at: datetime | None
    ended_at: datetime | None
    source_count: int | None
    context_type: str | None


@dataclass(frozen=True)
class Place(Member):
    """A memory with what lies beneath it, the newest first: a theme's storylines, a storyline's sources, what a source mentions,
    storylines of a person, concept or entity. ``content`` is the whole text, ``summary`` that of a source."""

    asked: str
    summary: str | None
    members: tuple[Member, ...]


@dataclass(frozen=True)
class ExploreResult:
    """Places of one granularity, best first, with the hit by which each was found. ``degraded``, ``hint``: as `RecallResult` has
    them."""

    granularity: Granularity
    places: tuple[Place, ...]
    hits: tuple[Hit, ...]
    degraded: str | None = None
    hint: str | None = None
    nearest: dict[int, float | None] | None = None
    """Of ``auto`` the raw cosine of the best hit at each granularity, by which one was chosen."""

    @property
    def keys(self) -> list[str]:
        """The places' keys, best first: what `Jochi.touch` takes."""
        return [place.key for place in self.places]


def explore(
    engine: Engine,
    text: str | None = None,
    *,
    vector: Sequence[float] | None = None,
    scope: str = "default",
    granularity: Granularity | Literal["auto"] = 1,
    k: int = 10,
    include_archived: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
    xray: bool = False,
) -> ExploreResult:
    """What happened (seed 002): at granularity 1 the ``k`` sources, people, concepts and entities that fit best, at 2
    storylines, at 3 themes, each with what lies beneath it.

    By words, by meaning or both, as `recall`; each granularity searches vectors of its own. ``auto``: the coarsest whose
    best hit is nearly as near as the best of all. Writes nothing: `touch` reports what was used. ``xray``: the hits say what
    their scores are made of. Raises `UsageError`.
    """
    if granularity not in (1, 2, 3, "auto"):
        raise UsageError(
            f"the granularity is {granularity!r}",
            where="explore",
            fix="give 1 (sources), 2 (storylines), 3 (themes) or 'auto'",
        )

    def ask(level: Granularity) -> RecallResult:
        within: dict[str, Any] = {"scope": scope, "since": since, "until": until, "include_archived": include_archived}
        # A source and its summary are one place.
        k_of = 2 * k if level == 1 else k
        return recall(engine, text, vector=vector, kinds=KINDS[level], k=k_of, xray=xray, **within)

    nearest: dict[int, float | None] | None = None
    if granularity == "auto":
        level, found, nearest = _chosen({each: ask(each) for each in KINDS})
    else:
        level, found = granularity, ask(granularity)
    places: list[Place] = []
    hits: list[Hit] = []
    by_key = {place.asked: place for place in drill_down(engine, found.keys)}
    for hit in found:
        place = by_key.get(hit.key)
        if place is not None and all(place.key != other.key for other in places) and len(places) < k:
            places.append(place)
            hits.append(hit)
    return ExploreResult(level, tuple(places), tuple(hits), found.degraded, found.hint, nearest)


def _chosen(found: dict[Granularity, RecallResult]) -> tuple[Granularity, RecallResult, dict[int, float | None]]:
    """The coarsest granularity whose best hit is nearly as near as the best of all; without vectors the coarsest that has any."""
    best: dict[int, float | None] = {
        level: max((hit.cosine for hit in hits if hit.cosine is not None), default=None)
        for level, hits in found.items()
    }
    known = [cosine for cosine in best.values() if cosine is not None]
    for level in sorted(found, reverse=True):
        cosine = best[level]
        if (cosine is not None and cosine >= max(known) - AS_GOOD) or (not known and found[level]):
            return level, found[level], best
    return 1, found[1], best


def drill_down(engine: Engine, keys: Iterable[str], *, members: int = MEMBERS) -> list[Place]:
    """What lies beneath memories (`scope/id`): storylines of a theme, sources of a storyline, what a source mentions. Of
    each at most ``members``, the newest first; keys that no live memory has are left out. Writes nothing."""
    row = engine.call("memory/drill_down", {"keys": list(keys), "members": members}, write=False)
    return [read_as(Place, each) for each in row["found"]]
