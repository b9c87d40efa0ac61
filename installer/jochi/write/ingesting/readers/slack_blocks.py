"""What Slack shows of a message: its markup, and blocks as text."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from jochi.write.ingesting.json_values import Json, objects

_MARKUP = re.compile(r"<([^<>\n]{1,4000})>")
_DEEPEST = 20


@dataclass(frozen=True)
class Names:
    """Names of people and bots, and of channels, by id."""

    people: dict[str, str]
    channels: dict[str, str]


def shown(text: str, names: Names) -> str:
    """``text`` in Slack's markup as people see it."""
    return html.unescape(_MARKUP.sub(lambda found: _reference(found[1], names), text)).strip()


def _reference(markup: str, names: Names) -> str:
    """What Slack shows for what stands between < and >."""
    target, _, label = markup.partition("|")
    if target.startswith("@"):
        return f"@{label or names.people.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label or names.channels.get(target[1:], target[1:])}"
    if target.startswith("!"):
        return label or f"@{target[1:]}"
    address = target.removeprefix("mailto:")
    return address if not label or label == address else f"{label} ({address})"


def shown_blocks(blocks: list[Json], names: Names) -> str:
    """Blocks as text, one below the other. Buttons and other things to press say nothing."""
    return "\n".join(text for each in blocks if (text := _block(each, names, 0)))


def _block(block: Json, names: Names, depth: int) -> str:
    type = string(block.get("type"))
    if depth > _DEEPEST or type in ("actions", "divider", "input", "context_actions", "button"):
        return ""
    if type == "rich_text":
        return "\n".join(text for each in objects(block.get("elements")) if (text := _rich(each, names, depth)))
    if type in ("table", "data_table"):
        rows = block.get("rows")
        cells = (
            [[_block(cell, names, depth + 1) for cell in objects(row)] for row in rows or []]
            if isinstance(rows, list)
            else []
        )
        return "\n".join([string(block.get("caption")), *(" | ".join(row) for row in cells)]).strip()
    parts = [_words(block.get(key), type, names) for key in ("title", "title_text", "text", "description", "alt_text")]
    parts += [_words(each, type, names) for each in objects(block.get("fields"))]
    parts += [_block(each, names, depth + 1) for each in objects(block.get("elements"))]
    return "\n".join(part for part in parts if part)


def _words(value: object, type: str, names: Names) -> str:
    """A text of a block: an object that says whether it has markup, or the string itself."""
    if isinstance(value, dict):
        return _words(value.get("text"), string(value.get("type")), names)
    text = string(value)
    return shown(text, names) if type == "mrkdwn" else text.strip()


def _rich(element: Json, names: Names, depth: int) -> str:
    """An element of rich text: a section, a list, a quotation, code; or a word, a name, a link in one."""
    type = string(element.get("type"))
    inner = objects(element.get("elements")) if depth <= _DEEPEST else []
    if type == "rich_text_list":
        first, indent = (_number(element.get(key)) for key in ("offset", "indent"))
        ordered = element.get("style") == "ordered"
        items = enumerate((_rich(each, names, depth + 1) for each in inner), first + 1)
        return "\n".join(f"{'  ' * min(indent, _DEEPEST)}{f'{at}.' if ordered else '-'} {item}" for at, item in items)
    if inner:
        text = "".join(_rich(each, names, depth + 1) for each in inner).strip("\n")
        return "\n".join(f"> {line}" for line in text.split("\n")) if type == "rich_text_quote" else text
    if type == "link":
        url = string(element.get("url")).removeprefix("mailto:")
        label = string(element.get("text"))
        return f"{label} ({url})" if label and label != url else url
    if type == "user":
        id = string(element.get("user_id"))
        return f"@{names.people.get(id, id)}"
    if type == "channel":
        id = string(element.get("channel_id"))
        return f"#{names.channels.get(id, id)}"
    if type in ("broadcast", "usergroup"):
        return f"@{string(element.get('range')) or string(element.get('usergroup_id'))}"
    if type == "emoji":
        return _emoji(element)
    return string(element.get("text")) or string(element.get("fallback")) or string(element.get("value"))


def _emoji(element: Json) -> str:
    try:
        return (
            "".join(chr(int(part, 16)) for part in string(element.get("unicode")).split("-") if part)
            or f":{element['name']}:"
        )
    except (ValueError, KeyError, OverflowError):
        return f":{string(element.get('name'))}:"


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 1_000_000 else 0


def string(value: object) -> str:
    """The string; empty where it is none."""
    return value if isinstance(value, str) else ""
