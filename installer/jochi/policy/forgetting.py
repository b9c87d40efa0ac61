"""`[forgetting]`: what counts as derived from a memory, and what clients without the key may do (docs/reference/forgetting.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from jochi.policy.parts import Count, Name, Part


class Derivation(Part):
    """A relationship by which one memory was made from another.

    ``side``: where the derived memory stands, seen from its source: `in` for (derived)-[type]->(source), `out` for
    (source)-[type]->(derived). ``kinds``: labels that the derived one must have one of; none: any.
    """

    type: Name
    side: Literal["in", "out"]
    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()


class Forgetting(Part):
    """`[forgetting]`.

    ``page``: memories that one transaction deletes. ``repeated_words``: a memory that repeats so many words or more of a forgotten
    content word for word says it, too. ``without_key``: a client that has not the key, once something was forgotten:
    `refuse` to write memories, or `write` them and leave them to a worker that has it.
    """

    page: Count
    repeated_words: Annotated[int, Field(ge=1, le=1_000)]
    without_key: Literal["refuse", "write"]
    derived: Annotated[tuple[Derivation, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _once(self) -> Forgetting:
        if len({(row.type, row.side, row.kinds) for row in self.derived}) < len(self.derived):
            raise ValueError("a row of derived is there twice")
        return self
