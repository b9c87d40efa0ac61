"""A running local server, as its callers see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import neo4j
from pydantic import SecretStr

from jochi.database.database import Database

USER = "neo4j"


@dataclass(frozen=True)
class Running:
    """How to reach a running instance. The password hides itself from `repr`, logs and tracebacks."""

    uri: str
    user: str
    password: SecretStr
    version: str
    apoc: str | None
    """APOC's version, or None: then jobs can't be armed on this server."""
    pid: int
    home: Path
    password_file: Path
    already_running: bool = False
    """True when `start` found it running and did nothing."""

    def driver(self) -> neo4j.Driver:
        """A new driver, logged in; the caller closes it."""
        return neo4j.GraphDatabase.driver(
            self.uri, auth=(self.user, self.password.get_secret_value()), notifications_min_severity="OFF"
        )

    def database(self, name: str | None = None) -> Database:
        """A `Database` on a new driver; the caller closes `.driver`."""
        return Database(self.driver(), name)
