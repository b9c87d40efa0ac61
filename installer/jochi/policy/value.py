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
    """The property that is compared."""
    one_of: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """The texts that it may have."""


class Worth(Part):
    """One row: type weight, half-life of recency (absent: it doesn't fall), and how many tokens such a memory should have at most.

    ``when`` and ``confidence_above`` (what is left of its confidence now) say of which memories of the kind it holds; the others
    have the weight and half-life of `other`. Where that is unknown, the score is least without and at best with the row.
    """

    kind: Name
    """The label."""
    weight: Points
    """The type weight: points that every such memory has."""
    half_life: PositiveDuration | None = None
    """The half-life of recency. None: recency does not fall."""
    target: Count
    """How many tokens such a memory should have at most."""
    when: OneOf | None = None
    """What must hold of a memory for this row."""
    confidence_above: Share | None = None
    """The row holds only above this confidence."""


class Other(Part):
    """Weight and half-life of what no row holds for."""

    weight: Points
    """The type weight."""
    half_life: PositiveDuration
    """The half-life of recency."""


class Terms(Part):
    """What each term adds at most, and what it needs for that."""

    recency: Points
    """Points for a memory that was used just now."""
    frequency: Points
    """Points for `many_accesses` accesses."""
    many_accesses: Annotated[int, Field(ge=2, le=1_000_000)]
    """More accesses than this add nothing."""
    quality: Points
    """Points for a confidence of 1."""
    centrality: Points
    """Points for `relationships` relationships."""
    relationships: Annotated[int, Field(ge=1, le=1_000)]
    """More relationships than this add nothing."""
    per_agent: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]
    """Points for each agent that uses the memory."""
    cross_agent: Points
    """Points for agents at most."""
    bloat: Points
    """Points that are taken off at most, where a memory is longer than its target."""


class Bands(Part):
    """From which score on each band holds, best first; below `prune` is pruned at once."""

    keep: Threshold
    """From here on, TTLs wait."""
    lean: Threshold
    """From here on, a memory that is too long is flagged for compression."""
    improve: Threshold
    """From here on, a memory that lacks something is flagged."""
    demote: Threshold
    """From here on, a memory moves one tier down."""
    prune: Threshold
    """From here on, TTLs are shorter. Below it, some kinds are pruned at once."""

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
        return self.model_dump()


class Value(Part):
    """`[value]`: the Memory Value Score."""

    profile: Literal["seed", "relative"]
    """`seed`: bands are read from the score itself. `relative`: they are read from what the score has above the type weight."""
    over_ttl: bool
    """`true`: the score moves TTLs and tiers. `false`: it is only reported."""
    most_lives: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)]
    """A TTL that the score makes longer lasts at most so many times as long. One that it makes shorter lasts at least that part."""
    grace: PositiveDuration
    """No younger memory is moved down by its score."""
    class_: Annotated[PositiveDuration, Field(alias="class")]
    """The schedule that moves down by score are rounded up to."""
    bands: Bands
    """The thresholds of the bands."""
    kinds: Annotated[tuple[Worth, ...], Field(strict=False)]
    """The rows of kinds. Of several kinds of a memory the first row decides."""
    other: Other
    """What holds for memories without a row."""
    targets: dict[Name, Count] = Field(default_factory=dict)
    """Target tokens of kinds without a row."""
    other_target: Count
    """Target tokens of all other kinds."""
    terms: Terms
    """What the terms of the score add."""
    severities: dict[str, Points] = Field(default_factory=dict)
    """Points for values of `severity`."""
    at_once: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """Kinds that are pruned without a wait below the last band."""
    claims: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """Kinds whose memories should have a confidence."""
    walked: Annotated[int, Field(ge=10, le=100_000)]
    """How many relationships of one memory a score reads. Of more, what it cannot tell is unknown."""

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
