"""Conversations as JSON: one message a line, one conversation a line, or an array of either.

Its shape: what no other reader knows and begins like JSON. Known are the names below, the first that is there counts. Left out are
messages by `role` of the system and of tools, and in lists of `content` thinking, calls of tools and their output.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from jochi.text.content import is_blank
from jochi.write.ingesting.dialogue import CALL, OUTPUT, ROLES, THINKING, unsaid
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_stream import Element, elements
from jochi.write.ingesting.json_values import Json, json_lines, readable
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Message, Omission, Piece, Source, clean

NAME = "conversation"

_TEXT = ("content", "text", "message", "body", "parts", "value")
_SENDER = ("sender", "speaker", "name", "author", "from", "user", "username", "role")
_NAME = ("name", "display_name", "real_name", "role", "id")
_AT = ("timestamp", "at", "created_at", "time", "ts", "create_time", "sent_at", "date")
_ID = ("id", "message_id", "uuid")
_CONVERSATION = (
    "conversation_id",
    "thread_id",
    "session_id",
    "chat_id",
    "conversation",
    "thread",
    "session",
    "channel",
)
_TITLE = ("title", "subject")
_MESSAGES = ("messages", "turns")

_LOOKED_AT = 20
"""So many messages tell whether a file holds any."""
_STRANGE = (
    "This is JSON that no reader knows, and none of its first objects has a text or messages: name its format, "
    "or give each message its text as content or text."
)


def knows(file: InputFile) -> bool:
    """Whether its name says that it is JSON Lines, or it begins like JSON."""
    return file.suffix in (".jsonl", ".ndjson") or file.is_json()


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in their order; in memory is a line, an element of an array, or an object that stands alone."""
    start = file.start().lstrip()
    first_line, newline, _ = start.partition("\n")
    is_array = start.startswith("[")
    values: Iterator[tuple[str, object]]
    # An object of many messages may be one line that is longer than a line may be.
    alone = not newline and first_line.startswith("{") and any(f'"{name}"' in first_line for name in _MESSAGES)
    if is_array or alone or (newline and first_line.rstrip().endswith(("{", "[", ",", ":"))):
        values = (_placed(element, is_array) for element in elements(file, (), ("*",)))
    else:
        values = json_lines(file)
    first = list(itertools.islice(values, _LOOKED_AT))
    if _is_strange([value for _, value in first]):
        yield Fault("the file", _STRANGE)
        return
    source = Source(NAME, provenance=file.provenance(NAME))
    for where, value in itertools.chain(first, values):
        if isinstance(value, Fault):
            yield value
        else:
            yield from _pieces(value, where, source, zone)


def _placed(element: Element, is_array: bool) -> tuple[str, object]:
    """Where an element stands, and what it says, or a fault."""
    what = "conversation" if isinstance(element.value, dict) and _held(element.value) is not None else "message"
    where = f"{what} {element.number}" if is_array else ""
    if isinstance(element.value, ValueError):
        return where, Fault(where if element.number and where else "the end of the file", element.value.args[0])
    return where, element.value


def _is_strange(values: list[object]) -> bool:
    """Whether none of the first objects has a name by which a message or a conversation is known."""
    return bool(values) and all(
        isinstance(value, dict) and not any(name in value for name in (*_TEXT, *_MESSAGES, "tool_calls"))
        for value in values
    )


def pieces(value: object, where: str, file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """A conversation, a message or an array of them; ``where`` it stands."""
    return _pieces(value, where, Source(NAME, provenance=file.provenance(NAME)), zone)


def _pieces(value: object, where: str, source: Source, zone: tzinfo) -> Iterator[Piece]:
    if isinstance(value, list):
        for number, item in enumerate(value, 1):
            what = "conversation" if isinstance(item, dict) and _held(item) is not None else "message"
            yield from _pieces(item, f"{where}, {what} {number}".removeprefix(", "), source, zone)
    elif not isinstance(value, dict):
        yield Fault(where or "the file", "This is no JSON object: write each message as one.")
    elif (held := _held(value)) is not None:
        own = _id(value, (*_CONVERSATION, *_ID))
        yield from _pieces(held, where, _named(source, own or source.id, _title(value) or source.title), zone)
    else:
        yield from _message(value, where or "the file", source, zone)


def _held(value: Json) -> list[object] | None:
    """The messages of a conversation; None if it is a message itself."""
    for name in _MESSAGES:
        if isinstance(value.get(name), list):
            return list(value[name])
    return None


def _message(value: Json, where: str, source: Source, zone: tzinfo) -> Iterator[Piece]:
    role = value.get("role")
    if isinstance(role, str) and role in ROLES:
        yield Omission(where, ROLES[role])
        return
    content = value.get("content")
    blocks = content if isinstance(content, list) else []
    left = [why for block in blocks if (why := unsaid(block)) in (THINKING, CALL, OUTPUT)]
    for why in left:
        yield Omission(where, why)
    if left:
        value = value | {"content": [block for block in blocks if unsaid(block) is None]}
    text = clean(_text(value))
    if is_blank(text):
        if isinstance(calls := value.get("tool_calls"), list) and calls:
            yield Omission(where, CALL)
        elif not left:
            yield Fault(where, "The message says nothing: give it its text as content or text.")
        return
    try:
        raw = readable(value)
    except ValueError:
        yield Fault(where, "The message holds a number that is too long.")
        return
    conversation = _id(value, _CONVERSATION)
    if conversation is not None and conversation != source.id:
        source = _named(source, conversation, _title(value))
    yield source, Message(_id(value, _ID), moment(_first(value, _AT), zone), _sender(value), text, raw)


def _named(source: Source, id: str | None, title: str | None) -> Source:
    return Source(source.source_type, id, title, source.context_type, source.provenance)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text for item in value if (text := _text(item)))
    return _text(_first(value, _TEXT)) if isinstance(value, dict) else ""


def _sender(value: Json) -> str | None:
    for name in _SENDER:
        found = value.get(name)
        if isinstance(found, dict):
            found = _first(found, _NAME)
        if isinstance(found, str | int) and not isinstance(found, bool) and (sender := clean(str(found))):
            return sender
    return None


def _id(value: Json, names: tuple[str, ...]) -> str | None:
    found = _first(value, names)
    return clean(str(found)) or None if isinstance(found, str | int) and not isinstance(found, bool) else None


def _title(value: Json) -> str | None:
    found = _first(value, _TITLE)
    return clean(found) or None if isinstance(found, str) else None


def _first(value: Json, names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)
