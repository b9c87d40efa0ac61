"""The shape of a reading. Offsets count characters of the text as it was given: `text[one.start:one.end] == one.text`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal, NamedTuple

Modality = Literal[
    "able",
    "advised",
    "asked",
    "command",
    "condition",
    "former",
    "future",
    "hypothetical",
    "possible",
    "reported",
    "required",
    "wanted",
]


class Span(NamedTuple):
    """A part of the text."""

    text: str
    start: int
    end: int


class Entity(NamedTuple):
    """``type``: OntoNotes' (PERSON, ORG, GPE, DATE, MONEY, …) by the model; Presidio's and IDENTIFIER by a pattern."""

    type: str
    text: str
    start: int
    end: int


class Statement(NamedTuple):
    """Who does what, as the sentence has it: not whether it is true.

    ``verb``: its base form with its particle (`give up`), and with its preposition where the object stands behind one
    (`live in`). ``object``: object, complement, or what stands behind the first preposition. A passive is turned round: its
    subject is the object. ``adjuncts``: further phrases with a preposition, and phrases of time. ``modality``: None where it
    is stated plainly. ``start``, ``end``: its own words from first to last. ``clauses``: the spans that together say it, a
    subject or verb that others share among them.
    """

    subject: Span | None
    verb: str
    object: Span | None
    negated: bool
    modality: Modality | None
    start: int
    end: int
    adjuncts: tuple[Span, ...] = ()
    clauses: tuple[Span, ...] = ()


class Moment(NamedTuple):
    """An expression of time. ``kind``: `fixed` means the same whenever it is read, `moving` is seen from a now (`yesterday`),
    `open` may mean several times (a weekday alone, `03/04/2025`). From ``since`` up to, without, ``until``; both equal for an
    instant, both None where it is open, where it moves and no now was given, or where no calendar of ours has it."""

    text: str
    start: int
    end: int
    kind: Literal["fixed", "moving", "open"]
    since: datetime | None = None
    until: datetime | None = None


class Personal(NamedTuple):
    """Personal data by Presidio's types. ``score``: 0 to 1, as the recogniser gives it; 1 where a checksum fits."""

    type: str
    text: str
    start: int
    end: int
    score: float


class Reference(NamedTuple):
    """A pronoun and the only one that it can stand for."""

    text: str
    start: int
    end: int
    to: Span


@dataclass(frozen=True)
class Reading:
    """One text, read. All tuples are in the order of the text.

    ``language``: a code (`en`, `de`, `fr`, …), `other` or `unclear`. ``partial``: not all of it could be read, for want of a
    model of its language, or for its length; then ``phrases``, ``statements``, ``references`` and entities by name may lack.
    """

    text: str
    language: str
    partial: bool
    sentences: tuple[Span, ...] = ()
    entities: tuple[Entity, ...] = ()
    phrases: tuple[Span, ...] = ()
    statements: tuple[Statement, ...] = ()
    moments: tuple[Moment, ...] = ()
    personal: tuple[Personal, ...] = ()
    references: tuple[Reference, ...] = ()

    @cached_property
    def keywords(self) -> tuple[str, ...]:
        """At most twenty, the most telling first (YAKE), of the first 20,000 characters; found when first asked for."""
        from jochi_workers.language.keywords import keywords

        return keywords(self.text, self.language)
