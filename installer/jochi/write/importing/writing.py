"""Writes memories in batches: first all memories, then the relationships between them. One transaction a batch.

No inner transactions (DESIGN §5): a page of keys is one statement in one transaction, so an import holds its index
locks for a batch only and never gets in the way of schema changes for long.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from neo4j.exceptions import ClientError, DatabaseError, Neo4jError

from jochi.database.database import Database, Row
from jochi.database.engine import NOT_INSTALLED, Engine
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, JochiError, Refused, UsageError
from jochi.forgetting.checker import CheckItem, Screen, check_item
from jochi.graph.driver_values import fixed_offset
from jochi.text.slot_names import slot_name_of
from jochi.write.importing.result import BadLine, ImportResult, OnProgress, Progress
from jochi.write.importing.shapes import groups
from jochi.write.importing.spool import Link, Links
from jochi.write.newborn import Newborn
from jochi.write.record import MemoryRecord, Place

BATCH_SIZE = 2_000
LARGEST_BATCH = 5_000
BATCH_WEIGHT = 8_000_000
"""Characters of text after which a batch is sent before it is full."""

IN_FLIGHT = 2
"""Batches on their way at once."""

OnBad = Callable[[BadLine], None]
Batch = list[MemoryRecord]
Write = Callable[[Sequence[MemoryRecord]], list[Row]]


class ImportInterrupted(ConnectionFailed):
    """The server went away in the middle of an import. ``result`` holds what was committed and acknowledged."""

    def __init__(self, cause: Exception, result: ImportResult) -> None:
        self.result = result
        reason = cause.what if isinstance(cause, JochiError) else (getattr(cause, "message", None) or str(cause))
        super().__init__(
            f"the import was interrupted after {result.written:,} memories and {result.relationships.written:,} "
            f"relationships were written: {reason}",
            where=cause.where if isinstance(cause, JochiError) else None,
            fix="run the same command again when the server answers: what is written stays and isn't doubled",
        )


class StrictStop(Exception):
    """Ends a strict import at a bad line; caught inside this package."""

    def __init__(self, bad: BadLine) -> None:
        self.bad = bad
        super().__init__(str(bad))


def check_ready(database: Database) -> None:
    """Refused where nothing is installed, UsageError where the constraint on the keys of memories is gone."""
    if not database.run(statement("memory/import_ready"), write=False)[0]["ready"]:
        if Engine(database).state().pump is None:
            raise Refused(
                "jochi is not installed in this database", where=f"database {database.name}", fix=NOT_INSTALLED
            )
        raise UsageError(
            "the constraint on the keys of memories is missing",
            where=f"database {database.name}",
            fix="run `jochi engine migrations apply` first",
        )


def check_batch_size(batch_size: int) -> None:
    """UsageError unless 1 ≤ ``batch_size`` ≤ 5,000."""
    if not 1 <= batch_size <= LARGEST_BATCH:
        raise UsageError(
            f"a batch of {batch_size} memories", fix=f"give --batch-size a number from 1 to {LARGEST_BATCH:,}"
        )


@dataclass
class Importer:
    """Writes memories and then their relationships, counting into ``result``.

    A memory that the server refuses goes to ``on_bad``, and so does a relationship to a memory that nobody knows. With ``strict``
    such a memory ends it once everything before it is written (`ImportResult.stopped_at`), and relationships to unknown memories
    are left out. ``position``: how far and of how much, by the memories that were dealt with.
    """

    database: Database
    now: datetime
    newborn: Newborn
    batch_size: int
    result: ImportResult
    on_bad: OnBad
    position: Callable[[int], tuple[int, int]]
    tell: OnProgress
    strict: bool = False
    screen: Screen = field(init=False)

    def write(self, read: Iterable[MemoryRecord]) -> None:
        """Writes them all. ImportInterrupted if the server goes away."""
        result = self.result
        links = Links()
        try:
            stopped = False
            dealt = 0
            self.screen = Screen(self.database)
            for batch, send in _sent(self._send, _batches(read, self.batch_size), 1 if self.strict else IN_FLIGHT):
                try:
                    self._take(send, batch)
                except StrictStop as stop:
                    result.stopped_at = stop.bad
                    stopped = True
                for record in batch:
                    links.add(record)
                if stopped:
                    break
                dealt += len(batch)
                self.tell(Progress("memories", *self.position(dealt), dealt))
            self._write_links(links, dealt)
        except ConnectionFailed as error:
            raise ImportInterrupted(error, result) from error
        except sqlite3.Error as error:
            raise JochiError(
                f"what an import has to remember can't be written to disk: {error}",
                fix="make room there, then run the same command again: nothing is doubled",
            ) from error
        except Neo4jError as error:
            if error.is_retryable():
                raise ImportInterrupted(error, result) from error
            raise JochiError(
                f"the server refused the import after {result.written:,} memories were written: {error.message}",
                where=f"database {self.database.name}",
                fix="set right what the server says, then run the same command again: nothing is doubled",
            ) from error
        finally:
            links.close()

    def _send(self, batch: Sequence[MemoryRecord]) -> list[Row]:
        while batch:
            screened = self.screen.split(batch, record_check)
            forgotten = Counter(record.kind for record in screened.forgotten)
            rows = [{"kind": kind, "outcome": "forgotten", "memories": n} for kind, n in sorted(forgotten.items())]
            if not screened.allowed:
                return rows
            given = {"now": fixed_offset(self.now), "forgotten_as_of": screened.version}
            written = {"groups": groups(screened.allowed, self.now, self.newborn), **given}
            rows += self.database.run(statement("memory/import_memories"), written)
            if not any(row["outcome"] == LOOK_AGAIN for row in rows):
                return rows
            self.screen.refresh()
        return []

    def _take(self, send: Callable[[], list[Row]], batch: Sequence[MemoryRecord]) -> None:
        """Counts what became of a batch. One that the server refuses is halved until the refused memory stands alone."""
        try:
            rows = send()
        except (ClientError, DatabaseError) as error:
            if error.is_retryable() or not about_a_row(error):
                raise
            if len(batch) > 1:
                # The first half first, so that strict keeps its promise.
                middle = len(batch) // 2
                for half in (batch[:middle], batch[middle:]):
                    self._take(partial(self._send, half), half)
                return
            place = batch[0].place or Place(batch[0].key)
            bad = BadLine(place.file, place.line, f"the server refuses {batch[0].key!r}: {error.message}")
            self.on_bad(bad)
            if self.strict:
                raise StrictStop(bad) from error
            return
        for row in rows:
            self.result.count(row["kind"], row["outcome"], row["memories"])

    def _write_links(self, links: Links, memories: int) -> None:
        total, done = len(links), 0
        for type, of_type in itertools.groupby(links.by_type(), key=lambda link: link.type):
            while page := list(itertools.islice(of_type, self.batch_size)):
                self._write_page(type, page)
                done += len(page)
                self.tell(Progress("relationships", done, total, memories))

    def _write_page(self, type: str, page: Sequence[Link]) -> None:
        rows = []
        for source, of_source in itertools.groupby(page, key=lambda link: link.from_key):
            found = list(of_source)
            rows.append([source, [link.to_key for link in found], [link.properties for link in found]])
        counted = self.database.run(statement("memory/import_relationships"), {"type": type, "rows": rows})[0]
        unknown = {(source, target) for source, target in counted["unknown"]}
        counts = self.result.relationships
        counts.written += counted["written"]
        counts.already_there += counted["already_there"]
        counts.left_out += len(page) - counted["written"] - counted["already_there"]
        if self.strict:  # it was checked before: what is unknown now lies behind the line that stopped it
            return
        counts.left_out -= len(unknown)
        for link in page:
            if (link.from_key, link.to_key) in unknown:
                place = link.place or Place(link.from_key)
                self.on_bad(BadLine(place.file, place.line, unknown_target(link.type, link.to_key)))


def _batches(read: Iterable[MemoryRecord], size: int) -> Iterator[Batch]:
    batch, keys, weight = Batch(), set[str](), 0
    for record in read:
        # Two files may hold the same key: the second must find the first written.
        if keys and (record.key in keys or len(keys) >= size or weight >= BATCH_WEIGHT):
            yield batch
            batch, keys, weight = Batch(), set(), 0
        batch.append(record)
        keys.add(record.key)
        weight += sum(len(value) for value in record.properties.values() if isinstance(value, str | list))
    if batch:
        yield batch


def _sent(write: Write, batches: Iterable[Batch], in_flight: int) -> Iterator[tuple[Batch, Callable[[], list[Row]]]]:
    """Sends each batch and yields it with a call that waits for its rows.

    Up to ``in_flight`` batches are on their way at once: one is packed while the server writes another. With 1 the next
    batch isn't sent before the caller comes back.
    """
    with ThreadPoolExecutor(max_workers=in_flight) as pool:
        waiting: deque[tuple[Batch, Future[list[Row]]]] = deque()
        try:
            for batch in batches:
                # Two files may hold the same key: the first one's memory must be there before the second's is sent.
                keys = {record.key for record in batch}
                wait([future for sent, future in waiting if any(record.key in keys for record in sent)])
                waiting.append((batch, pool.submit(write, batch)))
                if len(waiting) == in_flight:
                    first, future = waiting.popleft()
                    yield first, future.result
            for first, future in waiting:
                yield first, future.result
        finally:
            pool.shutdown(cancel_futures=True)


_OF_A_ROW = ("Neo.ClientError.Schema.", "Neo.ClientError.Statement.", "Neo.DatabaseError.Statement.")
"""The last is what a value says that is too long for an index of the app."""


def about_a_row(error: Neo4jError) -> bool:
    """Whether another row could fare better: not with wrong rights or a wrong statement."""
    code = error.code or ""
    return code.startswith(_OF_A_ROW) and not code.endswith(("SyntaxError", "AccessMode", "NotSystemDatabaseError"))


def unknown_target(type: str, key: str) -> str:
    """The reason of a bad reference."""
    return f"{type} leads to {key!r}, which no file and no database holds"


LOOK_AGAIN = "look again"
"""Outcome of memories that were compared with less than what is forgotten by now."""


def record_check(record: MemoryRecord) -> CheckItem:
    """The record as `jochi.forgetting` asks about it."""
    slot = slot_name_of(record.properties)
    named = {} if slot is None else {"slot_name": slot.name, "slot_value": slot.value}
    content = record.properties.get("content")
    return check_item(
        record.scope,
        record.key,
        content if isinstance(content, str) else None,
        {**record.properties, **named},
        [link.properties for link in record.relationships],
    )
