"""`[ingest]`: how raw sources are taken in (seed 002, Phase 0; docs/reference/ingesting.md)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from jochi.policy.parts import Part


class Ingest(Part):
    """`[ingest]`: how much of a long source one memory holds."""

    part_messages: Annotated[int, Field(ge=1, le=10_000)]
    """A source of more messages has parts."""
    part_characters: Annotated[int, Field(ge=100, le=1_000_000)]
    """So do those of more text; a single message that is longer stands alone."""
    batch_characters: Annotated[int, Field(ge=1_000, le=100_000_000)]
    """Text that is read before it is written."""
