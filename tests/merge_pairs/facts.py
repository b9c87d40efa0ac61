"""Facts: several wordings of one sentence with places for values, read from `sentences/*.txt`.

A file holds blocks with an empty line between them. The first line of a block is `@ name`, or `@ name swap one other` where
the two places play different roles (who paid whom); each further line is a wording. In a wording `{kind}` is a place (`{kind2}`:
a second value of that kind), `[yes|no]` what negation changes, `<one|other>` what an antonym changes. All wordings of a block
mean the same, have the same places, and change in the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("sentences")
_PLACE = re.compile(r"\{([a-z]+)([2-9]?)\}")
_NEGATION = re.compile(r"\[([^][|]*)\|([^][|]*)\]")
_ANTONYM = re.compile(r"<([^<>|]*)\|([^<>|]*)>")


@dataclass(frozen=True)
class Fact:
    """``swap``: the two places whose values change roles."""

    name: str
    language: str
    wordings: tuple[str, ...]
    swap: tuple[str, str] | None = None

    @property
    def source(self) -> str:
        """What the split of the set goes by."""
        return f"{self.language}/{self.name}"

    @property
    def places(self) -> tuple[str, ...]:
        """The places in the order of the first wording."""
        return tuple(dict.fromkeys("".join(found) for found in _PLACE.findall(self.wordings[0])))

    @property
    def negatable(self) -> bool:
        """Whether it can be denied."""
        return _NEGATION.search(self.wordings[0]) is not None

    @property
    def reversible(self) -> bool:
        """Whether it has an antonym."""
        return _ANTONYM.search(self.wordings[0]) is not None


def kind_of(place: str) -> str:
    """`person` of `person2`."""
    return place.rstrip("23456789")


def fill(wording: str, texts: dict[str, str], *, denied: bool, reversed_: bool) -> str:
    """The wording with its values in place."""
    text = _NEGATION.sub(lambda found: found[2 if denied else 1], wording)
    text = _ANTONYM.sub(lambda found: found[2 if reversed_ else 1], text)
    text = _PLACE.sub(lambda found: texts[found[1] + found[2]], text)
    return re.sub(r"\.\.$", ".", text)


@lru_cache
def facts(language: str) -> tuple[Fact, ...]:
    """All facts of a language, in the order of the files."""
    found: list[Fact] = []
    for file in sorted(_FOLDER.glob(f"{language}*.txt")):
        for block in file.read_text(encoding="utf-8").strip().split("\n\n"):
            head, *wordings = block.split("\n")
            name, *swap = head.removeprefix("@ ").split()
            roles = (swap[1], swap[2]) if swap else None
            found.append(Fact(name, language, tuple(wordings), roles))
    return tuple(found)
