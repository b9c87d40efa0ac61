"""Looks through the whole store for what is forgotten, and takes it out of what the engine keeps (docs/reference/forgetting.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.forgetting.records import (
    BOOKS,
    ENGINE,
    IDS,
    ON_MEMORIES,
    SearchTerms,
    change,
    change_of_link,
    found_in,
    is_ours,
    marks_with,
    texts,
)
from jochi.graph.catalogue import LINK_MARKS, is_our_word

PAGE = 500


@dataclass(frozen=True)
class Mention:
    """Where something was found: ``place`` are labels or a type, ``names`` the properties."""

    place: tuple[str, ...]
    names: tuple[str, ...]
    id: str


class Store:
    """The whole store of one database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def scrub(self, terms: SearchTerms) -> tuple[int, int]:
        """Takes it out of the engine's own nodes, and out of its marks at relationships: (deleted, scrubbed)."""
        deleted = scrubbed = 0
        for changes in self._changes_of_links(terms):
            scrubbed += self._engine.database.run(statement("forget/scrub_links"), {"rows": changes})[0]["scrubbed"]
        for changes in self._changes(terms):
            row = self._engine.database.run(statement("forget/scrub"), {"rows": changes})[0]
            deleted += row["deleted"]
            scrubbed += row["scrubbed"]
        return deleted, scrubbed

    def records(self, terms: SearchTerms) -> int:
        """How many of the engine's own nodes `scrub` would delete. Writes nothing."""
        return sum(row["delete"] for asked in self._changes(terms) for row in asked)

    def _changes(self, terms: SearchTerms) -> Iterator[list[dict[str, Any]]]:
        for part in terms.parts():
            seen: list[str] = []
            while rows := self._look(part, seen, links=False)["nodes"]:
                changes = [each for each in (change(row, part) for row in rows) if each is not None]
                seen += [row["id"] for row in rows]
                for at in range(0, len(changes), PAGE):
                    yield changes[at : at + PAGE]

    def _changes_of_links(self, terms: SearchTerms) -> Iterator[list[dict[str, Any]]]:
        exact = terms.literals()
        given: dict[str, Any] = {"names": list(LINK_MARKS), "exact": exact, "limit": PAGE, "seen": []}
        while exact and (rows := self._engine.database.run(statement("forget/links"), given, write=False)):
            given["seen"] = [*given["seen"], *(row["id"] for row in rows)]
            if changes := [each for each in (change_of_link(row, terms) for row in rows) if each is not None]:
                yield changes

    def mentions(self, terms: SearchTerms) -> list[Mention]:
        """Where it still is, in nodes and relationships of any kind and of all scopes."""
        found: list[Mention] = []
        for part in replace(terms, within=None, exact=False).parts():
            seen: list[str] = []
            while True:
                row = self._look(part, seen, links=True)
                for node in row["nodes"]:
                    found += _mention(node, tuple(node["labels"]), _names(node, part))
                for link in row["relationships"]:
                    found += _mention(link, (link["type"],), marked_properties(link, part))
                seen += [each["id"] for each in (*row["nodes"], *row["relationships"])]
                if len(row["nodes"]) < PAGE and len(row["relationships"]) < PAGE:
                    break
        return found

    def _look(self, terms: SearchTerms, seen: Sequence[str], *, links: bool) -> dict[str, Any]:
        given = {
            "needles": terms.needles(),
            "pattern": terms.pattern(),
            "exact": terms.literals(),
            "ids": list(IDS),
            # Of memories only what names others changes with them, and that is in few properties.
            "ours": None if links else sorted(ENGINE),
            "marks": [*IDS, *sorted(ON_MEMORIES)],
            "limit": PAGE,
            "seen": list(seen),
            "links": links,
        }
        return self._engine.database.run(statement("report/mentions"), given, write=False)[0]


def _names(row: Mapping[str, Any], terms: SearchTerms) -> list[str]:
    """The properties of a node that say it."""
    labels, stored = set(row["labels"]), row["stored"]
    if is_ours(labels):
        return found_in(row, terms)
    if BOOKS & labels:
        return []
    memory = bool({"Curated", "Tombstone"} & labels)
    named = found_in(row, terms) if memory else []
    return [
        n
        for n in row["names"]
        if n in named or any(terms.says(text) and not (memory and is_our_word(n, text)) for text in texts(stored[n]))
    ]


def marked_properties(row: Mapping[str, Any], terms: SearchTerms) -> list[str]:
    """The properties of a relationship that say it; only the engine's marks name memories."""
    marks = marks_with(row, terms)
    return [n for n in row["names"] if n in marks or any(terms.says(text) for text in texts(row["stored"][n]))]


def _mention(row: Mapping[str, Any], place: tuple[str, ...], names: Sequence[str]) -> list[Mention]:
    return [Mention(place, tuple(sorted(names)), row["id"])] if names else []
