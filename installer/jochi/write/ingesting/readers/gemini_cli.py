"""Gemini CLI: the log of a session, `~/.gemini/tmp/<project>/chats/session-….json`, since 2026 `.jsonl`.

Its shape: `sessionId` and `projectHash`, and `messages` of type user, gemini, info, error or warning; in JSON Lines a line each:
one with a known `id` takes the place of the earlier one, `$rewindTo` takes back a message and all behind it, and `$set` changes
what is told of the session. Said are the texts of user and gemini, who is the assistant, at `timestamp`; of what the user typed
what was shown (`displayContent`). A source is a session, its title the `summary`.

Left out are notices, thoughts, calls of tools and their output, files that were referred to, media, and sessions of other agents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from jochi.write.ingesting.dialogue import (
    BRANCH,
    CALL,
    FILE,
    MEDIA,
    NOTICE,
    OUTPUT,
    REPEATED,
    SIDE,
    THINKING,
    UNKNOWN,
    Content,
    is_log,
    said,
    text_in,
)
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_stream import elements
from jochi.write.ingesting.json_values import Json, json_objects
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Omission, Piece, Source

NAME = "gemini-cli"

_SHAPE = re.compile(r'"projectHash"\s*:\s*"')
_PARTS = {
    "functionCall": CALL,
    "functionResponse": OUTPUT,
    "inlineData": MEDIA,
    "fileData": MEDIA,
    "executableCode": CALL,
}
_REFERRED = re.compile(r"\n?(?<!-)-{1,200} Content from referenced files -{1,200}")


def knows(file: InputFile) -> bool:
    """Whether it is JSON with the names of such a log."""
    return is_log(file, _SHAPE)


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in their order, as they stand at the end of the session."""
    facts: Json = {}
    messages: dict[str, tuple[str, Json]] = {}
    for record in json_objects(file) if file.suffix == ".jsonl" else _whole(file):
        if isinstance(record, Fault):
            yield record
        else:
            yield from _note(record[1], record[0], facts, messages)
    title = text_in(facts.get("summary")) or None
    source = Source("conversation", text_in(facts.get("sessionId")) or None, title, None, file.provenance(NAME))
    for where, message in messages.values():
        yield from (
            [Omission(where, SIDE)] if facts.get("kind") == "subagent" else _message(message, where, source, zone)
        )


def _whole(file: InputFile) -> Iterator[tuple[str, Json] | Fault]:
    for element in elements(file, ()):
        if isinstance(element.value, dict):
            yield "the file", element.value
        elif isinstance(element.value, ValueError):
            yield Fault("the file", element.value.args[0])


def _note(value: Json, where: str, facts: Json, messages: dict[str, tuple[str, Json]]) -> Iterator[Piece]:
    """Takes a line, or the whole of a file, into what is told of the session and its messages; what these replace is left out."""
    back, change = value.get("$rewindTo"), value.get("$set")
    if isinstance(back, str):
        ids = list(messages)
        for id in ids[ids.index(back) if back in messages else 0 :]:
            yield Omission(messages.pop(id)[0], BRANCH)
        return
    if isinstance(change, dict) or "sessionId" in value:
        told = change if isinstance(change, dict) else value
        facts.update({name: told[name] for name in ("sessionId", "summary", "kind") if told.get(name) is not None})
        listed = told.get("messages")
        for number, message in enumerate(listed if isinstance(listed, list) else [], 1):
            yield from _put(message, f"message {number}", messages)
        return
    yield from _put(value, where, messages)


def _put(message: object, where: str, messages: dict[str, tuple[str, Json]]) -> Iterator[Piece]:
    if not isinstance(message, dict):
        yield Fault(where, "This is no JSON object.")
        return
    id = text_in(message.get("id")) or where
    if id in messages:
        yield Omission(messages[id][0], REPEATED)
    # Output of tools can be large, and none of it is kept.
    calls = message.get("toolCalls")
    counted = len(calls) if isinstance(calls, list) else 0
    messages[id] = (where, {name: value for name, value in message.items() if name != "toolCalls"} | {"": counted})


def _message(message: Json, where: str, source: Source, zone: tzinfo) -> Iterator[Piece]:
    kind = message.get("type")
    if kind not in ("user", "gemini"):
        yield Omission(where, NOTICE)
        return
    shown = message.get("displayContent") if kind == "user" else None
    content = _content(shown if shown else message.get("content"))
    thoughts = message.get("thoughts")
    content.left.extend([THINKING] * (len(thoughts) if isinstance(thoughts, list) else 0))
    content.left.extend([CALL, OUTPUT] * message[""])
    raw = {"type": kind, "timestamp": message.get("timestamp"), "content": content.texts}
    id, at = text_in(message.get("id")) or None, moment(message.get("timestamp"), zone)
    sender = "user" if kind == "user" else "assistant"
    yield from said(source, where, id, at, sender, "\n".join(content.texts), raw, left=content.left)


def _content(value: object) -> Content:
    found = Content()
    for part in value if isinstance(value, list) else [] if value is None else [value]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(part, dict) and part.get("thought") is True:
            found.left.append(THINKING)
        elif isinstance(text, str):
            words, *rest = _REFERRED.split(text, maxsplit=1)
            found.texts.append(words)
            found.left.extend([FILE] * len(rest))
            if rest:
                break
        else:
            named = (
                next((_PARTS[name] for name in _PARTS if name in part), UNKNOWN) if isinstance(part, dict) else UNKNOWN
            )
            found.left.append(named)
    return found
