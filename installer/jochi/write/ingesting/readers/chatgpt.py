"""ChatGPT: the conversations.json of its export, or one conversation of it.

Its shape: an array of conversations (or one) with `mapping`, a tree of nodes by id, each with `message`, `parent` and `children`;
`current_node` is the last message of the branch that a person sees. Said is what stands on this branch, from the root to its leaf,
by the user (`author.name`, where somebody has one) and by the assistant to all: text, the texts of multimodal messages, and
transcriptions of audio; each at its `create_time`. Where `current_node` is missing, the branch is that of the newest leaf.

Left out are other branches, messages of the system (hidden ones, what the user or the model told of themselves once for all), what
the assistant says to a tool and what a tool answers, its reasoning, pictures, audio and files. Marks of citations, which a person
sees as links, are in no text. A message that is generated anew has an id of its own, so in a later export it is one new message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import tzinfo

from jochi.write.ingesting.dialogue import (
    BRANCH,
    CALL,
    EMPTY,
    FILE,
    MEDIA,
    OUTPUT,
    ROLES,
    SYSTEM,
    THINKING,
    TORN,
    UNKNOWN,
    Content,
    conversations,
    line_to,
    said,
    text_in,
    torn_off,
)
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_values import Json
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.readers import claude
from jochi.write.ingesting.source import Fault, Omission, Piece, Source

NAME = "chatgpt"

_SHAPE = re.compile(r'"mapping"\s*:\s*\{')
_KINDS = {
    "user_editable_context": SYSTEM,
    "model_editable_context": SYSTEM,
    "thoughts": THINKING,
    "reasoning_recap": THINKING,
    "execution_output": OUTPUT,
    "computer_output": OUTPUT,
    "tether_browsing_code": CALL,
    "tether_browsing_display": OUTPUT,
    "tether_quote": OUTPUT,
    "sonic_webpage": OUTPUT,
    "system_error": OUTPUT,
}
"""Types of content that nobody said."""
_MARK = re.compile(
    "\ue200([^\ue200\ue201\ue202]*)(?:\ue202([^\ue200\ue201]*))?\ue201|【[^【】\n]{0,200}†[^【】\n]{0,200}】"
)
"""Of a link, a name or a citation in what the assistant says, and all that belongs to it."""


def knows(file: InputFile) -> bool:
    """Whether it is JSON with a tree of messages in it."""
    return file.is_json() and _SHAPE.search(file.start()) is not None


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The conversations in their order, one in memory at a time."""
    return conversations(file, zone, _pieces)


