"""Claude: the conversations.json of its export, or one conversation of it.

Its shape: an array of conversations (or one) with `uuid`, `name` and `chat_messages`, each with `sender`, `created_at`, `text`,
`content` (blocks), `attachments` and `files`. Said is the text of a message's blocks of type text; where it has no blocks, its
`text`. `name` is the title. An attachment's `extracted_content`, which is also what somebody pasted, is a message of its own behind
them, marked as an attachment. Of messages with `parent_message_uuid` those of the current branch count: up from
`current_leaf_message_uuid`, else from the last message.

Left out are other branches, thinking, calls of tools and their output (web pages, files), pictures, and files without their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from jochi.text.content import is_blank
from jochi.write.ingesting.dialogue import (
    BRANCH,
    EMPTY,
    FILE,
    TORN,
    Content,
    content_of,
    conversations,
    line_to,
    said,
    text_in,
    torn_off,
)
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_values import Json, objects
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.readers import conversation
from jochi.write.ingesting.source import Fault, Omission, Piece, Source

NAME = "claude"

_SHAPE = re.compile(r'"chat_messages"\s*:\s*\[')


def knows(file: InputFile) -> bool:
    """Whether it is JSON with the name that Claude's messages have."""
    return file.is_json() and _SHAPE.search(file.start()) is not None


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The conversations in their order, one in memory at a time."""
    return conversations(file, zone, pieces)


def pieces(value: object, where: str, file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """One conversation that stands ``where``; also one of other programs."""
    if isinstance(value, dict) and isinstance(value.get("chat_messages"), list):
        return _conversation(value, where, file, zone)
    return conversation.pieces(value, where, file, zone)


def _conversation(value: Json, where: str, file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    title = text_in(value.get("name")) or None
    source = Source("conversation", text_in(value.get("uuid")) or None, title, None, file.provenance(NAME))
    messages = value["chat_messages"]
    line, torn = _branch(messages, value.get("current_leaf_message_uuid"))
    for number, message in enumerate(messages, 1):
        spot = f"{where}, message {number}"
        if not isinstance(message, dict):
            yield Fault(spot, "This is no JSON object: export it anew.")
        elif line and (id := text_in(message.get("uuid"))) not in line:
            yield Fault(spot, TORN) if id in torn else Omission(spot, BRANCH)
        else:
            yield from _message(message, source, spot, zone)


def _branch(messages: list[object], leaf: object) -> tuple[set[str], set[str]]:
    """The ids of the current branch, and of what hangs on nothing; both empty where no message names another."""
    parents: dict[str, str | None] = {}
    for message in messages:
        if isinstance(message, dict) and (id := text_in(message.get("uuid"))):
            parents[id] = text_in(message.get("parent_message_uuid")) or None
    is_named = isinstance(leaf, str) and leaf in parents
    if not any(parents.values()) or not (is_named or any(parent in parents for parent in parents.values())):
        return set(), set()
    leaf = str(leaf) if is_named else list(parents)[-1]
    line = line_to(leaf, parents)
    return set(line), torn_off(line, parents)


def _message(message: Json, source: Source, where: str, zone: tzinfo) -> Iterator[Piece]:
    blocks = message.get("content")
    content = content_of(blocks)
    if is_blank("".join(content.texts)) and not content.left:
        blocks = None
        content = content_of(message.get("text")) if isinstance(message.get("text"), str) else Content()
    id = text_in(message.get("uuid")) or None
    at = moment(message.get("created_at"), zone)
    sender = text_in(message.get("sender")) or None
    attached = objects(message.get("attachments"))
    files = [FILE] * len(objects(message.get("files") or message.get("files_v2")))
    raw = {name: message[name] for name in message if name not in ("content", "attachments", "text")}
    raw |= {"text": message.get("text")} if blocks is None else {"content": content.parts}
    left, blank = [*content.left, *files], None if attached else EMPTY
    yield from said(source, where, id, at, sender, "\n".join(content.texts), raw, left=left, blank=blank)
    for number, each in enumerate(attached, 1):
        pasted = each.get("extracted_content")
        yield from said(
            source,
            f"{where}, attachment {number}",
            f"{id}/attachment-{number}" if id else None,
            at,
            sender,
            pasted if isinstance(pasted, str) else "",
            each,
            blank=FILE,
            attachment=True,
        )
