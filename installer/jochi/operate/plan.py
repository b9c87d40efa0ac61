"""A plan: what curate_due would do, counted by the evaluator itself (DESIGN §8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class PlanGroup:
    """Memories of one kind with one outcome (prune, protected, paused, keep) by one rule, with sample keys."""

    kind: str
    rule: str | None
    outcome: str
    scopes: int
    n: int
    samples: list[str]


@dataclass(frozen=True)
class PlanQuota:
    """How many of a kind in a scope would be pruned: what `apply` lifts the breaker for."""

    scope: str
    kind: str
    n: int


@dataclass(frozen=True)
class Plan:
    """What would happen at ``at`` to everything that is due by then, under the policy with ``policy_sha256``."""

    at: datetime
    policy_sha256: str
    groups: list[PlanGroup]
    quotas: list[PlanQuota]
    rails: dict[str, int]
    looked_at: int

    @property
    def prunes(self) -> int:
        """How many memories would be pruned."""
        return sum(group.n for group in self.groups if group.outcome == "prune")

    @classmethod
    def from_row(cls, row: Mapping[str, Any], at: datetime, policy_sha256: str) -> Plan:
        """From the row of `curate/plan`."""
        return cls(
            at,
            policy_sha256,
            [PlanGroup(**group) for group in row["groups"]],
            [PlanQuota(**quota) for quota in row["quotas"]],
            {entry["rail"]: entry["n"] for entry in row["rails"]},
            row["looked_at"],
        )
