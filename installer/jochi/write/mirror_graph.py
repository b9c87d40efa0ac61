"""The graph as a mirror of files sees it: one scope (docs/reference/mirror.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jochi.context.writer import EditTarget
from jochi.database.database import Row
from jochi.graph.driver_values import to_python
from jochi.mirror import BY_LABEL, LABELS, NAMES, PARTS, Changes, Document, Memory, Part
from jochi.write.scope_graph import ScopeGraph

_MOST = 5_000
"""Changes that are told one by one. Where there are more, all memories are looked at."""
_PAGE = 1_000
_PARTS = 1_000
"""Notes or memories that stand in one file, the newest."""


@dataclass(frozen=True)
class MirrorGraph(ScopeGraph):
    """`jochi.mirror.Source`. Edits of one object are one run, which can be undone."""

    def changes(self, since: datetime) -> Changes:
        """What was changed, made or pruned since then, whoever did it through Jochi."""
        row = self._keys(since=since, labels=[*LABELS, *PARTS], most=_MOST)
        return Changes(row["keys"], (str(row["forgotten"]), str(row["policy"])))

    def pages(self) -> Iterator[Sequence[str]]:
        """By their keys."""
        after = None
        while True:
            row = self._keys(after=after, labels=list(LABELS), most=_PAGE)
            yield row["keys"]
            if (after := row["last"]) is None:
                return

    def _keys(self, **asked: Any) -> Row:
        given = {"now": self.now, "scope": self.scope, "since": None, "after": None, **asked}
        return self.engine.call("mirror/keys", given, write=False)

    def memories(self, keys: Sequence[str]) -> list[Memory]:
        """Those that live, haven't expired and may be read."""
        parameters = {
            "now": self.now,
            "scope": self.scope,
            "keys": list(keys),
            "labels": list(LABELS),
            "names": list(NAMES),
            "open": self.include_sensitive,
            "parts": _PARTS,
        }
        rows = to_python(list(self.engine.call("mirror/files", parameters, write=False)["memories"])) if keys else []
        return [_memory(row) for row in rows]

    def edit_target(self, document: Document, memory: Memory | None) -> EditTarget:
        """A new line is a memory of its file's. A text that can't take its memory's place is one like it."""
        if memory is not None and (adds := BY_LABEL[memory.kind].adds) is not None:
            kind, type, direction = adds
            return _Beside(self, kind, {}, [{"type": type, "to_key": memory.key, "direction": direction}])
        front = document.front if memory is None else {"kind": memory.kind, **memory.values}
        known = front.get("kind") in LABELS and "lines" not in front
        properties = {name: front[name] for name in ("category", "type") if known and isinstance(front.get(name), str)}
        return _Beside(self, front["kind"] if known else "Note", properties, [])


@dataclass(frozen=True)
class _Beside:
    """`EditTarget`, where what is new belongs to a file."""

    graph: MirrorGraph
    kind: str
    properties: Mapping[str, Any]
    relationships: Sequence[Mapping[str, str]]

    def remember(self, section: str, text: str) -> str:
        return self.graph.remember_as(self.kind, self.properties, text, self.relationships)

    def change(self, key: str, text: str, expected_content_hash: str | None) -> str:
        return self.graph.change(key, text, expected_content_hash)

    def strike(self, key: str, expected_content_hash: str | None) -> str:
        return self.graph.strike(key, expected_content_hash)

    def complete(self, key: str, expected_content_hash: str | None) -> str:
        return self.graph.complete(key, expected_content_hash)


def _memory(row: dict[str, Any]) -> Memory:
    parts = tuple(Part(**part) for part in row.pop("parts"))
    return Memory(**row | {"values": dict(row["values"]), "parts": parts})
