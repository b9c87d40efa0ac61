"""One of the queues of work in the database, as a worker sees it: lease, finish, fail, give back."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from neo4j.exceptions import ConstraintError, Neo4jError

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.errors import JochiError
from jochi_workers.guard import GUARD_VERSION
from jochi_workers.handler import QueueName, Result, Row

MOST_CHARACTERS = 4_000_000
"""Content that one lease brings at once, so that long memories don't fill the server's and the worker's storage."""

_IDENTITY: Mapping[QueueName, tuple[str, ...]] = {
    "prepare": ("key", "scope", "kind", "content"),
    "judge": ("start", "end", "left", "right"),
    "embed": ("key", "scope", "kind", "content"),
    "compress": ("key", "scope", "kind", "content", "charge"),
}
"""What of a row goes back with its result: by it the database sees whether it still is what was leased."""

_TRIES = 5
_LOOKS = 50  # one for each of that many workers that ask in the same moment


@dataclass(frozen=True)
class Batch:
    """Leased memories and the token that proves it. ``dropped``: left the queue, as there was nothing to do for them.

    ``held``: why none are leased (compress)."""

    token: str
    rows: tuple[Row, ...]
    dropped: int = 0
    held: str | None = None


@dataclass(frozen=True)
class Finished:
    """What became of results. ``outdated``: the lease had run out or the content had changed, so nothing was written.

    ``duplicates``: key to the key of the memory that has the same content. ``refused``: not what the policy says; still leased.
    """

    done: int
    outdated: int
    duplicates: Mapping[str, str]
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """What became of failures: ``done`` wait for another try, but for the ``quarantined``, which were put aside."""

    done: int
    outdated: int
    quarantined: tuple[str, ...]


@dataclass(frozen=True)
class Left:
    """How much of a queue is left: due now, due later (leased or failed), and with estimated tokens only."""

    waiting: int
    later: int
    estimated: int


