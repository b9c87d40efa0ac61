"""What several commands take: moments, and memories by key or by id."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Annotated

import typer

from jochi.errors import UsageError

PROVIDERS = "minilm, e5, sentence-transformers or openai"
"""Who can embed, in the words of `--help` (`jochi_workers.embeddings.PROVIDERS`)."""

At = Annotated[
    str | None, typer.Option("--at", help="Another moment than now, in ISO 8601 with a zone: 2026-12-24T18:00:00Z.")
]


def parse_moment(text: str | None) -> datetime | None:
    """A zoned time from ISO 8601 text; `UsageError` for anything else."""
    if text is None:
        return None
    try:
        value = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise UsageError(f"{text!r} is not a time", fix="write it like 2026-12-24T18:00:00Z") from None
    if value.tzinfo is None:
        raise UsageError(f"{text!r} has no zone", fix="write it like 2026-12-24T18:00:00Z or …+01:00")
    return value.astimezone(timezone.utc)


def keys_of(memories: Iterable[str], scope: str) -> list[str]:
    """The keys of memories that are named by key, or by id in ``scope``."""
    return [memory if "/" in memory else f"{scope}/{memory}" for memory in memories]
