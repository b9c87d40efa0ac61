"""The libraries of the extra `[ingest]`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from jochi.errors import JochiError


@contextlib.contextmanager
def ingest_extra() -> Iterator[None]:
    """Imports go in here: `JochiError` where the library isn't installed."""
    try:
        yield
    except ImportError:
        raise JochiError("the extra [ingest] is not installed", fix="pip install 'jochi[ingest]'") from None
