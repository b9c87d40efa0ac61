"""What in a turn of a conversation is worth learning, by patterns in data files: no call, in time that grows with its length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jochi.errors import UsageError
from jochi.text.patterns import compile_patterns, match_patterns
from jochi.toml import beside

Signal = Literal["high", "medium", "low", "none"]

_FOLDER = Path(__file__).parent
_LEVELS = ("high", "medium", "disagreement")
_MEDIUM = 2
"""So many MEDIUM patterns make a turn medium; fewer make it low (peers A3, signal.ts)."""
LONGEST = 50_000
"""Characters of a turn that are looked at."""


class _Pattern(NamedTuple):
    level: str
    about: str
    pattern: str


@dataclass(frozen=True)
class SignalScan:
    """``about``: what the text has, by the names in the files; `user` for patterns of a policy."""

    signal: Signal
    about: tuple[str, ...] = ()

    @property
    def category(self) -> str | None:
        """The category of seed 003 that it speaks for, if any."""
        return next((category for about, category in _categories().items() if about in self.about), None)


def languages() -> list[str]:
    """Those that there are files for."""
    return sorted(path.stem for path in _FOLDER.glob("??.toml"))


def scan(text: str, *, languages: Sequence[str] = ("en", "de"), high: Sequence[str] = ()) -> SignalScan:
    """HIGH where any HIGH, disagreeing, or own pattern (``high``) is there; else by how many MEDIUM ones are: 2 or more are
    medium, 1 is low (seed 003, Write Path; peers A3, signal.ts). The languages are looked for together: people mix them."""
    patterns, automaton = _automaton(tuple(languages), tuple(high))
    found = [patterns[number] for number in match_patterns(automaton, text[:LONGEST])]
    # The same thing said in two languages, or by words that two have, is one.
    named = {(each.level, each.about) for each in found}
    about = tuple(dict.fromkeys("disagreement" if each.level == "disagreement" else each.about for each in found))
    weak = sum(level == "medium" for level, _ in named)
    if len(named) > weak:
        return SignalScan("high", about)
    return SignalScan("medium" if weak >= _MEDIUM else "low" if weak else "none", about)


@lru_cache(maxsize=16)
def _automaton(languages: tuple[str, ...], high: tuple[str, ...]) -> tuple[list[_Pattern], Any]:
    patterns = [pattern for language in languages for pattern in _of(language)]
    patterns += [_Pattern("high", "user", each) for each in high]
    return patterns, compile_patterns([each.pattern for each in patterns])


@lru_cache(maxsize=16)
def _of(language: str) -> tuple[_Pattern, ...]:
    if language not in languages():
        raise UsageError(
            f"there are no signals for the language {language!r}",
            where="observe.languages of the policy",
            fix=f"there are: {', '.join(languages())}; patterns of your own go into observe.high",
        )
    entries = _read(language)
    return tuple(
        _Pattern(level, about, "|".join(entries[level][about])) for level in _LEVELS for about in entries[level]
    )


@lru_cache(maxsize=1)
def _categories() -> dict[str, str]:
    return _read("categories")


def _read(name: str) -> dict[str, Any]:
    return beside(__file__, f"{name}.toml")
