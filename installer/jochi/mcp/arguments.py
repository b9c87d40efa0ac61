"""Arguments of tools as clients send them: a text stays the text that it is, a number may be an id, a list may come as text
(docs/reference/mcp.md)."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import date, datetime, timedelta, tzinfo
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError

from jochi.errors import UsageError
from jochi.write.ingesting.moments import moment

_NOTHING = frozenset({"", "null", "none", "undefined"})
"""What stands in place of a list or of an object that isn't given."""
_SAID = 5
"""So many mistakes of one call are named."""
_WRONG = {
    "missing": "is missing",
    "extra_forbidden": "isn't known",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "literal_error": "must be {expected}",
    "string_too_long": "is too long",
}
_OF_TYPES = {"int": "must be a whole number", "bool": "must be true or false", "float": "must be a number"}


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _parsed(value: object) -> object:
    """What a text says as JSON, where that is a list or an object; None where it stands for nothing."""
    if not isinstance(value, str):
        return value
    if value.strip().casefold() in _NOTHING:
        return None
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, list | dict) else value


def _as_texts(value: object) -> object:
    found = _parsed(value)
    return [found] if isinstance(found, str | int | float) and not isinstance(found, bool) else found


def _as_object(value: object) -> object:
    found = _parsed(value)
    return {} if found is None else found


def _as_list(value: object) -> object:
    found = _parsed(value)
    return [] if found is None else [found] if isinstance(found, dict) else found


def _as_memories(value: object) -> object:
    found = _as_list(value)
    items = [found] if isinstance(found, str) else found
    return [_as_memory(each) for each in items] if isinstance(items, list) else items


def _as_memory(value: object) -> object:
    found = _parsed(value)
    if isinstance(found, dict):
        return found
    return {"content": value} if isinstance(value, str) and found is not None else value


def _as_number(value: object) -> object:
    return int(value) if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() else value


Text = Annotated[str, BeforeValidator(_as_text)]
"""A text as it was sent, whatever it looks like; a number is taken as its digits."""
Texts = BeforeValidator(_as_texts)
"""Of a list of texts: also one text, or the list as JSON."""
Object = BeforeValidator(_as_object)
"""Of an object: also as JSON."""
Objects = BeforeValidator(_as_list)
"""Of a list of objects: also one of them, or either as JSON."""
Number = BeforeValidator(_as_number)
"""Of one of some numbers and words: a number also as text."""
Memories = BeforeValidator(_as_memories)
"""Of a list of memories: also what one says, alone."""


def parse_moment(text: str | None, name: str, zone: tzinfo, *, whole_day: bool = False) -> datetime | None:
    """A moment from ISO 8601 text; without a zone it is in ``zone``. A date alone is its first moment; with ``whole_day`` the
    first one after it. `UsageError` for anything else."""
    if text is None or text.strip().casefold() in _NOTHING:
        return None
    found = moment(text, zone)
    if found is None:
        raise UsageError(f"{name} is no time", fix='pass ISO 8601, such as "2026-11-01" or "2026-11-01T09:30:00+01:00"')
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return found
    after = day + timedelta(days=1)
    return moment(after.isoformat(), zone) or found + timedelta(days=1) if whole_day else found


def mistakes(error: ValidationError, known: dict[str, Any]) -> str:
    """What is wrong with arguments, for the agent that sent them. ``known``: the schema of each argument."""
    found = [_mistake(each) for each in error.errors(include_url=False, include_input=False)]
    names = dict.fromkeys(str(each["loc"][0]) for each in error.errors(include_url=False) if each["loc"])
    lines = [*dict.fromkeys(found)][:_SAID]
    more = f"; {len(found) - _SAID} more" if len(found) > _SAID else ""
    return f"{'; '.join(lines)}{more}\n  → {_example(names, known)}"


def unknown(names: Collection[str], known: dict[str, Any]) -> str:
    """What to say of arguments that a tool doesn't have."""
    wrong = ", ".join(map(repr, sorted(names)))
    return f"there is no argument {wrong}\n  → the arguments are: {', '.join(known)}"


def _mistake(error: Any) -> str:
    path = ""
    for part in error["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    kind = error["type"]
    said = _WRONG.get(kind) or next((_OF_TYPES[of] for of in _OF_TYPES if kind.startswith(of)), "can't be taken")
    return f"{path} {said.format(**error.get('ctx', {}))}"


def _example(names: Collection[str], known: dict[str, Any]) -> str:
    shown = {name: known[name]["examples"][0] for name in names if known.get(name, {}).get("examples")}
    return f"pass for example {json.dumps(shown, ensure_ascii=False)}" if shown else "see the tool's input schema"
