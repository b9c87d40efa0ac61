"""How far an import is, kept outside the file and the database, so that one that was cut off can go on.

One SQLite file an import (the same files into the same database) in the user's state folder. It holds how far the files
are written, the relationships that wait, the keys that each file has used, the bad lines and the counts. All of it
changes in one SQLite transaction after the server has acknowledged a batch, so a process may be killed at any moment:
what it finds afterwards is the state after some batch. A batch that was committed and not noted is sent once more, and
the database answers that its memories are there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from jochi.database import Database
from jochi.importing.result import BadLine, Earlier, ImportResult, KindCounts, RelationshipCounts
from jochi.importing.spool import Links, SeenKeys, temporary
from jochi.resources import statement

_FORMAT = 1
_HEAD = 64 * 1024
_STALE_SECONDS = 30 * 24 * 3600
_KEYS_A_QUESTION = 5_000
_TABLES = (
    "CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS sample (key TEXT)",
    "CREATE TABLE IF NOT EXISTS bad (file TEXT, line INTEGER, reason TEXT)",
    "CREATE TABLE IF NOT EXISTS note (text TEXT PRIMARY KEY, times INTEGER) WITHOUT ROWID",
)


class Position(NamedTuple):
    """How far the files are read: the file's number (from 0), and in it bytes unpacked, lines, and memories."""

    file: int = 0
    offset: int = 0
    line: int = 0
    memories: int = 0


@dataclass(frozen=True)
class Left:
    """What an import that was cut off has left: how far it was, and what it had done by then."""

    position: Position
    dealt: int
    link_mark: tuple[str, str, str]
    links_done: int
    earlier: Earlier


class Checkpoint:
    """The spool of one import, kept where ``file`` is given."""

    def __init__(self, database: sqlite3.Connection, file: Path | None = None) -> None:
        self._database = database
        self._file = file
        self.left: Left | None = None
        self.messages: list[str] = []
        self.links = Links(database)
        for table in _TABLES:
            database.execute(table)

    @property
    def kept(self) -> bool:
        """Whether another run could go on from here."""
        return self._file is not None

    def seen(self, file: int) -> SeenKeys:
        """The keys that the file with this number has used."""
        return SeenKeys(self._database, file)

    def add_bad(self, bad: BadLine) -> None:
        """Keeps a bad line, with the next `save`."""
        self._database.execute("INSERT INTO bad VALUES (?, ?, ?)", bad)

    def bad_lines(self) -> Iterable[BadLine]:
        """The bad lines of the earlier runs."""
        return (BadLine(*row) for row in self._database.execute("SELECT file, line, reason FROM bad ORDER BY rowid"))

    def add_notes(self, notes: Iterable[str]) -> None:
        """Counts notes, with the next `save`."""
        self._database.executemany(
            "INSERT INTO note VALUES (?, 1) ON CONFLICT (text) DO UPDATE SET times = times + 1",
            ((note,) for note in notes),
        )

    def notes(self) -> dict[str, int]:
        """The notes of the earlier runs."""
        return dict(self._database.execute("SELECT text, times FROM note"))

    def save(self, position: Position, key: str | None, dealt: int, result: ImportResult) -> None:
        """All up to ``position`` is acknowledged; ``key`` is a memory of the last batch."""
        if not self.kept:
            return
        if key is not None:
            self._database.execute("INSERT INTO sample VALUES (?)", (key,))
        self._put(position=position, dealt=dealt, counts=self._counts(result))
        self._commit()

    def save_links(self, mark: tuple[str, str, str], done: int, result: ImportResult) -> None:
        """The relationships up to ``mark`` are acknowledged, ``done`` of them."""
        if not self.kept:
            return
        self._put(link_mark=mark, links_done=done, counts=self._counts(result))
        self._commit()

    def done(self) -> None:
        """The import is complete: nothing is left to go on from."""
        self.close()
        if self._file is not None:
            _remove(self._file)

    def close(self) -> None:
        """Lets go of the file; what was saved stays."""
        with contextlib.suppress(sqlite3.Error):
            self._database.close()

    def _counts(self, result: ImportResult) -> dict[str, Any]:
        """What all runs have done so far."""
        kinds = {kind: [c.written, c.already_there, c.pruned_before, c.forgotten] for kind, c in result.kinds.items()}
        links = result.relationships
        related = [links.written, links.already_there, links.left_out]
        if self.left is not None:
            for kind, c in self.left.earlier.kinds.items():
                before = (c.written, c.already_there, c.pruned_before, c.forgotten)
                kinds[kind] = [a + b for a, b in zip(kinds.get(kind, [0, 0, 0, 0]), before, strict=True)]
            r = self.left.earlier.relationships
            related = [a + b for a, b in zip(related, (r.written, r.already_there, r.left_out), strict=True)]
        return {"kinds": kinds, "relationships": related}

    def _put(self, **values: Any) -> None:
        self._database.executemany(
            "INSERT OR REPLACE INTO state VALUES (?, ?)", [(name, json.dumps(value)) for name, value in values.items()]
        )

    def _commit(self) -> None:
        self._database.execute("COMMIT")
        self._database.execute("BEGIN IMMEDIATE")

    def _state(self) -> dict[str, Any]:
        return {name: json.loads(value) for name, value in self._database.execute("SELECT name, value FROM state")}

    def _begin_anew(self, identity: dict[str, Any]) -> None:
        for table in ("state", "sample", "bad", "note", "link"):
            self._database.execute(f"DELETE FROM {table}")
        self._database.execute("DROP TABLE IF EXISTS seen")
        self._put(identity=identity)
        self._commit()

    def _take_up(self, database: Database, identity: dict[str, Any]) -> None:
        """Goes on from what an earlier run has left, if it still holds; else begins anew and says why."""
        state = self._state()
        if "position" not in state:
            self._begin_anew(identity)
            return
        why = _changed(state["identity"], identity) or self._lost(database)
        if why is not None:
            self.messages.append(
                f"an earlier import of these files was cut off, but {why}: it starts from the beginning"
            )
            self._begin_anew(identity)
            return
        counts = state["counts"]
        self.left = Left(
            position=Position(*state["position"]),
            dealt=state["dealt"],
            link_mark=tuple(state.get("link_mark", ("", "", ""))),
            links_done=state.get("links_done", 0),
            earlier=Earlier(
                {kind: KindCounts(*values) for kind, values in counts["kinds"].items()},
                RelationshipCounts(*counts["relationships"]),
            ),
        )
        self.messages.append(f"goes on after {state['dealt']:,} memories that an earlier run has dealt with")

    def _lost(self, database: Database) -> str | None:
        """Why the database is not the one any more that the earlier run has written to: wiped, or an older backup."""
        keys = (row[0] for row in self._database.execute("SELECT key FROM sample"))
        while page := list(islice(keys, _KEYS_A_QUESTION)):
            if database.run(statement("memory/import_unknown"), {"keys": page}, write=False):
                return "the database no longer holds what it has written"
        return None


