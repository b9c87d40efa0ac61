"""How much goes into one transaction: what an app reports in any number, each part under an id of its own; pages that the server's
memory may hold or not."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from jochi.errors import MemoryExceeded, UsageError

T = TypeVar("T")


def batch_name(batch: str | None) -> str:
    """``batch``, or a name made up where there is none. With the chunk's number it is the id that makes a repetition harmless."""
    if batch is not None and not (isinstance(batch, str) and 0 < len(batch) <= 180):
        raise UsageError("batch is not a text of 1 to 180 characters", fix="such as a UUID of your own")
    return batch or str(uuid.uuid4())


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """``items`` in lists of ``size``, the last one shorter; read no further than needed."""
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk


class PageSize:
    """How many a page has: halved where the server's memory for one transaction doesn't hold them, also for the pages after it."""

    def __init__(self, most: int) -> None:
        self.size = most

    def fit(self, call: Callable[[int], T]) -> T:
        """``call`` with as many as fit. `MemoryExceeded` where a single one doesn't."""
        while True:
            try:
                return call(self.size)
            except MemoryExceeded:
                if self.size == 1:
                    raise
                self.shrink(self.size // 2)

    def shrink(self, size: int) -> None:
        """From now on ``size`` at most."""
        self.size = min(self.size, size)
