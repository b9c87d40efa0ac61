"""A plan: what curate_due and sweep_orphans would do, counted by the very macros that they run (DESIGN §8); and due edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from jochi.temporal import read_as

ORPHANS = "orphan.unlinked"
"""The rule by which memories go that hang on nothing (docs/reference/orphans.md)."""

SAMPLES = 5
"""Keys that a group of orphans names."""


@dataclass(frozen=True)
class PlanGroup:
    """Memories of one kind with one outcome by one rule, with sample keys.

    ``outcome``: prune, protected, paused or keep; or a change less than pruning: archive, promote, demote, flag, unflag, state. A
    memory with several changes is in several groups, and not among those kept.
    """

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
    """What would happen at ``at`` to everything that is due by then, under the policy with ``policy_sha256``.

    ``edges``: by type, how many relationships wait for decay_edges then: they lose confidence, or are archived. ``merges``:
    how many
    pairs of near duplicates wait for merge_duplicates then; what holds one up is asked when it is merged.
    """

    at: datetime
    policy_sha256: str
    groups: list[PlanGroup]
    quotas: list[PlanQuota]
    rails: dict[str, int]
    looked_at: int
    edges: dict[str, int] = field(default_factory=dict)
    merges: int = 0

    @property
    def prunes(self) -> int:
        """How many memories would be pruned."""
        return sum(group.n for group in self.groups if group.outcome == "prune")

    @property
    def archives(self) -> int:
        """How many memories would be archived."""
        return sum(group.n for group in self.groups if group.outcome == "archive")

    @property
    def moves(self) -> int:
        """How many memories would change their tier for another reason."""
        return sum(group.n for group in self.groups if group.outcome in {"promote", "demote"})

    @classmethod
    def from_row(cls, row: Mapping[str, Any], at: datetime, policy_sha256: str) -> Plan:
        """From the row of `curate/plan`."""
        rails = {entry["rail"]: entry["n"] for entry in row["rails"]}
        return read_as(cls, row, at=at, policy_sha256=policy_sha256, rails=rails)

    def with_orphans(self, found: Iterable[Mapping[str, Any]]) -> Plan:
        """With what the sweep of orphans would do besides: entries of `curate/plan_orphans`, of all its pages."""
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        quotas = {(quota.scope, quota.kind): quota.n for quota in self.quotas}
        rails = dict(self.rails)
        for entry in found:
            groups.setdefault((entry["outcome"], entry["kind"]), []).append(entry)
            for rail in entry["rails"] if entry["outcome"] == "protected" else ():
                rails[rail] = rails.get(rail, 0) + entry["n"]
            if entry["outcome"] == "prune":
                place = (entry["scope"], entry["kind"])
                quotas[place] = quotas.get(place, 0) + entry["n"]
        more = [
            PlanGroup(
                kind,
                ORPHANS,
                outcome,
                len({entry["scope"] for entry in entries}),
                sum(entry["n"] for entry in entries),
                [key for entry in entries for key in entry["samples"]][:SAMPLES],
            )
            for (outcome, kind), entries in sorted(groups.items(), reverse=True)
        ]
        return replace(
            self,
            groups=[*self.groups, *more],
            quotas=[PlanQuota(scope, kind, n) for (scope, kind), n in quotas.items()],
            rails=rails,
        )
