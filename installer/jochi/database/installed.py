"""A procedure as it stands in a database, and how its sections become one text and one hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def hash_of_sections(sections: dict[str, str]) -> str:
    """SHA-256 over the sections in a fixed order; the same for a rendered procedure and an installed one."""
    return hashlib.sha256(text_of_sections(sections).encode()).hexdigest()


def text_of_sections(sections: dict[str, str]) -> str:
    """The sections under their headings, in the order select, act, body."""
    order = [name for name in ("select", "act", "body") if name in sections]
    return "\n".join(f"// ==== {name} ====\n{sections[name]}" for name in order)


@dataclass(frozen=True)
class InstalledProcedure:
    """A procedure as it stands in the database."""

    name: str
    sections: dict[str, str] = field(repr=False)
    sha256: str | None
    version: str | None
    checked_on: str | None = None
    """`ServerFacts.signature` of the server that it passed EXPLAIN on."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> InstalledProcedure:
        """From a row of `install/read_engine`."""
        sections = {name: row[name] for name in ("select", "act", "body") if row.get(name) is not None}
        return cls(row["name"], sections, row.get("sha256"), row.get("version"), row.get("checked_on"))

    @property
    def is_intact(self) -> bool:
        """Whether the stored text is what the stored hash was taken of."""
        return hash_of_sections(self.sections) == self.sha256

    @property
    def text(self) -> str:
        """All sections as one text."""
        return text_of_sections(self.sections)
