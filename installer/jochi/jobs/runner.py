"""Drives the installed jobs from outside: the same texts, leases and tokens as the pump, without APOC (DESIGN §5).

`run_job` runs one job now. `replay` runs the jobs' select and act with a moving ``now`` on a store that has a clock of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import neo4j
from neo4j.exceptions import Neo4jError

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.errors import JochiError, Refused, UsageError
from jochi.graph.driver_values import read_as
from jochi.jobs.runs import run_rows
from jochi.jobs.stops import stops_of

_NOT_TALLIED = frozenset(
    ["token", "batches", "selected", "changed", "failed_batches", "slow_batches", "longest_batch_ms", "stopped_hours"]
)
_ANY_TIME = datetime(9999, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Run:
    """One finished run of a job. ``tally`` counts what happened by name (`pruned`, `rule_…`, `rail_…`; `retried`: batches
    that were begun again after a deadlock)."""

    id: str
    job: str
    status: str
    batches: int
    selected: int
    changed: int
    error: str | None = None
    quarantined: tuple[str, ...] = ()
    tally: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_node(cls, node: Mapping[str, Any]) -> Run:
        """From the properties of a :JochiJobRun."""
        tally = {key: value for key, value in node.items() if type(value) is int and key not in _NOT_TALLIED}
        return read_as(cls, node, quarantined=node.get("quarantined") or (), tally=tally)


def run_job(engine: Engine, job: str, *, now: datetime | None = None, drain: bool = False) -> list[Run]:
    """Runs ``job`` now, whether or not it is due; ``drain`` goes on until nothing is left.

    ``now`` is what the rules see (default: the time it is). Raises `Refused` where somebody else holds the job, where it is
    paused, where it waits for `jochi apply` or `jochi approve`, or where the breaker stopped it; `UsageError` where there is no
    such job.
    """
    runs = []
    clock = ServerClock(engine.database)
    while True:
        run, again = _run_once(engine, clock, job, now)
        runs.append(run)
        if not drain or not again:
            return runs


def _run_once(engine: Engine, clock: ServerClock, job: str, now: datetime | None) -> tuple[Run, bool]:
    """The run, and whether there is more to do at once."""
    started = clock.now()
    # One way to write a zone: Cypher takes the same instant in two zones for different values.
    seen = (now or started).astimezone(timezone.utc)
    engine.call("scheduler/tick", {"clock": started, "pump": engine.pump})
    claim = engine.call(
        "scheduler/claim",
        {
            "clock": started,
            "due_by": _ANY_TIME,
            "now": seen,
            "pump": engine.pump,
            "job": job,
            "runner": "client",
        },
    )
    if claim["job"] is None:
        raise _why_not(engine, clock, job)
    held = {"job": job, "token": claim["token"], "run": claim["run"]}
    for _ in range(claim["max_batches"]):
        try:
            if not _batch(engine, clock, held, seen):
                break
        except Neo4jError as error:
            _recover(engine, clock, held, seen, error.message or str(error))
            break
        except _BrokenProcedure as error:
            _recover(engine, clock, held, seen, error.what)
            break
    closed = engine.call("scheduler/close", {"clock": clock.now(), **held})
    return _read_run(engine, claim["run"]), bool(closed["again"])


class _BrokenProcedure(JochiError):
    """A procedure is missing, or doesn't return what it must: a failed batch, noted on its run."""


def _batch(engine: Engine, clock: ServerClock, held: Mapping[str, Any], now: datetime) -> bool:
    """One batch. The driver repeats it after a deadlock, and the run counts that. False: nothing was left to do."""
    tries = itertools.count()
    return engine.database.transaction(lambda tx: _batch_in(tx, engine, clock, held, now, retried=next(tries)))


