"""What conversations with an assistant have in common: blocks, branches, and why something is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from jochi.text.content import is_blank
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_stream import elements
from jochi.write.ingesting.json_values import readable
from jochi.write.ingesting.source import Fault, Message, Omission, Piece, Source, clean

BRANCH = "abandoned branch"
SYSTEM = "message of the system"
OUTPUT = "output of a tool"
CALL = "call of a tool"
THINKING = "thinking of the model"
MEDIA = "media"
FILE = "attached file"
NOTICE = "notice"
EMPTY = "empty message"
REPEATED = "repeated line"
SIDE = "side chain"
SUMMARY = "summary"
TITLE = "title"
COMMAND = "command"
SNAPSHOT = "snapshot of files"
UNKNOWN = "content of an unknown kind"

TORN = "It hangs on a message that the file doesn't hold, so where it belongs can't be told."


_BLOCKS = {
    "thinking": THINKING,
    "redacted_thinking": THINKING,
    "reasoning": THINKING,
    "tool_use": CALL,
    "server_tool_use": CALL,
    "mcp_tool_use": CALL,
    "toolCall": CALL,
    "image": MEDIA,
    "input_image": MEDIA,
    "audio": MEDIA,
    "video": MEDIA,
    "document": FILE,
    "file": FILE,
    "token_budget": SYSTEM,
    "flag": SYSTEM,
}
"""Types of blocks that nobody said."""
ROLES = {"system": SYSTEM, "developer": SYSTEM, "tool": OUTPUT, "function": OUTPUT}
"""Roles of messages that nobody said."""


@dataclass
class Content:
    """What a message holds: ``texts`` in their order and their ``parts`` as they came; why each other part is ``left`` out."""

    texts: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    parts: list[object] = field(default_factory=list)


def conversations(
    file: InputFile, zone: tzinfo, pieces: Callable[[object, str, InputFile, tzinfo], Iterator[Piece]]
) -> Iterator[Piece]:
    """What ``pieces`` makes of each conversation of a file that holds one, or an array of them; one is in memory at a time."""
    for number, element in enumerate(elements(file, (), ("*",)), 1):
        where = f"conversation {number}" if element.number else "the end of the file"
        if isinstance(element.value, ValueError):
            yield Fault(where, element.value.args[0])
        else:
            yield from pieces(element.value, where, file, zone)


def unsaid(block: object) -> str | None:
    """Why nobody said a block of a message; None if it isn't known to be such a one."""
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        return None
    return OUTPUT if kind.endswith("tool_result") else _BLOCKS.get(kind)


def content_of(value: object) -> Content:
    """The blocks of a message of a model's API, or its text alone."""
    found = Content()
    for part in value if isinstance(value, list) else [] if value is None else [value]:
        if isinstance(part, str):
            found.texts.append(part)
            found.parts.append(part)
            continue
        if (why := unsaid(part)) is not None:
            found.left.append(why)
        elif isinstance(part, dict) and isinstance(text := part.get("text"), str):
            found.texts.append(text)
            found.parts.append(part)
        else:
            found.left.append(UNKNOWN)
    return found


def said(
    source: Source,
    where: str,
    id: str | None,
    at: datetime | None,
    sender: str | None,
    text: str,
    raw: object,
    *,
    left: Sequence[str] = (),
    blank: str | None = EMPTY,
    attachment: bool = False,
) -> Iterator[Piece]:
    """What is ``left`` of a message, then the message. One that is blank is left out as ``blank``, where nothing else was left."""
    for why in left:
        yield Omission(where, why)
    if not is_blank(cleaned := clean(text)):
        try:
            yield source, Message(id, at, sender, cleaned, readable(raw), attachment)
        except ValueError:
            yield Fault(where, "The message holds a number that is too long.")
    elif blank is not None and not left:
        yield Omission(where, blank)


def is_log(file: InputFile, shape: re.Pattern[str]) -> bool:
    """Whether it begins with an object of JSON, and has the ``shape`` in its first lines."""
    start = file.start()
    return start.lstrip("\ufeff \r\n").startswith("{") and shape.search(start) is not None


def text_in(value: object) -> str:
    """``value`` if it is a text, cleaned; else an empty one."""
    return clean(value) if isinstance(value, str) else ""


def line_to(leaf: str, parents: Mapping[str, str | None]) -> list[str]:
    """From the root to ``leaf``, each once. ``parents``: by id of each message that of its parent, which may be unknown."""
    line: dict[str, None] = {}
    node: str | None = leaf
    while node is not None and node in parents and node not in line:
        line[node] = None
        node = parents[node]
    return list(reversed(line))


def torn_off(line: Sequence[str], parents: Mapping[str, str | None]) -> set[str]:
    """The messages that don't branch off the ``line``: their own root is unknown, or they hang on each other in a circle."""
    if not line:
        return set()
    known: dict[str | None, bool] = {parents[line[0]]: False} | dict.fromkeys(line, False)
    for start in parents:
        way: dict[str, None] = {}
        node: str | None = start
        while node is not None and node in parents and node not in known and node not in way:
            way[node] = None
            node = parents[node]
        torn = known.get(node, True)
        known.update(dict.fromkeys(way, torn))
    return {node for node in parents if known[node]}
