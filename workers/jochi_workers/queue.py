"""Work of one derivation in the database, as a worker sees it: want, lease, store, fail, give back (DESIGN §13)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, TypeVar

import neo4j
from neo4j.exceptions import ConstraintError, Neo4jError

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.errors import JochiError
from jochi.operate.work import Backlog, status
from jochi_workers.derive.handler import edited
from jochi_workers.derive.memory_writer import ForgettingConflict, MemoryWriter
from jochi_workers.handler import Result, Row

T = TypeVar("T")
Call = Callable[..., dict[str, Any]]
Settled = tuple[str, str, Mapping[str, Any]]

MOST_CHARACTERS = 4_000_000
"""Content that one lease brings at once, so that long memories don't fill the server's and the worker's storage."""

_IDENTITY: Mapping[str, tuple[str, ...]] = {
    "prepare": ("key", "scope", "kind", "content"),
    "judge": ("key", "start", "end", "left", "right"),
    "embed": ("key", "scope", "kind", "content", "answers"),
    "resolve": ("key", "content"),
    "compress": ("key", "scope", "kind", "content", "charge"),
}
"""What of a row goes back with its result: by it the database sees whether it still is what was leased."""
WITHOUT_TEXT = ("prepare", "judge", "embed", "resolve")
"""They make no text, so nobody is asked for one and nothing is charged."""
_FAILURES_COUNT = ("judge", "compress")
"""What more than the work itself has to be told that it failed."""
_NOT_BACK = frozenset(
    (
        "inputs",
        "there",
        "before",
        "beside",
        "relations",
        "size",
        "tokens_in",
        "tokens_out",
        "most_tokens",
        "known",
        "statements",
        "tiers",
        "turns",
        "moments",
    )
)
"""Of an output's row, what does not: the result has its inputs."""

_TRIES = 5
_LOOKS = 50  # one for each of that many workers that ask in the same moment
_WANT = 1000  # wanted at once, so that not each lease has to look for marks


@dataclass(frozen=True)
class Batch:
    """Leased memories and the token that proves it. ``dropped``: there was nothing to do for them.

    ``held``: why none are leased (a cap, a rail, a pause of the engine)."""

    token: str
    rows: tuple[Row, ...]
    dropped: int = 0
    held: str | None = None


@dataclass(frozen=True)
class FinishResult:
    """What became of results. ``outdated``: the lease had run out or the content had changed, so nothing was written.

    ``duplicates``: key to the key of the memory that has the same content. ``refused``: not what the policy says; still leased.
    """

    done: int
    outdated: int
    duplicates: Mapping[str, str]
    refused: tuple[str, ...] = ()

    @classmethod
    def of(cls, parts: Sequence[FinishResult]) -> FinishResult:
        """All together."""
        return cls(
            sum(part.done for part in parts),
            sum(part.outdated for part in parts),
            {key: of for part in parts for key, of in part.duplicates.items()},
            tuple(key for part in parts for key in part.refused),
        )


@dataclass(frozen=True)
class FailResult:
    """What became of failures: ``done`` wait for another try, but for the ``quarantined``, which were put aside."""

    done: int
    outdated: int
    quarantined: tuple[str, ...]


