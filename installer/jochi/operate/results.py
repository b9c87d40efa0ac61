"""What `status`, the tiers and hygiene answer, as typed results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jochi.graph.driver_values import read_as, to_python


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
        gone = row["tombstones"]
        found = {"tombstones": gone["n"], "tombstones_due": gone["due"], "oldest_tombstone": gone["oldest"]}
        return read_as(cls, {**row, **row["queue"]}, **found)


@dataclass(frozen=True)
class Accesses:
    """Touches that wait to be counted; scopes that report accesses; ``silent`` ones that never did (None: not looked)."""

    waiting: int
    reporting: int
    silent: int | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any], *, looked: bool) -> Accesses:
        """From the row of `report/unseen`."""
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
        """From what `report/status` says of it."""
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
