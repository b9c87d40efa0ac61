"""Drives the installed jobs from outside: the same texts, leases and tokens as the pump, without APOC (DESIGN §5).

`run_job` runs one job now, `run_due` each that is due.
`replay` runs the jobs' select and act with a moving ``now`` on a store that has a clock of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import neo4j
from neo4j.exceptions import Neo4jError

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.errors import JochiError, MemoryExceeded, Refused, UsageError
from jochi.graph.driver_values import read_as, to_python
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

    @property
    def went_well(self) -> bool:
        """It did what it could; the circuit breaker's stop is a question, and no failure."""
        return self.status in {"ok", "breaker"}

    @classmethod
    def from_node(cls, node: Mapping[str, Any]) -> Run:
        """From the properties of a :JochiJobRun."""
        tally = {key: value for key, value in node.items() if type(value) is int and key not in _NOT_TALLIED}
        return read_as(cls, node, quarantined=node.get("quarantined") or (), tally=tally)


@dataclass(frozen=True)
class DueJob:
    """What became of a job that was due. ``outcome``: the status of its ``run``, `failed` where that could not be noted on it, or
    `waits`; ``why`` says for what, or what failed, and ``fix`` what to do."""

    job: str
    outcome: str
    run: Run | None = None
    why: str | None = None
    fix: str | None = None

    @property
    def went_well(self) -> bool:
        """It ran, or only waits: for a go, for a person's resume, or for whoever else runs it."""
        return self.outcome == "waits" or (self.run is not None and self.run.went_well)


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
    claim = _claim(engine, clock, job, now=now, due_by=_ANY_TIME)
    if claim is None:
        raise _why_not(job, _states(engine, clock))
    return _work(engine, clock, claim)


def run_due(
    engine: Engine, *, now: datetime | None = None, on_job: Callable[[DueJob], object] | None = None
) -> list[DueJob]:
    """Runs each job that is due by ``now`` once, in the pump's order; what waits or fails keeps none of the others.

    ``now`` is what the rules see as well (default: the time it is). A job that has more to do, or comes due in the meantime, is for
    the next call. ``on_job`` hears of each when it is over. Raises `ConnectionFailed` where the database goes away.
    """
    clock = ServerClock(engine.database)
    due_by = (now or clock.now()).astimezone(timezone.utc)
    found: dict[str, DueJob] = {}

    def note(one: DueJob) -> None:
        found[one.job] = one
        if on_job:
            on_job(one)

    while claim := _claim(engine, clock, None, now=now, due_by=due_by, besides=list(found)):
        note(_work_due(engine, clock, claim))
    # What the pump would leave: it waits, or somebody else claimed another one at the same moment.
    for job in [
        name for name, state in _states(engine, clock).items() if _is_left(state, due_by) and name not in found
    ]:
        if claim := _claim(engine, clock, job, now=now, due_by=due_by):
            note(_work_due(engine, clock, claim))
        elif _is_left((states := _states(engine, clock)).get(job, {}), due_by):
            why = _why_not(job, states)
            note(DueJob(job, "waits", why=why.what, fix=why.fix))
    return list(found.values())


def _is_left(state: Mapping[str, Any], due_by: datetime) -> bool:
    """Whether the job of this entry of `jobs/list` is due and isn't passed over by everybody."""
    starts = state.get("next_start")
    return starts is not None and starts <= due_by and state["enabled"] and not state["idle"]


def _work_due(engine: Engine, clock: ServerClock, claim: Mapping[str, Any]) -> DueJob:
    try:
        run, _ = _work(engine, clock, claim)
    except (Neo4jError, MemoryExceeded) as error:  # its lease ends by itself, and counts the run as cut off
        return DueJob(claim["job"], "failed", why=_words(error), fix=f"`jochi jobs history {claim['job']}`")
    return DueJob(run.job, run.status, run, run.error)


def _claim(
    engine: Engine,
    clock: ServerClock,
    job: str | None,
    *,
    now: datetime | None,
    due_by: datetime,
    besides: Sequence[str] = (),
) -> Mapping[str, Any] | None:
    """A tick, and the claim of ``job``, or of the one whose turn it is, but none of ``besides``. None: there is none."""
    started = clock.now()
    # One way to write a zone: Cypher takes the same instant in two zones for different values.
    seen = (now or started).astimezone(timezone.utc)
    engine.call("scheduler/tick", {"clock": started, "pump": engine.pump})
    claim = engine.call(
        "scheduler/claim",
        {
            "clock": started,
            "due_by": due_by,
            "now": seen,
            "pump": engine.pump,
            "job": job,
            "except": list(besides),
            "runner": "client",
        },
    )
    return None if claim["job"] is None else {**claim, "now": seen}


def _work(engine: Engine, clock: ServerClock, claim: Mapping[str, Any]) -> tuple[Run, bool]:
    """The batches of a job that was claimed. The run, and whether there is more to do at once."""
    held = {name: claim[name] for name in ("job", "token", "run")}
    for _ in range(claim["max_batches"]):
        try:
            if not _batch(engine, clock, held, claim["now"]):
                break
        except (Neo4jError, MemoryExceeded, _BrokenProcedure) as error:
            _recover(engine, clock, held, claim["now"], _words(error))
            break
    closed = engine.call("scheduler/close", {"clock": clock.now(), **held})
    return _read_run(engine, claim["run"]), bool(closed["again"])


def _words(error: Neo4jError | JochiError) -> str:
    return error.what if isinstance(error, JochiError) else error.message or str(error)


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


def _states(engine: Engine, clock: ServerClock) -> dict[str, dict[str, Any]]:
    """The entries of `jobs/list` by name."""
    row = to_python(engine.call("jobs/list", {"clock": clock.now(), "pump": engine.pump}, write=False))
    return {entry["name"]: entry for entry in row["jobs"]}


def _why_not(job: str, jobs: Mapping[str, Mapping[str, Any]]) -> JochiError:
    """Why a job could not be claimed, in words."""
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
    procedures = {name: entry["procedure"] for name, entry in _states(engine, ServerClock(engine.database)).items()}
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
