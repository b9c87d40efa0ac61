"""One database of one Neo4j server, as Jochi's own code talks to it.

Everything goes through two methods: `Database.run` (one managed transaction, retried by the driver when the server
asks for it) and `Database.autocommit` (an implicit transaction: schema commands, `CALL {…} IN TRANSACTIONS`).
Failures of the connection become `ConnectionFailed`; what the server says about a statement stays a
`neo4j.exceptions.Neo4jError` for the caller, who knows what it means there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import datetime
from threading import Event
from typing import Any, TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    DriverError,
    ForbiddenOnReadOnlyDatabase,
    NotALeader,
    ServiceUnavailable,
    TransientError,
    WriteServiceUnavailable,
)

from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, MemoryExceeded, NotWritable, UsageError
from jochi.graph.driver_values import fixed_offset

Row = dict[str, Any]

T = TypeVar("T")

STOP: ContextVar[Event | None] = ContextVar("jochi_stop", default=None)
"""Set while a verb runs for somebody who may give it up, such as a task of an event loop: once the event is set, the verb's
transaction that is under way is let finish, and in the place of the next one stands `Stopped`, once: what cleans up still can."""


class Stopped(BaseException):
    """A verb ends here because its caller gave it up. Like Ctrl-C: what catches errors of the database lets it through."""


def _unless_stopped() -> None:
    if (stop := STOP.get()) is not None and stop.is_set():
        stop.clear()
        raise Stopped


_OUT_OF_MEMORY = {
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": "db.memory.transaction.max",
    "Neo.TransientError.General.TransactionOutOfMemoryError": "db.memory.transaction.max",
    "Neo.TransientError.General.OutOfMemoryError": "server.memory.heap.max_size",
}
"""By code: the setting that is too low, where the server's message doesn't name it."""

_NOT_WRITABLE = {
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase": "the database is read-only",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase": "the database is read-only",
    "Neo.ClientError.Cluster.NotALeader": "another member of the cluster is the leader",
}
"""By code: why this server may not write."""

_AWAY = re.compile(r"\.DatabaseUnavailable$|\.BookmarkTimeout$|^Neo\.TransientError\.Cluster\.")
"""Codes of a database that isn't there at this moment: it starts, has no leader, or lacks what this client has seen elsewhere."""

_SETTING = re.compile(r"\b(?:dbms|db|server)\.memory\.[a-z_.]*[a-z]")


