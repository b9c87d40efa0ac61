"""Typed results of the reading verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from jochi.temporal import to_python


@dataclass(frozen=True)
class Switch:
    """What a kill switch speaks of: one job, one kind, one scope, or everything."""

    what: Literal["job", "kind", "scope", "all"]
    name: str = ""


@dataclass(frozen=True)
class Restored:
    """``outcome``: restored | not_found | taken (the key lives again) | purging (being deleted for good)."""

    key: str
    outcome: str


@dataclass(frozen=True)
class Applied:
    """A go: how many prunes the plan counted, and the moment it speaks of."""

    prunes: int
    at: datetime


@dataclass(frozen=True)
class JobState:
    """One job. ``waits_for`` is `apply`, `approve` or None."""

    name: str
    procedure: str
    every: timedelta
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

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> JobState:
        """From an entry of `jobs/list`."""
        values = {key: to_python(row[key]) for key in cls.__dataclass_fields__ if key in row}
        return cls(every=timedelta(seconds=row["every_s"]), **values)


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
        live = [Amount(entry["kind"], entry["tier"], entry["n"], entry["tokens"]) for entry in row["live"]]
        gone = [Amount(entry["kind"], "", entry["n"], entry["tokens"]) for entry in row["tombstones"]]
        return cls(live, gone)

    def by_tier(self) -> dict[str, tuple[int, int]]:
        """(memories, tokens) by tier."""
        sums: dict[str, tuple[int, int]] = {}
        for amount in self.live:
            n, tokens = sums.get(amount.tier, (0, 0))
            sums[amount.tier] = (n + amount.n, tokens + amount.tokens)
        return sums
