"""How much a fact matters, by its words and its category (peers A3, importance.ts): a number, no judgement of a model."""

from __future__ import annotations

import re
from collections.abc import Collection

import regex

from jochi_workers.derive.learn.wordlists import data, has

_WORD = regex.compile(r"[^\W\d_]+")
_SPECIFIC = re.compile(r"\d|[\"“„«»]|@\w|://")


def importance(text: str, category: str, tags: Collection[str] = ()) -> float:
    """0 to 1, two digits. What is small talk alone is trivial at once."""
    lists = data("importance")
    words = [word.casefold() for word in _WORD.findall(text)]
    if not words or set(words) <= {*lists["small_talk"].split()}:
        return float(lists["trivial"])
    also = lists["also"]
    found: float = lists["base"] + lists["category"].get(category, 0)
    found += sum(weight for name, weight in lists["words"].items() if has("importance", name, text))
    over = (len(text) - also["long_from"]) / (also["long_to"] - also["long_from"])
    found += also["length"] * min(1.0, max(0.0, over))
    found += also["personal"] * has("importance", "personal", text)
    found += also["specific"] * (_SPECIFIC.search(text) is not None)
    found += also["tag"] * len({*tags})
    return round(min(1.0, max(0.0, found)), 2)
