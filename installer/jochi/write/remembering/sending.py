"""Sends memories in batches, one transaction each: while the server writes one, the next is made ready."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from neo4j.exceptions import ClientError, ConstraintError, DatabaseError

from jochi import clock
from jochi.database.engine import Engine
from jochi.errors import ConnectionFailed, PartlyDone, UsageError
from jochi.graph.driver_values import read_as, zoned
from jochi.policy import stored_policy
from jochi.text.tokens import TokenCounter, best_counter
from jochi.use.slots import NO_SLOTS, settle
from jochi.write.importing.writing import BATCH_WEIGHT, LARGEST_BATCH, about_a_row
from jochi.write.remembering.memory import Memory
from jochi.write.remembering.results import RememberResult, Result
from jochi.write.remembering.rows import Row, row_of
from jochi.write.remembering.screening import CHANGED, RowScreen

BATCH_SIZE = 2_000
TRIES = 5
"""So often a batch is sent that meets a constraint: another writer took the key between its look and its write."""

OnRefused = Literal["report", "raise"]


class SomeRefused(PartlyDone):
    """Memories were refused. ``remembered`` holds what became of all that were sent."""

    def __init__(self, remembered: RememberResult) -> None:
        self.remembered = remembered
        more = f" (and {remembered.refused - 1:,} more)" if remembered.refused > 1 else ""
        super().__init__(
            f"{remembered.refusals[0]}{more}",
            fix=f"{remembered.written:,} were written and {remembered.reinforced:,} reinforced, and stay so; set the others right",
        )


class RememberInterrupted(ConnectionFailed):
    """The server went away. ``remembered`` holds what was acknowledged; a batch is written whole or not at all."""

    def __init__(self, cause: ConnectionFailed, remembered: RememberResult) -> None:
        self.remembered = remembered
        super().__init__(
            f"interrupted after {remembered.written:,} memories were written: {cause.what}",
            where=cause.where,
            fix="remember the same again when the server answers: what is written is reinforced, not doubled",
        )


@dataclass(frozen=True)
class _Batch:
    first: int
    """Index of its first memory."""
    found: list[Row | Result]
    """A row to send, or what was refused before sending, in order."""


def remember(
    engine: Engine,
    memories: Iterable[Memory | Mapping[str, Any]] | Memory | Mapping[str, Any],
    *,
    now: datetime,
    agent: str | None = None,
    batch_size: int = BATCH_SIZE,
    on_refused: OnRefused = "report",
    on_result: Callable[[Result], None] | None = None,
    counter: TokenCounter | None = None,
) -> RememberResult:
    """Remembers memories, each judged by itself; see `jochi.Jochi.remember`."""
    if not 1 <= batch_size <= LARGEST_BATCH:
        raise UsageError(f"a batch of {batch_size} memories", fix=f"give a number from 1 to {LARGEST_BATCH:,}")
    zoned(now, "now", where="remember")
    if on_refused not in ("report", "raise"):
        raise UsageError(f"on_refused is {on_refused!r}", fix="give 'report' or 'raise'")
    if not isinstance(memories, Iterable) or isinstance(memories, str | bytes):
        raise UsageError("memories are none", fix="give a memory, or a list of them")
    if isinstance(memories, Memory | Mapping):
        memories = [memories]
    keep = isinstance(memories, Sequence)
    engine.text("memory/remember")  # says at once where it isn't installed
    _check_now(engine, now)
    screen = RowScreen(engine)
    remembered = RememberResult()

    def take(results: Iterable[Result]) -> None:
        for result in results:
            remembered.take(result, keep=keep)
            if on_result is not None:
                on_result(result)
        if remembered.refused and on_refused == "raise":
            raise SomeRefused(remembered)

    # One batch is on its way at a time, so that of two memories with the same content the first one is written.
    with ThreadPoolExecutor(max_workers=1) as pool:
        on_its_way = None
        try:
            for batch in _batches(memories, batch_size, counter or best_counter()):
                if on_its_way is not None:
                    take(on_its_way.result())
                on_its_way = pool.submit(copy_context().run, _send, engine, batch, now, agent, screen)
            if on_its_way is not None:
                take(on_its_way.result())
        except ConnectionFailed as error:
            raise RememberInterrupted(error, remembered) from error
    return remembered


def _check_now(engine: Engine, now: datetime) -> None:
    """Refuses a `now` so far ahead that its unit must be wrong: the procedure itself never asks a clock, and would believe it."""
    here = clock.now()
    if now <= here:
        return
    text = engine.state().policy_text
    if text is not None and now > here + stored_policy(text).policy.content.date_ahead:
        raise UsageError(
            f"now is {now.isoformat()}, too far ahead of this machine's clock",
            fix="is it in milliseconds and not in seconds?",
        )


def _batches(memories: Iterable[object], size: int, counter: TokenCounter) -> Iterator[_Batch]:
    found: list[Row | Result] = []
    first = weight = 0
    for index, memory in enumerate(memories):
        row = row_of(memory, index, counter)
        found.append(row)
        if not isinstance(row, Result):
            weight += sum(len(value) for value in row.values() if isinstance(value, str | list))
            weight += sum(
                len(value) for value in (row.get("properties") or {}).values() if isinstance(value, str | list)
            )
        if len(found) >= size or weight >= BATCH_WEIGHT:
            yield _Batch(first, found)
            found, first, weight = [], index + 1, 0
    if found:
        yield _Batch(first, found)


def _send(engine: Engine, batch: _Batch, now: datetime, agent: str | None, screen: RowScreen) -> list[Result]:
    rows = [(batch.first + at, row) for at, row in enumerate(batch.found) if not isinstance(row, Result)]
    refused = [row for row in batch.found if isinstance(row, Result)]
    sent = _screened(engine, rows, now, agent, screen) if rows else []
    return sorted(itertools.chain(sent, refused), key=lambda result: result.index)


def _screened(
    engine: Engine, rows: Sequence[tuple[int, Row]], now: datetime, agent: str | None, screen: RowScreen
) -> list[Result]:
    """What became of the rows; those that were forgotten on request aren't sent."""
    done: list[Result] = []
    for _ in range(TRIES):
        allowed, refused = screen.pass_on(rows)
        found = _results(engine, allowed, now, agent) if allowed else []
        again = {result.index for result in found if result.reason == CHANGED}
        done += [*refused, *(result for result in found if result.index not in again)]
        if not again:
            return done
        rows = [(index, row) for index, row in rows if index in again]
        screen.refresh()
    return done + [result for result in found if result.index in again]


