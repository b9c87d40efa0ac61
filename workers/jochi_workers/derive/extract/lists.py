"""The sets of words in `words.toml`."""

from __future__ import annotations

from jochi.toml import beside


def words_in(name: str) -> frozenset[str]:
    """One of them, in lower case."""
    return frozenset(str(beside(__file__, "words.toml")[name]).split())
