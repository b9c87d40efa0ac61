"""Cases of the set (METHOD.md): a small store, a request in a person's words, and what must be gone and stay."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tomllib

FOLDER = Path(__file__).parent / "cases"
Verdict = Literal["right", "asked", "left", "wrong", "error"]
"""right: all that is meant is gone, all else is there (or a person was asked where one has to be); asked: nothing was done, and
a careful person wouldn't have had to ask; left: something of what is meant is still there, nothing else is gone; wrong: something
that must stay is gone; error: the verb failed."""
VERDICTS: Sequence[Verdict] = ("right", "asked", "left", "wrong", "error")


@dataclass(frozen=True)
class Case:
    """``words``: what is to be forgotten, or holds no longer. ``new``: what holds now, None: forget. ``gone`` and ``stays``:
    strings. ``asks``: a careful person would have to ask back."""

    id: str
    kind: str
    language: str
    unseen: bool
    memories: tuple[str, ...]
    words: str
    new: str | None
    gone: tuple[str, ...]
    stays: tuple[str, ...]
    asks: bool
    why: str

    def judge(self, texts: Sequence[str], *, acted: bool) -> Verdict:
        """What became of the store: ``texts`` are the contents of all that is live in it afterwards. ``acted``: no person is
        asked."""
        folded = [fold(text) for text in texts]

        def there(wanted: str) -> bool:
            return any(fold(wanted) in text for text in folded)

        # What is to be said from now on isn't lost where nothing was done.
        old = [wanted for wanted in self.stays if any(fold(wanted) in fold(text) for text in self.memories)]
        if not all(map(there, self.stays if acted else old)):
            return "wrong" if not all(map(there, old)) else "left"
        if self.asks:
            return "right" if not acted else "left"
        if not any(map(there, self.gone)):
            return "right"
        return "left" if acted else "asked"


def fold(text: str) -> str:
    """As strings are compared here: caseless, composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def load(kinds: Sequence[str] = (), folder: Path = FOLDER) -> Iterator[Case]:
    """All cases of a folder, or those of ``kinds``, in the order of the files."""
    for file in sorted(folder.glob("*.toml")):
        if kinds and file.stem not in kinds:
            continue
        for one in tomllib.loads(file.read_text(encoding="utf-8"))["cases"]:
            request = one["request"]
            yield Case(
                one["id"],
                file.stem,
                one["language"],
                one["unseen"],
                tuple(one["memories"]),
                request["words"],
                request.get("new"),
                tuple(one["gone"]),
                tuple(one["stays"]),
                one["asks"],
                one["why"],
            )
