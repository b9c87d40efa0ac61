"""Codex: the log of a session, `~/.codex/sessions/…/rollout-….jsonl`.

Its shape: JSON Lines with `timestamp`, `type` and `payload`; until autumn 2025 without `payload`, behind a line with `id` and
`instructions`. Said are the `response_item`s of type message by the user and the assistant; the `event_msg`s repeat them, and count
where there are none. A source is a session, the `id` of its `session_meta`. Messages have no id: they are known by moment and text.

Left out are calls of tools and their output, reasoning, what the program writes as the user's (instructions, the environment, files
that are open: words that are also in a `user_message` are the user's in any case), notices, and sessions of other agents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from jochi.write.ingesting.dialogue import (
    CALL,
    NOTICE,
    OUTPUT,
    REPEATED,
    SIDE,
    SNAPSHOT,
    SUMMARY,
    SYSTEM,
    THINKING,
    content_of,
    is_log,
    said,
    text_in,
)
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_values import Json, json_objects, look_ahead
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Omission, Piece, Source

NAME = "codex"

_SHAPE = re.compile(
    r'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context)"\s*,\s*"payload"|"record_type"\s*:\s*"state"'
)
_EVENTS = {"user_message": "user", "agent_message": "assistant"}
_WRITTEN = re.compile(
    r"\s*(?:<(?P<tag>[A-Za-z]+[_ -][^<>/]*|INSTRUCTIONS|skill|image[^<>]*)>.*(?:</|\Z)|</image>\s*\Z|# AGENTS\.md instructions|"
    r"(?:These|The previously provided) AGENTS\.md instructions )",
    re.DOTALL,
)
"""What the program writes as the user's."""
_REQUEST = "## My request for Codex:"


def knows(file: InputFile) -> bool:
    """Whether it is JSON Lines with the names of such a log."""
    return is_log(file, _SHAPE)


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in the order of the lines; the file is read twice, the first time for the session and what was typed."""
    log = _Log()
    look_ahead(file, log.note)
    source = Source("conversation", log.session, log.title, None, file.provenance(NAME))
    for record in json_objects(file):
        if isinstance(record, Fault):
            yield record
        else:
            where, line = record
            yield from _line(line, where, source, log, zone)


class _Log:
    """What is told of lines elsewhere in the file."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.title: str | None = None
        self.is_side = False
        self.typed: set[str] = set()
        self.roles: set[str] = set()

    def note(self, line: Json) -> None:
        """Takes what a line tells of others."""
        kind, payload = _parts(line)
        if self.session is None and (kind == "session_meta" or "instructions" in line):
            self.session = text_in(payload.get("id")) or None
            origin = payload.get("source")
            self.is_side = isinstance(origin, dict) and "subagent" in origin
        elif kind == "event_msg" and payload.get("type") == "user_message":
            self.typed.add(text_in(payload.get("message")))
        elif kind == "event_msg" and payload.get("type") == "thread_name_updated":
            self.title = text_in(payload.get("thread_name")) or self.title
        elif kind == "response_item" and payload.get("type") == "message":
            self.roles.add(text_in(payload.get("role")))


def _parts(line: Json) -> tuple[str, Json]:
    """The type of a line and what it holds; an old one holds it itself."""
    payload, kind = line.get("payload"), text_in(line.get("type"))
    if isinstance(payload, dict):
        return kind, payload
    return "response_item" if kind else "", line


def _line(line: Json, where: str, source: Source, log: _Log, zone: tzinfo) -> Iterator[Piece]:
    kind, payload = _parts(line)
    what = text_in(payload.get("type"))
    role = text_in(payload.get("role"))
    if kind == "event_msg" and what in _EVENTS and _EVENTS[what] not in log.roles:
        role, payload = _EVENTS[what], payload | {"content": [payload.get("message")]}
    elif kind != "response_item" or what != "message":
        yield Omission(where, _why(kind, what))
        return
    if log.is_side:
        yield Omission(where, SIDE)
        return
    if role not in ("user", "assistant"):
        yield Omission(where, SYSTEM)
        return
    content = content_of(payload.get("content"))
    texts: list[str] = []
    for text in content.texts:
        if role == "user" and text_in(text) not in log.typed and _WRITTEN.match(text):
            content.left.append(SYSTEM)
            continue
        before, mark, request = text.partition(_REQUEST) if role == "user" else ("", "", "")
        if mark and before.lstrip().startswith("#"):
            content.left.append(SYSTEM)
            text = request
        texts.append(text)
    id, at = text_in(payload.get("id")) or None, moment(line.get("timestamp"), zone)
    raw = {"timestamp": line.get("timestamp"), "role": role, "content": texts}
    yield from said(source, where, id, at, role, "\n".join(texts), raw, left=content.left)


def _why(kind: str, what: str) -> str:
    """Why a line that holds no message is left out."""
    if kind == "compacted" or what == "compaction":
        return SUMMARY
    if "reasoning" in what:
        return THINKING
    if kind == "event_msg":
        return REPEATED if what in _EVENTS else NOTICE
    if what.endswith("_output"):
        return OUTPUT
    if what.endswith("_call"):
        return CALL
    return SNAPSHOT if what == "ghost_snapshot" else NOTICE
