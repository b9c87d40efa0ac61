"""A worker says in the database that it lives, so that one that is gone is missed (docs/reference/metrics.md)."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Sequence
from threading import Event, Thread
from time import monotonic
from types import TracebackType

from neo4j.exceptions import DriverError, Neo4jError

from jochi.database.database import Database
from jochi.database.server_clock import ServerClock
from jochi.database.statements import statement
from jochi.errors import JochiError

_log = logging.getLogger(__name__)

EVERY = 60
"""Seconds between two signs."""

_LOOK = 1.0
"""Seconds between two looks at whether something fails now that didn't: that is said at once."""


class SignOfLife:
    """While it is entered a :JochiWorker stands in the database, and says each ``every`` seconds that the process lives, also while
    a long batch runs, and what it can't write (``failing``: names, no paths). It goes when the process ends as asked; an error or
    a kill leaves it, for a week."""

    def __init__(
        self,
        database: Database,
        derivations: Sequence[str],
        *,
        every: int = EVERY,
        failing: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.id = f"{socket.gethostname()}/{os.getpid()}"
        self._database = database
        self._clock = ServerClock(database)
        self._derivations = sorted(derivations)
        self._every = every
        self._failing = failing
        self._said: list[str] = []
        self._over = Event()
        self._thread = Thread(target=self._go_on, name="jochi-sign-of-life", daemon=True)

    def say(self, *, begins: bool = False, ends: bool = False) -> None:
        """Says it once. What the database answers is no reason to stop working: the next try is soon."""
        self._said = sorted(self._failing())
        try:
            given = {
                "worker": self.id,
                "now": self._clock.now(),
                "every_s": self._every,
                "derivations": self._derivations,
                "failing": self._said,
                "begins": begins,
                "ends": ends,
            }
            self._database.run(statement("work/seen"), given)
        except (JochiError, Neo4jError, DriverError) as error:
            why = error.what if isinstance(error, JochiError) else getattr(error, "code", type(error).__name__)
            _log.warning("the worker can't say that it lives: %s", why)

    def _go_on(self) -> None:
        said_at = monotonic()
        while not self._over.wait(min(self._every, _LOOK)):
            if monotonic() - said_at >= self._every or sorted(self._failing()) != self._said:
                self.say()
                said_at = monotonic()

    def __enter__(self) -> SignOfLife:
        self.say(begins=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._over.set()
        if kind is None:
            self._thread.join()  # what it is saying would come after the last word, and the worker be missed for a week
            self.say(ends=True)
