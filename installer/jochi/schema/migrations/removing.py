"""`remove_chain`: the way back, for uninstall."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from jochi import clock
from jochi.database.database import Database
from jochi.database.statements import schema_folder, statement
from jochi.errors import Refused
from jochi.schema.migrations import chain as chains
from jochi.schema.migrations.choosing import choose
from jochi.schema.migrations.comparing import is_foreign
from jochi.schema.migrations.earlier import earlier_objects, is_earlier
from jochi.schema.migrations.files import Folder, read_folder
from jochi.schema.migrations.lock import HeldLock, Locked, held
from jochi.schema.migrations.results import ChainName, RemoveResult
from jochi.schema.migrations.schema_objects import SchemaObject, created_by
from jochi.schema.migrations.server_errors import explaining

CHAIN_CONSTRAINTS = (
    "unique_version___Neo4jMigration",
    "__Neo4jMigrationsLock__has_unique_id",
    "__Neo4jMigrationsLock__has_unique_name",
)
CHAIN_INDEX = "repeated_at__Neo4jMigration"


def remove_chain(
    database: Database,
    folder: Path | None = None,
    *,
    wait_for_lock_seconds: float = 30,
    break_lock: bool = False,
    chain: ChainName | str | None = None,
    now: Callable[[], datetime] = clock.now,
) -> RemoveResult:
    """Takes back what `apply` made: the chain, then the constraints and indexes that the files of ``folder`` create.

    An object of one of these names on another label or other properties is not ours and stays. A foreign chain stays,
    and so does that of an application beside Jochi's own.
    The bookkeeping's own constraints go when no chain of anybody is left. Safe to repeat: a run that was cut off is
    finished by the next one, and `apply` after it starts from the beginning.

    Raises `Refused` if a newer jochi has migrated the database (its objects are not known here), and as `apply` does.
    """
    files = read_folder(folder or schema_folder())
    objects = (*created_by(*files.files), *earlier_objects())
    kept: list[str] = []
    with explaining(database):
        with held(
            database,
            now=now,
            wait_seconds=wait_for_lock_seconds,
            break_lock=break_lock,
        ) as lock:
            # The chain first: cut off after that, the objects are there and the next `apply` records them again.
            # The other way round it would believe in objects that are gone.
            name = choose(database, files, chain)
            nodes = _remove_chain(database, files, lock, name.migration_target, kept)
            constraints, indexes, others = drop_objects(database, objects)
            kept += others
        constraints += _drop_bookkeeping(database, kept)
    return RemoveResult(
        database=database.name,
        chain=name,
        constraints=tuple(constraints),
        indexes=tuple(indexes),
        chain_nodes=nodes,
        kept=tuple(kept),
    )


def _remove_chain(
    database: Database, files: Folder, lock: HeldLock, migration_target: str | None, kept: list[str]
) -> int:
    chain = chains.read_chain(database, migration_target)
    local = {file.version: file for file in files.files}
    if any(is_foreign(entry, local.get(entry.version)) for entry in chain.applied):
        kept.append("the chain of migrations: it is not Jochi's")
        return 0
    newer = [entry.source for entry in chain.applied if entry.version not in local and not is_earlier(entry)]
    if newer:
        raise Refused(
            f"a newer jochi has migrated this database ({', '.join(newer)}), and this one does not know what it made",
            where=f"database {database.name}",
            fix="uninstall with that version of jochi",
        )
    if chain.nodes == 0:
        return 0
    rows = database.run(
        statement("migrations/chain_delete"), {"lock_id": lock.id, "migration_target": migration_target}
    )
    deleted = int(rows[0]["deleted"]) if rows else 0
    if deleted == 0:
        raise Locked.lost(f"database {database.name}")
    return deleted


def drop_objects(database: Database, objects: tuple[SchemaObject, ...]) -> tuple[list[str], list[str], list[str]]:
    """Drops what is there of ``objects``: names of constraints and indexes, and of each that stays why it isn't Jochi's."""
    constraints = {row["name"]: row for row in database.run(statement("migrations/show_constraints"), write=False)}
    indexes = {row["name"]: row for row in database.run(statement("migrations/show_indexes"), write=False)}
    dropped: tuple[list[str], list[str], list[str]] = ([], [], [])
    seen = {(wanted.name, wanted.label, wanted.properties) for wanted in objects}
    for wanted in objects:
        row = (constraints if wanted.is_constraint else indexes).get(wanted.name)
        if row is None:
            continue
        if row["label"] != wanted.label or tuple(row["properties"]) != wanted.properties:
            # One that is as another version made it is dropped in its turn.
            if (wanted.name, row["label"], tuple(row["properties"])) not in seen:
                dropped[2].append(
                    f"{wanted.name}: it is on {row['label']}({', '.join(row['properties'])}), so it is not Jochi's"
                )
            continue
        command = "drop_constraint" if wanted.is_constraint else "drop_index"
        database.run(statement(f"migrations/{command}"), {"name": wanted.name})
        dropped[0 if wanted.is_constraint else 1].append(wanted.name)
    return dropped


def _drop_bookkeeping(database: Database, kept: list[str]) -> list[str]:
    left = database.run(statement("migrations/traces_left"), write=False)[0]
    if left["chain_nodes"] or left["locks"]:
        kept.append("the bookkeeping's constraints: another chain or lock needs them")
        return []
    there = {row["name"] for row in database.run(statement("migrations/show_constraints"), write=False)}
    for name in CHAIN_CONSTRAINTS:
        database.run(statement("migrations/drop_constraint"), {"name": name})
    database.run(statement("migrations/drop_index"), {"name": CHAIN_INDEX})
    return [name for name in CHAIN_CONSTRAINTS if name in there]