class Database:
    """A driver and the name of the database that Jochi looks after. ``name`` None: the user's home database, which the server is
    asked for when it is first needed."""

    def __init__(self, driver: neo4j.Driver, name: str | None = None) -> None:
        self.driver = driver
        self._name = None if name is None else name.lower()  # as the server compares names
        # A cluster's members answer reads, and each must have what this client has seen. One server has it anyway.
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager() if self.routed else None

    @property
    def name(self) -> str:
        """The name in small letters. Raises `ConnectionFailed` where it has to be asked and can't."""
        if self._name is None:
            self._name = self._guard(self._home)
        return self._name

    def _home(self) -> str:
        with self.driver.session(notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF) as session:
            found = session.execute_read(lambda tx: tx.run(statement("server/home_database")).single(strict=True))
        return str(found["name"])

    @property
    def routed(self) -> bool:
        """Whether the driver chooses among the members of a cluster (`neo4j://`)."""
        return isinstance(self.driver, neo4j.Neo4jDriver)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of a server that answers."""
        host, port = self._guard(self.driver.get_server_info).address[:2]
        return str(host), int(port)

    @property
    def _where(self) -> str:
        return "the home database" if self._name is None else f"database {self._name}"

    def run(self, text: str, parameters: Mapping[str, Any] | None = None, *, write: bool = True) -> list[Row]:
        """Runs ``text`` in one managed transaction and returns its rows as dictionaries.

        The driver repeats the transaction after a deadlock or a change of leader, so ``text`` must bear that. With ``write=False``
        any member of a cluster may answer: what only the leader knows (APOC's jobs, transactions, its clock) is asked as a write.
        """

        def work(tx: neo4j.ManagedTransaction) -> list[Row]:
            return [dict(record) for record in tx.run(text, _sendable(parameters))]

        return self.transaction(work, write=write)

    def transaction(self, work: Callable[[neo4j.ManagedTransaction], T], *, write: bool = True) -> T:
        """Runs ``work`` in one managed transaction: several statements that belong together."""

        def bounded(tx: neo4j.ManagedTransaction) -> T:
            _unless_stopped()  # the driver may have come back for another try
            try:
                return work(tx)
            except TransientError as error:
                # The driver would try for half a minute what can't fit.
                raise _memory_exceeded(error, self._where) or error from error

        def in_session() -> T:
            with self._session() as session:
                return session.execute_write(bounded) if write else session.execute_read(bounded)

        return self._guard(in_session)

    def autocommit(self, text: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Runs ``text`` in a transaction of its own kind, as schema commands and IN TRANSACTIONS need it.

        Not retried: the caller knows whether a second try is harmless.
        """

        def in_session() -> list[Row]:
            with self._session() as session:
                return [dict(record) for record in session.run(text, _sendable(parameters))]

        return self._guard(in_session)

    def expect_answer(self) -> None:
        """Raises `ConnectionFailed` at once where nobody answers or the login is refused, instead of after many retries."""
        self._guard(self.driver.verify_connectivity)

    def _session(self) -> neo4j.Session:
        _unless_stopped()
        # Hints about labels and properties that don't exist yet would fill the logs of every app that runs us.
        return self.driver.session(
            database=self.name,
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
            bookmark_manager=self._bookmarks,
        )

    def _guard(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (UnicodeEncodeError, OverflowError) as error:
            what = "half of a surrogate pair" if isinstance(error, UnicodeEncodeError) else "an integer beyond 64 bits"
            raise UsageError(f"a value can't be sent to a database: it holds {what}", fix="leave it out") from None
        except AuthError as error:
            raise ConnectionFailed(
                "the server refuses this user name or password",
                where=self._where,
                fix="set JOCHI_USER and JOCHI_PASSWORD (or JOCHI_PASSWORD_FILE), or pass --password-file",
            ) from error
        except WriteServiceUnavailable as error:  # what the driver makes of a refusal
            why = (
                "the cluster has no leader at this moment"
                if self.routed
                else "it is read-only, or another member of the cluster is the leader"
            )
            raise _not_writable(why, self._where) from error
        except (ServiceUnavailable, ConfigurationError) as error:
            raise ConnectionFailed(
                f"no answer from the server: {error}",
                where=self._where,
                fix="is it running? check the address (JOCHI_URI or --uri); `jochi server start` starts a local one",
            ) from error
        except (NotALeader, ForbiddenOnReadOnlyDatabase) as error:
            raise _not_writable(_NOT_WRITABLE[error.code or ""], self._where) from error
        except TransientError as error:
            if _AWAY.search(error.code or ""):
                # After a restore the server may never come to what was seen before.
                self._bookmarks = neo4j.GraphDatabase.bookmark_manager() if self.routed else None
                raise ConnectionFailed(
                    f"the database is not available: {error.message}",
                    where=self._where,
                    fix="wait until it has started or its cluster has a leader, and run the same command again",
                ) from error
            raise _memory_exceeded(error, self._where) or error from error
        except ClientError as error:
            if error.code in _NOT_WRITABLE:
                raise _not_writable(_NOT_WRITABLE[error.code], self._where) from error
            if error.code == "Neo.ClientError.Security.AuthenticationRateLimit":
                raise ConnectionFailed(
                    "the server refuses this user for some seconds: its password was wrong too often",
                    where=self._where,
                    fix="find out who has a wrong password (a scrape, a worker), mend that, and run the same command again",
                ) from error
            if error.code == "Neo.ClientError.Database.DatabaseNotFound":
                raise ConnectionFailed(
                    f"this server has no database named {self._name!r}",
                    fix="name another one with --database or JOCHI_DATABASE",
                ) from error
            raise
        except DriverError as error:
            if isinstance(error, neo4j.exceptions.SessionExpired | neo4j.exceptions.IncompleteCommit):
                raise ConnectionFailed(
                    f"the connection broke in the middle of the work: {error}",
                    where=self._where,
                    fix="run the same command again: what was not committed is rolled back, the rest is kept",
                ) from error
            raise


def _not_writable(why: str, where: str) -> NotWritable:
    return NotWritable(
        f"this server may not write: {why}",
        where=where,
        fix="use a neo4j:// address, which leads to the leader of a cluster; of one server lift "
        "server.databases.read_only and server.databases.default_to_read_only",
    )


def _memory_exceeded(error: TransientError, where: str) -> MemoryExceeded | None:
    """What to tell a person where the server has too little memory for a transaction; None where it says something else."""
    if error.code not in _OUT_OF_MEMORY:
        return None
    named = _SETTING.findall(error.message or "")
    setting = named[-1] if named else _OUT_OF_MEMORY[error.code]
    return MemoryExceeded(
        "the server has too little memory for one transaction; nothing of it was done",
        where=where,
        fix=f"raise {setting} in neo4j.conf and restart the server",
    )


def in_one_map(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a procedure's body as its one parameter `$in` (DESIGN §6).

    Neo4j keys a plan by the size class of every list and string parameter, by null and by type; inside a map it does not, so that
    one plan serves every call.
    """
    return {"in": _sendable(parameters)}


def _sendable(parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters with moments as the driver can take them; what lies deeper is the caller's to see to."""
    return {
        name: fixed_offset(value) if isinstance(value, datetime) else value
        for name, value in (parameters or {}).items()
    }
