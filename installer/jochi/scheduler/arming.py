"""Arms the pump and the watch of a database, as the user who is connected (DESIGN §5)."""

from __future__ import annotations

from jochi import clock
from jochi.engine import Engine
from jochi.errors import Refused
from jochi.resources import statement


def ensure_jobs(engine: Engine, *, replace: bool = False) -> list[str]:
    """Arms what should run and doesn't; returns the names that were armed.

    ``replace`` takes both off APOC's list first, so that they run the texts that were just installed.
    """
    if replace:
        engine.database.autocommit(statement("install/take_off_list"), {"names": [engine.watch, engine.pump]})
    parameters = {"clock": clock.now(), "pump": engine.pump, "watch": engine.watch}
    rows = engine.database.autocommit(engine.text("scheduler/arm"), parameters)
    return sorted(rows[0]["armed"])


def armed_jobs(engine: Engine) -> list[str]:
    """Which of the two repeat jobs are on the server's list now."""
    rows = engine.database.run(statement("install/armed_jobs"), {"names": [engine.pump, engine.watch]}, write=False)
    return sorted(row["name"] for row in rows)


def require_armed(engine: Engine) -> None:
    """Raises `Refused` if the database doesn't curate itself at the moment."""
    missing = sorted({engine.pump, engine.watch} - set(armed_jobs(engine)))
    if missing:
        raise Refused(f"not armed: {', '.join(missing)}", fix="run `jochi jobs arm`")
