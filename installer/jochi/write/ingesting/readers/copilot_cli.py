"""GitHub Copilot CLI: the log of a session, `~/.copilot/session-state/<session>/events.jsonl`.

Its shape: JSON Lines with `type`, `data`, `id`, `timestamp` and `parentId`. Said is the `content` of `user.message` (as it was
typed, not as it was sent, `transformedContent`) and `assistant.message`. A source is a session, the `sessionId` of `session.start`.

Left out are reasoning, calls of tools and their output, messages of skills and of other agents, and all other events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from jochi.write.ingesting.dialogue import (
    CALL,
    FILE,
    NOTICE,
    OUTPUT,
    SIDE,
    SYSTEM,
    THINKING,
    is_log,
    said,
    text_in,
)
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_values import Json, json_objects
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Omission, Piece, Source

NAME = "copilot-cli"

_SHAPE = re.compile(r'"type"\s*:\s*"(?:session\.start|user\.message|assistant\.turn_start)"')
_KINDS = {
    "tool.execution_start": CALL,
    "tool.execution_complete": OUTPUT,
    "tool.user_requested": CALL,
    "assistant.reasoning": THINKING,
    "system.message": SYSTEM,
}
"""Why an event of a type is left out; of others it is a notice."""


def knows(file: InputFile) -> bool:
    """Whether it is JSON Lines with the events of such a session."""
    return is_log(file, _SHAPE)


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in the order of the lines."""
    source = Source("conversation", None, None, None, file.provenance(NAME))
    for record in json_objects(file):
        if isinstance(record, Fault):
            yield record
            continue
        where, event = record
        data = event.get("data")
        if not isinstance(data, dict):
            yield Fault(where, "This is no event of a session.")
            continue
        if event.get("type") == "session.start" and source.id is None:
            source = Source("conversation", text_in(data.get("sessionId")) or None, None, None, source.provenance)
        yield from _event(event, data, where, source, zone)


def _event(event: Json, data: Json, where: str, source: Source, zone: tzinfo) -> Iterator[Piece]:
    kind = text_in(event.get("type"))
    if event.get("agentId") or data.get("parentToolCallId"):
        yield Omission(where, SIDE)
        return
    if kind not in ("user.message", "assistant.message"):
        yield Omission(where, _KINDS.get(kind, NOTICE))
        return
    if text_in(data.get("source")) not in ("", "user"):
        yield Omission(where, SYSTEM)
        return
    left = [FILE] * _count(data.get("attachments")) + [CALL] * _count(data.get("toolRequests"))
    left += [THINKING] if data.get("reasoningText") or data.get("reasoningOpaque") else []
    text = data.get("content")
    raw = {"type": kind, "timestamp": event.get("timestamp"), "content": text}
    id, at = text_in(event.get("id")) or None, moment(event.get("timestamp"), zone)
    sender = kind.partition(".")[0]
    yield from said(source, where, id, at, sender, text if isinstance(text, str) else "", raw, left=left)


def _count(value: object) -> int:
    return len(value) if isinstance(value, list) else 0
