"""Looks through the whole store for what is forgotten, and takes it out of what the engine keeps (docs/reference/forgetting.md)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jochi.engine import Engine
from jochi.forgetting.finding import folded_needle
from jochi.forgetting.words import says
from jochi.resources import statement

PAGE = 500
_NEEDLES = 100
"""Needles that one look through the store is for."""

_OURS = frozenset(
    (
        *("JochiAccess", "JochiMerged", "JochiMerging", "JochiSlotChange", "JochiScopeChange"),
        *("JochiBudget", "JochiScope", "JochiQuota", "JochiPause"),
    )
)
_RECORDS = frozenset(("CurationAudit", "CurationSnapshot"))
_OTHERS = (
    "JochiJob",
    "JochiJobRun",
    "JochiPlan",
    "JochiPlanPart",
    "JochiPump",
    "JochiAccessBatch",
    "JochiSlot",
    "JochiCompression",
)
_ENGINE = _OURS | _RECORDS | frozenset(_OTHERS)
_BOOKS = frozenset(("JochiForgetting", "JochiReceipt", "JochiForgotten"))
_BESIDE_OTHERS = frozenset(("keys", "notes"))
"""Lists whose places say which entries of other lists are meant: there something stays in the place of what goes."""

GONE = "forgotten"
"""What stands in the place of a key that was forgotten."""

_ON_MEMORIES = ("duplicate_of", "merged_from", "merged_into", "merge_copied", "curation_rails")


@dataclass(frozen=True)
class Sought:
    """What is looked for: ``keys`` ('scope/id'), ``scopes`` (all keys in them), ``said`` (rows of words)."""

    keys: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    said: tuple[tuple[str, ...], ...] = ()

    def needles(self) -> list[str]:
        """What a database looks for first."""
        found = [unicodedata.normalize("NFC", key).lower() for key in self.keys]
        found += [unicodedata.normalize("NFC", scope).lower() for scope in self.scopes]
        found += [folded_needle(words) for words in self.said]
        return sorted(set(found))

    def parts(self) -> Iterable[Sought]:
        """The same in parts of some needles each."""
        keys, said = sorted(self.keys), list(self.said)
        for at in range(0, max(len(keys), 1 if self.scopes or said else 0), _NEEDLES):
            first = at == 0
            yield Sought(
                frozenset(keys[at : at + _NEEDLES]),
                self.scopes if first else frozenset(),
                tuple(said[:_NEEDLES]) if first else (),
            )
        for at in range(_NEEDLES, len(said), _NEEDLES):
            yield Sought(said=tuple(said[at : at + _NEEDLES]))

    def in_text(self, text: str, *, record: bool) -> bool:
        """Whether a text has any of it; ``record``: one of the engine's, which also names keys and scopes."""
        if any(says(text, words) for words in self.said):
            return True
        if not record:
            return False
        if text in self.scopes or any(text.startswith(f"{scope}/") or f"/{scope}/" in text for scope in self.scopes):
            return True
        return any(key in text and _whole(key).search(text) is not None for key in self.keys)


def _whole(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w@.+-]){re.escape(key)}(?![\w@+-]|\.\w)")


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

    def scrub(self, sought: Sought) -> tuple[int, int]:
        """Takes it out of the engine's own nodes: (deleted, scrubbed)."""
        deleted = scrubbed = 0
        for part in sought.parts():
            seen: list[str] = []
            while rows := self._look(part, seen, links=False)["nodes"]:
                asked = [change for change in (_change(row, part) for row in rows) if change is not None]
                seen += [row["id"] for row in rows]
                for at in range(0, len(asked), PAGE):
                    told = self._engine.database.run(statement("forget/scrub"), {"rows": asked[at : at + PAGE]})[0]
                    deleted += told["deleted"]
                    scrubbed += told["scrubbed"]
        return deleted, scrubbed

    def mentions(self, sought: Sought) -> list[Mention]:
        """Where it still is, in nodes and relationships of any kind."""
        found: list[Mention] = []
        for part in sought.parts():
            seen: list[str] = []
            while True:
                row = self._look(part, seen, links=True)
                for node in row["nodes"]:
                    labels = tuple(node["labels"])
                    record = bool(_ENGINE & set(labels)) and not _BOOKS & set(labels)
                    found += _mention(node, labels, part, record=record)
                for link in row["relationships"]:
                    found += _mention(link, (link["type"],), part, record=link["type"] == "SIMILAR_TO")
                seen += [each["id"] for each in (*row["nodes"], *row["relationships"])]
                if len(row["nodes"]) < PAGE and len(row["relationships"]) < PAGE:
                    break
        return found

    def _look(self, sought: Sought, seen: Sequence[str], *, links: bool) -> dict[str, Any]:
        given = {"needles": sought.needles(), "limit": PAGE, "seen": list(seen), "links": links}
        return self._engine.database.run(statement("report/mentions"), given, write=False)[0]


def _texts(value: Any) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def _mention(row: Mapping[str, Any], place: tuple[str, ...], sought: Sought, *, record: bool) -> list[Mention]:
    names = tuple(
        sorted(
            name
            for name in row["names"]
            if any(sought.in_text(text, record=record) for text in _texts(row["stored"][name]))
        )
    )
    return [Mention(place, names, row["id"])] if names else []


def _change(row: Mapping[str, Any], sought: Sought) -> dict[str, Any] | None:
    """What is to be done to a node: nothing to what an app wrote; an engine's own goes, or loses what it says of it."""
    labels, stored = set(row["labels"]), row["stored"]
    if _BOOKS & labels:
        return None
    memory = bool({"Curated", "Tombstone"} & labels)
    if not memory and not _ENGINE & labels:
        return None
    names = [name for name in row["names"] if not memory or name in _ON_MEMORIES]
    names = [n for n in names if any(sought.in_text(text, record=True) for text in _texts(stored[n]))]
    if not names:
        return None
    if labels & _OURS or (labels & _RECORDS and not isinstance(stored.get("keys"), list)):
        return {"id": row["id"], "delete": True, "new": {}}
    return {"id": row["id"], "delete": False, "new": _left(stored, names, sought)}


def _left(stored: Mapping[str, Any], names: Sequence[str], sought: Sought) -> dict[str, Any]:
    new: dict[str, Any] = {}
    for name in names:
        value = stored[name]
        if not isinstance(value, list):
            new[name] = GONE if name == "id" else None
            continue
        out = [isinstance(each, str) and sought.in_text(each, record=True) for each in value]
        if name in _BESIDE_OTHERS:
            new[name] = [GONE if gone else each for each, gone in zip(value, out, strict=True)]
        else:
            new[name] = [each for each, gone in zip(value, out, strict=True) if not gone]
    return new
