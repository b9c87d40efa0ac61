"""Slack: a day of a channel from an export of a workspace, or a thread as `conversations.replies` returns it.

Known is JSON with moments as Slack writes them (`"ts": "1769850000.000100"`), a file whose name is a day in a folder of an
export, and the lists that stand beside those folders (users.json, channels.json …), by their name.

Said is what a message shows, at its `ts`, by its `user`: the name is told by the message, by users.json of the export, by
`users` in the file, else it is that of the bot; at last the id stays. Shown is the text, or its blocks where an app built them
or there is no text, and what an app attached: title, text and fields. A thread is one source, over however many days; else a
channel and a day are one. The channel has the id and the name that channels.json, groups.json, mpims.json and dms.json give its
folder. Comments on a canvas (folders `FC:…`) are a channel with its name.

Left out are notices (who came and went, huddles, what was pinned), deleted messages, files without a name, what somebody shared of
another's words, and what Slack shows of a page that is linked. The lists are one piece left out each; an empty day is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import lru_cache
from pathlib import Path

from jochi.errors import UsageError
from jochi.text.content import is_blank
from jochi.write.ingesting.input_file import LARGEST_WHOLE, InputFile
from jochi.write.ingesting.json_values import Json, objects, parse_json, readable, whole
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.readers.slack_blocks import Names, shown, shown_blocks, string
from jochi.write.ingesting.source import Fault, Message, Omission, Piece, Source, clean

NAME = "slack"

_TS = re.compile(r'"ts"\s*:\s*"\d{9,11}\.\d{6}"')
_ID = re.compile(r'"(?:id|user_id)"\s*:\s*"[A-Z][A-Z0-9]{6,}"')
_NOTICES = re.compile(
    r"(?:channel|group|app_conversation|joiner_notification|sh_room|tabbed_canvas|bot_(?:add|remove|enable|disable))\w*"
    r"|message_replied|reply_broadcast|(?:un)?pinned_item|reminder_add|huddle_thread|ekm_access_denied"
)
"""Subtypes that nobody said."""
_DELETED = ("tombstone", "message_deleted")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")
_PEOPLE, _CHANNELS = ("users.json", "org_users.json"), ("channels.json", "groups.json", "mpims.json", "dms.json")
_LISTS = frozenset(
    (*_PEOPLE, *_CHANNELS, "canvases.json", "lists.json", "integration_logs.json", "file_conversations.json")
) | frozenset(("huddle_transcripts.json", "content_flags.json", "usergroups.json"))
_CANVAS = re.compile(r"FC[:_][A-Z0-9]+[:_]")
_LARGEST_LIST = 4 * LARGEST_WHOLE
"""Bytes of a list of an export: a workspace of a hundred thousand people."""


def knows(file: InputFile) -> bool:
    """Whether it is JSON with moments as Slack writes them, an empty day, or a list of an export."""
    if file.name in _LISTS:
        root = _beside(file)
        listed = root is not None and all(
            any((root / name).is_file() for name in group) for group in (_PEOPLE, _CHANNELS)
        )
        return listed or _ID.search(file.start()) is not None
    if file.name and _DAY.fullmatch(file.name) and (file.head.strip() == b"[]" or _beside(file)):
        return True
    return file.is_json() and _TS.search(file.start()) is not None


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The messages in their order. The file is read whole: it is one piece of JSON."""
    if file.name in _LISTS:
        # Once, and not for each day that goes without it.
        broken = [each for each in _export(_beside(file)).faults if each.where == file.name]
        yield broken[0] if broken else Omission(file.name, "list of people, channels or files")
        return
    data = whole(file)
    around: Json = data if isinstance(data, dict) else {}
    messages = data if isinstance(data, list) else around.get("messages")
    if not isinstance(messages, list):
        raise UsageError(
            "the file holds no messages of Slack",
            where=file.where,
            fix="give what conversations.replies returns, or a day of an export",
        )
    day = file.name is not None and _DAY.fullmatch(file.name) is not None
    export = _export(_beside(file)) if day else _Export({}, {}, {}, ())
    folder = file.folder if day else None
    names = Names(export.people | _people(around.get("users"), messages), export.channels)
    id, title = export.folders.get(folder or "", (None, None))
    chat = _Chat(
        names,
        clean(string(around.get("channel"))) or id,
        clean(string(around.get("channel_name"))) or title or (_CANVAS.sub("", folder) if folder else None),
        file,
        zone,
    )
    for number, message in enumerate(messages, 1):
        where = f"message {number}"
        if not isinstance(message, dict):
            yield Fault(where, "This is no JSON object.")
            continue
        if message.get("subtype") == "message_changed" and isinstance(message.get("message"), dict):
            message = message["message"]
        subtype = string(message.get("subtype"))
        if message.get("hidden") is True or subtype in _DELETED or _NOTICES.fullmatch(subtype):
            yield Omission(where, "deleted message" if subtype in _DELETED else "notice")
            continue
        try:
            yield from chat.pieces(where, message)
        except ValueError as error:
            yield Fault(where, error.args[0])


