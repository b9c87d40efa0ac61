"""What a run of curation did, in the words of DESIGN §4: `CurationCycleSummary`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest
from typing import Any

from jochi.database.engine import Engine
from jochi.graph.driver_values import read_as, to_python
from jochi.jobs.stops import Stop, stops_of
from jochi.policy.rules import TIERS

_COUNTED: Mapping[str, tuple[str, ...]] = {
    "pruned": ("pruned",),
    "merged": ("merged",),
    "promoted": ("promote",),
    "demoted": ("demote",),
    "archived": ("archive", "archived"),
    "compressed": ("compressed",),
    "rejected": ("rejected",),
    "flagged": ("flag", "found"),
    "purged": ("purge",),
    "restored": ("restore",),
    "unmerged": ("unmerge",),
    "decompressed": ("decompress",),
    "decided": ("decide",),
    "repaired": (),
    "added": ("lines_added",),
    "changed": ("lines_changed",),
    "struck": ("lines_struck",),
    "completed": ("lines_completed",),
}
"""What a summary counts, and the counters of the jobs that it comes from."""


@dataclass(frozen=True)
class ActionCount:
    """Of one action by one rule: how many, how many of them were undone since, and some keys."""

    action: str
    rule: str
    n: int
    undone: int
    keys: tuple[str, ...]


@dataclass(frozen=True)
class PassStep:
    """A step of a consolidation pass: when it began and ended (None: not yet), and how much it changed.

    ``said``: why it didn't do all of its work; '': it did.
    """

    step: str
    began: datetime | None
    ended: datetime | None
    changed: int
    said: str


@dataclass(frozen=True)
class RunSummary:
    """One run: what it looked at and did; of what it moved the tokens by tier, before and after.

    ``skipped`` counts what rails held, by the rail's name; ``quarantined`` are keys put aside, ``errors`` failed batches.
    ``stops``: what the circuit breaker said, where it stopped the run; ``approved_by``, where that was settled: a person, or
    the name of another policy. ``seconds`` is None while it runs; ``mode`` is the scheduler's, where the run has one. ``done``:
    only of a single run. ``scope`` and ``steps``: of a consolidation pass.
    """

    id: str
    job: str
    status: str
    started_at: datetime
    seconds: float | None
    mode: str | None
    policy: str | None
    procedure: str
    version: str | None
    scanned: int
    changed: int
    counts: Mapping[str, int]
    skipped: Mapping[str, int]
    quarantined: tuple[str, ...]
    errors: int
    tokens_before: Mapping[str, int]
    tokens_after: Mapping[str, int]
    error: str | None = None
    target: str | None = None
    done: tuple[ActionCount, ...] = field(default_factory=tuple)
    stops: tuple[Stop, ...] = ()
    approved_at: datetime | None = None
    approved_by: str | None = None
    scope: str | None = None
    steps: tuple[PassStep, ...] = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> RunSummary:
        """From an entry of `jobs/history`."""
        run = to_python(row["run"])
        numbers = {name: value for name, value in run.items() if type(value) is int}
        counts = {name: sum(numbers.get(part, 0) for part in parts) for name, parts in _COUNTED.items()}
        moves = {name: n for name, n in numbers.items() if "_to_" in name and name.split("_to_")[0] in TIERS}
        counts["demoted"] += sum(moves.values())
        counts["repaired"] = sum(n for name, n in numbers.items() if name.startswith("repaired"))
        finished = run.get("finished_at")
        return read_as(
            cls,
            run,
            seconds=None if finished is None else (finished - run["started_at"]).total_seconds(),
            mode=run.get("mode"),
            policy=run.get("policy"),
            version=run.get("procedure_version"),
            scanned=run["selected"],
            counts={name: n for name, n in counts.items() if n},
            skipped={name.removeprefix("rail_"): n for name, n in sorted(numbers.items()) if name.startswith("rail_")},
            quarantined=tuple(run.get("quarantined") or ()),
            errors=run["failed_batches"],
            tokens_before=_by_tier(run.get("tokens_before")),
            tokens_after=_by_tier(run.get("tokens_after")),
            done=row["done"],
            stops=stops_of(run),
            steps=tuple(
                PassStep(step, began, ended, changed or 0, said or "")
                for step, began, ended, changed, said in zip_longest(
                    *(run.get(name) or () for name in ("steps", "began", "ended", "did", "said"))
                )
            ),
            approved_by=run.get("approved_by") or run.get("approved_policy"),
        )


def run_rows(engine: Engine, **asked: Any) -> list[dict[str, Any]]:
    """Runs as `jobs/history` has them: {run: its properties, done}. ``asked``: its parameters that aren't the usual ones."""
    usual = {"run": None, "job": None, "summaries": False, "changed_only": False, "limit": 1, "samples": None}
    return list(engine.call("jobs/history", usual | asked, write=False)["runs"])


def _by_tier(tokens: list[int] | None) -> dict[str, int]:
    return dict(zip(TIERS, tokens, strict=True)) if tokens else {}


@dataclass(frozen=True)
class AuditSize:
    """``records`` of what was done, at most ``per_memory`` a memory (but what tombstones need); bytes of both, and their ratio."""

    records: int
    memories: int
    per_memory: int
    audit_bytes: int
    data_bytes: int
    ratio: float | None
    oldest: datetime | None
