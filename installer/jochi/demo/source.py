"""Where the memories of a demonstration come from: a file, or the seeded generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from jochi.generate import team
from jochi.write import importing
from jochi.write.importing import MemoryRecord
from jochi.write.importing.files import open_source

GENERATED_ENDS = timedelta(days=2)
"""The generated month ends so long before today began: its newest memories are past the grace period of rail 9."""

LOCOMO_LICENCE = "LoCoMo, CC BY-NC 4.0, measured only"


@dataclass(frozen=True)
class Source:
    """Memories that can be read again from the start. ``records`` takes what to do with a line that can't be read."""

    name: str
    generated: bool
    records: Callable[[Callable[[str], None]], Iterator[MemoryRecord]]
    licence: str | None = None

    @property
    def memories(self) -> str:
        """What to call them: generated ones never go without that word."""
        return "generated memories" if self.generated else "memories"


def generated_source(seed: int, *, now: datetime, days: int = 30, size: int = 6_000) -> Source:
    """A month of a six-agent team; the same seed gives the same memories all day long (UTC)."""
    end = now.replace(hour=0, minute=0, second=0, microsecond=0) - GENERATED_ENDS
    return Source(
        f"generated: {days} days of a six-agent team, seed {seed}",
        generated=True,
        records=lambda _on_bad: team(seed, end=end, days=days, size=size),
    )


def file_source(path: Path, *, now: datetime) -> Source:
    """A LoCoMo or JSON Lines file. `UsageError` at once if it can't be opened."""
    opened = open_source(path)
    opened.close()
    return Source(
        path.name,
        generated=False,
        records=lambda on_bad: importing.records(path, now=now, on_bad=lambda bad: on_bad(str(bad))),
        licence=LOCOMO_LICENCE if opened.format == "locomo" else None,
    )