def _batch_in(
    tx: neo4j.ManagedTransaction,
    engine: Engine,
    clock: ServerClock,
    held: Mapping[str, Any],
    now: datetime,
    *,
    retried: int,
) -> bool:
    """The same four steps as `scheduler/step`, in one transaction. False: nothing was left to do. ``retried``: how often the
    transaction was begun before."""
    began = clock.now()
    opened = engine.call_in(tx, engine.text("scheduler/begin"), {"clock": began, "pump": engine.pump, **held})
    if not opened or not opened["go"]:
        return False
    if opened["select"] is None or opened["act"] is None:
        raise _BrokenProcedure(f"there is no procedure {opened['procedure']}")
    selected = engine.call_in(
        tx, opened["select"], {"now": now, "limit": opened["limit"], "skip": opened["skip"], "job": opened["job"]}
    )
    keys = _require(selected, "keys", opened["procedure"], "select")
    acted = engine.call_in(
        tx,
        opened["act"],
        {"now": now, "keys": keys, "run": held["run"], "policy": opened["policy"], "job": opened["job"]},
    )
    changed = _require(acted, "changed", opened["procedure"], "act")
    assert acted is not None
    engine.call_in(
        tx,
        engine.text("scheduler/account"),
        {
            "clock": began,
            "job": held["job"],
            "run": held["run"],
            "limit": opened["limit"],
            "selected": len(keys),
            "changed": changed,
            "stop": bool(acted.get("stop")),
            "more": bool(acted.get("more")),
            "tally": [*(acted.get("tally") or ()), {"name": "retried", "n": retried}],
            "took_ms": int((clock.now() - began).total_seconds() * 1000),
        },
    )
    return True


def _require(row: Mapping[str, Any] | None, column: str, procedure: str, section: str) -> Any:
    value = None if row is None else row.get(column)
    if value is None:
        raise _BrokenProcedure(f"the {section} section of {procedure} returned no row with {column}")
    return value


def _recover(engine: Engine, clock: ServerClock, held: Mapping[str, Any], now: datetime, error: str) -> None:
    failed = engine.call("scheduler/fail", {"clock": clock.now(), "error": error, **held})
    if not failed["isolate"]:
        return
    parameters = {"now": now, "limit": 1, "skip": failed["skip"], "job": failed["job"]}
    try:
        rows = engine.database.run(failed["select"], engine.given(failed["select"], parameters), write=False)
        keys = list(rows[0]["keys"]) if rows else []
        given = {"now": now, "keys": keys, "refused": failed["refused"], **held}
        row = engine.call("scheduler/put_aside", {**given, "clock": clock.now(), "mark": None})
        if row["key"] is not None:
            engine.call("scheduler/put_aside", {**given, "clock": clock.now(), "keys": [], "mark": row["key"]})
    except Neo4jError:
        # The select itself fails, or somebody holds the memory: the batch's own error is noted, the job passes over the key.
        return


def no_such_job(job: str, jobs: Iterable[str]) -> UsageError:
    """What to say of a name that no job has."""
    return UsageError(f"there is no job {job!r}", fix=f"there are: {', '.join(sorted(jobs)) or 'none'}")


def _why_not(engine: Engine, clock: ServerClock, job: str) -> JochiError:
    """Why a job could not be claimed, in words."""
    row = engine.call("jobs/list", {"clock": clock.now(), "pump": engine.pump}, write=False)
    jobs = {entry["name"]: entry for entry in row["jobs"]}
    state = jobs.get(job)
    if state is None:
        return no_such_job(job, jobs)
    if (stopped := state.get("stopped_run")) is not None:
        why = "; ".join(stop.words for stop in stops_of(state["stopped"])) or "too much at once"
        return Refused(
            f"{job} stands still: the circuit breaker stopped the run {stopped}: {why}",
            fix=f"look at `jochi runs show {stopped}` and `jochi plan`, then `jochi approve {stopped}`",
        )
    if state["waits_for"] == "apply":
        return Refused(
            f"{job} prunes, and nobody has said go under this policy", fix="look at `jochi plan`, then `jochi apply`"
        )
    if state["waits_for"] == "approve":
        return Refused(f"{job} waits: the gap guard is closed", fix="look at `jochi status`, then `jochi approve`")
    if state["paused_at"] is not None:
        return Refused(f"{job} is paused by {state['paused_by']}", fix=f"`jochi jobs resume {job}`")
    if not state["enabled"]:
        return Refused(f"{job} is switched off in the policy", fix=f"set jobs.{job}.enabled = true and install")
    if state["running"]:
        return Refused(f"{job} is running now ({state['runner']})", fix="wait for it: `jochi jobs history`")
    return Refused(
        f"{job} can't be claimed now", fix="everything may be paused, or an install under way: `jochi status`"
    )


