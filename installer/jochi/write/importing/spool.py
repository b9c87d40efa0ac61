"""What an import must remember of a million lines without holding them: an SQLite database on disk."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from jochi.write.record import MemoryRecord, Place


class Link(NamedTuple):
    """A spooled relationship."""

    type: str
    from_key: str
    to_key: str
    properties: Mapping[str, Any]
    place: Place | None


class _Spool:
    """A database with ``tables`` that goes when it is closed."""

    tables: tuple[str, ...]

    def __init__(self) -> None:
        # An empty name is SQLite's private database on disk.
        self._database = sqlite3.connect("", isolation_level=None)
        for line in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", *self.tables):
            self._database.execute(line)

    def close(self) -> None:
        self._database.close()


class SeenKeys(_Spool):
    """The keys of one file and the line that held each first."""

    tables = ("CREATE TABLE seen (key TEXT PRIMARY KEY, line INTEGER) WITHOUT ROWID",)

    def add(self, key: str, line: int = 0) -> bool:
        """Notes ``key`` for ``line``; False if it was there."""
        return self._database.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (key, line)).rowcount == 1

    def first_line(self, key: str, line: int) -> int:
        """Notes ``key`` for ``line`` and returns the line that held it first: ``line`` itself if the key is new."""
        if self.add(key, line):
            return line
        return int(self._database.execute("SELECT line FROM seen WHERE key = ?", (key,)).fetchone()[0])


class Links(_Spool):
    """Relationships that wait until all memories are written. The same type between the same ends counts once."""

    tables = (
        "CREATE TABLE link (type TEXT, from_key TEXT, to_key TEXT, properties TEXT, place TEXT,"
        " PRIMARY KEY (type, from_key, to_key)) WITHOUT ROWID",
    )

    def add(self, record: MemoryRecord) -> None:
        """Keeps the relationships of ``record``."""
        if not record.relationships:
            return
        place = json.dumps(record.place)
        self._database.executemany(
            "INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?, ?)",
            [(link.type, record.key, link.to_key, _packed(link.properties), place) for link in record.relationships],
        )

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM link").fetchone()[0])

    def by_type(self) -> Iterator[Link]:
        """All relationships, those of one type together, within it those of one source together."""
        rows = self._database.execute("SELECT * FROM link ORDER BY type, from_key, to_key")
        for type, from_key, to_key, properties, place in rows:
            where = json.loads(place)
            yield Link(type, from_key, to_key, _unpacked(properties), Place(*where) if where else None)


def _packed(properties: Mapping[str, Any]) -> str:
    """Properties as JSON: pairs of name and value, a datetime as {"at": ISO 8601}, which no value can be."""
    return json.dumps(list(properties.items()), default=_datetime)


def _datetime(value: object) -> dict[str, str]:
    if not isinstance(value, datetime):
        raise TypeError(f"a {type(value).__name__} can't be spooled")
    return {"at": value.isoformat()}


def _unpacked(text: str) -> dict[str, Any]:
    return dict(json.loads(text, object_hook=lambda found: datetime.fromisoformat(found["at"])))


class Reference(NamedTuple):
    """A relationship of the memory with this number, for the check of a strict import."""

    number: int
    type: str
    to_key: str
    place: Place


class References(_Spool):
    """The keys of all files and the keys that their relationships lead to."""

    tables = (
        "CREATE TABLE held (key TEXT PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE wanted (number INTEGER, type TEXT, to_key TEXT, place TEXT)",
    )

    def add(self, record: MemoryRecord, number: int) -> None:
        """Keeps the key of memory ``number`` (from 0, in the order of the files) and what it leads to."""
        self._database.execute("INSERT OR IGNORE INTO held VALUES (?)", (record.key,))
        if record.relationships:
            place = json.dumps(record.place)
            self._database.executemany(
                "INSERT INTO wanted VALUES (?, ?, ?, ?)",
                [(number, link.type, link.to_key, place) for link in record.relationships],
            )

    def outside(self) -> Iterator[Reference]:
        """The relationships that lead out of the files, in their order."""
        rows = self._database.execute(
            "SELECT number, type, to_key, place FROM wanted WHERE to_key NOT IN (SELECT key FROM held) ORDER BY rowid"
        )
        for number, type, to_key, place in rows:
            yield Reference(number, type, to_key, Place(*json.loads(place)))
