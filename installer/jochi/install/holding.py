"""Keeps every runner away while objects change: no new run, and the ones in progress end first (DESIGN §5, DDL)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic, sleep

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, Refused

HOLD_PUMP = timedelta(minutes=5)
"""How long a pump stays held if the installer that holds it dies."""


@contextmanager
def held_pump(engine: Engine, wait_seconds: float) -> Iterator[None]:
    """Holds the pump and waits for runs in progress; lets it go on at the end, whatever happened.

    Raises `Refused` where a run doesn't end in time.
    """
    clock = ServerClock(engine.database)

    def hold(until: timedelta | None) -> list[str]:
        now = clock.now()
        parameters = {"pump": engine.pump, "until": until and now + until, "clock": now}
        return list(engine.database.run(statement("install/hold_pump"), parameters)[0]["open"])

    try:
        _await_open_runs(engine, wait_seconds, lambda: hold(HOLD_PUMP))
        yield
    except ConnectionFailed:
        raise  # nobody is there to be told; the hold ends by itself
    except BaseException:
        hold(None)
        raise
    else:
        hold(None)


def stop_pump(engine: Engine, wait_seconds: float) -> None:
    """Stops every runner for good and waits for runs in progress; `Refused` where one doesn't end in time."""
    clock = ServerClock(engine.database)

    def stop() -> list[str]:
        parameters = {"pump": engine.pump, "clock": clock.now()}
        return list(engine.database.run(statement("install/stop_pump"), parameters)[0]["open"])

    _await_open_runs(engine, wait_seconds, stop)


def _await_open_runs(engine: Engine, wait_seconds: float, open_runs: Callable[[], list[str]]) -> None:
    deadline = monotonic() + wait_seconds
    while running := open_runs():
        if monotonic() > deadline:
            raise Refused(
                f"still running after {wait_seconds:.0f} s: {', '.join(running)}",
                where=f"database {engine.database.name}",
                fix="try again later: a run ends after its batch, and one whose runner died when its lease has ended",
            )
        sleep(0.2)
