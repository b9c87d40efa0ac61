"""What is found in a text (seed 002, Phase 2): people, concepts and entities, what is said of them, and how they hang together."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.json_schema import SkipJsonSchema

Kind = Literal["Person", "Concept", "Entity"]
Lifetime = Literal["week", "month", "year", "forever"]

MOST_THINGS = 50
MOST_SUBPOINTS = 12
MOST_RELATIONS = 100
LONGEST_NAME = 200
LONGEST_TEXT = 500

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME, strip_whitespace=True)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT, strip_whitespace=True)]
Verb = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=60)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Subpoint(_Part):
    """One thing said. ``lifetime``: how long it will matter (seed 002, Note Retention): week: passing; month: what doesn't fit
    elsewhere; year: events and projects; forever: what somebody or something is."""

    text: Text
    lifetime: Lifetime = "month"


class Thing(_Part):
    """``name``: as people say it. ``type``: of an Entity: organisation, place, product, event, work, …. ``confidence``: 0 to 10."""

    kind: Kind
    name: Name
    type: Annotated[str, StringConstraints(max_length=60)] | None = None
    confidence: float = Field(ge=0, le=10, allow_inf_nan=False)
    subpoints: tuple[Subpoint, ...] = Field(max_length=MOST_SUBPOINTS)
    statements: SkipJsonSchema[int] = Field(default=0, ge=0)


class Relation(_Part):
    """``of`` and ``to``: names of things. ``type``: a verb, such as `works_at`. ``note``: what the text says of it."""

    of: Name
    to: Name
    type: Verb
    note: Text


class ExtractionOutput(_Part):
    """All of one text. Nothing worth knowing is two empty lists."""

    things: tuple[Thing, ...] = Field(default=(), max_length=MOST_THINGS)
    relations: tuple[Relation, ...] = Field(default=(), max_length=MOST_RELATIONS)