def without() -> Checkpoint:
    """A checkpoint that is not kept: the spool alone."""
    return Checkpoint(temporary())


def checkpoint_folder() -> Path:
    """Where checkpoints are kept: below `JOCHI_HOME`, or in the user's state folder."""
    given = os.environ.get("JOCHI_HOME")
    root = Path(given).expanduser().resolve() if given else platformdirs.user_state_path("jochi")
    return root / "imports"


def open_checkpoint(
    folder: Path, database: Database, paths: Sequence[Path], *, kinds: frozenset[str], resume: bool
) -> Checkpoint:
    """The checkpoint of an import of ``paths`` into ``database``, with what an earlier run has left (`Checkpoint.left`).

    Without ``resume`` that is thrown away. Where the folder can't be written, or another process imports the same files
    at this moment, the import keeps none, and ``messages`` say so.
    """
    identity = _identity(database, paths, kinds)
    file = folder / f"{_digest([identity['database'], [each['path'] for each in identity['files']]])[:32]}.sqlite"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(folder, file)
        made = Checkpoint(_opened(file), file)
    except sqlite3.OperationalError as error:
        busy = "locked" in str(error)
        why = "another process imports these files now" if busy else f"{file} can't be written ({error})"
        return _refused(why)
    except OSError as error:
        return _refused(f"{folder} can't be written ({error.strerror})")
    try:
        if resume:
            made._take_up(database, identity)
        else:
            made._begin_anew(identity)
    except BaseException:
        made.close()
        raise
    return made


def _refused(why: str) -> Checkpoint:
    made = without()
    made.messages.append(f"{why}: if this import is cut off, it can't go on where it stopped")
    return made


def _opened(file: Path) -> sqlite3.Connection:
    file.touch(mode=0o600)
    try:
        return _exclusive(file)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        # Not a database: cut off by a full disk, or somebody else's. Nothing in it is worth an import that fails.
        _remove(file)
        file.touch(mode=0o600)
        return _exclusive(file)


def _exclusive(file: Path) -> sqlite3.Connection:
    """An open transaction on ``file`` that nobody else can have; the system ends it with the process."""
    connection = sqlite3.connect(file, isolation_level=None, timeout=0)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
    except BaseException:
        connection.close()
        raise
    return connection


def _remove(file: Path) -> None:
    for name in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm"))):
        name.unlink(missing_ok=True)


def _sweep(folder: Path, mine: Path) -> None:
    """Takes away checkpoints that nobody came back for."""
    for file in folder.glob("*.sqlite"):
        log = file.with_name(file.name + "-wal")
        newest = max(each.stat().st_mtime for each in (file, log) if each.exists())
        if file != mine and time.time() - newest > _STALE_SECONDS:
            _remove(file)


def _identity(database: Database, paths: Sequence[Path], kinds: frozenset[str]) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "database": database.run(statement("memory/import_database"), write=False)[0]["id"],
        "kinds": _digest(sorted(kinds)),
        "files": [_file(path) for path in paths],
    }


def _file(path: Path) -> dict[str, Any]:
    found = path.stat()
    with path.open("rb") as file:
        head = hashlib.sha256(file.read(_HEAD)).hexdigest()
    return {"path": str(path.resolve()), "size": found.st_size, "mtime_ns": found.st_mtime_ns, "head": head}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def _changed(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Why what an earlier run has read can't be counted on."""
    if before.get("format") != now["format"]:
        return "by another version of jochi"
    if before["kinds"] != now["kinds"]:
        return "the policy's kinds have changed since"
    for old, new in zip(before["files"], now["files"], strict=True):
        if old != new:
            return f"{new['path']} has changed since"
    return None
