"""Seeded chance with the same numbers on every Python: it uses `Random.random` only, which is promised to stay."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from jochi.generate.texts import SLOTS

T = TypeVar("T")


class Dice:
    """All chance of one generated team."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def share(self) -> float:
        """A number from 0 to below 1."""
        return self._random.random()

    def hit(self, chance: float) -> bool:
        return self.share() < chance

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self.share() * (high - low + 1))

    def one(self, items: Sequence[T]) -> T:
        return items[int(self.share() * len(items))]

    def some(self, items: Sequence[T], most: int) -> list[T]:
        """Up to ``most`` different items, in their order."""
        chosen = {int(self.share() * len(items)) for _ in range(most)} if items else set()
        return [items[i] for i in sorted(chosen)]

    def often(self, rate: float) -> int:
        """How often something happens that happens ``rate`` times on average (0 to twice as often)."""
        expected = rate * 2 * self.share()
        return int(expected) + self.hit(expected - int(expected))

    def moment(self, start: datetime, end: datetime, *, lean: float = 1.0) -> datetime:
        """A whole second from ``start`` to before ``end``; a ``lean`` above 1 makes early ones likelier."""
        seconds = (end - start).total_seconds()
        return start + timedelta(seconds=int(seconds * self.share() ** lean))

    def text(self, template: str, **given: str) -> str:
        """A template with its slots filled, beginning with a capital."""
        slots: Mapping[str, str] = {name: self.one(words) for name, words in SLOTS.items()} | given
        filled = template.format(**slots)
        return filled[0].upper() + filled[1:]
