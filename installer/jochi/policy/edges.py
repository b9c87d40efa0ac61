"""`[edges]`: relationships with a confidence that observations raise and time wears down (docs/reference/edges.md)."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, model_validator

from jochi.policy.durations import Duration
from jochi.policy.parts import Count, Name, Part, PositiveDuration, Share

_Step = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]

NO_TYPE = "JOCHI_NO_EDGE"
"""Stands in patterns where a policy declares no type: nobody has relationships of it."""


class EdgeType(Part):
    """One entry of `edges.types`: a relationship type that the engine looks after, and what is different for it.

    The numbers are those of the lifecycle `confidence`.
    """

    type: Name
    """The type of the relationship."""
    one_way: bool = False
    """Recall follows it from start to end only."""
    lifecycle: Literal["confidence", "salience"] = "confidence"
    """What time takes from it: `confidence` falls in whole windows, `salience` in closed form with the states of `[salience]`."""
    grace: Duration | None = None
    """Its `grace`, where it differs."""
    window: PositiveDuration | None = None
    """Its `window`, where it differs."""
    per_window: _Step | None = None
    """Its `per_window`, where it differs."""
    floor: Share | None = None
    """Its `floor`, where it differs."""
    reinforce: _Step | None = None
    """Its `reinforce`, where it differs."""

    @model_validator(mode="after")
    def _has_numbers_of_its_lifecycle(self) -> EdgeType:
        given = [
            name for name in ("grace", "window", "per_window", "floor", "reinforce") if getattr(self, name) is not None
        ]
        if self.lifecycle == "salience" and given:
            raise ValueError(f"{self.type} has a salience, so {', '.join(given)} mean nothing here: see [salience]")
        return self


class Edges(Part):
    """`[edges]`: how much an observation adds, what time takes, and how recall spreads."""

    types: Annotated[tuple[EdgeType, ...], Field(strict=False)]
    """The types that the engine looks after."""
    grace: Duration
    """How long after it was made or observed an edge loses no confidence."""
    window: PositiveDuration
    """After that it loses confidence at the end of each whole window of this length."""
    per_window: _Step
    """How much confidence a window takes."""
    floor: Share
    """Confidence never falls below this."""
    reinforce: _Step
    """How much one more observation adds."""
    cap: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    """Confidence never rises above this."""
    faded: Share
    """An edge with a lower salience is archived."""
    ephemeral: PositiveDuration
    """An edge with `ttl_policy = 'ephemeral'` is archived this long after it was made."""
    look_every: PositiveDuration
    """How often edges that were written in plain Cypher are looked for."""
    batch_edges: Annotated[int, Field(ge=1, le=50_000)]
    """How many edges of one type a transaction changes."""
    visible: Share
    """Recall does not follow edges of a lower confidence."""
    hops: Annotated[int, Field(ge=1, le=5)]
    """How many steps recall follows at most."""
    hop_decay: _Step
    """The share of its activation that a step leaves."""
    iterations: Annotated[int, Field(ge=0, le=50)]
    """Rounds of the refinement of scores, which works like PageRank."""
    damping: Share
    """The share of each score that flows on in a round."""
    widest: Count
    """From how many memories recall goes on in one step, the strongest first."""
    fan_out: Annotated[int, Field(ge=1, le=10_000)]
    """How many relationships of one memory recall reads."""

    @model_validator(mode="after")
    def _fits_together(self) -> Edges:
        names = [entry.type for entry in self.types]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"a type is there twice: {', '.join(twice)}")
        if self.floor > self.cap:
            raise ValueError("floor is above cap")
        return self

    @property
    def names(self) -> list[str]:
        """The declared types, in the policy's order; never none, so that every statement can be rendered."""
        return [entry.type for entry in self.types] or [NO_TYPE]

    @property
    def one_way(self) -> list[str]:
        """The types that recall follows from start to end only."""
        return [entry.type for entry in self.types if entry.one_way]

    @property
    def living(self) -> list[str]:
        """The types whose relationships have a salience and a state."""
        return [entry.type for entry in self.types if entry.lifecycle == "salience"]

    def numbers(self) -> dict[str, dict[str, float | int]]:
        """By type, what counts for its confidence, spans in seconds; nothing where time takes none of it."""
        return {
            entry.type: {}
            if entry.lifecycle == "salience"
            else {
                "grace": _seconds(self.grace if entry.grace is None else entry.grace),
                "window": _seconds(self.window if entry.window is None else entry.window),
                "per_window": self.per_window if entry.per_window is None else entry.per_window,
                "floor": self.floor if entry.floor is None else entry.floor,
                "reinforce": self.reinforce if entry.reinforce is None else entry.reinforce,
            }
            for entry in self.types
        }


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())
