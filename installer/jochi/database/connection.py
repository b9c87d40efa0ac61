"""How to reach a database: where, as whom, and a driver of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import neo4j
from pydantic import SecretStr

from jochi.database.database import Database
from jochi.errors import UsageError


@dataclass(frozen=True)
class ConnectionSettings:
    """Where and as whom. ``password`` shows as stars wherever it is printed."""

    uri: str
    user: str
    password: SecretStr
    database: str | None = None
    """None: the home database of the user."""
    from_local_server: bool = False


@contextmanager
def connected(settings: ConnectionSettings, *, waits: bool = False) -> Iterator[Database]:
    """A `Database` on a driver of its own, closed at the end; `ConnectionFailed` where nobody answers, unless the caller ``waits``
    for the server."""
    try:
        driver = neo4j.GraphDatabase.driver(
            settings.uri,
            auth=(settings.user, settings.password.get_secret_value()),
            user_agent="jochi",
            notifications_min_severity="OFF",
        )
    except (neo4j.exceptions.ConfigurationError, ValueError) as error:
        raise no_address(settings.uri, str(error)) from None
    with driver:
        database = Database(driver, settings.database)
        if not waits:
            database.expect_answer()
        yield database


def no_address(uri: str, why: str) -> UsageError:
    """The error for what is no address of a server."""
    return UsageError(
        f"{uri!r} is not an address of a Neo4j server: {why}", fix="it looks like bolt://host:7687 or neo4j://host:7687"
    )
