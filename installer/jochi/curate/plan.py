"""A plan: what curate_due and sweep_orphans would do, counted by the very macros that they run (DESIGN §8); and due edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from jochi.database.batches import PageSize
from jochi.database.engine import Engine
from jochi.policy.model import ORPHAN_RULE

PAGE = 2_000
"""Memories that are judged in one transaction."""

_SWEPT_PAGE = 10_000
"""Keys that one read looks at for memories that hang on nothing."""

Found = Mapping[str, Any]
"""How many memories of one scope and kind have one outcome by one rule: an entry of a page."""


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
    def of(
        cls,
        at: datetime,
        policy_sha256: str,
        found: Iterable[Found],
        orphans: Iterable[Found],
        merges: int,
        edges: dict[str, int],
        samples: int,
    ) -> Plan:
        """Adds pages up: ``found`` are entries of `curate/plan`, ``orphans`` those of `curate/plan_orphans`.

        ``samples``: how many keys a group names.
        """
        groups: dict[tuple[str, str, str, bool], list[Found]] = {}
        quotas: Counter[tuple[str, str]] = Counter()
        rails: Counter[str] = Counter()
        looked_at = 0
        for entry in chain(found, ({**orphan, "rule": ORPHAN_RULE} for orphan in orphans)):
            sweep = entry["rule"] == ORPHAN_RULE
            looked_at += 0 if sweep else entry["looks"]
            if not sweep or entry["outcome"] == "protected":
                rails.update(dict.fromkeys(entry["rails"], entry["n"]))
            if entry["outcome"] == "prune":
                quotas[entry["scope"], entry["kind"]] += entry["n"]
            if entry["outcome"] is not None:
                groups.setdefault((entry["outcome"], entry["kind"], entry["rule"] or "", sweep), []).append(entry)
        return cls(
            at,
            policy_sha256,
            [
                _group(key, entries, samples)
                for key, entries in sorted(groups.items(), key=lambda each: _order(each[0]))
            ],
            [PlanQuota(scope, kind, n) for (scope, kind), n in sorted(quotas.items())],
            dict(rails),
            looked_at,
            edges,
            merges,
        )


def due(engine: Engine, now: datetime, *, scope: str | None = None) -> Iterator[Found]:
    """What the jobs would do with all that is due at ``now``, a page of memories at a time: entries of `curate/plan`."""
    place: dict[str, Any] = {"from": "0001-01-01T00:00:00Z", "after": ""}
    pages = PageSize(PAGE)
    while place["from"] is not None:
        asked = {"now": now, "scope": scope, **place}
        row = engine.call_page("curate/plan", asked, pages, write=False)
        yield from row["found"]
        place = {"from": row["from"], "after": row["after"]}


def orphans(engine: Engine, now: datetime) -> Iterator[Found]:
    """What the sweep would do at ``now`` with memories that hang on nothing: entries of `curate/plan_orphans`."""
    after: str | None = ""
    pages = PageSize(_SWEPT_PAGE)
    while after is not None:
        page = engine.call_page("curate/plan_orphans", {"now": now, "after": after}, pages, write=False)
        if page["enabled"]:
            yield from page["found"]
        after = page["last"] if page["enabled"] else None


def _order(key: tuple[str, str, str, bool]) -> tuple[object, ...]:
    """What the sweep would do comes last; then prunes before what is less."""
    outcome, kind, rule, sweep = key
    return sweep, [-ord(character) for character in outcome], kind, rule


def _group(key: tuple[str, str, str, bool], entries: list[Found], samples: int) -> PlanGroup:
    outcome, kind, rule, _sweep = key
    keys = dict.fromkeys(sample for entry in entries for sample in entry["samples"])
    scopes = len({entry["scope"] for entry in entries})
    return PlanGroup(kind, rule or None, outcome, scopes, sum(entry["n"] for entry in entries), list(keys)[:samples])


@dataclass(frozen=True)
class Applied:
    """A go: how many prunes the plan counted, and the moment it speaks of."""

    prunes: int
    at: datetime
