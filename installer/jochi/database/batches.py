"""What an app reports in any number goes out in transactions of bounded size, each under an id of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from jochi.errors import UsageError

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