def _read_run(engine: Engine, run: str) -> Run:
    return Run.from_node(run_rows(engine, run=run)[0]["run"])


@dataclass(frozen=True)
class ReplayStep:
    """What one job did at one moment of a replay."""

    at: datetime
    job: str
    selected: int
    changed: int
    tally: Mapping[str, int]


def replay(
    engine: Engine,
    jobs: Mapping[str, timedelta],
    *,
    start: datetime,
    end: datetime,
    batch_size: int = 1_000,
    policy: str = "replay",
    on_step: Callable[[ReplayStep], None] | None = None,
    before: Callable[[datetime], None] | None = None,
) -> list[ReplayStep]:
    """Runs the jobs' own select and act with a ``now`` that moves from ``start`` to ``end``, each at its interval.

    ``jobs`` maps job names to intervals. Each batch is one transaction. Leases, the guard's mark and the jobs' schedule are left
    alone: a replay has its own clock. ``before`` is called once for each moment, before its jobs. Returns only the steps that
    changed something, in order.
    """
    sections = {job: _sections_of(engine, job) for job in jobs}
    due = dict.fromkeys(jobs, start)
    steps: list[ReplayStep] = []
    last: datetime | None = None
    while True:
        job = min(due, key=lambda name: (due[name], name))
        at = due[job]
        if at > end:
            return steps
        if before and at != last:
            before(at)
        last = at
        step = _replay_once(engine, job, sections[job], at, batch_size, policy)
        due[job] = at + jobs[job]
        if on_step:
            on_step(step)
        if step.changed:
            steps.append(step)


def _sections_of(engine: Engine, job: str) -> tuple[str, str]:
    now = ServerClock(engine.database).now()
    row = engine.call("jobs/list", {"clock": now, "pump": engine.pump}, write=False)
    procedures = {entry["name"]: entry["procedure"] for entry in row["jobs"]}
    if job not in procedures:
        raise no_such_job(job, procedures)
    return engine.text(procedures[job], "select"), engine.text(procedures[job], "act")


def _replay_once(
    engine: Engine, job: str, sections: tuple[str, str], at: datetime, batch_size: int, policy: str
) -> ReplayStep:
    select, act = sections
    selected = changed = 0
    tally: dict[str, int] = {}
    run = f"replay.{job}/{at:%Y%m%dT%H%M%SZ}"
    parameters = {"name": job}

    def one_batch(tx: neo4j.ManagedTransaction) -> tuple[int, int, list[dict[str, Any]]]:
        row = engine.call_in(tx, select, {"now": at, "limit": batch_size, "skip": [], "job": parameters}) or {
            "keys": []
        }
        if not row["keys"]:
            return 0, 0, []
        done = engine.call_in(
            tx, act, {"now": at, "keys": row["keys"], "run": run, "policy": policy, "job": parameters}
        )
        assert done is not None
        return len(row["keys"]), done["changed"], done["tally"]

    while True:
        found, did, counts = engine.database.transaction(one_batch)
        selected, changed = selected + found, changed + did
        for entry in counts:
            tally[entry["name"]] = tally.get(entry["name"], 0) + entry["n"]
        if found < batch_size:
            return ReplayStep(at, job, selected, changed, tally)