@dataclass
class _Chat:
    """What the messages of a file have in common: ``id`` and ``title`` are the channel's, each or None."""

    names: Names
    id: str | None
    title: str | None
    file: InputFile
    zone: tzinfo
    sources: dict[tuple[str, str, str | None], Source] = field(default_factory=dict)

    def pieces(self, where: str, message: Json) -> Iterator[Piece]:
        """A message, and what of it is another's. ValueError with a sentence where it can't be read."""
        ts = clean(string(message.get("ts")))
        at = moment(ts, self.zone)
        if at is None:
            raise ValueError("The message has no ts.")
        attachments = objects(message.get("attachments"))
        shared = sum(_is_shared(each) for each in attachments)
        linked = sum(not _is_shared(each) and _is_preview(each) for each in attachments)
        files = objects(message.get("files")) or objects([message.get("file")])
        text = _text_of(message, attachments, files, self.names)
        for why, count in (("words of another", shared), ("preview of a link", linked)):
            yield from [Omission(where, why)] * count
        if is_blank(text):
            if files:
                yield Omission(where, "media")
            elif not shared and not linked:
                raise ValueError("The message says nothing.")
            return
        channel = clean(string(message.get("channel"))) or self.id
        thread = clean(string(message.get("thread_ts")))
        if thread:
            type, own = "slack-thread", f"{channel}/{thread}" if channel else thread
        else:
            name = channel or self.title
            # A day of no channel is no name: the writer makes one.
            type, own = "slack-channel", f"{name}/{at.astimezone(self.zone):%Y-%m-%d}" if name else ""
        # Without an id a source is known by its object.
        made = Source(type, own or None, self.title or channel, "channel", self.file.provenance(NAME))
        source = self.sources.setdefault((type, own, made.title), made)
        kept = {"files": [_of_file(each) for each in files]} if files else {}
        try:
            raw = readable({key: value for key, value in message.items() if key != "file"} | kept)
        except ValueError:
            raise ValueError("The message holds a number that is too long.") from None
        yield source, Message(ts, at, _sender(message, self.names.people), text, raw)


def _text_of(message: Json, attachments: list[Json], files: list[Json], names: Names) -> str:
    """What the message shows: its text or blocks, what an app attached, and the names of files."""
    comment = message.get("comment")
    blocks = objects(message.get("blocks"))
    if message.get("subtype") == "file_comment" and isinstance(comment, dict):
        own, files = shown(string(comment.get("comment")), names), []
    elif message.get("upload") and files and "file" in message:
        # An old export: the text is Slack's sentence about the file.
        first = files[0].get("initial_comment")
        own = shown(string(first.get("comment")), names) if isinstance(first, dict) else ""
    else:
        own = shown(string(message.get("text")), names)
        # What a person writes stands in both; what an app builds of blocks has a short text for notifications.
        if blocks and (is_blank(own) or any(each.get("type") != "rich_text" for each in blocks)):
            own = shown_blocks(blocks, names) or own
    parts = [own]
    for attached in attachments:
        if not _is_shared(attached) and not _is_preview(attached):
            parts.append(_attached(attached, names))
    for each in files:
        if each.get("mode") != "tombstone" and (name := string(each.get("name")) or string(each.get("title"))):
            parts.append(f"[attached: {name}]")
    return clean("\n".join(part for part in parts if part))


def _attached(attachment: Json, names: Names) -> str:
    """What an app attached, as it is shown: words above, title, text, fields and blocks; else its fallback."""
    parts = [shown(string(attachment.get(key)), names) for key in ("pretext", "title", "text")]
    for each in objects(attachment.get("fields")):
        pair = (shown(string(each.get(key)), names) for key in ("title", "value"))
        parts.append(": ".join(part for part in pair if part))
    parts.append(shown_blocks(objects(attachment.get("blocks")), names))
    return "\n".join(part for part in parts if part) or shown(string(attachment.get("fallback")), names)


