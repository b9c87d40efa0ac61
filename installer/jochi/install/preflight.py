"""What must hold before anything is written: each failure with its fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jochi.database.database import Database
from jochi.database.server_facts import OLDEST_SERVER, ServerFacts
from jochi.errors import Refused
from jochi.version import __version__, minor_of


def require_suitable_server(database: Database, facts: ServerFacts) -> None:
    """Raises `Refused` where Jochi can't be installed: server too old, database read-only or not the writer."""
    where = f"database {database.name}"
    if facts.release < OLDEST_SERVER:
        raise Refused(
            f"Neo4j {facts.version} is too old: Jochi needs 5.26 or newer",
            where=where,
            fix="upgrade the server to 5.26 LTS",
        )
    if facts.read_only:
        raise Refused(
            "the database is read-only",
            where=where,
            fix="allow writes: ALTER DATABASE … SET ACCESS READ WRITE, or server.databases.default_to_read_only=false",
        )
    if not facts.writer:
        raise Refused(
            "this server is not the writer of the database",
            where=where,
            fix="connect to the cluster's leader, or use a neo4j:// address that routes to it",
        )


def require_no_newer(database: Database, pump: Mapping[str, Any] | None) -> None:
    """Raises `Refused` where the engine (``pump``: its node) is of a newer minor version, whose changes this one doesn't know."""
    if pump is not None and minor_of(pump["version"]) > minor_of(__version__):
        raise Refused(
            f"this database was installed by jochi {pump['version']}, and jochi {__version__} can't take back what that changed",
            where=f"database {database.name}",
            fix=f"use jochi {pump['version']}, or restore the backup that was made before the upgrade",
        )


def jobs_obstacle(facts: ServerFacts) -> str | None:
    """Why the database can't run jobs by itself, with the remedy; None if it can. Not an error: `jochi jobs run` works."""
    outside = "drive the jobs from outside with `jochi jobs run --due`"
    # A list of allowed procedures may leave out apoc.version(): what can be called is what counts.
    if facts.apoc is None and not any(name.startswith("apoc.") for name in facts.callable):
        return (
            "APOC Core is not installed on this server, so nothing was armed. Put apoc-core into the plugins folder and run "
            f"`jochi install` again, or {outside}."
        )
    if facts.missing_for_jobs:
        missing = ", ".join(facts.missing_for_jobs)
        allow = "Allow it in dbms.security.procedures.allowlist (and by privilege, on Enterprise), or "
        return (
            f"this server doesn't let this user call {missing}, so nothing was armed. "
            f"{'Aura has no setting for that: ' if facts.aura else allow}{outside}."
        )
    return None
