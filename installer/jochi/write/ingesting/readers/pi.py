"""pi and what is built on it, such as OpenClaw: the log of a session, `….jsonl`.

Its shape: JSON Lines; the first has type session and its `id`, then entries with `id` and `parentId`; those of type message have a
`message` with a `role`. Said is the text of user and assistant at `timestamp`, on the branch of the last entry; before version 2
entries have no ids, and all count. Where OpenClaw puts before a user's words who sent them, that is the sender. A source is a
session, its title the last `session_info`.

Left out are other branches, output of tools, thinking, calls of tools, what extensions put in, summaries, and in OpenClaw what it
writes as the user's (its heartbeat, the start of a session, what it knows of the sender) and answers that say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from jochi.write.ingesting.dialogue import (
    BRANCH,
    COMMAND,
    NOTICE,
    OUTPUT,
    SUMMARY,
    SYSTEM,
    TITLE,
    TORN,
    content_of,
    line_to,
    said,
    text_in,
    torn_off,
)
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_values import Json, json_objects, parse_json
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Omission, Piece, Source

NAME = "pi"

_SHAPE = re.compile(r'\{\s*"type"\s*:\s*"session"\s*,[^{}\n]*"id"\s*:')
_KINDS = {"compaction": SUMMARY, "branch_summary": SUMMARY, "session_info": TITLE, "custom_message": SYSTEM}
_ROLES = {
    "toolResult": OUTPUT,
    "bashExecution": COMMAND,
    "branchSummary": SUMMARY,
    "compactionSummary": SUMMARY,
}
"""Why entries of a type, and messages of a role, are left out; of others it is a notice, or the system's."""
_ABOUT = re.compile(r"\s*[A-Z][\w ]{2,60} \(untrusted[^()\n]{0,40}\):\s*```json\n(.{0,20000}?)\n```", re.DOTALL)
_STAMP = re.compile(r"\s*\[(?:message_id: [^\]\n]{1,100}|\w{3} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,20})\]")
_SYSTEMS = ("Read HEARTBEAT.md", "A new session was started via", "System: [", "Pre-compaction memory flush")
_SILENT = re.compile(r"(?:NO_REPLY|HEARTBEAT_OK)[.!]?")
_REPLY = re.compile(r"\s*\[\[reply_to[^\]\n]{0,100}\]\]")


def knows(file: InputFile) -> bool:
    """Whether it is JSON Lines whose first line opens such a session."""
    return _SHAPE.match(file.start().lstrip("\ufeff \r\n")) is not None


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in the order of the lines; the file is read twice, the first time for the branch and the title."""
    start = file.stream.tell()
    session = title = None
    parents: dict[str, str | None] = {}
    for record in json_objects(file):
        if isinstance(record, Fault):
            continue
        entry = record[1]
        if entry.get("type") == "session":
            session = session or text_in(entry.get("id")) or None
        elif id := text_in(entry.get("id")):
            parents.setdefault(id, text_in(entry.get("parentId")) or None)
        if entry.get("type") == "session_info":
            title = text_in(entry.get("name")) or title
    line = line_to(list(parents)[-1], parents) if any(parents.values()) else list(parents)
    torn, shown = torn_off(line, parents), set(line)
    file.stream.seek(start)
    source = Source("conversation", session, title, None, file.provenance(NAME))
    for record in json_objects(file):
        if isinstance(record, Fault):
            yield record
            continue
        where, entry = record
        if (why := _unsaid(entry)) is not None:
            yield Omission(where, why)
        elif (id := text_in(entry.get("id"))) in torn:
            yield Fault(where, TORN)
        elif id and id not in shown:
            yield Omission(where, BRANCH)
        else:
            yield from _message(entry, id or None, where, source, zone)


def _unsaid(entry: Json) -> str | None:
    kind, message = text_in(entry.get("type")), entry.get("message")
    if kind != "message" or not isinstance(message, dict):
        return _KINDS.get(kind, NOTICE)
    role = text_in(message.get("role"))
    return None if role in ("user", "assistant") else _ROLES.get(role, SYSTEM)


def _message(entry: Json, id: str | None, where: str, source: Source, zone: tzinfo) -> Iterator[Piece]:
    message = entry["message"]
    sender = role = text_in(message.get("role"))
    content = content_of(message.get("content"))
    texts = []
    for text in content.texts:
        if role == "user":
            name, words, left = _typed(text)
            sender = name or sender
            content.left.extend(left)
        else:
            words = _REPLY.sub("", text, count=1) if _REPLY.match(text) else text
            if _SILENT.fullmatch(words.strip()):
                words = ""
                content.left.append(NOTICE)
        texts.append(words)
    at = moment(entry.get("timestamp"), zone) or moment(message.get("timestamp"), zone)
    raw = {"id": id, "timestamp": entry.get("timestamp"), "role": role, "content": content.parts}
    text = "\n".join(each for each in texts if each)
    yield from said(source, where, id, at, sender, text, raw, left=content.left)


def _typed(text: str) -> tuple[str, str, list[str]]:
    """Who sent a user's text, where that is told; what of it they wrote; and why the rest is left out."""
    name, left = "", []
    for _ in range(10):
        about = _ABOUT.match(text)
        found = about or _STAMP.match(text)
        if found is None:
            break
        if about is not None:
            left.append(SYSTEM)
            name = _name(about[1]) or name
        text = text[found.end() :]
    text = text.strip()
    return (name, "", [*left, SYSTEM]) if text.startswith(_SYSTEMS) else (name, text, left)


def _name(about: str) -> str:
    try:
        known = parse_json(about)
    except ValueError:
        return ""
    return (
        next((name for key in ("name", "sender") if (name := text_in(known.get(key)))), "")
        if isinstance(known, dict)
        else ""
    )
