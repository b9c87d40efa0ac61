"""`jochi approve RUN`: a person lets a run go on that the circuit breaker stopped (docs/reference/plans-and-approval.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from jochi.curate.duplicates import count_due_merges
from jochi.curate.plan import PlanQuota, due, orphans
from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.jobs.runs import RunSummary, run_rows

MERGING = "dedup/merge_duplicates"
SWEEPING = "curate/sweep_orphans"


@dataclass(frozen=True)
class Approval:
    """The run, its job, and by kind and scope how many memories the breaker lets through now besides its limits."""

    run: str
    job: str
    lifts: list[PlanQuota]


def approve_run(engine: Engine, run: str, *, now: datetime, by: str) -> Approval:
    """See `jochi.Jochi.approve_run`."""
    rows = run_rows(engine, run=run)
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
    lifts = [PlanQuota(scope, kind, n) for (scope, kind), n in _counts(engine, summary, places, now).items()]
    lifted = {"now": now, "pump": engine.pump, "run": run, "by": by, "lifts": [lift.__dict__ for lift in lifts]}
    if not engine.call("curate/approve", lifted)["approved"]:
        raise UsageError(f"no job stands still for the run {run}", fix="somebody was faster: `jochi status`")
    return Approval(run, summary.job, lifts)


def _counts(
    engine: Engine, run: RunSummary, places: list[tuple[str, str]], now: datetime
) -> dict[tuple[str, str], int]:
    """What the run's job would take now of each kind and scope that stopped it."""
    counts = dict.fromkeys(places, 0)
    if run.procedure == MERGING:
        for scope, kind in places:
            counts[scope, kind] = count_due_merges(engine, now, scope=scope, kind=kind)
        return counts
    scopes = {scope for scope, _kind in places}
    found = [orphans(engine, now)] if run.procedure == SWEEPING else [due(engine, now, scope=each) for each in scopes]
    for entry in chain.from_iterable(found):
        if entry["outcome"] == "prune" and (entry["scope"], entry["kind"]) in counts:
            counts[entry["scope"], entry["kind"]] += entry["n"]
    return counts
