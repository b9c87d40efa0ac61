"""What this process keeps of texts that it has read, and how all of it is let go: what is forgotten must not live on here."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_clearers: list[Callable[[], None]] = []


def kept(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Has a function keep its last ``size`` results, until `let_go`. For whatever is given a text, or a part of one."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cached = lru_cache(maxsize=size)(function)
        _clearers.append(cached.cache_clear)
        return cast(Callable[P, R], cached)

    return decorate


def let_go() -> None:
    """Empties all of them."""
    for clear in _clearers:
        clear()
