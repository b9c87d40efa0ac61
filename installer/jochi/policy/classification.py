"""`[classification]` as types: how likely a memory is needed again, by five signals (seed 001, Multi-Signal Value Scoring)."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, model_validator

from jochi.policy.parts import Count, Name, Part, PositiveDuration, Share, repeated
from jochi.policy.value import OneOf


class Weights(Part):
    """What each signal counts for. Together they are 1."""

    retention: Annotated[Share, Field(gt=0)]
    """How likely a memory is needed again, by what it is."""
    uniqueness: Share
    """How little it is like any other memory of its scope."""
    confidence: Share
    """How reliable its source is."""
    frequency: Share
    """How often it was used."""
    recency: Share
    """How recently it was used."""

    @model_validator(mode="after")
    def _one(self) -> Weights:
        if not math.isclose(total := math.fsum(self.model_dump().values()), 1):
            raise ValueError(f"the weights are {total:g} together, and must be 1")
        return self


class Retention(Part):
    """One row: how likely memories of a kind are needed again. The first row that holds for a memory decides."""

    kind: Name
    """The label."""
    score: Share
    """The signal."""
    when: OneOf | None = None
    """What must hold of a memory for this row. Where that is unknown, it doesn't hold."""


class Classification(Part):
    """`[classification]`: the value of memories as `:ValueClassification`, and what it does to them."""

    classifying: bool
    """`true`: each look at a memory writes its value, and one of little value moves to ARCHIVE."""
    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """The labels whose memories are classified. The policy need not have all of them."""
    weights: Weights
    """What the signals count for."""
    retention: Annotated[tuple[Retention, ...], Field(strict=False)] = ()
    """The signal `retention` by kind, in order. What is pinned, kept forever or protected has 1."""
    other_retention: Share
    """The same for what no row holds for."""
    most_accesses: Count
    """As many accesses make the signal `frequency` 1, more count no more."""
    recent: PositiveDuration
    """So long after its last use the signal `recency` of a memory is 0."""
    compare_every: PositiveDuration
    """A memory is compared again with the others of its scope, for its uniqueness, after this."""
    keep: Share
    """From this value on a memory is in the tier KEEP."""
    summarize: Share
    """From this value on it is in the tier SUMMARIZE, and below in ARCHIVE."""
    grace: PositiveDuration
    """No younger memory is moved to ARCHIVE by its value."""
    class_: Annotated[PositiveDuration, Field(alias="class")]
    """The schedule that such moves are rounded up to."""

    @model_validator(mode="after")
    def _sound(self) -> Classification:
        if twice := repeated(list(self.kinds)):
            raise ValueError(f"kinds: a kind is there twice: {', '.join(twice)}")
        if self.keep <= self.summarize:
            raise ValueError("keep must be above summarize")
        if self.classifying and not self.kinds:
            raise ValueError("`kinds` names no kind, so nothing would be classified")
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The kinds that are classified; none where that is switched off."""
        return self.kinds if self.classifying else ()
