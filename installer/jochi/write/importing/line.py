"""One line of a JSON Lines file as a typed model (DESIGN §4: common properties, what each kind's own rules read)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any, Literal, TypedDict, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from jochi.graph import property_values as values
from jochi.graph.catalogue import CHOICES, ENGINE_OWNED, ENGINE_PREFIXES, MEMORY, RELATIONSHIP_TYPE, Property
from jochi.policy import load_policy
from jochi.policy.model import PROTECTED_KINDS
from jochi.write.record import DEFAULT_SCOPE, MemoryRecord, Place, Relationship, key_of

_TYPE = re.compile(RELATIONSHIP_TYPE)
_LONGEST_GIVEN = 40
"""Characters of a value that a message quotes."""


KNOWN_KINDS = frozenset(load_policy().policy.labels())
"""The kinds of the shipped policy, for who names no other."""


def refusal(kind: str, known: frozenset[str]) -> str | None:
    """Why a memory of this kind can't be imported; None if it can."""
    if kind in PROTECTED_KINDS:
        return f"kind: {kind} is protected, the engine never looks after it"
    if kind not in known:
        return f"kind: {kind!r} is unknown; known are {', '.join(sorted(known - PROTECTED_KINDS))}"
    return None


class Context(TypedDict):
    """What a line is judged by, beside itself."""

    now: datetime
    kinds: frozenset[str]


def _context(info: ValidationInfo) -> Context:
    return cast(Context, info.context)


def _now(info: ValidationInfo) -> datetime:
    return _context(info)["now"]


def _scope(value: str) -> str:
    if "/" in value:
        raise ValueError("must not hold '/': it parts scope and id in a key")
    return values.name(value)


def _past(value: object, info: ValidationInfo) -> datetime:
    return values.plausible(values.instant(value), _now(info))


def _deadline(value: object, info: ValidationInfo) -> datetime:
    # A deadline years ahead is no mistake, unlike a memory that was made then.
    return values.plausible(values.instant(value), _now(info), bounded_ahead=False)


