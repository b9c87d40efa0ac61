"""Which memories have a file of their own, where it is, and what stands in it (seed 003, Write Path; docs/reference/mirror.md).

One row of `KINDS` for each kind of file: another one is one more row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from jochi.context.lines import digest as words
from jochi.context.lines import line_ids, mark, plain, write
from jochi.mirror.document import digest, render
from jochi.mirror.names import safe_name, short_hash
from jochi.text.content import content_hash, is_blank
from jochi.text.imports import escape_imports


@dataclass(frozen=True)
class Part:
    """Another memory that stands in a file: a description, a note, a memory that a box holds."""

    role: str
    key: str
    text: str
    content_hash: str | None


@dataclass(frozen=True)
class Memory:
    """One that has a file, as `mirror/files` says it. ``content_hash``: the graph's, None where a worker has still to make it;
    ``values``: properties by name; ``left_out``: so many more parts there are."""

    key: str
    kind: str
    text: str | None
    content_hash: str | None = None
    created_at: datetime | None = None
    state: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class FileKind:
    """A kind of file. ``labels``: whose; ``path``: folders and name, without its ending; ``folders``: the first of them; ``names``:
    properties that stand in the front matter; ``adds``: the file is made of the memory's parts, a line each, and not of its text; a
    new line is a memory of this kind, in a relationship of this type that leads from the new one ('out') or to it ('in')."""

    labels: tuple[str, ...]
    path: Callable[[Memory], tuple[str, ...]]
    folders: tuple[str, ...]
    names: tuple[str, ...]
    adds: tuple[str, str, str] | None = None


def _dated(folder: str, name: Callable[[Memory], str]) -> Callable[[Memory], tuple[str, ...]]:
    """`folder/YYYY-MM-DD/name-timestamp-hash`, by the day in UTC; what is archived is in `archive` (seed 003, Memory States)."""

    def path(memory: Memory) -> tuple[str, ...]:
        at = memory.created_at and memory.created_at.astimezone(timezone.utc)
        day, time = (f"{at:%Y-%m-%d}", f"{at:%Y%m%dT%H%M%SZ}") if at else ("undated", "undated")
        place = _ARCHIVE if memory.state == "archived" else folder
        return place, day, f"{name(memory)}-{time}-{short_hash(memory.key)}"

    return path


def _word(name: str, otherwise: str) -> Callable[[Memory], str]:
    def word(memory: Memory) -> str:
        value = memory.values.get(name)
        return safe_name(value if isinstance(value, str) else "", otherwise)

    return word


def _thing(memory: Memory) -> tuple[str, ...]:
    return "entities", safe_name(_name(memory), memory.kind.lower())


def _box(memory: Memory) -> tuple[str, ...]:
    at = memory.created_at and memory.created_at.astimezone(timezone.utc)
    return (
        "boxes",
        f"{at:%Y-%m-%d}" if at else "undated",
        f"box-{safe_name(memory.key.partition('/')[2].removeprefix('box:'), 'box')}",
    )


def _name(memory: Memory) -> str:
    value = memory.values.get("name")
    return value if isinstance(value, str) and plain(value) else (memory.text or memory.key.partition("/")[2])


_ARCHIVE = "archive"
SAID = ("confidence", "importance", "tags", "topics", "access_tier", "sensitivity")
KINDS = (
    FileKind(
        ("Fact",),
        _dated("facts", _word("category", "fact")),
        ("facts", _ARCHIVE),
        (
            *("category", "subject", "attribute", "value", "valid_from", "valid_to", "status", "superseded_at"),
            *("verification_state", *SAID),
        ),
    ),
    FileKind(
        ("Artifact",), _dated("artifacts", _word("type", "artifact")), ("artifacts", _ARCHIVE), ("type", "title", *SAID)
    ),
    FileKind(
        ("Person", "Concept", "Entity"),
        _thing,
        ("entities",),
        ("name", "canonical_name", "type", "aliases", *SAID),
        adds=("Note", "HAS_NOTE", "in"),
    ),
    FileKind(
        ("MemoryBox",),
        _box,
        ("boxes",),
        ("topics", "session", "sealed_at", "seal_reason", "trace_id", *SAID[4:]),
        adds=("Note", "IN_BOX", "out"),
    ),
    FileKind(("BehaviourProfile",), lambda _: ("profile",), (), SAID),
)
BY_LABEL = {label: kind for kind in KINDS for label in kind.labels}
LABELS = tuple(BY_LABEL)
FOLDERS = frozenset(folder for kind in KINDS for folder in kind.folders) | {"state"}
"""Where files are; in the folder above them alone, too."""
PARTS = ("Note", "Description")
"""Labels of memories that stand in the files of others."""
NAMES = tuple(dict.fromkeys(name for kind in KINDS for name in kind.names))


def base_of(memory: Memory) -> str:
    """The path of its file within the folder, without its ending, where no other memory has that name."""
    return "/".join(BY_LABEL[memory.kind].path(memory))


def text_of(memory: Memory) -> str | None:
    """The whole file; None for a memory of which nothing can be read."""
    kind = BY_LABEL[memory.kind]
    front: dict[str, Any] = {"key": memory.key, "kind": memory.kind}
    front |= {name: _front(memory.values[name]) for name in kind.names if memory.values.get(name) is not None}
    front |= {"created_at": _front(memory.created_at)} if memory.created_at else {}
    front |= {"state": memory.state} if memory.state else {}
    if kind.adds is None:
        if memory.text is None or is_blank(memory.text):
            return None
        body = escape_imports(memory.text)
        return render(front | {"content_hash": content_hash(memory.text), "digest": digest(body)}, body)
    parts = shown_parts(memory)
    lines = {line: [part.key, words(plain(part.text)), content_hash(part.text)] for line, part in parts.items()}
    front |= {"left_out": memory.left_out} if memory.left_out else {}
    body = f"# {write(plain(_name(memory)[:_TITLE]))}\n"
    for role, title in _TITLES.items():
        items = [f"- {write(plain(part.text))} {mark(line)}\n" for line, part in parts.items() if part.role == role]
        body += "".join(("\n", title, *items)) if items else ""
    body = body.removesuffix("\n")
    return render(front | {"digest": digest(body), "lines": lines}, body)


def shown_parts(memory: Memory) -> dict[str, Part]:
    """By the id of its line."""
    parts = [part for part in memory.parts if plain(part.text)]
    ids = line_ids(part.key for part in parts)
    return {ids[part.key]: part for part in parts}


_TITLE = 200
_TITLES = {"description": "", "note": "## Notes\n\n", "memory": "## Memories\n\n"}


def _front(value: Any) -> Any:
    """As JSON holds it; moments in UTC."""
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, list | tuple):
        return [_front(each) for each in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value if isinstance(value, str | int | float | bool) else str(value)
