"""The chain of applied migrations in the database, in the shape that neo4j-migrations keeps.

`(BASELINE)-[:MIGRATED_TO]->(V0001)-[:MIGRATED_TO]->…`, all `:__Neo4jMigration`, one line of nodes for each
`migrationTarget` (absent: the default chain). Nodes that Jochi writes carry `package: 'jochi'` besides, which
neo4j-migrations ignores.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from neo4j.time import DateTime, Duration

from jochi.database.database import Database, Row
from jochi.database.statements import statement
from jochi.schema.migrations.files import MigrationFile
from jochi.schema.migrations.lock import HeldLock
from jochi.users import operating_system_user
from jochi.version import __version__

BASELINE = "BASELINE"
PACKAGE = "jochi"


@dataclass(frozen=True)
class Applied:
    """One applied migration as the chain records it; ``checksum`` is the newest repetition's, if there is one."""

    version: str
    description: str | None
    source: str
    repeatable: bool
    checksum: str | None
    package: str | None
    at: datetime | None
    by: str | None
    connected_as: str | None
    milliseconds: int | None


@dataclass(frozen=True)
class Chain:
    """The applied migrations in their order; ``broken`` says why they have none, if the chain is not one line."""

    applied: tuple[Applied, ...] = ()
    nodes: int = 0
    broken: str | None = None

    @property
    def last_version(self) -> str:
        """The version that the next record hangs on."""
        return self.applied[-1].version if self.applied else BASELINE


def read_chain(database: Database, migration_target: str | None = None) -> Chain:
    """Reads the chain of ``migration_target``. Takes no lock and writes nothing."""
    rows = database.run(statement("migrations/chain"), {"migration_target": migration_target}, write=False)
    return _walk(rows)


def _walk(rows: list[Row]) -> Chain:
    if not rows:
        return Chain()
    everything = tuple(applied_of(row) for row in rows if counts(row["node"]))
    roots = [row for row in rows if row["node"].get("version") == BASELINE]
    if len(roots) != 1:
        return Chain(everything, len(rows), f"it has {len(roots)} roots (nodes with version BASELINE), not one")
    after: dict[str, list[Row]] = {}
    for row in rows:
        for previous in row["previous"]:
            after.setdefault(previous, []).append(row)
    ordered: list[Row] = []
    seen = {roots[0]["id"]}
    following = after.get(roots[0]["id"], [])
    while following:
        if len(following) > 1:
            names = " and ".join(str(row["node"].get("version")) for row in following)
            return Chain(everything, len(rows), f"it forks into {names}")
        row = following[0]
        if row["id"] in seen:
            return Chain(everything, len(rows), "it runs in a circle")
        seen.add(row["id"])
        ordered.append(row)
        following = after.get(row["id"], [])
    loose = [str(row["node"].get("version")) for row in rows if row["id"] not in seen]
    if loose:
        return Chain(everything, len(rows), f"these nodes do not hang on it: {', '.join(loose)}")
    return Chain(tuple(applied_of(row) for row in ordered if counts(row["node"])), len(rows))


def counts(node: dict[str, Any]) -> bool:
    """neo4j-migrations passes over nodes that Flyway wrote for deletions and failures; so does this."""
    version = node.get("version")
    return (
        version is not None
        and version != BASELINE
        and node.get("type") != "DELETE"
        and node.get("flyway_failed") is not True
    )


def applied_of(row: Row) -> Applied:
    """One row of `migrations/chain` as an `Applied`."""
    node = row["node"]
    record = row["repetition"] or row["application"] or {}
    at, took = record.get("at"), record.get("in")
    return Applied(
        version=str(node["version"]),
        description=node.get("description"),
        source=str(node.get("source") or ""),
        repeatable=node.get("repeatable") is True,
        checksum=record.get("checksum") or node.get("checksum"),
        package=node.get("package"),
        at=at.to_native() if isinstance(at, DateTime) else None,
        by=record.get("by"),
        connected_as=record.get("connectedAs"),
        milliseconds=took.seconds * 1000 + took.nanoseconds // 1_000_000 if isinstance(took, Duration) else None,
    )


def ensure_constraints(database: Database) -> None:
    """Creates the constraint and the index that neo4j-migrations wants for its chains, unless they are there."""
    for name in ("chain_constraint", "chain_index"):
        database.run(statement(f"migrations/{name}"))


def record(
    database: Database,
    file: MigrationFile,
    *,
    lock: HeldLock,
    previous: str,
    repetition: bool,
    milliseconds: int,
    now: datetime,
    migration_target: str | None,
) -> bool:
    """Records that ``file`` was applied, or (``repetition``) applied again, under ``lock``.

    False if nothing was recorded because the lock is gone or the version stands in the chain already.
    """
    shared: dict[str, Any] = {
        "lock_id": lock.id,
        "migration_target": migration_target,
        "now": now,
        "milliseconds": milliseconds,
        "by": operating_system_user(),
        "connected_as": connected_as(database),
    }
    if repetition:
        rows = database.run(
            statement("migrations/record_repetition"), {**shared, "version": file.version, "checksum": file.checksum}
        )
    else:
        node = node_of(file)
        rows = database.run(statement("migrations/record"), {**shared, "previous": previous, "migration": node})
    return bool(rows and rows[0]["recorded"])


def node_of(file: MigrationFile) -> dict[str, Any]:
    """The properties that ``file`` has in a chain; its `migrationTarget` comes besides."""
    return {
        "version": file.version,
        "description": file.description,
        "type": "CYPHER",
        "repeatable": file.repeatable,
        "source": file.source,
        "checksum": file.checksum,
        "package": PACKAGE,
        "packageVersion": __version__,
    }


def connected_as(database: Database) -> str:
    """The database user; `anonymous` if authentication is off, as neo4j-migrations writes it."""
    rows = database.run(statement("migrations/current_user"), write=False)
    return str(rows[0]["user"]) if rows and rows[0]["user"] else "anonymous"
