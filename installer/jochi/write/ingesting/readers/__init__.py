from __future__ import annotations

from collections.abc import Iterator
from datetime import timezone, tzinfo
from typing import Any

FORMATS: tuple[str, ...] = ()


def read(
    what: Any, *, format: str | None = None, zone: tzinfo = timezone.utc, name: str | None = None
) -> Iterator[Any]:
    yield from ()
