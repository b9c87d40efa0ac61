"""What a person was asked and hasn't answered yet, for the inbox (docs/reference/inbox.md): keys and paths, no texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, JochiError, Refused


def ask(database: Database, rows: Iterable[Mapping[str, Any]], *, now: datetime) -> None:
    """Notes questions, as `questions/ask` takes them."""
    if given := [dict(row) for row in rows]:
        database.run(statement("questions/ask"), {"now": now, "rows": given})


def answer(database: Database, ids: Iterable[str]) -> int:
    """Takes questions away; how many there were. Where there is none nothing is written: files are also made where the server may
    not write."""
    given = {"ids": list(ids)}
    if not database.run(statement("questions/asked"), given, write=False)[0]["asked"]:
        return 0
    return int(database.run(statement("questions/answer"), given)[0]["answered"])


def about_forgetting(key: str) -> str:
    """The id of the question whether a memory that says more is to be forgotten as a whole."""
    return f"forgetting/{key}"


class FileQuestion:
    """Whether a file or folder could be brought up to date. ``what``: context, heartbeat or mirror."""

    def __init__(
        self, database: Database, what: str, place: Path, scope: str, *, include_sensitive: bool, now: datetime
    ) -> None:
        self._database, self._now = database, now
        self._name = place.name
        path = str(place.absolute())
        self._id = f"edit/{what}/{sha256(path.encode(errors='replace')).hexdigest()[:12]}"
        self._row = {
            "id": self._id,
            "kind": "edit",
            "what": what,
            "scope": scope,
            "place": path,
            "sensitive": include_sensitive,
        }

    def ask(self, files: int, why: str | None = None) -> None:
        """Some couldn't; ``why``: without a word of anybody's."""
        ask(self._database, [{**self._row, "n": files, "why": why}], now=self._now)

    def answer(self) -> None:
        """All could."""
        answer(self._database, [self._id])

    @contextmanager
    def answered_or_asked(self) -> Iterator[None]:
        """It is answered where the block ends well, and asked where it is `Refused`, or fails by the file."""
        try:
            yield
        except ConnectionFailed:
            raise
        except JochiError as error:
            if isinstance(error, Refused) or self._name in (error.where or ""):
                line = (error.where or "").partition(", line ")[2]
                self.ask(1, f"line {line}: {error.unquoted}" if line else error.unquoted)
            raise
        self.answer()
