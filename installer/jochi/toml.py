"""TOML: the reader of this Python, and data files that stand beside a module, such as its lists of words."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["beside", "tomllib"]


@cache
def beside(module: str, name: str) -> dict[str, Any]:
    """The file ``name`` beside a module (its ``__file__``), read once. Nobody may change what this returns."""
    read: dict[str, Any] = tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))
    return read