def _pieces(value: object, where: str, file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    if isinstance(value, dict) and isinstance(value.get("mapping"), dict):
        return _conversation(value, where, file, zone)
    return claude.pieces(value, where, file, zone)


def _conversation(value: Json, where: str, file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    source = Source(
        "conversation",
        text_in(value.get("conversation_id")) or text_in(value.get("id")) or None,
        text_in(value.get("title")) or None,
        None,
        file.provenance(NAME),
    )
    nodes: dict[str, Json] = {id: node for id, node in value["mapping"].items() if isinstance(node, dict)}
    parents = _parents(nodes)
    line = _branch(value.get("current_node"), nodes, parents)
    torn = torn_off(line, parents)
    shown = set(line)
    for id in [*line, *(id for id in nodes if id not in shown)]:
        message = nodes[id].get("message")
        if not isinstance(message, dict):
            continue
        spot = f"{where}, message {id}"
        if id in torn:
            yield Fault(spot, TORN)
        elif id not in shown:
            yield Omission(spot, BRANCH)
        else:
            yield from _message(message, id, source, spot, zone)


def _parents(nodes: dict[str, Json]) -> dict[str, str | None]:
    """Of each node its parent: what it says itself, else the node that has it among its children."""
    listed = {child: id for id, node in nodes.items() for child in _children(node) if child != id}
    parents: dict[str, str | None] = {}
    for id, node in nodes.items():
        own = node.get("parent")
        parents[id] = (
            own if isinstance(own, str) and own in nodes else listed.get(id, own if isinstance(own, str) else None)
        )
    return parents


def _children(node: Json) -> list[str]:
    children = node.get("children")
    return [each for each in children if isinstance(each, str)] if isinstance(children, list) else []


def _branch(current: object, nodes: dict[str, Json], parents: dict[str, str | None]) -> list[str]:
    """From the root over the current node to its leaf; of nodes that form no tree all."""
    below: dict[str | None, list[str]] = {}
    for id, parent in parents.items():
        below.setdefault(parent, []).append(id)
    if not any(parent in nodes for parent in below):
        return list(nodes)
    if isinstance(current, str) and current in nodes:
        leaf, passed = current, set(line_to(current, parents))
        while children := [each for each in _children(nodes[leaf]) or below.get(leaf, []) if parents.get(each) == leaf]:
            if children[-1] in passed:
                break
            leaf = children[-1]
            passed.add(leaf)
    else:
        leaves = [id for id in nodes if id not in below and isinstance(nodes[id].get("message"), dict)] or list(nodes)
        leaf = max(enumerate(leaves), key=lambda each: (_created(nodes[each[1]]), each[0]))[1]
    return line_to(leaf, parents)


def _created(node: Json) -> float:
    message = node.get("message")
    created = message.get("create_time") if isinstance(message, dict) else None
    try:
        return float(created) if isinstance(created, int | float) else 0.0
    except OverflowError:
        return 0.0


def _message(message: Json, id: str, source: Source, where: str, zone: tzinfo) -> Iterator[Piece]:
    why = _unsaid(message)
    if why is not None:
        yield Omission(where, why)
        return
    author, content = message["author"], _content(message)
    sender = text_in(author.get("name")) if author["role"] == "user" else ""
    # Metadata has pieces of pages that were found, and other output of tools.
    metadata = message.get("metadata")
    raw = {name: value for name, value in message.items() if name != "metadata"}
    raw["content"] = message["content"] | {"parts": content.parts} if content.left else message["content"]
    if isinstance(metadata, dict):
        raw["metadata"] = {name: metadata[name] for name in ("attachments", "model_slug") if name in metadata}
    yield from said(
        source,
        where,
        text_in(message.get("id")) or id,
        moment(message.get("create_time"), zone),
        sender or author["role"],
        "\n".join(content.texts),
        raw,
        left=content.left,
    )


def _unsaid(message: Json) -> str | None:
    """Why nobody said it in this conversation; None if the user or the assistant did."""
    author, content, metadata = (message.get(name) for name in ("author", "content", "metadata"))
    role = author.get("role") if isinstance(author, dict) else None
    if not isinstance(role, str) or role not in ("user", "assistant"):
        return ROLES.get(role, UNKNOWN) if isinstance(role, str) else UNKNOWN
    if not isinstance(content, dict):
        return EMPTY
    if isinstance(metadata, dict) and (
        metadata.get("is_visually_hidden_from_conversation") is True or metadata.get("is_user_system_message") is True
    ):
        return SYSTEM
    kind = content.get("content_type")
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_reasoning_group") is True
    if message.get("channel") == "analysis" or hidden:
        return THINKING
    if role == "assistant" and message.get("recipient") not in (None, "", "all", "user"):
        return CALL
    return None


def _content(message: Json) -> Content:
    content, found = message["content"], Content()
    own = content.get("parts")
    for part in own if isinstance(own, list) else [content.get("text")]:
        kind = str(part.get("content_type")) if isinstance(part, dict) else ""
        text = part.get("text") if isinstance(part, dict) else part
        if kind.endswith("asset_pointer") or kind == "image":
            found.left.append(MEDIA)
        elif isinstance(text, str):
            found.texts.append(_MARK.sub(_shown, text) if message["author"]["role"] == "assistant" else text)
            found.parts.append(part)
        elif part is not None:
            found.left.append(UNKNOWN)
    found.left.extend([FILE] * len(_files(message)))
    return found


def _files(message: Json) -> list[Json]:
    """The attached files of a message but its pictures, which are among its parts."""
    metadata = message.get("metadata")
    attached = metadata.get("attachments") if isinstance(metadata, dict) else None
    return [
        each
        for each in (attached if isinstance(attached, list) else [])
        if isinstance(each, dict) and not str(each.get("mime_type") or each.get("mimeType")).startswith("image/")
    ]


def _shown(found: re.Match[str]) -> str:
    """What a person sees of a mark: a name, or the title of a link."""
    kind, rest = found[1], found[2] or ""
    if kind == "url":
        return rest.partition("\ue202")[0]
    if kind == "entity":
        try:
            parts = json.loads(rest)
        except ValueError:
            return ""
        return parts[1] if isinstance(parts, list) and len(parts) > 1 and isinstance(parts[1], str) else ""
    return ""
