"""Names: what the engine reads under which of an app's own property names (DESIGN §4)."""

from __future__ import annotations

import re
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from jochi.graph.catalogue import WRITTEN, named

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

STANDARD_NAMES = frozenset(named(mark="mapped"))
"""What rules, rails, enrolment and recall read under a kind's own names (DESIGN §4); a kind's own rules may name more."""

Conversion = Literal["epoch_ms", "epoch_s", "local_utc", "iso"]
CONVERTED_TYPES: dict[Conversion, frozenset[str]] = {
    "epoch_ms": frozenset({"INTEGER", "FLOAT"}),
    "epoch_s": frozenset({"INTEGER", "FLOAT"}),
    "local_utc": frozenset({"LOCAL DATETIME", "DATE"}),
    "iso": frozenset({"STRING"}),
}
"""The types that each can read; which of their values is in `_macros/values/properties.j2`."""


def identifier(value: str) -> str:
    """``value`` if it can stand unquoted as a label, type or property name in Cypher; ValueError if not."""
    if not _IDENTIFIER.fullmatch(value):
        raise ValueError(f"{value!r} is not a plain name (letters, digits, underscore; at most 64)")
    return value


class OwnProperty(BaseModel):
    """`{ property = "opened", as = "epoch_ms" }`: a moment that the app doesn't keep as a zoned datetime.

    What is of another type, or lies before 1990, isn't converted: it is of a wrong type for the rule or rail that reads it.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, populate_by_name=True, use_attribute_docstrings=True
    )

    property: Annotated[str, AfterValidator(identifier)]
    """The app's own property."""
    as_: Conversion
    """How the app keeps the moment.

    `epoch_ms` and `epoch_s` are numbers since 1970 (UTC), `local_utc` is a local datetime or a date that means UTC, and `iso` is
    text in the form of ISO 8601: `2026-06-01`, `2026-06-01 12:30`, `2026-06-01T12:30:00.5+02:00` (without an offset it means UTC).
    """

    @model_validator(mode="before")
    @classmethod
    def _as_is_a_keyword(cls, data: object) -> object:
        # An alias would change how errors name the key; `as` is a word of Python's.
        if isinstance(data, dict) and "as" in data:
            return {("as_" if key == "as" else key): value for key, value in data.items()}
        return data


class Source(NamedTuple):
    """Where one standard name is read. ``label``: only of memories with this label; None: of all others."""

    label: str | None
    property: str
    conversion: Conversion | None = None


Mapping = dict[str, str | OwnProperty]
"""Standard name → the app's own property."""


def check_mapping(mapping: Mapping, read_by_rules: frozenset[str]) -> None:
    """ValueError unless each name is one that something reads and each property is the app's own."""
    known = STANDARD_NAMES | read_by_rules
    for name, own in mapping.items():
        property = own if isinstance(own, str) else own.property
        if name in WRITTEN:
            raise ValueError(f"properties.{name}: the engine writes this itself, so it can't be mapped")
        if name not in known:
            raise ValueError(
                f"properties.{name}: no rule, rail or recall reads a property of this name; there are: "
                + ", ".join(sorted(known - set(WRITTEN)))
            )
        identifier(property)
        if property in WRITTEN:
            raise ValueError(f"properties.{name}: {property} is the engine's own property")
        if not isinstance(own, str) and not name.endswith("_at"):
            raise ValueError(f"properties.{name}: `as` is for moments (names that end in _at)")


def source_of(label: str | None, own: str | OwnProperty) -> Source:
    """One entry of a mapping as templates read it."""
    return Source(label, own) if isinstance(own, str) else Source(label, own.property, own.as_)
