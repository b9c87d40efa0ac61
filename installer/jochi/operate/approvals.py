"""`jochi approve RUN`: a person lets a run go on that the circuit breaker stopped (docs/reference/plans-and-approval.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jochi.curate.plan import PlanQuota, due
from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.jobs.runs import RunSummary

MERGING = "dedup/merge_duplicates"
SWEEPING = "curate/sweep_orphans"


@dataclass(frozen=True)
class Approved:
    """The run, its job, and by kind and scope how many memories the breaker lets through now besides its limits."""

    run: str
    job: str
    lifts: list[PlanQuota]


def approve_run(
    engine: Engine,
    run: str,
    *,
    now: datetime,
    by: str,
    orphans: Callable[[datetime], Iterable[Mapping[str, Any]]],
) -> Approved:
    """See `jochi.Jochi.approve_run`. ``orphans`` finds what the sweep would do, entries as `curate/plan_orphans` returns them."""
    rows = engine.call("report/runs", {"run": run, "changed_only": False, "limit": 1, "samples": 0}, write=False)[
        "runs"
    ]
    if not rows:
        raise UsageError(f"there is no run {run!r}", fix="`jochi status` names what waits; `jochi runs ls` lists runs")
    summary = RunSummary.from_row(rows[0])
    if not summary.stops:
        raise UsageError(f"the circuit breaker didn't stop the run {run}", fix="`jochi status` names what waits")
    if summary.approved_at is not None:
        raise UsageError(
            f"the run {run} was approved already, at {summary.approved_at.isoformat()} by {summary.approved_by}",
            fix="`jochi status` names what waits now",
        )
    places = [(stop.scope, stop.kind) for stop in summary.stops]
    lifts = [PlanQuota(scope, kind, n) for (scope, kind), n in _asked(engine, summary, places, now, orphans).items()]
    asked = {"now": now, "run": run, "by": by, "lifts": [lift.__dict__ for lift in lifts]}
    if not engine.call("curate/approve_run", asked)["approved"]:
        raise UsageError(f"no job stands still for the run {run}", fix="somebody was faster: `jochi status`")
    return Approved(run, summary.job, lifts)


def _asked(
    engine: Engine,
    run: RunSummary,
    places: list[tuple[str, str]],
    now: datetime,
    orphans: Callable[[datetime], Iterable[Mapping[str, Any]]],
) -> dict[tuple[str, str], int]:
    """What the run's job would take now of each kind and scope that stopped it."""
    if run.procedure == SWEEPING:
        counts = dict.fromkeys(places, 0)
        for entry in orphans(now):
            if entry["outcome"] == "prune" and (entry["scope"], entry["kind"]) in counts:
                counts[entry["scope"], entry["kind"]] += entry["n"]
        return counts
    if run.procedure == MERGING:
        return {
            (scope, kind): engine.call("curate/plan_merges", {"now": now, "scope": scope, "kind": kind}, write=False)[
                "merges"
            ]
            for scope, kind in places
        }
    prunes = Counter[tuple[str, str]]()
    for scope in {scope for scope, _kind in places}:
        for entry in due(engine, now, scope=scope):
            prunes[entry["scope"], entry["kind"]] += entry["n"] if entry["outcome"] == "prune" else 0
    return {place: prunes[place] for place in places}
