"""A graph in memory for the tests of MEMORY.md, and the exact counter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache

from jochi.context import Entry, Manifest, Section
from jochi.text.content import content_hash
from jochi.text.tokens import Tiktoken

NOW = datetime(2026, 2, 4, 12, tzinfo=timezone.utc)
SECTIONS = (
    Section("preferences", "Preferences", 500),
    Section("tasks", "Active tasks", 800),
    Section("insights", "Key insights", 500),
    Section("recent", "Recent", 200),
)


@cache
def exact() -> Callable[[str], int]:
    """Tokens of o200k_base."""
    return Tiktoken().count


def entry(key: str, text: str, section: str = "insights", *, value: float = 0.5, sensitive: bool = False) -> Entry:
    return Entry(key, section, text, exact()(text), value, "test", sensitive, content_hash(text))


def manifest(entries: Iterable[Entry], *, max_tokens: int = 2000, version: int = 1) -> Manifest:
    return Manifest("default", version, max_tokens, NOW, tuple(entries), SECTIONS)


@dataclass
class Graph:
    """A `Store` that behaves as the procedures do: the same text again is the same memory, a change asks for the content hash."""

    memories: dict[str, Entry] = field(default_factory=dict)
    max_tokens: int = 2000
    version: int = 1
    calls: list[tuple[str, ...]] = field(default_factory=list)
    made: int = 0

    def remember(self, section: str, text: str, behind: int = 0) -> str:
        self.calls.append(("remember", section, text))
        for key, memory in self.memories.items():
            if memory.content_hash == content_hash(text):
                return key
        self.made += 1
        key = f"default/new-{self.made}"
        self.memories[key] = entry(key, text, section)
        self.version += 1
        return key

    def change(self, key: str, text: str, expected_content_hash: str | None) -> str:
        self.calls.append(("change", key, text))
        memory = self.memories.get(key)
        if memory is None:
            return "is gone"
        if memory.text == text:
            return "done"
        if expected_content_hash not in (None, memory.content_hash):
            return "changed meanwhile"
        self.memories[key] = entry(key, text, memory.section, value=memory.value)
        self.version += 1
        return "done"

    def strike(self, key: str, expected_content_hash: str | None) -> str:
        self.calls.append(("strike", key))
        if expected_content_hash not in (None, getattr(self.memories.get(key), "content_hash", expected_content_hash)):
            return "changed meanwhile"
        if self.memories.pop(key, None) is None:
            return "done"
        self.version += 1
        return "done"

    def copies(self, key: str, content_hash: str) -> dict[str, str | None]:
        same = [each.key for each in self.memories.values() if each.content_hash == content_hash and each.key != key]
        return dict.fromkeys(same, content_hash)

    def complete(self, key: str, expected_content_hash: str | None) -> str:
        memory = self.memories.get(key)
        if memory is not None and memory.section != "tasks":
            return "is no task"
        return self.strike(key, expected_content_hash)

    def look(self) -> Manifest:
        return manifest(self.memories.values(), max_tokens=self.max_tokens, version=self.version)

    def manifest(self) -> Manifest:
        return self.look()

    def texts(self) -> list[str]:
        return sorted(memory.text for memory in self.memories.values())


def graph(*texts: str | tuple[str, str], max_tokens: int = 2000) -> Graph:
    """A graph with these memories, `a`, `b`, …; a pair has its section first."""
    made = Graph(max_tokens=max_tokens)
    for letter, text in zip("abcdefghijklmnopqrstuvwxyz", texts, strict=False):
        section, said = text if isinstance(text, tuple) else ("insights", text)
        made.memories[f"default/{letter}"] = entry(f"default/{letter}", said, section)
    return made
