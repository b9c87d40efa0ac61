"""`[actions]` as types: what agents may do with memories, and what is learned of how it went (seed 003)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from jochi.policy.parts import Count, Part, PositiveDuration, Share, repeated

Action = Literal[
    "store_episode", "store_note", "update_note", "create_artifact", "summarize_node", "discard", "link_graph"
]
"""What an agent does with memories: the taxonomy of seed 003."""

LifecycleState = Literal["active", "validated", "candidate", "stale", "archived"]
Origin = Literal["extraction", "consolidation", "replay", "manual", "unknown"]


def _least_first(span: tuple[float, float]) -> tuple[float, float]:
    if span[0] > span[1]:
        raise ValueError("must be [least, most]")
    return span


Span = Annotated[tuple[Share, Share], Field(strict=False), AfterValidator(_least_first)]
"""Least and most, both included."""


class Need(Part):
    """`[actions.needs.<action>]`: the eligibility that an action needs. No state, or no source: it is never allowed."""

    confidence: Span
    """From the first to the second, both included."""
    importance: Span
    """From the first to the second, both included."""
    states: Annotated[tuple[LifecycleState, ...], Field(strict=False)]
    """The values of `lifecycleState` with which it is allowed."""
    sources: Annotated[tuple[Origin, ...], Field(strict=False)]
    """The values of `source` with which it is allowed."""

    @model_validator(mode="after")
    def _each_once(self) -> Need:
        if twice := repeated([*self.states, *self.sources]):
            raise ValueError(f"these are there twice: {', '.join(twice)}")
        return self


class Needs(Part):
    """`[actions.needs]`: one table for each action."""

    store_episode: Need
    """To keep what happened."""
    store_note: Need
    """To keep a belief, decision or preference."""
    update_note: Need
    """To change a note that is there."""
    create_artifact: Need
    """To keep something word by word."""
    summarize_node: Need
    """To put a summary in the place of a memory."""
    discard: Need
    """Not to keep something. What is no action at all falls back to it."""
    link_graph: Need
    """To link two memories."""


class Actions(Part):
    """`[actions]`: records of what agents did with memories, guidelines out of them, and what is allowed."""

    keep: PositiveDuration
    """How long the record of an action is kept."""
    most: Count
    """Where there are more records, the oldest go earlier."""
    window: PositiveDuration
    """Guidelines are made of what happened within this time."""
    learn_every: PositiveDuration
    """How often the guidelines of a scope are made anew."""
    read: Annotated[int, Field(ge=1, le=100_000)]
    """So many records of a scope guidelines are made of, the newest."""
    least: Count
    """Nothing is said of what happened less often."""
    failed: Annotated[Share, Field(gt=0)]
    """From this share of failures on guidelines say to hold an action back."""
    skipped: Annotated[Share, Field(gt=0)]
    """From this share of skipped ones on they say to ask for it less often."""
    taken_back: Annotated[Share, Field(gt=0)]
    """From this share on that was taken back of what the engine did, or that was rejected, they say to look at its thresholds."""
    needs: Needs
    """What eligibility each action needs."""

    @model_validator(mode="after")
    def _kept_as_long_as_it_is_read(self) -> Actions:
        if self.keep < self.window:
            raise ValueError("keep is shorter than window: guidelines would miss what is deleted")
        return self
