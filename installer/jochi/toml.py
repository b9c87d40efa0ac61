"""TOML: the reader of this Python, a writer, and data files that stand beside a module, such as its lists of words."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["beside", "to_toml", "tomllib"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@cache
def beside(module: str, name: str) -> dict[str, Any]:
    """The file ``name`` beside a module (its ``__file__``), read once. Nobody may change what this returns."""
    read: dict[str, Any] = tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))
    return read


def to_toml(data: dict[str, Any], way: tuple[str, ...] = ()) -> str:
    """``data`` as TOML that reads as the same, in the same order. Null has no place in it.

    Tables stand under headers; those in lists, and those before a value of the same table, inline.
    """
    plain = max((at for at, value in enumerate(data.values()) if not isinstance(value, dict)), default=-1)
    tables = dict(list(data.items())[plain + 1 :])
    lines = [f"{_key(key)} = {_inline(value)}" for key, value in data.items() if key not in tables]
    if way and (lines or not tables):
        lines.insert(0, f"[{'.'.join(map(_key, way))}]")
    return "\n".join((*lines, *(to_toml(table, (*way, key)) for key, table in tables.items()))).strip("\n") + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _inline(name)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_inline(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    # A string of JSON is one of TOML, but for the delete sign, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
