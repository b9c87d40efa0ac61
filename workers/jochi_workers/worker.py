"""The loop of `jochi worker`: lease, handle, store, again; patient with a database that goes away, quick to stop."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from time import monotonic
from typing import TypeVar

from neo4j.exceptions import Neo4jError

from jochi.database.engine import Engine
from jochi.errors import ConnectionFailed, Refused, UsageError
from jochi_workers.context_files import Files
from jochi_workers.deletion import HELD, Deletion, delete_forgotten
from jochi_workers.handler import Handler, Outcome, Result, reserved
from jochi_workers.queue import Batch, FinishResult, Queue

_log = logging.getLogger(__name__)
_lines = logging.getLogger("jochi.worker")
"""A line a batch and a stop (docs/reference/jobs-and-runs.md): names and numbers, never a text, a key or what a model answered."""
T = TypeVar("T")

_RECONNECT_MIN, _RECONNECT_MAX = 1.0, 30.0  # seconds between two tries while the database is away
_HELD = 30.0  # seconds between two looks at a derivation that a cap or the engine's own state keeps
_READ_AGAIN = (
    60.0  # seconds after which an idle worker reads the installed procedures again: install may have changed them
)


@dataclass
class Progress:
    """What a worker has done on one queue since it started."""

    done: int = 0
    duplicates: int = 0
    forgotten: int = 0
    outdated: int = 0
    dropped: int = 0
    failed: int = 0
    quarantined: int = 0
    note: str | None = None
    reasons: dict[str, int] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0

    def counts(self) -> dict[str, int]:
        """The numbers alone, by the words of the other reports."""
        found = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        return {"put_aside" if name == "quarantined" else name: n for name, n in found.items()}


@dataclass
class Stop:
    """Asks a worker to end: it gives back what it hasn't done yet. ``reason`` is for messages."""

    _event: Event = field(default_factory=Event)

    def now(self) -> None:
        self._event.set()

    def asked(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        """Returns after ``seconds``, or at once when the stop is asked for."""
        self._event.wait(seconds)


class Worker:
    """Works the queues of ``handlers`` in turn, ``batch`` memories at a time, until it is stopped.

    ``files``: of contexts and mirrors, which it keeps up to date besides. ``interval``: seconds between two looks at empty queues.
    ``rates``: memories a second at most, by queue.
    ``on_progress`` is called after each batch with all figures by queue; ``on_batch`` with its queue and the seconds that it took.
    """

    def __init__(
        self,
        engine: Engine,
        handlers: Sequence[Handler],
        *,
        batch: int = 200,
        interval: float = 5.0,
        rates: Mapping[str, float] | None = None,
        files: Sequence[Files] = (),
        stop: Stop | None = None,
        on_progress: Callable[[Mapping[str, Progress]], None] = lambda _progress: None,
        on_batch: Callable[[str, float], None] = lambda _queue, _seconds: None,
    ) -> None:
        self.engine = engine
        self.stop = stop or Stop()
        self.progress: dict[str, Progress] = {handler.name: Progress() for handler in handlers}
        self._handlers = list(handlers)
        self._files = files
        self.progress |= {each.name: Progress() for each in files}
        self._queues: dict[str, Queue] = {}
        self._batch = batch
        self._interval = interval
        self._rates = rates or {}
        self._on_progress = on_progress
        self.on_batch = on_batch
        self._not_before: dict[str, float] = {}
        self._texts_read = monotonic()

    def run(self, *, once: bool = False) -> None:
        """Works until `stop`; with ``once`` until nothing is due any more.

        Raises a handler's own reason where it can't go on (with ``once`` also where it only asks for a pause), after
        giving back what it held.
        """
        try:
            self._run(once=once)
        except BaseException as error:
            _log_line("stop", reason="error", error=_named(error))
            raise
        _log_line("stop", reason="asked" if self.stop.asked() else "done")

    def _run(self, *, once: bool) -> None:
        while not self.stop.asked():
            worked = [self._turn(handler, once) for handler in self._handlers]
            if not once:
                self._write_files()
            if any(worked):
                continue
            pauses = [moment - monotonic() for moment in self._not_before.values()]
            waiting = min((pause for pause in pauses if pause > 0), default=None)
            if waiting is None and once:
                self._write_files(all_of_them=True)
                return
            self._refresh()
            self.stop.wait(self._interval if waiting is None else min(waiting, self._interval))

    def _turn(self, handler: Handler, once: bool) -> bool:
        """One batch of one queue; False if there was nothing to do."""
        if self._not_before.get(handler.name, 0.0) > monotonic() or self.stop.asked():
            return False
        queue = self._patiently(lambda: self._queue(handler))
        batch = (
            None if queue is None else self._patiently(lambda: queue.lease(self._size(handler), exact=handler.exact))
        )
        if queue is None or batch is None:
            return False
        before = self.progress[handler.name].counts()
        self.progress[handler.name].dropped += batch.dropped
        self.progress[handler.name].note = batch.held
        if batch.held and not once:  # nothing is over in a moment that keeps a whole derivation
            self._not_before[handler.name] = monotonic() + _HELD
        if not batch.rows:
            return False
        if handler.name == "prepare":
            batch = self._without_forgotten(queue, batch)
        started = monotonic()
        try:
            outcome = self._handle(handler, batch)
        except BaseException:
            self._give_back(
                queue, batch
            )  # a second Ctrl-C, or out of memory: the lease must not outlive us if it can be helped
            raise
        self._store(queue, batch, outcome)
        seconds = monotonic() - started
        self.on_batch(handler.name, seconds)
        counts = {name: n - before[name] for name, n in self.progress[handler.name].counts().items()}
        _log_line(
            "batch", derivation=handler.name, milliseconds=round(seconds * 1000), leased=len(batch.rows), **counts
        )
        if rate := self._rates.get(handler.name):
            self._not_before[handler.name] = started + len(batch.rows) / rate
        if outcome.stopped_by is not None:
            self._stopped_by(handler, outcome, once)
        self._on_progress(self.progress)
        return True

    def _write_files(self, *, all_of_them: bool = False) -> None:
        for files in self._files:
            before = Counter(files.edits)
            if self._patiently(partial(files.work, all_of_them=all_of_them)):
                self._on_progress(self.progress)
            progress = self.progress[files.name]
            edits, written = files.edits - before, files.written - progress.done
            if edits or written or len(files.failed) != progress.failed:
                _log_line("files", files=files.name, written=written, failed=len(files.failed), **edits)
            progress.done, progress.failed, progress.note = files.written, len(files.failed), files.note

    def _without_forgotten(self, queue: Queue, batch: Batch) -> Batch:
        """What was forgotten on request and written again goes before anybody reads it."""
        try:
            taken = (
                self._patiently(lambda: delete_forgotten(self.engine, batch.rows), even_when_stopping=True)
                or Deletion()
            )
        except BaseException:
            self._give_back(queue, batch)
            raise
        self.progress[queue.name].forgotten += len(taken.deleted)
        held = tuple(row for row in batch.rows if row["key"] in taken.held)
        if held:
            self._store(queue, replace(batch, rows=held), Outcome(failed={row["key"]: HELD for row in held}))
        return replace(batch, rows=tuple(row for row in batch.rows if row["key"] not in taken.deleted | taken.held))

    def _size(self, handler: Handler) -> int:
        rate = self._rates.get(handler.name)
        most = min(self._batch, getattr(handler, "most", self._batch))
        return most if rate is None else max(1, min(most, int(rate)))

    def _handle(self, handler: Handler, batch: Batch) -> Outcome:
        try:
            return handler.handle(batch.rows)
        except Exception as error:
            # A mistake of the handler's. Its text might quote the content, so only its kind is kept.
            _log.warning("the handler %s failed: %s", handler.name, type(error).__name__)
            _log_line("failed", derivation=handler.name, error=_named(error))
            return Outcome(failed={row["key"]: type(error).__name__ for row in batch.rows})

    def _store(self, queue: Queue, batch: Batch, outcome: Outcome) -> None:
        progress = self.progress[queue.name]
        finished = self._finish(queue, batch, outcome)
        failed = self._patiently(lambda: queue.fail(batch, outcome.failed, outcome.spent), even_when_stopping=True)
        progress.tokens_in += sum(spent["used_in"] for spent in outcome.spent.values())
        progress.tokens_out += sum(spent["used_out"] for spent in outcome.spent.values())
        settled = {result.key for result in outcome.done} | outcome.failed.keys()
        if finished is not None:
            progress.done += finished.done
            progress.duplicates += len(finished.duplicates)
            progress.outdated += finished.outdated
            settled -= set(finished.refused)
        if failed is not None:
            progress.failed += failed.done
            if any("charge" in row for row in batch.rows):
                for reason in outcome.failed.values():
                    progress.reasons[reason] = progress.reasons.get(reason, 0) + 1
            progress.outdated += failed.outdated
            progress.quarantined += len(failed.quarantined)
        left = [row["key"] for row in batch.rows if row["key"] not in settled]
        if left:
            self._patiently(lambda: queue.release(batch, left, outcome.spent), even_when_stopping=True)
        if finished is not None and finished.refused:
            raise Refused(
                f"{len(finished.refused)} results are of another model or length than the database's policy says now",
                where=f"queue {queue.name}",
                fix="start the worker again: it reads the policy anew",
            )

    def _finish(self, queue: Queue, batch: Batch, outcome: Outcome) -> FinishResult | None:
        """Stores the results. Where the database can't, each alone: the one that it can't store has failed, and costs no other."""
        try:
            return self._patiently(lambda: queue.finish(batch, outcome.done), even_when_stopping=True)
        except (Neo4jError, UsageError) as error:
            _log.warning("the database can't store results of %s: %s", queue.name, _named(error))
            _log_line("failed", derivation=queue.name, error=_named(error))
        stored, results = list[Result](), list[FinishResult]()
        for result in outcome.done:
            try:
                finished = self._patiently(partial(queue.finish, batch, [result]), even_when_stopping=True)
            except (Neo4jError, UsageError) as error:
                outcome.failed[result.key] = _named(error)
                if "used_in" in result.values:
                    outcome.spent[result.key] = {name: result.values[name] for name in ("used_in", "used_out")}
            else:
                stored.append(result)
                results += [finished] if finished else []
        outcome.done = stored
        return FinishResult.of(results)

    def _stopped_by(self, handler: Handler, outcome: Outcome, once: bool) -> None:
        assert outcome.stopped_by is not None
        if once or not outcome.pause:
            raise outcome.stopped_by
        _log_line(
            "pause", derivation=handler.name, error=_named(outcome.stopped_by), seconds=outcome.pause.total_seconds()
        )
        self.progress[handler.name].note = outcome.stopped_by.what
        self._not_before[handler.name] = monotonic() + outcome.pause.total_seconds()

    def _give_back(self, queue: Queue, batch: Batch) -> None:
        try:
            # What was asked for is paid for, and nobody knows whether it was.
            queue.release(batch, spent={row["key"]: reserved(row) for row in batch.rows})
        except Exception:  # already on the way out: the lease runs out by itself
            _log.warning("leased memories could not be given back; their lease runs out by itself")

    def _queue(self, handler: Handler) -> Queue:
        if handler.name not in self._queues:
            self._queues[handler.name] = Queue(self.engine, handler.name, asks=getattr(handler, "asks", None))
        return self._queues[handler.name]

    def _patiently(self, work: Callable[[], T], *, even_when_stopping: bool = False) -> T | None:
        """The result of ``work``, tried until the database answers; None if the worker is stopped meanwhile."""
        pause = _RECONNECT_MIN
        while even_when_stopping or not self.stop.asked():
            try:
                result = work()
            except ConnectionFailed as error:
                if self.stop.asked():
                    return None
                if pause == _RECONNECT_MIN:
                    _log_line("waiting", error=_named(error))
                self._note(f"waiting for the database: {error.what}")
                self.stop.wait(pause)
                pause = min(pause * 2, _RECONNECT_MAX)
                self._queues.clear()  # another server may answer next, with a clock of its own
            else:
                if pause > _RECONNECT_MIN:
                    _log_line("back")
                    self._note(None)
                return result
        return None

    def _note(self, note: str | None) -> None:
        for progress in self.progress.values():
            progress.note = note
        self._on_progress(self.progress)

    def _refresh(self) -> None:
        if monotonic() - self._texts_read > _READ_AGAIN:
            self.engine.refresh()
            self._texts_read = monotonic()


def _log_line(event: str, **fields: object) -> None:
    """What happened; ``fields`` in their order."""
    _lines.info(event, extra={"fields": fields})


def _named(error: BaseException) -> str:
    """What went wrong without a word of the content, which a message of the server may quote."""
    return (error.code if isinstance(error, Neo4jError) else None) or type(error).__name__
