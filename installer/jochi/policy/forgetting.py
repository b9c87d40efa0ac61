"""`[forgetting]`: what counts as derived from a memory, and what clients without the key may do (docs/reference/forgetting.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from jochi.policy.parts import Count, Name, Part


class Derivation(Part):
    """A relationship by which one memory was made from another."""

    type: Name
    """The type of the relationship."""
    side: Literal["in", "out"]
    """Where the derived memory stands, seen from its source.

    `in` is for (derived)-[type]->(source), `out` for (source)-[type]->(derived).
    """
    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """The derived memory must have one of these labels. None: any label."""


class Forgetting(Part):
    """`[forgetting]`: what goes with a memory that is forgotten on request, and who may write after that."""

    page: Count
    """How many memories one transaction deletes."""
    repeated_words: Annotated[int, Field(ge=1, le=1_000)]
    """A memory that repeats at least so many words of a forgotten content, word for word, counts as saying the same."""
    without_key: Literal["refuse", "write"]
    """What a client without the key may do once something was forgotten.

    `refuse`: it may not write memories. `write`: it may, and a worker that has the key checks them.
    """
    sure: Annotated[float, Field(gt=0.5, le=1.0)]
    """Score from which what a description means is acted on, without anybody being asked …"""
    margin: Annotated[float, Field(ge=0.0, le=1.0)]
    """… if it is so far before the next."""
    looked_at: Annotated[int, Field(ge=1, le=1_000)]
    """How many memories recall is asked for, of which one may be meant."""
    replaced: Literal["keep", "drop"]
    """What becomes of what was said before a statement is replaced.

    `keep`: records have it as long as `[audit] keep`, no recall finds it, and `jochi undo` brings it back. `drop`: it is nowhere.
    """
    derived: Annotated[tuple[Derivation, ...], Field(strict=False)] = ()
    """The relationships by which one memory was made from another."""

    @model_validator(mode="after")
    def _once(self) -> Forgetting:
        if len({(row.type, row.side, row.kinds) for row in self.derived}) < len(self.derived):
            raise ValueError("a row of derived is there twice")
        return self
