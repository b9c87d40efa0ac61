"""Slack: a thread as `conversations.replies` returns it, or the day of a channel from an export."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from jochi.errors import UsageError
from jochi.text.content import is_blank
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_values import readable, whole
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Message, Piece, Source, clean

NAME = "slack"

_TS = re.compile(r'"ts"\s*:\s*"\d{9,11}\.\d{6}"')

_NOTICES = re.compile(
    r"(?:channel|group)_\w+|tombstone|message_deleted|message_replied|pinned_item|reminder_add|bot_(?:add|remove)"
)
"""Subtypes that nobody said: who came and went, what was deleted."""
_MARKUP = re.compile(r"<([^<>\n]{1,4000})>")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")

Json = dict[str, Any]


def knows(file: InputFile) -> bool:
    """Whether it is JSON with moments as Slack writes them."""
    return file.is_json() and _TS.search(file.start()) is not None


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in their order. The file is read whole: it is one piece of JSON."""
    data = whole(file)
    around: Json = data if isinstance(data, dict) else {}
    messages = data if isinstance(data, list) else around.get("messages")
    if not isinstance(messages, list):
        raise UsageError(
            "the file holds no messages of Slack",
            where=file.where,
            fix="give what conversations.replies returns, or a day of an export",
        )
    people = _people(around.get("users"), messages)
    channel = clean(_text(around.get("channel"))) or None
    title = clean(_text(around.get("channel_name"))) or (
        file.folder if file.name and _DAY.fullmatch(file.name) else None
    )
    for number, message in enumerate(messages, 1):
        where = f"message {number}"
        if not isinstance(message, dict):
            yield Fault(where, "This is no JSON object.")
            continue
        if message.get("subtype") == "message_changed" and isinstance(message.get("message"), dict):
            message = message["message"]
        if message.get("hidden") is True or _NOTICES.fullmatch(_text(message.get("subtype"))):
            continue
        try:
            yield _piece(message, people, channel, title, file, zone)
        except ValueError as error:
            yield Fault(where, error.args[0])


def _piece(
    message: Json, people: dict[str, str], channel: str | None, title: str | None, file: InputFile, zone: tzinfo
) -> tuple[Source, Message]:
    ts = clean(_text(message.get("ts")))
    at = moment(ts, zone)
    if at is None:
        raise ValueError("The message has no ts.")
    text = _text_of(message, people)
    if is_blank(text):
        raise ValueError("The message says nothing.")
    channel = clean(_text(message.get("channel"))) or channel
    thread = clean(_text(message.get("thread_ts")))
    if thread:
        type, own = "slack-thread", f"{channel}/{thread}" if channel else thread
    else:
        name = channel or title
        # A day of no channel is no name: the writer makes one.
        type, own = "slack-channel", f"{name}/{at.astimezone(zone):%Y-%m-%d}" if name else ""
    source = Source(type, own or None, title or channel, "channel", file.provenance(NAME))
    files = [_of_file(each) for each in _objects(message.get("files"))]
    try:
        raw = readable(message | {"files": files} if files else message)
    except ValueError:
        raise ValueError("The message holds a number that is too long.") from None
    return source, Message(ts, at, _sender(message, people), text, raw)


def _text_of(message: Json, people: dict[str, str]) -> str:
    own_text = _text(message.get("text"))
    if not own_text:
        quoted = _objects(message.get("attachments"))
        own_text = "\n".join(
            text for each in quoted if (text := _text(each.get("text")) or _text(each.get("fallback")))
        )
    own_text = clean(html.unescape(_MARKUP.sub(lambda found: _shown(found[1], people), own_text)))
    names = [_text(each.get("name")) or _text(each.get("title")) or "file" for each in _objects(message.get("files"))]
    return clean("\n".join([own_text, *(f"[attached: {name}]" for name in names)]))


def _shown(markup: str, people: dict[str, str]) -> str:
    """What Slack shows for what stands between < and >."""
    target, _, label = markup.partition("|")
    if target.startswith("@"):
        return f"@{label or people.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:]}"
    address = target.removeprefix("mailto:")
    return address if not label or label == address else f"{label} ({address})"


def _sender(message: Json, people: dict[str, str]) -> str | None:
    user = _text(message.get("user"))
    bot = message.get("bot_profile")
    return (
        _name(message.get("user_profile"))
        or people.get(user)
        or clean(_text(message.get("username")) or (_text(bot.get("name")) if isinstance(bot, dict) else "") or user)
        or clean(_text(message.get("bot_id")))
        or None
    )


def _people(users: object, messages: list[object]) -> dict[str, str]:
    """Names by user id, from the list of users in the file and from what messages say of their writers."""
    found = {
        user: name
        for each in _objects(messages)
        if (user := _text(each.get("user"))) and (name := _name(each.get("user_profile")))
    }
    if isinstance(users, dict):
        users = [
            value | {"id": id} if isinstance(value, dict) else {"id": id, "name": value} for id, value in users.items()
        ]
    for listed in _objects(users):
        if name := _name(listed.get("profile")) or _name(listed):
            found[_text(listed.get("id"))] = name
    return found


def _name(profile: object) -> str | None:
    if not isinstance(profile, dict):
        return None
    names = (clean(_text(profile.get(name))) for name in ("display_name", "real_name", "name"))
    return next((name for name in names if name), None)


def _of_file(file: Json) -> Json:
    """What is kept of an attached file: its addresses may carry tokens."""
    return {name: file[name] for name in ("id", "name", "title", "mimetype", "size") if name in file}


def _objects(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
