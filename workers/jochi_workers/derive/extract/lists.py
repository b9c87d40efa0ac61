"""The sets of words in `words.toml`."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ALL = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def words_in(name: str) -> frozenset[str]:
    """One of them, in lower case."""
    return frozenset(str(_ALL[name]).split())
