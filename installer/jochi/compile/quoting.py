"""How values of the policy become Cypher text: identifiers are checked and strings quoted here and nowhere else."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import timedelta

from jochi.policy.mapping import identifier

__all__ = ["At", "any_name", "cypher_map", "identifier", "literal", "readable"]


class At(str):
    """Where a value stands, instead of the value: `data_at('k.salience').initial` is the text `k.salience.initial`."""

    def __getattr__(self, name: str) -> At:
        if name.startswith("__"):
            raise AttributeError(name)
        return At(f"{self}.{name}")


def literal(value: object) -> str:
    """A Cypher literal for a value of the policy: text, number, truth value, duration, nothing, or a list or map of these."""
    if isinstance(value, At):
        return str(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, timedelta):
        return f"duration({{seconds: {int(value.total_seconds())}}})"
    if isinstance(value, str):
        return "'" + "".join(_escaped(character) for character in value) + "'"
    if isinstance(value, Mapping):
        return cypher_map(value)
    if isinstance(value, Iterable):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    raise ValueError(f"{value!r} can't be written as a Cypher literal")


_SPLITS = re.compile(r";(?=\r?\n|\r|$)|/(?=/ *(?:assert|assume)\b)|:(?=use\b)|\$(?=\{)", re.IGNORECASE | re.MULTILINE)


def readable(value: object) -> str:
    """As `literal`, for files that people read: a text keeps its lines.

    What tools look for in a file without heeding quotes is written as an escape: `;` at the end of a line (the end of a statement),
    `:use`, `// assert`, `// assume` (neo4j-migrations) and `${…}` (that one and Liquibase).
    """
    if isinstance(value, At) or not isinstance(value, (str, Mapping, Iterable)):
        return literal(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{identifier(key)}: {readable(item)}" for key, item in value.items()) + "}"
    if not isinstance(value, str):
        return "[" + ", ".join(readable(item) for item in value) + "]"
    quote = '"' if value.count("'") > value.count('"') else "'"
    hidden = {found.start() for found in _SPLITS.finditer(value)}

    def written(at: int, character: str) -> str:
        if at in hidden:
            return f"\\u{ord(character):04x}"
        if character in "\n'\"":
            return "\\" * (character == quote) + character
        return _escaped(character)

    return quote + "".join(written(at, character) for at, character in enumerate(value)) + quote


def any_name(name: str) -> str:
    """A label, type or property name of somebody else's schema, quoted; ValueError where it could end the quotes."""
    if not name or "`" in name or "\\" in name:
        raise ValueError(f"{name!r} can't be written as a quoted name")
    return f"`{name}`"


def cypher_map(values: Mapping[str, object]) -> str:
    """A Cypher map literal; the keys are checked names."""
    return "{" + ", ".join(f"{identifier(key)}: {literal(value)}" for key, value in values.items()) + "}"


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    # Cypher on 5.26 knows four-digit escapes only: beyond them, a pair of surrogates as Java writes it.
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
