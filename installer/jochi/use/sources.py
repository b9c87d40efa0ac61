"""Raw sources and how far they are: raw, processed, extracted (seed 002, Status Flow; docs/reference/ingesting.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jochi import clock
from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.graph.driver_values import read_as

PHASES = ("prepare", "process", "extract")
"""What workers do with a source, in this order."""
STATES = ("raw", "processed", "extracted", "failed", "stuck")
"""`failed`: workers gave up on a phase. `stuck`: a phase has waited for more than a day. The others as the seed has them."""


@dataclass(frozen=True)
class Waiting:
    """A phase that isn't done: since when it is wanted, how often it failed, why last, and whether workers gave up on it."""

    phase: str
    since: datetime | None
    tries: int
    error: str | None
    put_aside: bool


@dataclass(frozen=True)
class SourceState:
    """A source, or a part of a long one. ``attachments``: how many of its ``messages`` are texts that somebody pasted or attached.
    ``summary``, ``keywords`` and ``tags`` once it is processed."""

    key: str
    state: str
    source_type: str | None
    title: str | None
    started_at: datetime | None
    ended_at: datetime | None
    created_at: datetime | None
    messages: int | None
    attachments: int | None
    characters: int | None
    participants: tuple[str, ...]
    waiting: tuple[Waiting, ...]
    summary: str | None
    keywords: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Unfinished:
    """``n`` sources, or parts of long ones, that are `failed` or `stuck` in one phase for one reason.

    ``why``: the last error, or what the phase waits for; ``since``: the oldest; ``samples``: some of their keys.
    """

    state: str
    phase: str
    why: str
    n: int
    since: datetime | None
    samples: tuple[str, ...]


def ls(
    engine: Engine, *, scope: str | None = None, state: str | None = None, limit: int = 100
) -> tuple[dict[str, int], list[SourceState]]:
    """How many sources there are by state, and the newest of them. ``state``: raw, processed, extracted, failed or stuck."""
    if state is not None and state not in STATES:
        raise UsageError(f"there is no state {state!r}", fix=f"there are: {', '.join(STATES)}")
    row = _read(engine, scope=scope, state=state, limit=limit)
    return dict(row["counts"]), [read_as(SourceState, each) for each in row["sources"]]


def show(engine: Engine, key: str) -> SourceState | None:
    """One source by its key (`scope/id`), with what was made of it and what is left to do; None where there is none."""
    found = _read(engine, key=key)["sources"]
    return read_as(SourceState, found[0]) if found else None


def unfinished(engine: Engine, *, samples: int = 3) -> list[Unfinished]:
    """Which sources are `failed` or `stuck`, by phase and reason, failed ones first. What is done costs nothing."""
    return [read_as(Unfinished, each) for each in _read(engine, limit=0, samples=samples)["unfinished"]]


def _read(engine: Engine, **parameters: Any) -> dict[str, Any]:
    given = {"now": clock.now(), "scope": None, "key": None, "state": None, "limit": 1, "samples": 0, **parameters}
    return engine.call("report/sources", given, write=False)
