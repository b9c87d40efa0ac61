"""A procedure as it stands in a database, and how its sections become one text and one hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def hash_of_sections(sections: dict[str, str], about: str = "") -> str:
    """SHA-256 over a procedure's whole text; the same for a rendered procedure and an installed one."""
    return hashlib.sha256(text_of_sections(sections, about).encode()).hexdigest()


def text_of_sections(sections: dict[str, str], about: str = "") -> str:
    """What it is about, then the sections under their headings, in the order select, act, body."""
    order = [name for name in ("select", "act", "body") if name in sections]
    return about + "\n".join(f"// ==== {name} ====\n{sections[name]}" for name in order)


@dataclass(frozen=True)
class InstalledProcedure:
    """A procedure as it stands in the database."""

    name: str
    sections: dict[str, str] = field(repr=False)
    sha256: str | None
    version: str | None
    checked_on: str | None = None
    """`ServerFacts.signature` of the server that it passed EXPLAIN on."""
    about: str = field(default="", repr=False)
    template_sha256: str | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> InstalledProcedure:
        """From a row of `install/read_engine`."""
        sections = {name: row[name] for name in ("select", "act", "body") if row.get(name) is not None}
        return cls(
            row["name"],
            sections,
            row.get("sha256"),
            row.get("version"),
            row.get("checked_on"),
            row.get("about") or "",
            row.get("template_sha256"),
        )

    @property
    def is_intact(self) -> bool:
        """Whether the stored text is what the stored hash was taken of."""
        return hash_of_sections(self.sections, self.about) == self.sha256

    @property
    def text(self) -> str:
        """All of it as one text."""
        return text_of_sections(self.sections, self.about)


def pump_name(database: str) -> str:
    """The repeat job that runs due jobs; APOC's list is one for the whole server, so the database is in the name."""
    return f"jochi.pump.{database}"


def watch_name(database: str) -> str:
    """The repeat job that arms the pump again when it is gone."""
    return f"jochi.watch.{database}"


REPEATED = frozenset({"scheduler/pump", "scheduler/watch"})
"""The procedures that APOC's repeat runs itself: only these carry the language prefix (`ServerFacts.language_prefix`)."""
