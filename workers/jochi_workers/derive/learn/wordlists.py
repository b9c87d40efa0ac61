"""The data files beside it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jochi.toml import beside


def data(name: str) -> dict[str, Any]:
    """The file `<name>.toml`."""
    return beside(__file__, f"{name}.toml")


@cache
def pattern(name: str, entry: str) -> re.Pattern[str]:
    """The words and phrases of an entry, as one that finds them: plain text, * for letters that may follow."""
    each = (re.escape(word.replace("_", " ")).replace(r"\*", r"\w*") for word in data(name)[entry].split())
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(each, key=len, reverse=True))})(?!\w)", re.IGNORECASE)


def has(name: str, entry: str, text: str) -> bool:
    """Whether a text has one of them."""
    return pattern(name, entry).search(text) is not None
