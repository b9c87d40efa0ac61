"""A worker says in the database that it lives, so that one that is gone is missed (docs/reference/metrics.md)."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from threading import Event, Thread
from types import TracebackType

from neo4j.exceptions import Neo4jError

from jochi.database.database import Database
from jochi.database.server_clock import ServerClock
from jochi.database.statements import statement
from jochi.errors import JochiError

_log = logging.getLogger(__name__)

EVERY = 60
"""Seconds between two signs."""


class SignOfLife:
    """While it is entered a :JochiWorker stands in the database, and says each ``every`` seconds that the process lives, also while
    a long batch runs. It goes when the process ends as asked; an error or a kill leaves it, for a week."""

    def __init__(self, database: Database, derivations: Sequence[str], *, every: int = EVERY) -> None:
        self.id = f"{socket.gethostname()}/{os.getpid()}"
        self._database = database
        self._clock = ServerClock(database)
        self._derivations = sorted(derivations)
        self._every = every
        self._over = Event()
        self._thread = Thread(target=self._go_on, name="jochi-sign-of-life", daemon=True)

    def say(self, *, begins: bool = False, ends: bool = False) -> None:
        """Says it once. What the database answers is no reason to stop working: the next try is soon."""
        try:
            given = {
                "worker": self.id,
                "now": self._clock.now(),
                "every_s": self._every,
                "derivations": self._derivations,
                "begins": begins,
                "ends": ends,
            }
            self._database.run(statement("work/seen"), given)
        except (JochiError, Neo4jError) as error:
            why = error.what if isinstance(error, JochiError) else error.code
            _log.warning("the worker can't say that it lives: %s", why)

    def _go_on(self) -> None:
        while not self._over.wait(self._every):
            self.say()

    def __enter__(self) -> SignOfLife:
        self.say(begins=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._over.set()
        if kind is None:
            self.say(ends=True)