def _is_shared(attachment: Json) -> bool:
    """Whether it is another message, which somebody sent on or linked."""
    return any(attachment.get(key) is True for key in ("is_share", "is_msg_unfurl", "is_reply_unfurl"))


def _is_preview(attachment: Json) -> bool:
    return any(string(attachment.get(key)) for key in ("from_url", "original_url", "app_unfurl_url"))


def _sender(message: Json, people: dict[str, str]) -> str | None:
    user, bot, comment = string(message.get("user")), message.get("bot_profile"), message.get("comment")
    if not user and isinstance(comment, dict):
        user = string(comment.get("user"))
    named = clean(string(message.get("username")))
    return (
        _name(message.get("user_profile"))
        or (named if message.get("subtype") == "bot_message" else None)
        or people.get(user)
        or named
        or clean((string(bot.get("name")) if isinstance(bot, dict) else "") or user)
        or people.get(string(message.get("bot_id")))
        or clean(string(message.get("bot_id")))
        or None
    )


@dataclass(frozen=True)
class _Export:
    """The lists of an export: names of people and of channels by id; of a folder the channel's id and title."""

    people: dict[str, str]
    channels: dict[str, str]
    folders: dict[str, tuple[str, str]]
    faults: tuple[Fault, ...]


def _beside(file: InputFile) -> Path | None:
    """The folder of the export that a day or a list lies in, if it is one."""
    if file.path is None or file.name is None:
        return None
    root = file.path.absolute().parent if file.name in _LISTS else file.path.absolute().parent.parent
    return root if any((root / name).is_file() for name in (*_PEOPLE, *_CHANNELS)) else None


def _export(root: Path | None) -> _Export:
    if root is None:
        return _Export({}, {}, {}, ())
    lists = tuple(root / name for name in (*_PEOPLE, *_CHANNELS))
    return _read_export(tuple((each, each.stat().st_mtime_ns) for each in lists if each.is_file()))


@lru_cache(maxsize=4)
def _read_export(lists: tuple[tuple[Path, int], ...]) -> _Export:
    """The lists at these paths, each with its time of change, read once for all days of an export."""
    found: dict[str, list[Json]] = {}
    faults = []
    for path, _ in lists:
        try:
            if path.stat().st_size > _LARGEST_LIST:
                raise ValueError
            found[path.name] = objects(parse_json(path.read_text(encoding="utf-8-sig")))
        except (OSError, ValueError):
            faults.append(Fault(path.name, "It can't be read, so what it names goes by its id."))
    people = {"USLACKBOT": "Slackbot"}
    for name in _PEOPLE:
        people |= _people(found.get(name), [])
    channels: dict[str, str] = {}
    folders: dict[str, tuple[str, str]] = {}
    for name in _CHANNELS:
        for each in found.get(name, []):
            id, own = clean(string(each.get("id"))), clean(string(each.get("name")))
            members = each.get("members")
            if name in ("dms.json", "mpims.json") and isinstance(members, list):
                title = ", ".join(people.get(string(member), clean(string(member))) for member in members)
            else:
                title = own
            if id:
                channels[id] = own or title or id
                folders[own or id] = folders[id] = id, title or own or id
    return _Export(people, channels, folders, tuple(faults))


def _people(users: object, messages: list[object]) -> dict[str, str]:
    """Names by the id of a user or a bot, from a list of users and from what messages say of their writers."""
    found = {
        user: name
        for each in objects(messages)
        if (user := string(each.get("user"))) and (name := _name(each.get("user_profile")))
    }
    if isinstance(users, dict):
        users = [
            value | {"id": id} if isinstance(value, dict) else {"id": id, "name": value} for id, value in users.items()
        ]
    for listed in objects(users):
        profile = listed.get("profile")
        if name := _name(profile) or _name(listed):
            found[string(listed.get("id"))] = name
            if isinstance(profile, dict) and (bot := string(profile.get("bot_id"))):
                found[bot] = name
    return found


def _name(profile: object) -> str | None:
    if not isinstance(profile, dict):
        return None
    names = (clean(string(profile.get(name))) for name in ("display_name", "real_name", "name"))
    return next((name for name in names if name), None)


def _of_file(file: Json) -> Json:
    """What is kept of an attached file: its addresses may carry tokens."""
    return {name: file[name] for name in ("id", "name", "title", "mimetype", "size") if name in file}
