"""`[observe]`: how turns of conversations are buffered, learned from, and put in boxes (seed 003; docs/reference/observing.md)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from jochi.policy.parts import Count, Part, PositiveDuration, Share

_Pattern = Annotated[str, Field(min_length=1, max_length=1_000)]


class Observe(Part):
    """`[observe]`: when a session's turns are learned from, and how what was learned hangs together."""

    languages: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """Languages whose signals are looked for: files of `jochi/write/observing/signals`."""
    high: Annotated[tuple[_Pattern, ...], Field(strict=False)] = ()
    """Patterns of your own (RE2's syntax, upper and lower case alike): a turn that has one is of signal HIGH."""
    turns: Annotated[int, Field(ge=1, le=1_000)]
    """So many buffered turns of a session are learned from at once."""
    wait: PositiveDuration
    """So long after the first of them they are in any case."""
    pause: PositiveDuration
    """A turn of signal HIGH is learned from at once, but not sooner than this after the last one of its session."""
    most_open: Annotated[int, Field(ge=1, le=10_000)]
    """Sessions with buffered turns at the same time. Where one more comes, the oldest buffer gives way and is learned from."""
    surprise: Share = 0.0
    """Words of a turn that none of the buffered ones had, as a share, from which on it counts as HIGH. 0: never."""
    keep: PositiveDuration
    """So long a turn that comes again is known."""
    topics: Annotated[int, Field(ge=1, le=100)]
    """Topics of a batch and of a box at most, the most frequent ones."""
    context: Annotated[int, Field(ge=1, le=200)]
    """Topics are those of so many turns, up to the last of a batch: fewer say too little to be compared."""
    box_overlap: Share
    """A box whose topics overlap less than this (Jaccard) with those of what comes next is sealed."""
    box_gap: PositiveDuration
    """So is one after this time without anything new."""
    box_memories: Count
    """So is one that would hold more memories than this."""
    trace_overlap: Share
    """A sealed box goes into the trace of the box that overlaps most, if by this much (Jaccard)."""
    trace_window: PositiveDuration
    """Only boxes sealed within this time before it are compared."""
    trace_boxes: Annotated[int, Field(ge=1, le=1_000)]
    """Of these the newest so many."""

    @field_validator("high")
    @classmethod
    def _patterns_compile(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        from jochi.text.patterns import compile_patterns

        for pattern in patterns:
            compile_patterns((pattern,))
        return patterns
