"""What is said of jobs: their state, the mode of the engine, and what a kill switch speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from jochi.graph.driver_values import to_python
from jochi.jobs.stops import Stop, stops_of
from jochi.policy.schedule import FixedSlot

BROKEN_FROM = 3
"""So many failures of a job in a row are no accident."""


@dataclass(frozen=True)
class Switch:
    """What a kill switch speaks of: one job, one kind, one scope, or everything."""

    what: Literal["job", "kind", "scope", "all"]
    name: str = ""


@dataclass(frozen=True)
class JobState:
    """One job. ``waits_for`` is `apply`, `approve`, `approve RUN` or None.

    ``stopped_run``: the run that the circuit breaker stopped, and for which the job stands still; ``stops`` says why.
    """

    name: str
    procedure: str
    every: timedelta | None
    pace: timedelta | None
    """What ``every`` is in the present mode, for adaptive jobs; None: as the policy says."""
    slot: str | None
    """`every` or `slot` (a fixed slot, with its time zone), never both."""
    adaptive: bool
    priority: int
    destructive: bool
    enabled: bool
    paused_at: datetime | None
    paused_by: str | None
    next_start: datetime | None
    last_status: str | None
    last_started_at: datetime | None
    last_finished_at: datetime | None
    last_changed: int | None
    last_error: str | None
    failures: int
    crashes: int
    running: bool
    waits_for: str | None
    idle: bool = False
    """Nothing that it works on is in the store: the pump doesn't run it until something is."""
    stopped_run: str | None = None
    stopped_at: datetime | None = None
    stops: tuple[Stop, ...] = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> JobState:
        """From an entry of `jobs/list`."""
        values = {key: to_python(row[key]) for key in cls.__dataclass_fields__ if key in row}
        every = None if row["every_s"] is None else timedelta(seconds=row["every_s"])
        pace = None if row["pace_ms"] is None else timedelta(milliseconds=row["pace_ms"])
        slot = None
        if row["slot_days"] is not None:
            slot = f"{FixedSlot(tuple(row['slot_days']), row['slot_hour'], row['slot_minute'])} {row['slot_zone']}"
        asking = to_python(row.get("stopped")) or {}
        return cls(
            every=every, pace=pace, slot=slot, **values, stopped_at=asking.get("stopped_at"), stops=stops_of(asking)
        )


ModeName = Literal["IDLE", "BACKGROUND", "MINIMAL"]


@dataclass(frozen=True)
class Mode:
    """How busy the engine is: IDLE, BACKGROUND or MINIMAL (docs/reference/jobs-and-runs.md).

    ``rate``: accesses and writes a minute at the last look, ``looked_at``; None where nothing has looked yet.
    """

    mode: str
    since: datetime | None
    rate: float | None
    looked_at: datetime | None
    pinned_by: str | None

    @classmethod
    def from_pump(cls, pump: Mapping[str, Any]) -> Mode:
        """From the properties of the :JochiPump."""
        pinned_by = (pump.get("mode_pinned_by") or "somebody") if pump.get("mode_pinned") else None
        return cls(
            pump.get("mode") or "BACKGROUND",
            pump.get("mode_since"),
            pump.get("mode_rate"),
            pump.get("mode_at"),
            pinned_by,
        )
