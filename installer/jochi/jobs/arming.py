"""Arms the pump and the watch of a database, as the user who is connected (DESIGN §5)."""

from __future__ import annotations

from neo4j.exceptions import ClientError

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.database.statements import statement
from jochi.errors import Refused

_NO_PROCEDURE = "Neo.ClientError.Procedure.ProcedureNotFound"


def ensure_jobs(engine: Engine, *, replace: bool = False) -> list[str]:
    """Arms what should run and doesn't; returns the names that were armed.

    ``replace`` takes both off APOC's list first, so that they run the texts that were just installed. Raises `Refused`
    where the server lacks APOC's procedures.
    """
    text = engine.text("scheduler/arm")
    if replace:
        take_off_list(engine)
    parameters = {"clock": ServerClock(engine.database).now(), "pump": engine.pump, "watch": engine.watch, "pin": None}
    try:
        rows = engine.database.autocommit(text, engine.given(text, parameters))
    except ClientError as error:
        if error.code != _NO_PROCEDURE:
            raise
        raise Refused(
            "this server has no APOC procedures to arm jobs with",
            where=f"database {engine.database.name}",
            fix="put apoc-core into the plugins folder, or drive the jobs from outside with `jochi run`",
        ) from None
    return sorted(rows[0]["armed"])


def take_off_list(engine: Engine) -> None:
    """Takes the pump and the watch off APOC's list; a run in progress ends by itself."""
    engine.database.autocommit(statement("install/take_off_list"), {"names": [engine.watch, engine.pump]})


def armed_jobs(engine: Engine) -> list[str]:
    """Which of the two repeat jobs are on the server's list now; none where there is no APOC."""
    names = [engine.pump, engine.watch]
    try:
        rows = engine.database.run(statement("install/armed_jobs"), {"names": names}, write=False)
    except ClientError as error:
        if error.code != _NO_PROCEDURE:
            raise
        return []
    return sorted(row["name"] for row in rows)
