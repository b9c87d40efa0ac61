"""Typed results of the reading verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from jochi.operate.stops import Stop, stops_of
from jochi.policy.slots import Slot
from jochi.temporal import read_as, to_python


@dataclass(frozen=True)
class Switch:
    """What a kill switch speaks of: one job, one kind, one scope, or everything."""

    what: Literal["job", "kind", "scope", "all"]
    name: str = ""


@dataclass(frozen=True)
class Restored:
    """``outcome``: restored | not_found | taken (the key lives again) | purging (being deleted for good) | merged (it lives on in
    another: `Jochi.unmerge`).

    ``duplicate_of``: the live memory that owns its content by now, where there is one.
    """

    key: str
    outcome: str
    duplicate_of: str | None = None


@dataclass(frozen=True)
class Decompressed:
    """``outcome``: decompressed | would_decompress (a dry run) | not_found | not_compressed | changed (another content was written
    since: everything stays). ``tokens``: how many it has again. ``changed``: properties that have changed since and stay.
    """

    key: str
    outcome: str
    tokens: int | None = None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unmerged:
    """``outcome``: unmerged | would_unmerge (a dry run) | not_merged (no tombstone of this key was merged) | taken (the key lives
    again) | survivor_gone (purged) | purging (being deleted for good) | no_record (of what the merge changed) | merged_on (whom it
    went into was merged away itself: that first) | busy (relationships of one of them are being moved).

    ``into``: whom it was merged into. ``relationships``: how many it gets back. ``changed``: what has changed since the
    merge and stays
    as it is, as `scope/id.property` or as a relationship.
    """

    key: str
    into: str | None
    outcome: str
    relationships: int = 0
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Applied:
    """A go: how many prunes the plan counted, and the moment it speaks of."""

    prunes: int
    at: datetime


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
            slot = f"{Slot(tuple(row['slot_days']), row['slot_hour'], row['slot_minute'])} {row['slot_zone']}"
        asking = to_python(row.get("stopped")) or {}
        return cls(
            every=every, pace=pace, slot=slot, **values, stopped_at=asking.get("stopped_at"), stops=stops_of(asking)
        )


@dataclass(frozen=True)
class Status:
    """The engine at a glance. ``pump`` is None where Jochi isn't installed."""

    pump: Mapping[str, Any] | None
    due: int
    oldest_due: datetime | None
    tombstones: int
    tombstones_due: int
    oldest_tombstone: datetime | None
    pauses: list[Mapping[str, Any]]
    tripped: list[Mapping[str, Any]]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Status:
        """From the row of `report/status`."""
        plain = to_python(row)
        return cls(
            plain["pump"],
            plain["queue"]["due"],
            plain["queue"]["oldest_due"],
            plain["tombstones"]["n"],
            plain["tombstones"]["due"],
            plain["tombstones"]["oldest"],
            plain["pauses"],
            plain["tripped"],
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


@dataclass(frozen=True)
class Accesses:
    """Touches that wait to be counted; scopes that report accesses; ``silent`` ones that never did (None: not looked)."""

    waiting: int
    reporting: int
    silent: int | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any], *, looked: bool) -> Accesses:
        """From the row of `report/accesses`."""
        return cls(row["waiting"], row["reporting"], row["silent"] if looked else None)


@dataclass(frozen=True)
class Fault:
    """Something that the walk of hygiene came upon: in how many memories, with a few keys."""

    name: str
    n: int
    samples: list[str]


@dataclass(frozen=True)
class Hygiene:
    """What the last whole walk of the job `hygiene` found; ``walked_at`` None: none has ended yet.

    ``repairs`` it made itself, ``reported`` it leaves to a person, ``waiting`` memories it will come back to: paused, or held
    by an agent.
    """

    enabled: bool
    walked_at: datetime | None
    walking: bool
    repairs: list[Fault]
    reported: list[Fault]
    waiting: int

    @property
    def repaired(self) -> int:
        """How many repairs it made."""
        return sum(fault.n for fault in self.repairs)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Hygiene:
        """From the row of `report/hygiene`."""
        found = sorted((Fault(**entry) for entry in row["found"]), key=lambda fault: (-fault.n, fault.name))

        def those(prefix: str) -> list[Fault]:
            named = [fault for fault in found if fault.name.startswith(prefix)]
            return [Fault(fault.name.removeprefix(prefix), fault.n, fault.samples) for fault in named]

        waiting = sum(fault.n for fault in found if fault.name == "waiting")
        walked_at = to_python(row["walked_at"])
        return cls(row["enabled"], walked_at, row["walking"], those("repaired_"), those("found_"), waiting)


@dataclass(frozen=True)
class Amount:
    """Memories and tokens of one kind (and tier; empty for tombstones)."""

    kind: str
    tier: str
    n: int
    tokens: int


@dataclass(frozen=True)
class TierReport:
    """What is there, live and as tombstones."""

    live: list[Amount]
    tombstones: list[Amount]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> TierReport:
        """From the row of `report/tiers`."""
        return read_as(cls, row, tombstones=[{"tier": "", **entry} for entry in row["tombstones"]])

    def by_tier(self) -> dict[str, tuple[int, int]]:
        """(memories, tokens) by tier."""
        sums: dict[str, tuple[int, int]] = {}
        for amount in self.live:
            n, tokens = sums.get(amount.tier, (0, 0))
            sums[amount.tier] = (n + amount.n, tokens + amount.tokens)
        return sums
