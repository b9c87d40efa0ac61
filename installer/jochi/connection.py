"""How to reach the database: from options, environment or the local server; the password never from the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import neo4j
from pydantic import SecretStr

from jochi.database import Database
from jochi.errors import ConnectionFailed, UsageError

if TYPE_CHECKING:
    from jochi.localserver import Running

ENVIRONMENT = {
    "uri": "JOCHI_URI",
    "user": "JOCHI_USER",
    "password": "JOCHI_PASSWORD",
    "password_file": "JOCHI_PASSWORD_FILE",
    "database": "JOCHI_DATABASE",
    "policy": "JOCHI_POLICY",
}


@dataclass(frozen=True)
class ConnectionSettings:
    """Where and as whom. ``password`` shows as stars wherever it is printed."""

    uri: str
    user: str
    password: SecretStr
    database: str = "neo4j"
    from_local_server: bool = False


def find_settings(
    uri: str | None = None,
    user: str | None = None,
    password_file: Path | None = None,
    database: str | None = None,
    *,
    prompt: bool = True,
) -> ConnectionSettings:
    """The settings: what is given, else the environment, else the local server if one runs.

    The password comes from ``password_file``, JOCHI_PASSWORD, JOCHI_PASSWORD_FILE or, at a terminal, a prompt.
    """
    name = database or os.environ.get(ENVIRONMENT["database"]) or "neo4j"
    address = uri or os.environ.get(ENVIRONMENT["uri"])
    if address is None:
        running = _local_server()
        if running is None:
            raise ConnectionFailed(
                "no database named, and no local server is running",
                fix="set JOCHI_URI (and JOCHI_USER, JOCHI_PASSWORD_FILE), or start one: `jochi server start`",
            )
        return ConnectionSettings(running.uri, running.user, running.password, name, from_local_server=True)
    who = user or os.environ.get(ENVIRONMENT["user"]) or "neo4j"
    return ConnectionSettings(address, who, _password(password_file, who, address, prompt=prompt), name)


@contextmanager
def connected(settings: ConnectionSettings) -> Iterator[Database]:
    """A `Database` on a driver of its own, closed at the end; `ConnectionFailed` where nobody answers."""
    try:
        driver = neo4j.GraphDatabase.driver(
            settings.uri,
            auth=(settings.user, settings.password.get_secret_value()),
            user_agent="jochi",
            notifications_min_severity="OFF",
        )
    except (neo4j.exceptions.ConfigurationError, ValueError) as error:
        raise UsageError(
            f"{settings.uri!r} is not an address of a Neo4j server: {error}",
            fix="it looks like bolt://host:7687 or neo4j://host:7687",
        ) from None
    with driver:
        database = Database(driver, settings.database)
        database.expect_answer()
        yield database


def _password(file: Path | None, user: str, address: str, *, prompt: bool) -> SecretStr:
    given = os.environ.get(ENVIRONMENT["password"])
    named = os.environ.get(ENVIRONMENT["password_file"])
    if file is None and given is not None:
        return SecretStr(given)
    source = file or (Path(named) if named else None)
    if source is not None:
        try:
            return SecretStr(source.read_text(encoding="utf-8").rstrip("\r\n"))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the password file can't be read: {error}", fix="check --password-file") from None
    if prompt and sys.stdin.isatty():
        import typer

        return SecretStr(typer.prompt(f"Password of {user} at {address}", hide_input=True, err=True))
    raise UsageError(
        f"no password for {user} at {address}",
        fix="set JOCHI_PASSWORD_FILE (or JOCHI_PASSWORD), or pass --password-file",
    )


def _local_server() -> Running | None:
    try:
        from jochi.localserver import LocalServer
    except ImportError:  # the extra [server] is not installed
        return None
    server = LocalServer()
    return server.running() if server.status().state == "running" else None