def _day(value: object) -> date:
    if isinstance(value, str):
        with suppress(ValueError):
            return date.fromisoformat(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise ValueError("must be a date, such as 2026-01-31")


Scope = Annotated[str, AfterValidator(_scope)]
Id = Annotated[str, AfterValidator(values.name)]
Text = Annotated[str, AfterValidator(values.text)]
Instant = Annotated[datetime, BeforeValidator(_past)]
Deadline = Annotated[datetime, BeforeValidator(_deadline)]
Day = Annotated[date, BeforeValidator(_day)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class TargetLine(BaseModel):
    """The other end of a relationship; without a scope it lies in the scope of the memory itself."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: Id
    scope: Scope | None = None


def _target(value: object) -> object:
    return {"id": value} if isinstance(value, str) else value


class RelationshipLine(BaseModel):
    """A relationship: its type, the id it leads to (or scope and id), its properties."""

    model_config = ConfigDict(strict=True, extra="forbid")

    type: str
    to: Annotated[TargetLine, BeforeValidator(_target)]
    properties: dict[str, Any] = Field(default_factory=dict)

    @field_validator("type")
    @classmethod
    def _upper_case(cls, value: str) -> str:
        if _TYPE.fullmatch(value) is None:
            raise ValueError(f"{value[:60]!r} is no relationship type: letters, digits and _ only, such as PART_OF")
        return value

    @field_validator("properties")
    @classmethod
    def _storable(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return values.storable_map(value, _now(info))


class _Line(BaseModel):
    """What every line has, and what is done with what isn't named: it is kept as it is, if Neo4j can store it."""

    model_config = ConfigDict(strict=True, extra="allow")

    kind: str
    id: Id
    scope: Scope = DEFAULT_SCOPE
    relationships: list[RelationshipLine] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _not_the_engines(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for name in data:
                if name in ENGINE_OWNED or name.startswith(ENGINE_PREFIXES):
                    raise ValueError(f"{name} belongs to the engine: leave it out")
        return data

    @model_validator(mode="after")
    def _extras(self, info: ValidationInfo) -> _Line:
        extra = self.__pydantic_extra__ or {}
        key = extra.pop("key", None)
        if key is not None and key != key_of(self.scope, self.id):
            raise ValueError(f"key must be scope/id, here {key_of(self.scope, self.id)!r}: leave it out")
        self.__pydantic_extra__ = values.storable_map(extra, _now(info))
        return self

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str, info: ValidationInfo) -> str:
        reason = refusal(value, _context(info)["kinds"])
        if reason is not None:
            raise ValueError(reason)
        return value


_TYPES: dict[str, Any] = {
    "text": Text,
    "texts": list[Text],
    "flag": bool,
    "share": Share,
    "count": Count,
    "counts": Annotated[list[Count], Field(min_length=7, max_length=7)],
    "vector": Annotated[list[Number], Field(min_length=1)],
    "date": Day,
    "moment": Instant,
}
"""By type in the catalogue, what a line may hold there. Of any other type is what `jochi.graph.property_values` stores."""


def _type_of(known: Property) -> Any:
    if known.name in CHOICES:
        return Literal[CHOICES[known.name]]
    return Deadline if known.has("ahead") else _TYPES[known.type]


_PROPERTIES = {
    known.name: (_type_of(known) | None, None)
    for known in MEMORY
    if known.type in _TYPES and known.name not in ENGINE_OWNED and known.name not in ("key", "scope", "id")
}
MemoryLine = create_model(
    "MemoryLine", __doc__="A memory as a file states it.", __base__=_Line, **cast(Any, _PROPERTIES)
)


def record(data: object, *, now: datetime, kinds: frozenset[str], place: Place | None = None) -> MemoryRecord:
    """The checked record of one JSON object. ValueError says everything that is wrong with it, in one line."""
    if not isinstance(data, Mapping):
        raise ValueError("is no JSON object")
    try:
        line = MemoryLine.model_validate(data, context=Context(now=now, kinds=kinds))
    except ValidationError as error:
        raise ValueError(reason(error)) from None
    given = line.model_fields_set & _PROPERTIES.keys()
    properties = {name: value for name in given if (value := getattr(line, name)) is not None}
    properties.update(line.__pydantic_extra__ or {})
    return MemoryRecord(
        kind=line.kind,
        id=line.id,
        scope=line.scope,
        properties=properties,
        relationships=tuple(
            Relationship(item.type, item.to.scope or line.scope, item.to.id, item.properties)
            for item in line.relationships
        ),
        place=place,
    )


_FAULTS: Mapping[str, tuple[str, str]] = {
    "missing": ("is missing", "add it"),
    "string_type": ("{given} is no text", "put it in quotes"),
    "bool_type": ("{given} is neither true nor false", "write true or false, without quotes"),
    "int_type": ("{given} is no whole number", "write one, without quotes or a fraction"),
    "float_type": ("{given} is no number", "write one, without quotes"),
    "finite_number": ("{given} is no finite number", "write another, or leave it out"),
    "greater_than_equal": ("{given} is less than {ge}", "write {ge} or more"),
    "less_than_equal": ("{given} is more than {le}", "write {le} or less"),
    "literal_error": ("{given} is none of the words that are known here", "write {expected}"),
    "list_type": ("{given} is no list", "write it in square brackets"),
    "too_short": ("has {actual_length} entries", "write {min_length} or more"),
    "too_long": ("has {actual_length} entries", "write {max_length} or fewer"),
    "dict_type": ("{given} is no JSON object", "write it in braces"),
    "model_type": ("{given} is no JSON object", "write it in braces"),
    "extra_forbidden": ("has no meaning here", "leave it out"),
}
"""By the type of a fault what is wrong, and what to write instead."""
_OTHER_FAULT = ("{given} can't be stored here", "see docs/reference/import-formats.md")


def reason(error: ValidationError) -> str:
    """All that is wrong, as one line: `name: what is wrong: what to write instead`, parted by semicolons."""
    found = []
    for item in error.errors(include_url=False):
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] == "value_error":  # raised here, or in jochi.graph.property_values
            message = item["msg"].removeprefix("Value error, ")
        else:
            words = ": ".join(_FAULTS.get(item["type"], _OTHER_FAULT))
            message = words.format(given=_shown(item["input"]), **item.get("ctx", {}))
        found.append(message if not place or message.startswith(f"{place}:") else f"{place}: {message}")
    return "; ".join(found)


def _shown(value: object) -> str:
    """A value as the file has it, or its beginning; half of a surrogate pair couldn't be printed."""
    text = json.dumps(value, ensure_ascii=False, default=repr).encode(errors="replace").decode()
    return text if len(text) <= _LONGEST_GIVEN else text[: _LONGEST_GIVEN - 1] + "…"
