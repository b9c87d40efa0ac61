"""`[context]` as types: what an agent starts with, chosen from the graph within a limit of tokens (seed 001, Rolling Window with
Value-Based Retention)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from jochi.context.manifest import SectionName
from jochi.policy.parts import Count, Name, Part, PositiveDuration, repeated
from jochi.policy.value import OneOf


class Member(Part):
    """Memories of a kind belong into a section."""

    kind: Name
    """The label."""
    when: OneOf | None = None
    """What must hold of a memory. Where that is unknown, it doesn't belong there."""


class Section(Part):
    """One section of the file."""

    name: SectionName
    """By which it is known: the lists of ids of the manifest follow it."""
    title: Annotated[str, Field(min_length=1, max_length=100)]
    """The heading in the file."""
    tokens: Annotated[int, Field(ge=0, le=1_000_000)]
    """Its share of `max_tokens`. What it doesn't need is handed on to the others."""
    newest: bool = False
    """`true`: the newest come first. `false`: those of the most value."""
    of: Annotated[tuple[Member, ...], Field(strict=False)] = ()
    """What belongs there. The first section, in the order of the policy, that something belongs to has it. None: all the rest."""


class Context(Part):
    """`[context]`: the manifest of a scope."""

    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)]
    """The tokens of the whole, unless a manifest has a number of its own."""
    line_tokens: Annotated[int, Field(ge=0, le=1_000)]
    """What a memory costs besides its content: its bullet and its id."""
    frame_tokens: Annotated[int, Field(ge=0, le=10_000)]
    """What the file costs besides its memories: title, headings, marks."""
    sections: Annotated[tuple[Section, ...], Field(strict=False, min_length=1)]
    """The sections in the order of the file."""
    never: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """Kinds that belong into no section, unless a section names them; so do those with `container = true`."""
    candidates: Annotated[int, Field(ge=1, le=10_000)]
    """So many memories of each tier, and of the most value in each section, are looked at."""
    every: PositiveDuration
    """A manifest is made anew after this, also where nothing that it holds has changed."""
    versions: Count
    """So many versions of a manifest are kept."""

    @model_validator(mode="after")
    def _sound(self) -> Context:
        if twice := repeated([section.name for section in self.sections]):
            raise ValueError(f"sections: a section is there twice: {', '.join(twice)}")
        if len([section for section in self.sections if not section.of]) != 1:
            raise ValueError("sections: just one has no `of`: it takes all the rest")
        if (total := sum(section.tokens for section in self.sections)) > self.max_tokens:
            raise ValueError(f"sections: together they have {total} tokens, and max_tokens is {self.max_tokens}")
        return self
