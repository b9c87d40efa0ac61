"""What is learned from turns of a conversation (seed 003, Write Path): facts of ten categories with their confidence."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Category = Literal[
    "fact",
    "preference",
    "correction",
    "entity",
    "decision",
    "relationship",
    "principle",
    "commitment",
    "moment",
    "skill",
]
Change = Literal["adds", "replaces", "confirms", "contradicts"]

MOST_FACTS = 50
LONGEST_TEXT = 1_000
LONGEST_NAME = 100

Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT, strip_whitespace=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME, strip_whitespace=True)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=40, strip_whitespace=True, to_lower=True)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fact(_Part):
    """One thing said. ``turn``: the number of its turn, from 1. ``answers``: the question that it answers, of another speaker:
    it is found by that as well. ``subject``, ``attribute`` and ``value`` together: it says one
    value of one attribute of somebody or something, as of which only one holds at a time (`entity::attribute`). ``change``: what
    it does to what was known; ``of``: to which known statement, by its number from 1; of what adds there is none. None: nobody
    says."""

    text: Text
    category: Category = "fact"
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    turn: int = Field(ge=1)
    answers: Text | None = None
    entities: tuple[Name, ...] = Field(default=(), max_length=12)
    tags: tuple[Tag, ...] = Field(default=(), max_length=8)
    subject: Name | None = None
    attribute: Name | None = None
    value: Name | None = None
    change: Change | None = None
    of: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _slot_is_whole(self) -> Fact:
        if len({self.subject is None, self.attribute is None, self.value is None}) > 1:
            raise ValueError("subject, attribute and value go together")
        return self

    @model_validator(mode="after")
    def _change_is_whole(self) -> Fact:
        if (self.of is None) != (self.change in (None, "adds")):
            raise ValueError("what replaces, confirms or contradicts says which statement, by its number in `of`")
        return self


class LearningOutput(_Part):
    """Of one batch of turns. Nothing worth keeping is an empty list."""

    facts: tuple[Fact, ...] = Field(default=(), max_length=MOST_FACTS)
