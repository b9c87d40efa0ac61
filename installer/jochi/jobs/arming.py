"""Arms the pump and the watch of a database, as the user who is connected (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from neo4j.exceptions import ClientError

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.database.statements import statement
from jochi.errors import Refused
from jochi.graph.driver_values import to_python
from jochi.policy import stored_policy

_NO_PROCEDURE = "Neo.ClientError.Procedure.ProcedureNotFound"


@dataclass(frozen=True)
class JobFault:
    """Why the repeat job ``name`` doesn't do what it should. ``listed``: APOC's list has a job of that name all the same."""

    name: str
    why: str
    listed: bool

    def __str__(self) -> str:
        return f"{self.name} {self.why}"


def job_faults(engine: Engine) -> list[JobFault]:
    """Which of the armed repeat jobs are gone, replaced by somebody else's job, or don't run when they should.

    That is seen one mark (`scheduler.tick_mark`) and two intervals after the last run at the latest. Raises `Refused` where the
    server lacks APOC's procedures.
    """
    names = {"names": [engine.pump, engine.watch]}
    with _expecting_apoc(engine):
        rows = [to_python(row) for row in engine.database.run(statement("install/repeat_jobs"), names)]
    policy = engine.state().policy_text
    if not rows or policy is None:
        return []
    mark = stored_policy(policy).policy.scheduler.tick_mark
    now = ServerClock(engine.database).now()
    faults: list[JobFault] = []
    for row in rows:
        marks = [moment for moment in (row["last_tick"], row["rearmed_at"]) if moment is not None]
        late = bool(marks) and now - max(marks) > mark + 2 * timedelta(seconds=row["every_s"])
        if row["rate"] is None:
            faults.append(JobFault(row["name"], "is not on the server's list of jobs", False))
        elif row["rate"] != row["every_s"]:
            other = f"is another's job: it runs every {row['rate']} s, and ours every {row['every_s']} s"
            faults.append(JobFault(row["name"], other, True))
        elif late and row["body"] not in _at_work(engine, [each["body"] for each in rows]):
            seconds = int((now - max(marks)).total_seconds())
            silent = (
                f"did nothing for {seconds} s: another's job has its name, or the threads of APOC's scheduler are busy"
            )
            faults.append(JobFault(row["name"], silent, True))
    return faults


def _at_work(engine: Engine, bodies: list[str]) -> list[str]:
    found = engine.database.run(statement("install/bodies_at_work"), {"bodies": bodies})
    return list(found[0]["bodies"])


@contextmanager
def _expecting_apoc(engine: Engine) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if error.code != _NO_PROCEDURE:
            raise
        raise Refused(
            "this server has no APOC procedures to arm jobs with",
            where=f"database {engine.database.name}",
            fix="put apoc-core into the plugins folder, or drive the jobs from outside with `jochi jobs run --due`",
        ) from None


def ensure_jobs(engine: Engine, *, replace: bool = False) -> list[str]:
    """Arms what should run and doesn't; returns the names that were armed.

    ``replace`` takes both off APOC's list first, so that they run the texts that were just installed; else what has the name of
    one of them and isn't it. Raises `Refused` where the server lacks APOC's procedures.
    """
    text = engine.text("scheduler/arm")
    if replace:
        take_off_list(engine)
    elif others := [fault.name for fault in job_faults(engine) if fault.listed]:
        engine.database.autocommit(statement("install/take_off_list"), {"names": others})
    parameters = {
        "clock": ServerClock(engine.database).now(),
        "pump": engine.pump,
        "watch": engine.watch,
        "pin": None,
        "ticked": None,
    }
    with _expecting_apoc(engine):
        rows = engine.database.autocommit(text, engine.given(text, parameters))
    return sorted(rows[0]["armed"])


def take_off_list(engine: Engine) -> None:
    """Takes the pump and the watch off APOC's list; a run in progress ends by itself."""
    engine.database.autocommit(statement("install/take_off_list"), {"names": [engine.watch, engine.pump]})


def armed_jobs(engine: Engine) -> list[str]:
    """Which of the two repeat jobs are on the server's list now; none where there is no APOC."""
    names = [engine.pump, engine.watch]
    try:
        rows = engine.database.run(statement("install/armed_jobs"), {"names": names})
    except ClientError as error:
        if error.code != _NO_PROCEDURE:
            raise
        return []
    return sorted(row["name"] for row in rows)
