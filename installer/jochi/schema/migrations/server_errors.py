"""What the server says no with, in words that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import Neo4jError

from jochi.database.database import Database
from jochi.errors import JochiError

_FORBIDDEN = "Neo.ClientError.Security.Forbidden"


class MigrationFailed(JochiError):
    """The server would not do what a migration, or its bookkeeping, asked for."""


def explained(error: Neo4jError, database: Database, where: str | None = None) -> MigrationFailed:
    """``error`` as a `MigrationFailed`; ``where`` is the file and statement, if it was one of a migration."""
    place = f"database {database.name}" if where is None else where
    if error.code == _FORBIDDEN:
        return MigrationFailed(
            f"this user may not do that: {error.message}",
            where=place,
            fix="migrations need a user that may create constraints, indexes, labels and properties "
            "(the roles admin and architect may)",
        )
    return MigrationFailed(
        f"the server says: {error.message} [{error.code}]",
        where=place,
        fix="remove the cause and run the same command again: what is recorded is not done twice",
    )


@contextmanager
def explaining(database: Database) -> Iterator[None]:
    """Turns a `Neo4jError` of the block into `MigrationFailed`."""
    try:
        yield
    except Neo4jError as error:
        raise explained(error, database) from error
