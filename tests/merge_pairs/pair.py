"""One pair, its label, and which side of the split it stands on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

Label = Literal["different", "same"]
Language = Literal["en", "de", "zh", "ja", "fr", "es", "it", "pt", "nl", "pl", "sv", "ru"]

READ_LANGUAGES: tuple[Language, ...] = ("en", "de")
"""Languages in which a merge can be right. In any other the right answer to every pair is "flag at most"."""

CLASSES_OF_DIFFERENCE = (
    "number",
    "date",
    "weekday",
    "time",
    "month",
    "name",
    "place",
    "negation",
    "unit",
    "currency",
    "version",
    "identifier",
    "identifier marks",
    "colour",
    "antonym",
    "quoted",
    "role",
    "value",
)
"""What the one difference of a must-not-merge pair is. "identifier marks": two addresses, paths or switches that differ in `.`,
`-`, `_` or case only; "role": the same two names the other way round; "value": food, animal, tool, subject and the like."""

CLASSES_OF_SAMENESS = ("paraphrase", "format", "case", "punctuation", "white space", "unicode", "filler")
"""How two texts say the same. "format": the same wording with a value written in another way (5 and five, 3 pm and 15:00)."""

_SALT = "jochi merge pairs 624"
"""The first numbers were passed over until every class had facts on both sides of the split, before anything was measured."""


@dataclass(frozen=True)
class Pair:
    """Two texts and whether they say the same.

    ``source``: the fact that both were made from, which decides the side of the split; ``reworded``: a different pair whose sides
    are worded or written differently besides the one difference.
    """

    id: str
    kind: str
    language: Language
    left: str
    right: str
    label: Label
    source: str
    reworded: bool = False

    @property
    def may_merge(self) -> bool:
        """Whether "merge" is the right answer."""
        return self.label == "same" and self.language in READ_LANGUAGES

    @property
    def unseen(self) -> bool:
        """Whether it is kept for the end."""
        return held_out(self.source)


@cache
def held_out(source: str) -> bool:
    """A third of all sources, by their hash."""
    return int.from_bytes(hashlib.sha256(f"{_SALT}/{source}".encode()).digest()[:8], "big") % 3 == 0


def make(
    kind: str, language: Language, texts: tuple[str, str], label: Label, source: str, *, reworded: bool = False
) -> Pair:
    """A pair with an id that stays the same as long as its texts do."""
    short = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return Pair(f"{language}/{kind}/{short}", kind, language, texts[0], texts[1], label, source, reworded)


def digest(pairs: Iterable[Pair]) -> str:
    """One hash over all of them, to see whether two sets are the same."""
    lines = (f"{pair.id}\t{pair.left}\t{pair.right}\t{pair.label}\t{pair.source}\n" for pair in pairs)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
