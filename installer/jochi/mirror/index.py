"""What Jochi knows of the files that it wrote, in `.jochi-mirror.db` in their folder: so that a write costs what changed.

Keys and paths, no texts. It can be deleted: the next write then looks at everything. What is taken out of it is overwritten with
zeros.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from jochi.errors import JochiError

FILE = ".jochi-mirror.db"
WAIT = 5.0
"""Seconds that a second one waits for the first, which writes into the folder."""
FORMAT = 2
"""Of the index and of the files: with another one all files are made anew."""


class FileStamp(NamedTuple):
    """A file as it lay there: when it was changed (nanoseconds) and its bytes."""

    changed: int
    size: int


@dataclass(frozen=True)
class Entry:
    """A file of ours. ``base``: its path without its ending where no other memory has that name; ``sha256`` of its bytes."""

    key: str
    base: str
    path: str
    seen: FileStamp
    sha256: str


class Index:
    """The entries by key, by base and by path. Others that want to write into the folder wait for it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def get_value(self, name: str) -> Any:
        """What was kept under a name, or None."""
        row = self._db.execute("SELECT value FROM said WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def set_values(self, **values: Any) -> None:
        """Keeps values that JSON can hold."""
        rows = [(name, json.dumps(value)) for name, value in values.items()]
        self._db.executemany("INSERT OR REPLACE INTO said VALUES (?, ?)", rows)

    def of(self, key: str) -> Entry | None:
        return next(self._entries("key = ?", key), None)

    def at(self, path: str) -> Entry | None:
        return next(self._entries("path = ?", path), None)

    def like(self, base: str) -> list[Entry]:
        return list(self._entries("base = ?", base))

    def __iter__(self) -> Iterator[Entry]:
        return self._entries("true")

    def put(self, entries: Iterable[Entry]) -> None:
        """In place of what is known of their keys."""
        rows = [(each.key, each.base, each.path, *each.seen, each.sha256) for each in entries]
        self._db.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", rows)

    def drop(self, keys: Iterable[str]) -> None:
        self._db.executemany("DELETE FROM files WHERE key = ?", [(key,) for key in keys])

    def keep(self) -> None:
        """What was put and dropped counts from here on."""
        self._db.commit()

    def _entries(self, where: str, *values: str) -> Iterator[Entry]:
        for key, base, path, changed, size, sha256 in self._db.execute(f"SELECT * FROM files WHERE {where}", values):
            yield Entry(key, base, path, FileStamp(changed, size), sha256)


@contextmanager
def index_of(folder: Path) -> Iterator[Index]:
    """The index of a folder that is there, for one that writes. What isn't kept when it ends never was.

    `JochiError` where it can't be read or written, or another process writes into the folder. One that can't be understood is
    made anew.
    """
    file = folder / FILE
    try:
        connection = _opened(file)
        try:
            yield Index(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise JochiError(
            f"what Jochi knows of its files can't be used: {error}",
            where=str(file),
            fix="look at the folder: it must be writable and have room, and one process alone may write into it. "
            "The files are whole; the next write goes on",
        ) from error


def _opened(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=WAIT)
    try:
        return _locked(connection)
    except sqlite3.DatabaseError as error:
        connection.close()
        if isinstance(error, sqlite3.OperationalError):
            raise
        file.unlink(missing_ok=True)  # it is no database, or half of one
        return _locked(sqlite3.connect(file, timeout=WAIT))


def _locked(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("CREATE TABLE IF NOT EXISTS said (name TEXT PRIMARY KEY, value TEXT)")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS files (key TEXT PRIMARY KEY, base TEXT, path TEXT, changed INTEGER, size INTEGER, sha256 TEXT)"
    )
    for name in ("base", "path"):
        connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON files ({name})")
    version = connection.execute("SELECT value FROM said WHERE name = 'format'").fetchone()
    if version is None or version[0] != str(FORMAT):
        connection.execute("DELETE FROM files")
        connection.execute("DELETE FROM said")
        connection.execute("INSERT INTO said VALUES ('format', ?)", (str(FORMAT),))
    connection.commit()
    return connection