class Queue:
    """The queue ``name`` of the installed engine. ``clock`` stands in for the server's clock."""

    def __init__(
        self,
        engine: Engine,
        name: QueueName,
        *,
        clock: Callable[[], datetime] | None = None,
        guard: str = GUARD_VERSION,
        asks: Mapping[str, Any] | None = None,
    ) -> None:
        """``guard``: version of the judge whose rulings it stores (judge only); ``asks``: of a lease besides (compress only)."""
        self.engine = engine
        self.name = name
        self._clock = clock or _server_clock(engine)
        self._also: dict[str, Any] = {"guard": guard} if name == "judge" else {}
        if name == "compress":
            self._also = {"pump": engine.pump, "paid": False, "overhead": 0, **(asks or {})}

    def lease(self, limit: int = 200, *, exact: bool = False, most_characters: int = MOST_CHARACTERS) -> Batch:
        """Up to ``limit`` memories for this worker alone; none if nothing is due."""
        dropped = 0
        for _ in range(_LOOKS):
            token = str(uuid.uuid4())
            parameters = {"limit": limit, "most_characters": most_characters, "token": token, "exact": exact}
            row = self._call("lease", parameters)
            dropped += row["dropped"]
            if row["memories"] or not row["seen"]:
                return Batch(token, tuple(row["memories"]), dropped, row.get("held"))
            # Others were faster with just these, or they were dropped: ask for the next ones.
        return Batch("", (), dropped)

    def finish(self, batch: Batch, results: Sequence[Result]) -> Finished:
        """Stores results of memories of ``batch``."""
        if not results:
            return Finished(0, 0, {})
        rows = {row["key"]: row for row in batch.rows}
        sent = [{**self._identity(rows[result.key]), **result.values} for result in results]
        row = self._call("finish", {"token": batch.token, "results": sent})
        duplicates = {entry["key"]: entry["of"] for entry in row.get("duplicates", [])}
        return Finished(row["done"], row["outdated"], duplicates, tuple(row.get("refused", [])))

    def fail(
        self, batch: Batch, failures: Mapping[str, str], spent: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Failed:
        """Notes failures, key to reason. A reason is stored and shown: it must hold nothing of the content, and no secret."""
        if not failures:
            return Failed(0, 0, ())
        rows = {row["key"]: row for row in batch.rows}
        cost = spent or {}
        sent = [{**self._identity(rows[key]), **cost.get(key, {}), "error": why} for key, why in failures.items()]
        row = self._call("fail", {"token": batch.token, "results": sent})
        return Failed(row["done"], row["outdated"], tuple(row["quarantined"]))

    def release(
        self, batch: Batch, keys: Sequence[str] | None = None, spent: Mapping[str, Mapping[str, Any]] | None = None
    ) -> int:
        """Gives memories of ``batch`` back at once (default: all that are still leased); returns how many."""
        wanted = [row["key"] for row in batch.rows] if keys is None else list(keys)
        if not wanted:
            return 0
        what: dict[str, Any] = {"keys": wanted}
        if self.name == "judge":
            what = {"pairs": [{"start": row["start"], "end": row["end"]} for row in batch.rows if row["key"] in wanted]}
        if self.name == "compress":
            cost = spent or {}
            rows = [row for row in batch.rows if row["key"] in wanted]
            what["results"] = [{"key": row["key"], "charge": row["charge"], **cost.get(row["key"], {})} for row in rows]
        return int(self._call("release", {"token": batch.token, **what})["released"])

    def left(self) -> Left:
        """Counts the queue in its index."""
        return status(self.engine, self._clock())[0][self.name]

    def _identity(self, row: Row) -> dict[str, Any]:
        return {name: row[name] for name in _IDENTITY[self.name]}

    def _call(self, step: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Runs one step. Where somebody took a content or deleted a memory in the same moment, it is run again."""
        for tried in range(1, _TRIES + 1):
            try:
                return self.engine.call(f"work/{step}_{self.name}", {"now": self._clock(), **self._also, **parameters})
            except ConstraintError:
                if tried == _TRIES:
                    raise
            except Neo4jError as error:
                if tried == _TRIES or error.code != "Neo.ClientError.Statement.EntityNotFound":
                    raise
        raise JochiError("unreachable")  # the last try returns or raises


def status(engine: Engine, now: datetime | None = None) -> tuple[dict[str, Left], int]:
    """What is left of each queue, and how many memories have been put aside."""
    moment = now or _server_clock(engine)()
    row = engine.call("work/status", {"now": moment}, write=False)
    queues = {entry["queue"]: Left(entry["waiting"], entry["later"], entry["estimated"]) for entry in row["queues"]}
    return queues, row["quarantined"]


@dataclass(frozen=True)
class Compressed:
    """What was compressed on one UTC day. ``taken``: tried; ``rejected``: by reason; tokens: of providers, with what is reserved
    for those under way; ``money``: None where the policy has no prices."""

    taken: int
    done: int
    rejected: Mapping[str, int]
    tokens_in: int
    tokens_out: int
    money: float | None


def compressed_today(engine: Engine, now: datetime | None = None) -> Compressed | None:
    """None where nothing was asked for yet."""
    moment = now or _server_clock(engine)()
    row = engine.call("work/status", {"now": moment}, write=False)
    found = row["compression"]
    if not found:
        return None
    rejected = {
        name.removeprefix("rejected_").replace("_", " "): n for name, n in found.items() if name.startswith("rejected_")
    }
    return Compressed(
        found["taken"], found.get("done", 0), rejected, found["tokens_in"], found["tokens_out"], row["money"]
    )


def retry_quarantined(engine: Engine, now: datetime | None = None, *, page: int = 1000) -> int:
    """Puts everything that workers had given up on back into the queues; returns how many memories."""
    moment = now or _server_clock(engine)()
    retried = 0
    while True:
        row = engine.call("work/retry_quarantined", {"now": moment, "limit": page})
        found: int = row["retried"]
        retried += found
        if found < page:
            return retried


def _server_clock(engine: Engine) -> Callable[[], datetime]:
    clock = ServerClock(engine.database)
    return lambda: clock.now().astimezone(timezone.utc)
