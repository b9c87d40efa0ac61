"""A graph in memory for the tests of the mirror: a `Source` that tells what changed, as the procedures do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.context_memories import NOW

from jochi.context.writer import EditTarget
from jochi.errors import Refused
from jochi.mirror import Changes, Document, Memory, Part
from jochi.mirror.writer import OVERLAP
from jochi.text.content import content_hash

SCOPE = "s"


def fact(id: str, text: str, *, at: datetime = NOW, state: str | None = None, **values: Any) -> Memory:
    return Memory(f"{SCOPE}/{id}", "Fact", text, content_hash(text), at, state, values)


def thing(id: str, name: str, *notes: str, kind: str = "Person", description: str = "") -> Memory:
    parts = [part("description", f"{id}-about", description)] if description else []
    parts += [part("note", f"{id}-note-{n}", note) for n, note in enumerate(notes)]
    return Memory(f"{SCOPE}/{id}", kind, None, None, NOW, None, {"name": name}, tuple(parts))


def part(role: str, id: str, text: str) -> Part:
    return Part(role, f"{SCOPE}/{id}", text, content_hash(text))


@dataclass
class Graph:
    """``change_log``: keys with their moments; ``looked``: keys that were asked for; ``refused``: what the graph doesn't take."""

    stored: dict[str, Memory] = field(default_factory=dict)
    scope: str = SCOPE
    include_sensitive: bool = False
    now: datetime = NOW
    forgotten: int = 0
    change_log: list[tuple[datetime, str]] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)
    refused: str = "\x00"

    def put(self, *memories: Memory) -> Graph:
        for memory in memories:
            self.stored[memory.key] = memory
            self.change_log.append((self.now, memory.key))
        return self

    def prune(self, *keys: str) -> None:
        for key in keys:
            self.stored.pop(f"{SCOPE}/{key}", None)
            self.change_log.append((self.now, f"{SCOPE}/{key}"))

    def forget(self, *keys: str) -> None:
        """Nobody says of whom."""
        for key in keys:
            self.stored.pop(f"{SCOPE}/{key}", None)
        self.forgotten += 1

    def later(self, pause: timedelta = 2 * OVERLAP) -> Graph:
        self.now += pause
        self.looked.clear()
        return self

    def changes(self, since: datetime) -> Changes:
        return Changes(sorted({key for at, key in self.change_log if at >= since}), (str(self.forgotten),))

    def pages(self) -> Iterator[Sequence[str]]:
        keys = sorted(self.stored)
        for start in range(0, len(keys), 3):
            yield keys[start : start + 3]

    def memories(self, keys: Sequence[str]) -> list[Memory]:
        self.looked += keys
        return [self.stored[key] for key in keys if key in self.stored]

    def edit_target(self, document: Document, memory: Memory | None) -> EditTarget:
        return _Taker(self, document, memory)


@dataclass
class _Taker:
    graph: Graph
    document: Document
    memory: Memory | None

    def remember(self, section: str, text: str) -> str:
        self._refuse(text)
        id = "new-" + content_hash(text)[-8:]
        if self.memory and "lines" in self.document.front:
            now = self.graph.stored[self.memory.key]
            self.graph.put(replace(now, parts=(*now.parts, part("note", id, text))))
        else:
            self.graph.put(fact(id, text))
        return f"{SCOPE}/{id}"

    def change(self, key: str, text: str, expected_content_hash: str | None) -> str:
        self._refuse(text)
        for memory in list(self.graph.stored.values()):
            if memory.key == key:
                if expected_content_hash not in (None, memory.content_hash):
                    return "changed meanwhile"
                self.graph.put(replace(memory, text=text, content_hash=content_hash(text)))
                return "done"
            if any(each.key == key for each in memory.parts):
                changed = part("note", key.partition("/")[2], text)
                parts = tuple(replace(changed, role=each.role) if each.key == key else each for each in memory.parts)
                self.graph.put(replace(memory, parts=parts))
                return "done"
        return "is gone"

    def strike(self, key: str, expected_content_hash: str | None) -> str:
        for memory in list(self.graph.stored.values()):
            if any(each.key == key for each in memory.parts):
                self.graph.put(replace(memory, parts=tuple(each for each in memory.parts if each.key != key)))
        self.graph.prune(key.partition("/")[2])
        return "done"

    def complete(self, key: str, expected_content_hash: str | None) -> str:
        return "is no task"

    def _refuse(self, text: str) -> None:
        if self.graph.refused in text:
            raise Refused("it says what was forgotten")


def tree(folder: Path) -> dict[str, str]:
    """All files but the index, with their bytes as text."""
    files = (each for each in folder.rglob("*") if each.is_file() and not each.name.startswith("."))
    return {each.relative_to(folder).as_posix(): each.read_bytes().decode() for each in files}
