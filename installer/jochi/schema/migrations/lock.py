"""The lock of neo4j-migrations: a node that a uniqueness constraint allows only once.

Both tools take the same node under the same name, so they exclude each other. The node has no time to live. Jochi
therefore writes down who holds it; a lock whose holder is provably gone is taken over, any other is left to a person.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from neo4j.exceptions import ConstraintError, DriverError, Neo4jError
from neo4j.time import DateTime

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, Refused
from jochi.schema.migrations.holder import Liveness, describe_this_process, liveness
from jochi.schema.migrations.results import Lock
from jochi.users import operating_system_user

_NAME_OF_THE_DEFAULT_DATABASE = "John Doe"
_PAUSE_SECONDS = 0.2

_held_here: set[str] = set()
"""Ids of the locks that this process holds now: tells a lock in use from one that a failed release left behind."""


class Locked(Refused):
    """Somebody else is migrating this database, or has died doing so."""

    @classmethod
    def lost(cls, where: str) -> Locked:
        """The error of a run whose lock somebody broke."""
        return cls(
            "this run's lock was taken away while it worked, so it stops",
            where=where,
            fix="see `jochi engine migrations ls` for who works now; run this again when they are done",
        )


@dataclass(frozen=True)
class HeldLock:
    """A lock that this process holds; ``messages`` tell what had to be done to get it."""

    id: str
    name: str
    messages: tuple[str, ...] = ()


def lock_name(database_name: str) -> str:
    """neo4j-migrations' name of the lock for a database."""
    name = database_name.lower()
    return _NAME_OF_THE_DEFAULT_DATABASE if name == "neo4j" else name


def read_lock(database: Database) -> Lock | None:
    """Who holds the lock now, None if it is free. Writes nothing."""
    rows = database.run(statement("migrations/lock_read"), {"name": lock_name(database.name)}, write=False)
    if not rows:
        return None
    node = rows[0]["lock"]
    at = node.get("at")
    return Lock(
        id=str(node["id"]),
        name=str(node["name"]),
        package=node.get("package"),
        host=node.get("host"),
        user=node.get("user"),
        pid=node.get("pid"),
        pid_space=node.get("pidSpace"),
        process_start=node.get("processStart"),
        at=at.to_native() if isinstance(at, DateTime) else None,
    )


def describe(lock: Lock) -> str:
    """Who holds ``lock`` and since when, as far as it is known."""
    if lock.pid is None:
        return "another tool (neo4j-migrations writes neither who nor since when)"
    since = f" since {lock.at.isoformat(timespec='seconds')}" if lock.at else ""
    return f"{lock.package or 'somebody'}, process {lock.pid} of {lock.user} on {lock.host}{since}"


@contextmanager
def held(
    database: Database,
    *,
    now: Callable[[], datetime],
    wait_seconds: float,
    break_lock: bool = False,
    on_waiting: Callable[[Lock], None] | None = None,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[HeldLock]:
    """Holds the lock for the length of a `with` block.

    Waits up to ``wait_seconds`` while somebody else holds it and raises `Locked` after that. ``break_lock`` takes it
    away from its holder first, unless that one is demonstrably alive. If the lock can't be given back (the server went
    away), the next run of this machine takes it over.
    """
    fresh = str(uuid.uuid4())

    def acquire() -> HeldLock:
        nonlocal on_waiting
        for name in ("lock_constraint_id", "lock_constraint_name"):
            database.run(statement(f"migrations/{name}"))
        lock = HeldLock(fresh, lock_name(database.name))
        deadline = clock() + wait_seconds
        messages: list[str] = []
        while True:
            if _take(database, lock, now()):
                return HeldLock(lock.id, lock.name, tuple(messages))
            holder = read_lock(database)
            if holder is None:
                continue
            if holder.id == lock.id:
                # The commit went through and its answer did not: the driver tried again and met our own node.
                return HeldLock(lock.id, lock.name, tuple(messages))
            alive = liveness(holder, _held_here)
            if alive is Liveness.GONE or (break_lock and alive is Liveness.UNKNOWN):
                database.run(statement("migrations/lock_release"), {"id": holder.id})
                why = "that process is gone" if alive is Liveness.GONE else "as ordered"
                messages.append(f"took over the lock of {describe(holder)}: {why}")
                continue
            if break_lock:
                raise Locked(
                    f"the lock is held by {describe(holder)}, and that process is running",
                    where=f"database {database.name}",
                    fix=f"wait for it, or end process {holder.pid}; its lock is free then",
                )
            if clock() >= deadline:
                raise _locked(database, holder, alive, wait_seconds)
            if on_waiting is not None:
                on_waiting(holder)
                on_waiting = None
            pause(_PAUSE_SECONDS)

    # Known before it is written: another thread must never take it for one left behind.
    _held_here.add(fresh)
    try:
        yield acquire()
    finally:
        _held_here.discard(fresh)
        _release(database, fresh)


def _release(database: Database, lock_id: str) -> None:
    try:
        database.run(statement("migrations/lock_release"), {"id": lock_id})
    except (Neo4jError, DriverError, ConnectionFailed):
        # Nothing may hide the error that ended the work; the lock names a holder that is gone, which heals it.
        return


def _locked(database: Database, holder: Lock, alive: Liveness, waited: float) -> Locked:
    what = f"somebody else is migrating this database: {describe(holder)}; waited {waited:g} s"
    if alive is Liveness.ALIVE:
        fix = "that process is running: run this again when it is done, or wait longer with --wait SECONDS"
    else:
        fix = (
            "run this again when it is done. If it has died, the lock is left over: "
            "`jochi engine migrations apply --break-lock` takes it away"
        )
    return Locked(what, where=f"database {database.name}", fix=fix)


def _take(database: Database, lock: HeldLock, now: datetime) -> bool:
    holder = {"user": operating_system_user(), **describe_this_process()}
    try:
        database.run(
            statement("migrations/lock_take"), {"id": lock.id, "name": lock.name, "now": now, "holder": holder}
        )
    except ConstraintError:
        return False
    return True