class Queue:
    """The work of the derivation ``name`` in the installed engine. ``clock`` stands in for the server's clock."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        *,
        clock: Callable[[], datetime] | None = None,
        guard: str | None = None,
        asks: Mapping[str, Any] | None = None,
    ) -> None:
        """``guard``: version of the judge whose rulings it stores (judge only; None: today's); ``asks``: what its
        inputs are told besides (of what may cost)."""
        self.engine = engine
        self.name = name
        self._clock = clock or _server_clock(engine)
        self._also: dict[str, Any] = {"guard": None}
        if name == "judge":
            from jochi_workers.guard import GUARD_VERSION  # no other queue needs the words of [workers]

            self._also = {"guard": guard or GUARD_VERSION}
        if name not in WITHOUT_TEXT:
            self._also |= {"pump": engine.pump, "paid": False, "overhead": 0, "asks": 1, **(asks or {})}

    def lease(self, limit: int = 200, *, exact: bool = False, most_characters: int = MOST_CHARACTERS) -> Batch:
        """Up to ``limit`` memories for this worker alone; none if nothing is due.

        ``exact``: it takes what others were unsure of as well."""
        dropped, idle = 0, False
        for _ in range(_LOOKS):
            token = str(uuid.uuid4())

            def take(call: Call, token: str = token) -> tuple[int, Batch]:
                return self._take(call, token, limit, exact, most_characters)

            leased, batch = self._in_one(take)
            dropped += batch.dropped
            if batch.rows or batch.held:
                return Batch(token, batch.rows, dropped, batch.held)
            # Where all that was leased is gone by now, the next ones are asked for. Where nothing was marked any more, another
            # worker may just have made work of it: it is looked for once more.
            if idle and not leased:
                break
            idle = not leased and not self.want(_WANT)
        return Batch("", (), dropped)

    def want(self, limit: int) -> int:
        """Makes work of what is marked in the graph; returns how many marks were seen."""
        if self.name not in WITHOUT_TEXT and not self._has("want"):
            return self._want_outputs(limit)

        def work(call: Call) -> int:
            found = call(self._step("want"), limit=limit)
            if found["items"]:
                call("work/want", items=[{"other": None, "ahead": None, **item} for item in found["items"]])
            return int(found["seen"])

        return self._in_one(work)

    def _want_outputs(self, limit: int) -> int:
        """The same of memories that are new or changed; goes on until something is wanted, or nothing is left to be looked at."""

        def work(call: Call) -> tuple[int, int]:
            found = call("work/changed", limit=limit)
            wanted: dict[str, list[dict[str, Any]]] = {}
            for item in found["items"]:
                wanted.setdefault(item.pop("derivation"), []).append({"other": None, "ahead": None, **item})
            for name in sorted(wanted):
                call("work/want", derivation=name, items=wanted[name])
            return int(found["seen"]), len(wanted)

        while True:
            seen, wanted = self._in_one(work)
            if wanted or not seen:
                return seen

    def finish(self, batch: Batch, results: Sequence[Result]) -> FinishResult:
        """Stores results of memories of ``batch``."""
        if not results:
            return FinishResult(0, 0, {})
        rows = {row["key"]: row for row in batch.rows}
        sent = [{**self._identity(rows[result.key]), **result.values} for result in results]

        remembering = MemoryWriter(self.engine, self.name) if self._has("begin") else None

        def work(call: Call) -> FinishResult:
            given = remembering.write(call, batch.token, sent) if remembering else sent
            reply = call(self._step("store"), token=batch.token, results=given)
            stored, refused = set(reply["stored"]), reply.get("refused", [])
            unsure, waiting = reply.get("estimated", []), reply.get("waiting", [])
            settled: list[Settled] = [(key, "done", {}) for key in stored.difference(unsure)]
            settled += [(key, "held", {}) for key in unsure]
            settled += [(entry["key"], "held", entry) for entry in waiting]
            settled += [(key, "back", {}) for key in reply["outdated"]]
            spent = [self._spent(row, row, "done" if row["key"] in stored else None) for row in sent if "charge" in row]
            self._settle(call, batch, settled, spent)
            duplicates = {entry["key"]: entry["of"] for entry in reply.get("duplicates", [])}
            return FinishResult(len(stored), len(sent) - len(stored) - len(refused), duplicates, tuple(refused))

        for _ in range(_TRIES if remembering else 0):
            try:
                return self._in_one(work)
            except ForgettingConflict:
                assert remembering is not None
                remembering.refresh()
        return self._in_one(work)

    def fail(
        self, batch: Batch, failures: Mapping[str, str], spent: Mapping[str, Mapping[str, Any]] | None = None
    ) -> FailResult:
        """Notes failures, key to reason. A reason is stored and shown: it must hold nothing of the content, and no secret."""
        if not failures:
            return FailResult(0, 0, ())
        rows = {row["key"]: row for row in batch.rows}
        cost = spent or {}
        failed = [(key, "failed", {"error": why, **cost.get(key, {})}) for key, why in failures.items()]
        charged = [
            self._spent(rows[key], cost.get(key, {}), why) for key, why in failures.items() if "charge" in rows[key]
        ]

        def work(call: Call) -> FailResult:
            became = self._settle(call, batch, failed, charged)
            aside = [key for key, what in became.items() if what == "aside"]
            if self.name in _FAILURES_COUNT and became:
                call("derive/failed", results=[self._identity(rows[key]) for key in became], aside=aside)
            # What was wanted again meanwhile is none.
            counted = [key for key, what in became.items() if what in ("failed", "aside")]
            return FailResult(len(counted), len(failures) - len(counted), tuple(aside))

        return self._in_one(work)

    def release(
        self, batch: Batch, keys: Sequence[str] | None = None, spent: Mapping[str, Mapping[str, Any]] | None = None
    ) -> int:
        """Gives memories of ``batch`` back at once (default: all that are still leased); returns how many."""
        wanted = set([row["key"] for row in batch.rows] if keys is None else keys)
        rows = [row for row in batch.rows if row["key"] in wanted]
        if not rows:
            return 0
        charged = [self._spent(row, (spent or {}).get(row["key"], {}), None) for row in rows if "charge" in row]
        back: list[Settled] = [(row["key"], "back", {}) for row in rows]
        return len(self._in_one(lambda call: self._settle(call, batch, back, charged)))

    def peek(self, key: str | None = None) -> Batch:
        """What a worker would read of the memory or pair ``key``, wanted or not (None: of the next in turn). Nothing is leased."""

        def look(call: Call) -> Batch:
            works = call("work/peek", key=key)["works"]
            if not works:
                return Batch("", ())
            given = call(self._step("inputs"), works=works, most_characters=MOST_CHARACTERS)
            return Batch("", tuple(given["rows"]), len(given["gone"]) + len(given["waiting"]), given.get("held"))

        return self._in_one(look)

    def backlog(self) -> Backlog:
        """Counts the derivation's work in its indexes."""
        return status(self.engine, self._clock())[self.name]

    def _take(self, call: Call, token: str, limit: int, able: bool, most_characters: int) -> tuple[int, Batch]:
        """One lease with what is to be read: how many were leased, and those that are to be worked."""
        leased = call("work/lease", limit=limit, token=token, able=able)
        if not leased["works"]:
            return 0, Batch(token, (), 0)
        given = call(self._step("inputs"), works=leased["works"], most_characters=most_characters)
        settled: list[Settled] = [(key, "gone", {}) for key in given["gone"]]
        settled += [(key, "back", {}) for key in given["back"]]
        settled += [(entry["key"], "held", entry) for entry in given["waiting"]]
        # What nothing is left of: but not what a person has edited since.
        ended = [
            {"key": row["output"], "content": row["was"]["content"]}
            for row in given.get("ended", [])
            if not edited(row["was"])
        ]
        rows, held, dropped = given["rows"], given.get("held"), len(given["gone"]) + len(given["waiting"])
        if rows and "tokens_in" in rows[0]:
            reply = call("work/reserve", asked=[{**_cost(row), "id": self._id(row["key"])} for row in rows])
            charges = {entry["id"]: entry["charge"] for entry in reply["charged"]}
            settled += [(entry["id"].partition("/")[2], "held", entry) for entry in reply["waiting"]]
            settled += [(id.partition("/")[2], "back", {}) for id in reply["back"]]
            rows = [{**row, "charge": charges[self._id(row["key"])]} for row in rows if self._id(row["key"]) in charges]
            held, dropped = reply["held"], dropped + len(reply["waiting"])
        batch = Batch(token, tuple(rows), dropped, None if rows else held)
        if settled:
            self._settle(call, batch, settled, [], ended)
        return len(leased["works"]), batch

    def _settle(
        self,
        call: Call,
        batch: Batch,
        settled: Sequence[Settled],
        spent: Sequence[Mapping[str, Any]],
        ended: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, str]:
        """Ends leases; key to what became of it, of those that were still held."""
        sent = [
            {"id": self._id(key), "what": what, **{name: more.get(name) for name in ("until", "error", "final")}}
            for key, what, more in settled
        ]
        reply = call("work/settle", token=batch.token, settled=sent, spent=list(spent), ended=list(ended))
        return {entry["id"].partition("/")[2]: entry["became"] for entry in reply["settled"]}

    def _spent(self, row: Row, used: Mapping[str, Any], outcome: str | None) -> dict[str, Any]:
        tokens = {name: used.get(name) for name in ("used_in", "used_out")}
        return {"id": self._id(row["key"]), "charge": row["charge"], **tokens, "outcome": outcome}

    def _id(self, key: str) -> str:
        return f"{self.name}/{key}"

    def _has(self, step: str) -> bool:
        return self.engine.has(f"derive/{self.name}/{step}")

    def _step(self, step: str) -> str:
        """The derivation's own procedure for a step, or the one that serves all that have none."""
        return f"derive/{self.name}/{step}" if self._has(step) else f"derive/{step}"

    def _identity(self, row: Row) -> dict[str, Any]:
        names = _IDENTITY.get(self.name) or [name for name in row if name not in _NOT_BACK]
        return {name: row[name] for name in names}

    def _in_one(self, work: Callable[[Call], T]) -> T:
        """Steps that belong together, in one transaction. They are run again where somebody took a
        content or deleted a memory in the same moment."""

        def steps(tx: neo4j.ManagedTransaction) -> T:
            def call(name: str, **given: Any) -> dict[str, Any]:
                parameters = {"now": self._clock(), "derivation": self.name, **self._also, **given}
                return self.engine.call_in(tx, self.engine.text(name), parameters) or {}

            return work(call)

        for tried in range(1, _TRIES + 1):
            try:
                return self.engine.database.transaction(steps)
            except ConstraintError:
                if tried == _TRIES:
                    raise
            except Neo4jError as error:
                if tried == _TRIES or error.code != "Neo.ClientError.Statement.EntityNotFound":
                    raise
        raise JochiError("unreachable")  # the last try returns or raises


def _cost(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("scope", "tokens_in", "tokens_out")}


def want(engine: Engine, derivation: str, keys: Sequence[str], now: datetime | None = None) -> int:
    """Wants work of one derivation about the memories ``keys``, whatever it thinks of them; returns how many are wanted."""
    items = [
        {"id": f"{derivation}/{key}", "key": key, "other": None, "scope": key.partition("/")[0], "ahead": None}
        for key in dict.fromkeys(keys)
    ]
    moment = now or _server_clock(engine)()
    row = engine.call("work/want", {"now": moment, "derivation": derivation, "items": items})
    return int(row["wanted"])


def retry(
    engine: Engine,
    now: datetime | None = None,
    *,
    derivation: str | None = None,
    key: str | None = None,
    page: int = 1000,
) -> int:
    """Puts everything that workers had given up on (of one derivation, about one memory, or of all) back; returns how many."""
    moment = now or _server_clock(engine)()
    retried = 0
    while True:
        row = engine.call("work/retry", {"now": moment, "derivation": derivation, "key": key, "limit": page})
        found: int = row["retried"]
        retried += found
        if found < page:
            return retried


def _server_clock(engine: Engine) -> Callable[[], datetime]:
    clock = ServerClock(engine.database)
    return lambda: clock.now().astimezone(timezone.utc)