def _results(engine: Engine, rows: Sequence[tuple[int, Row]], now: datetime, agent: str | None) -> list[Result]:
    """What became of the rows. A batch that the server refuses is halved until the refused row stands alone."""
    parameters = {"now": now, "agent": agent, "memories": [row for _, row in rows]}
    try:
        found = _tried(engine, parameters)
    except (ClientError, DatabaseError) as error:
        if error.is_retryable() or not about_a_row(error):
            raise
        if len(rows) > 1:
            middle = len(rows) // 2
            return _results(engine, rows[:middle], now, agent) + _results(engine, rows[middle:], now, agent)
        return [Result(rows[0][0], None, "refused", "server_refused", f"the server refuses it: {error.message}")]
    results = [read_as(Result, row, index=rows[row["index"]][0]) for row in found["results"]]
    return _slotted(engine, [row for _, row in rows], results, now)


def _slotted(engine: Engine, rows: Sequence[Row], results: list[Result], now: datetime) -> list[Result]:
    """The results, once the facts among them are in their slots. What isn't done here, the job `settle_slots` does."""
    facts = {
        str(result.key): at
        for at, (row, result) in enumerate(zip(rows, results, strict=True))
        if row.get("slot_name") is not None and result.outcome == "written"
    }
    if facts:
        for placed in settle(engine, [{"key": key} for key in facts], now=now):
            if placed.reason != NO_SLOTS:
                at = facts[placed.key]
                results[at] = replace(results[at], slot=placed.outcome, reason=placed.reason, detail=placed.detail)
    return results


def _tried(engine: Engine, parameters: Mapping[str, Any]) -> dict[str, Any]:
    for _ in range(TRIES - 1):
        try:
            return engine.call("memory/remember", parameters)
        except ConstraintError:
            continue
    return engine.call("memory/remember", parameters)
