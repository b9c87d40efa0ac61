"""Which chain of a database is Jochi's, neo4j-migrations' default one or one beside an application's, and what it holds.

neo4j-migrations tells chains apart by `migrationTarget` alone. An application that runs it with its defaults sees only
nodes without one, so a chain that carries `migrationTarget: 'jochi'` is neither read nor touched by it. The tool can't
be pointed at that chain on the Community edition; `jochi engine migrations` looks after it.
"""

from __future__ import annotations

from pathlib import Path

from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.errors import Refused, UsageError
from jochi.schema.migrations.chain import PACKAGE, Chain, read_chain
from jochi.schema.migrations.comparing import compare, is_foreign
from jochi.schema.migrations.files import Folder, read_folder
from jochi.schema.migrations.lock import read_lock
from jochi.schema.migrations.results import ChainName, Listing, Validation
from jochi.schema.migrations.server_errors import explaining


def choose(database: Database, folder: Folder, wanted: ChainName | str | None = None) -> ChainName:
    """The chain to work on: the one that holds Jochi's migrations, else ``wanted``, else the default one.

    So the option is needed once, at the first install. Reads only. Raises `Refused` where Jochi's migrations stand in
    another chain than ``wanted``: a second one would record the same objects twice; `UsageError` for another name.
    """
    name = _checked(wanted)
    found = [each for each in ChainName if _is_ours(read_chain(database, each.migration_target), folder)]
    if len(found) > 1:
        raise Refused(
            "Jochi's migrations are recorded in two chains, the default one and the one named jochi",
            where=f"database {database.name}",
            fix="restore a backup from before the second was made; two tools or an edit by hand have made it",
        )
    if not found:
        return name or ChainName.DEFAULT
    if name is not None and name is not found[0]:
        raise Refused(
            f"Jochi's migrations are recorded in the chain {found[0].value}, and a second one would double them",
            where=f"database {database.name}",
            fix="leave --chain (and JOCHI_CHAIN) out: the chain is found by itself",
        )
    return found[0]


def _checked(wanted: ChainName | str | None) -> ChainName | None:
    try:
        return None if wanted is None else ChainName(wanted)
    except ValueError:
        raise UsageError(
            f"there is no chain {wanted!r}", fix=f"name one of {', '.join(name.value for name in ChainName)}"
        ) from None


def _is_ours(chain: Chain, folder: Folder) -> bool:
    """Whether Jochi, or neo4j-migrations on Jochi's files, has written it. A chain without migrations is nobody's."""
    if any(entry.package == PACKAGE for entry in chain.applied):
        return True
    local = {file.version: file for file in folder.files}
    return bool(chain.applied) and not any(is_foreign(entry, local.get(entry.version)) for entry in chain.applied)


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
