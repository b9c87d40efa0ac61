"""`[value]` as types: what the Memory Value Score is made of, its bands, what it does to TTLs and tiers (seed 000, Option B)."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from jochi.policy.parts import Count, Name, Part, PositiveDuration, Share, repeated

Points = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Threshold = Annotated[float, Field(ge=-100, le=1000, allow_inf_nan=False)]


class OneOf(Part):
    """What must hold of a memory for its row: a property is one of these texts. Absent or of a wrong type it is unknown."""

    property: Name
    one_of: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class Worth(Part):
    """One row: type weight, half-life of recency (absent: it doesn't fall), and how many tokens such a memory should have at most.

    ``when`` and ``confidence_above`` (what is left of its confidence now) say of which memories of the kind it holds; the others
    have the weight and half-life of `other`. Where that is unknown, the score is least without and at best with the row.
    """

    kind: Name
    weight: Points
    half_life: PositiveDuration | None = None
    target: Count
    when: OneOf | None = None
    confidence_above: Share | None = None


class Other(Part):
    """Weight and half-life of what no row holds for."""

    weight: Points
    half_life: PositiveDuration


class Terms(Part):
    """What each term adds at most, and what it needs for that; ``bloat`` is what it takes off at most."""

    recency: Points
    frequency: Points
    many_accesses: Annotated[int, Field(ge=2, le=1_000_000)]
    quality: Points
    centrality: Points
    relationships: Annotated[int, Field(ge=1, le=1_000)]
    per_agent: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]
    cross_agent: Points
    bloat: Points


class Bands(Part):
    """From which score on each band holds, best first; below `prune` is pruned at once."""

    keep: Threshold
    lean: Threshold
    improve: Threshold
    demote: Threshold
    prune: Threshold

    @model_validator(mode="after")
    def _in_order(self) -> Bands:
        if any(better <= worse for better, worse in pairwise(self.in_order.values())):
            raise ValueError(
                "the bands go from the highest threshold to the lowest: keep, lean, improve, demote, prune"
            )
        return self

    @property
    def in_order(self) -> dict[str, float]:
        """By name, best first."""
        return {
            "keep": self.keep,
            "lean": self.lean,
            "improve": self.improve,
            "demote": self.demote,
            "prune": self.prune,
        }


class Value(Part):
    """`[value]`: the Memory Value Score. Of several kinds of a memory the first row decides.

    ``profile``: bands are read from the score itself (`seed`) or from what it has above its type weight (`relative`).
    ``over_ttl``: the score moves the TTLs and tiers of the kinds in its rows; without, it is only reported. A TTL that it keeps
    a memory beyond lasts ``most_lives`` times as long at most, one that it cuts that part at least. ``grace``: nothing younger
    is moved down.
    ``class``: the schedule that moves down are rounded up to.
    ``claims``: kinds whose memories should have a confidence. ``at_once``: kinds that are pruned without a wait below the last
    band.
    ``walked``: relationships of one memory that a score reads; of one with more, what it can't tell is unknown.
    """

    profile: Literal["seed", "relative"]
    over_ttl: bool
    most_lives: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)]
    grace: PositiveDuration
    class_: Annotated[PositiveDuration, Field(alias="class")]
    bands: Bands
    kinds: Annotated[tuple[Worth, ...], Field(strict=False)]
    other: Other
    targets: dict[Name, Count] = Field(default_factory=dict)
    other_target: Count
    terms: Terms
    severities: dict[str, Points] = Field(default_factory=dict)
    at_once: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    claims: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    walked: Annotated[int, Field(ge=10, le=100_000)]

    @model_validator(mode="after")
    def _each_once(self) -> Value:
        if twice := repeated([row.kind for row in self.kinds]):
            raise ValueError(f"kinds: a kind is there twice: {', '.join(twice)}")
        if both := sorted({row.kind for row in self.kinds} & self.targets.keys()):
            raise ValueError(f"targets.{both[0]}: its row in kinds has a target")
        if self.walked < self.terms.relationships:
            raise ValueError("walked is less than terms.relationships, which centrality needs")
        return self

    @property
    def labels(self) -> list[str]:
        """The kinds whose TTLs and tiers the score moves; none where it is only reported."""
        return [row.kind for row in self.kinds] if self.over_ttl else []

    @property
    def most_severe(self) -> float:
        """What a severity adds at best."""
        return max(self.severities.values(), default=0.0)
