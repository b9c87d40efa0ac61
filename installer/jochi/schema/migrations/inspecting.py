"""`listing` and `validate`: they read, take no lock and write nothing."""

from __future__ import annotations

from pathlib import Path

from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.schema.migrations.chain import read_chain
from jochi.schema.migrations.choosing import choose
from jochi.schema.migrations.comparing import compare
from jochi.schema.migrations.files import read_folder
from jochi.schema.migrations.lock import read_lock
from jochi.schema.migrations.results import ChainName, Listing, Validation
from jochi.schema.migrations.server_errors import explaining


def listing(database: Database, folder: Path | None = None, *, chain: ChainName | str | None = None) -> Listing:
    """Every migration of ``folder`` (default: Jochi's schema) and of the database with its state, and the lock.

    ``chain``: see `choose`. Raises `UsageError` for a faulty folder, `Refused` for two chains of Jochi's,
    `ConnectionFailed`, `MigrationFailed`.
    """
    files = read_folder(folder or schema_folder())
    with explaining(database):
        name = choose(database, files, chain)
        comparison = compare(files, read_chain(database, name.migration_target), name)
        lock = read_lock(database)
    return Listing(
        database=database.name,
        outcome=comparison.outcome,
        chain=name,
        migrations=comparison.migrations,
        messages=comparison.messages,
        warnings=files.warnings,
        lock=lock,
    )


def validate(database: Database, folder: Path | None = None, *, chain: ChainName | str | None = None) -> Validation:
    """Whether the database is exactly as the files of ``folder`` say. Raises as `listing` does."""
    found = listing(database, folder, chain=chain)
    return Validation(**{name: getattr(found, name) for name in Validation.model_fields})
