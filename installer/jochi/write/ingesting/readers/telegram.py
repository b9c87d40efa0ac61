"""Telegram Desktop: the result.json of an export, of one chat or of all.

Its shape: a chat with `name`, `type` (`personal_chat`, `private_group` …), `id` and `messages`; in an export of all they stand in
`chats.list` and `left_chats.list`. Said is the `text` of messages of type message, by `from` (of a deleted account by its
`from_id`), at `date_unixtime`, in exports before 2022 at `date`, which is in the time zone of who exported; text is a list where a
part is formatted, and a link behind words stands in brackets. A poll is its question and its answers. A message that was passed on
is by `forwarded_from`, who said it, and marked as an attachment. A source is a chat, its title the name.

Left out are notices (type service: who came, called, pinned), pictures, voice and files (not their captions), places, contacts, and
what Telegram itself couldn't export (`unsupported`). Deleted messages aren't in an export.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from jochi.write.ingesting.dialogue import MEDIA, NOTICE, UNKNOWN, said, text_in
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_stream import elements
from jochi.write.ingesting.json_values import Json
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Fault, Omission, Piece, Source

NAME = "telegram"

_SHAPE = re.compile(
    r'"type"\s*:\s*"(?:saved_messages|replies|verification_codes|personal_chat|bot_chat|(?:private|public)_'
    r'(?:group|supergroup|channel))"\s*,\s*"id"|"personal_information"\s*:\s*\{\s*"user_id"'
)
_ID = "telegram/"
_LISTS = ("chats", "left_chats")
_LEFT = {
    "photo": MEDIA,
    "file": MEDIA,
    "media_type": MEDIA,
    "game_title": MEDIA,
    "location_information": "place",
    "place_name": "place",
    "contact_information": "contact",
}
"""Names of what a message holds beside its text, and why that is left out."""


def knows(file: InputFile) -> bool:
    """Whether it is JSON with a type of chat that Telegram has, or with what Telegram tells of who exports."""
    return file.is_json() and _SHAPE.search(file.start()) is not None


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages chat by chat, one in memory at a time."""
    ways = [("messages", "*"), *((name, "list", "*", "messages", "*") for name in _LISTS)]
    source, its_chat = Source("conversation"), None
    for number, message, chat in elements(file, *ways):
        if chat is not its_chat:
            source, its_chat = _source(chat, file), chat
        where = f"message {number}" if source.id is None else f"chat {source.id.removeprefix(_ID)}, message {number}"
        if isinstance(message, ValueError):
            yield Fault(where if number else "the end of the file", message.args[0])
        elif isinstance(message, dict):
            yield from _message(message, source, where, zone)
        else:
            yield Fault(where, "This is no JSON object.")


def _source(chat: dict[str, Any], file: InputFile) -> Source:
    id = text_in(str(chat["id"])) if isinstance(chat.get("id"), str | int) else ""
    is_channel = text_in(chat.get("type")).endswith("_channel")
    return Source(
        "conversation",
        f"{_ID}{id}" if id else None,
        text_in(chat.get("name")) or None,
        "channel" if is_channel else None,
        file.provenance(NAME),
    )


def _message(message: Json, source: Source, where: str, zone: tzinfo) -> Iterator[Piece]:
    kind = message.get("type")
    if kind != "message":
        yield Omission(where, NOTICE if kind == "service" else UNKNOWN)
        return
    # Exports since 2022 have the text twice, the second time always as a list.
    text = _text(message.get("text")) or _text(message.get("text_entities"))
    words = "\n".join(each for each in (text, _poll(message.get("poll"))) if each)
    left = list(dict.fromkeys(why for name, why in _LEFT.items() if message.get(name) is not None))
    passed_on = "forwarded_from" in message
    sender = text_in(message.get("forwarded_from" if passed_on else "from"))
    if not sender and not passed_on and isinstance(message.get("from_id"), str | int):
        sender = text_in(str(message["from_id"]))
    id = text_in(str(message["id"])) if isinstance(message.get("id"), str | int) else ""
    at = moment(message.get("date_unixtime"), zone) or moment(message.get("date"), zone)
    yield from said(source, where, id or None, at, sender or None, words, message, left=left, attachment=passed_on)


def _text(value: object) -> str:
    """A text of one piece, or of several with their formats."""
    parts = []
    for part in value if isinstance(value, list) else [value]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, list):  # of an answer of a poll
            text = "".join(_text(each) for each in text if not isinstance(each, list))
        if isinstance(text, str):
            link = part.get("href") if isinstance(part, dict) else None
            parts.append(
                f"{text} ({link})" if isinstance(link, str) and link.strip() not in ("", text.strip()) else text
            )
    return "".join(parts)


def _poll(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    answers = value.get("answers")
    listed = [_text(each) for each in answers if isinstance(each, dict)] if isinstance(answers, list) else []
    return "\n".join(each for each in (_text(value.get("question")), *(f"- {each}" for each in listed if each)) if each)
