"""When two facts are of one slot, and when they say the same: normal forms and their hashes. The only home of both.

Upper and lower case, composition and white space are not the same in every language's library, so no template computes these
(docs/reference/facts.md says who does).
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any

import neo4j.time

VERSION = "v1"
"""Stands before every name and value. A rule that changes gets a new version, so that old and new are never compared."""

SLOT_NAME = "v1:[0-9a-f]{32}:[0-9a-f]{32}"
"""Regular expression of a slot's name within its scope, for Python and for Cypher: subject, then attribute."""

SLOT_VALUE = "v1:[0-9a-f]{32}"
"""Regular expression of a value's hash."""


@dataclass(frozen=True)
class SlotName:
    """Where a fact belongs within its scope (``name``), and what it says there (``value``)."""

    name: str
    value: str


def normal_text(text: str) -> str:
    """In NFC, lower case, trimmed, each run of white space as one blank."""
    return " ".join(unicodedata.normalize("NFC", text.lower()).split())


def slot_name_of(properties: Mapping[str, Any]) -> SlotName | None:
    """What a fact with these properties is compared by; None where it is in no slot."""
    name = slot_name(properties.get("subject"), properties.get("attribute"))
    value = slot_value(properties.get("value"))
    return None if name is None or value is None else SlotName(name, value)


def slot_name(subject: object, attribute: object) -> str | None:
    """The slot of a subject's attribute; None where one of the two is no text or blank."""
    if not isinstance(subject, str) or not isinstance(attribute, str):
        return None
    if not normal_text(subject) or not normal_text(attribute):
        return None
    return f"{VERSION}:{_hash(normal_text(subject))}:{attribute_mark(attribute)}"


def attribute_mark(attribute: str) -> str:
    """The attribute's part of a slot's name."""
    return _hash(normal_text(attribute))


def slot_value(value: object) -> str | None:
    """The hash of a value's normal form: 1 is 1.0, and neither True nor "1". None for what can't be compared, such as a point."""
    try:
        return f"{VERSION}:{_hash(json.dumps(_comparable(value), ensure_ascii=False))}"
    except ValueError:
        return None


def _comparable(value: object) -> list[Any]:
    if isinstance(value, neo4j.time.DateTime | neo4j.time.Date):
        value = value.to_native()
    if isinstance(value, str):
        return ["text", normal_text(value)]
    if isinstance(value, bool):
        return ["truth", value]
    if isinstance(value, int):
        return ["number", str(value)]
    if isinstance(value, float) and math.isfinite(value):
        return ["number", str(int(value)) if value.is_integer() else repr(value)]
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return ["moment", value.astimezone(timezone.utc).isoformat()]
    if isinstance(value, date) and not isinstance(value, datetime):
        return ["date", value.isoformat()]
    if isinstance(value, list | tuple):
        return ["list", [_comparable(item) for item in value]]
    raise ValueError(f"a {type(value).__name__} can't be compared")


def _hash(text: str) -> str:
    # A lone surrogate can't be stored in Neo4j, but a hash must not fail over it.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
