"""The words and names that a text turns on, by YAKE: statistics of this text alone, in any language."""

from __future__ import annotations

import re
from typing import Any

from jochi_workers.language.extra import packages

MOST_CHARACTERS = 20_000
MOST = 20
_LONG = re.compile(r"\S{80,}")


def keywords(text: str, language: str) -> tuple[str, ...]:
    """At most `MOST`, the best first. Raises `JochiError` without the extra."""
    yake, utils = packages("yake", "yake.data.utils")
    # What no word is as long as would cost much and tell nothing.
    cleaned = _LONG.sub(" ", text[:MOST_CHARACTERS])
    extractor = yake.KeywordExtractor(lan=language if len(language) == 2 else "en", n=3, top=MOST)
    try:
        found = extractor.extract_keywords(cleaned)
    finally:
        _forget(extractor, utils)
    return tuple(str(word) for word, _ in found)


def _forget(*holders: Any) -> None:
    """YAKE keeps words in caches of its functions: they would outlive a text that is forgotten."""
    for holder in holders:
        for name in dir(holder):
            clear = getattr(getattr(holder, name, None), "cache_clear", None)
            if clear is not None:
                clear()
