"""The server's clock as a client reads it: leases, marks and starts are compared with it, and a client's own may be wrong."""

from __future__ import annotations

from datetime import datetime, timedelta
from time import monotonic

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.graph.driver_values import to_python


class ServerClock:
    """Asks the server once; after that it counts on by this machine's monotonic clock."""

    def __init__(self, database: Database) -> None:
        self._read: datetime = to_python(database.run(statement("server/clock"))[0]["clock"])
        self._since = monotonic()

    def now(self) -> datetime:
        """The server's time now, with its zone."""
        return self._read + timedelta(seconds=monotonic() - self._since)
