"""Making, dropping and awaiting an index that the policy decides on; who wants which is told by its neighbours here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from neo4j.exceptions import Neo4jError

from jochi.database import Database
from jochi.errors import JochiError
from jochi.resources import statement

WAIT_SECONDS = 600.0
_LOOK_EVERY = 0.2


@dataclass(frozen=True)
class IndexChange:
    """What install did to one index: ``done`` is created, changed, dropped or rebuilt; ``why`` says what was different."""

    name: str
    done: str
    why: str


def create(database: Database, text: str, where: str, parameters: Mapping[str, Any] | None = None) -> None:
    """Runs the statement that makes an index; ``where`` names it for people. It is built in the background."""
    try:
        database.run(text, parameters)
    except Neo4jError as error:
        raise JochiError(
            f"the server won't make it: {error.message}",
            where=f"index {where}",
            fix="remove the cause and run `jochi install` again",
        ) from error


def drop(database: Database, name: str) -> None:
    """Drops the index, if it is there."""
    database.run(statement("migrations/drop_index"), {"name": name})


def await_online(
    database: Database,
    look: Callable[[], Iterable[tuple[str, Mapping[str, Any] | None]]],
    *,
    on_progress: Callable[[str], None] | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> None:
    """Waits until all that ``look`` returns is ONLINE, and says how far it is: pairs of a name for people and its row (state,
    percent, failure), or None where it isn't there yet.

    `JochiError` where one can't be built, or isn't within ``wait_seconds``: it goes on building, and install can be repeated.
    """
    until = time.monotonic() + wait_seconds
    while True:
        waiting = []
        for name, row in look():
            if row is not None and row["state"] == "FAILED":
                raise JochiError(
                    f"the index can't be built: {row['failure']}",
                    where=f"index {name}",
                    fix="remove the cause (or the index, if it isn't Jochi's) and run `jochi install` again",
                )
            if row is None or row["state"] != "ONLINE":
                waiting.append(f"{name} {row['percent'] if row else 0:.0f} %")
        if not waiting:
            return
        if on_progress is not None:
            on_progress(f"building {', '.join(waiting)}")
        if time.monotonic() > until:
            raise JochiError(
                f"not built within {wait_seconds:.0f} s: {', '.join(waiting)}",
                where=f"database {database.name}",
                fix="it goes on building by itself; `jochi doctor` shows when it is ONLINE",
            )
        time.sleep(_LOOK_EVERY)
