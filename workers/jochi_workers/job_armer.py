"""The database's own jobs, looked at by a worker: whoever cancels them or takes their names is said, and they are armed again."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic

from neo4j.exceptions import Neo4jError

from jochi.database.engine import NOT_INSTALLED, Engine
from jochi.errors import ConnectionFailed, JochiError, Refused
from jochi.jobs.arming import ensure_jobs, job_faults
from jochi_workers.context_files import Files

_log = logging.getLogger(__name__)
_DIGITS = re.compile(r"\d+")


class JobArmer(Files):
    """Looks at the repeat jobs each ``every`` and arms what isn't as it should be, as the worker's user. Where the database isn't
    to be armed there is nothing to do."""

    on_disk = False

    def __init__(self, engine: Engine, every: timedelta, clock: Callable[[], float] = monotonic) -> None:
        super().__init__("jobs", [(Path("jobs"), every, self._arm)], clock)
        self._engine = engine
        self._last = ""
        self._refusal = ""
        self._said: set[str] = set()

    def _arm(self) -> int:
        try:
            armed = self._look()
        except ConnectionFailed:
            raise
        except (JochiError, Neo4jError) as error:
            refusal = error.what if isinstance(error, JochiError) else error.code or type(error).__name__
            if refusal != self._refusal:  # each look would say it again
                _log.warning("the jobs of the database can't be armed: %s", refusal)
            self._refusal = refusal
            raise
        self._refusal = ""
        return armed

    def _look(self) -> int:
        try:
            faults = job_faults(self._engine)
        except Refused:  # without APOC nothing is armed; the doctor says so
            return 0
        if not faults:
            return 0
        armed = ensure_jobs(self._engine)
        why = ", ".join(map(str, faults))
        # Where APOC has few threads a job that waits for one is late again and again; that is said once.
        late = {f"{fault.name} {_DIGITS.sub('', fault.why)}" for fault in faults if fault.listed}
        if late - self._said or not all(fault.listed for fault in faults):
            _log.warning("%s: armed again: %s", why, ", ".join(armed) or "nothing")
        self._said |= late
        self._last = why
        return len(armed)

    @property
    def note(self) -> str | None:
        """Why they were armed again the last time, and what went wrong."""
        return "; ".join(part for part in (self._last and f"armed again as {self._last}", super().note) if part) or None


def require_armable(engine: Engine) -> None:
    """`Refused` where no worker can keep the jobs armed: nothing is installed, or is to be armed, or APOC is missing."""
    where = f"database {engine.database.name}"
    pump = engine.state().pump
    if pump is None:
        raise Refused("jochi is not installed in this database", where=where, fix=NOT_INSTALLED)
    if not pump["armed"]:
        raise Refused(
            "the jobs of this database are not to be armed: it was installed with --no-arm, or its server didn't allow it",
            where=where,
            fix="`jochi install` arms them or says why not; `jochi jobs run` drives them from outside",
        )
    job_faults(engine)
