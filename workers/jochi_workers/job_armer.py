"""The database's own jobs, looked at by a worker: whoever cancels them or takes their names is said, and they are armed again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic

from jochi.database.engine import Engine
from jochi.errors import Refused
from jochi.jobs.arming import ensure_jobs, job_faults
from jochi_workers.context_files import Files

_log = logging.getLogger(__name__)


class JobArmer(Files):
    """Looks at the repeat jobs each ``every`` and arms what isn't as it should be, as the worker's user. Where the database isn't
    to be armed there is nothing to do."""

    on_disk = False

    def __init__(self, engine: Engine, every: timedelta, clock: Callable[[], float] = monotonic) -> None:
        super().__init__("jobs", [(Path("jobs"), every, self._arm)], clock)
        self._engine = engine
        self._last = ""

    def _arm(self) -> int:
        try:
            faults = job_faults(self._engine)
        except Refused:  # without APOC nothing is armed; the doctor says so
            return 0
        if not faults:
            return 0
        armed = ensure_jobs(self._engine)
        self._last = ", ".join(str(fault) for fault in faults)
        _log.warning("%s: armed again: %s", self._last, ", ".join(armed) or "nothing")
        return len(armed)

    @property
    def note(self) -> str | None:
        """Why they were armed again the last time, and what went wrong."""
        return "; ".join(part for part in (self._last and f"armed again as {self._last}", super().note) if part) or None
