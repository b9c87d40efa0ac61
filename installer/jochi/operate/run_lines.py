"""One line a run, for people and for what collects logs (docs/reference/jobs-and-runs.md): what ran, how it ended, what it counted.

A line has names, numbers and moments only. What a run keeps of an error is left out: the server's texts can quote a memory.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import TransientError

from jochi.database.server_clock import ServerClock
from jochi.errors import ConnectionFailed
from jochi.graph.driver_values import to_python

if TYPE_CHECKING:
    from jochi.client.jobs import JobVerbs

_OVERLAP = timedelta(minutes=10)
"""A run can become visible so long after it began: each look begins so long before the last one."""

_SETTLED = timedelta(seconds=1)
"""One that ended less than this ago waits for the next look: another that ended before it may not be visible yet."""

_MOST = 10_000
"""Runs of a job that one look reads."""

_EVER = datetime(1970, 1, 1, tzinfo=timezone.utc)

_SIZE = ("selected", "changed", "batches", "failed_batches")
_NOT_COUNTED = frozenset({*_SIZE, "token", "budget_ms", "longest_batch_ms", "stopped_hours", "lease_until"})
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_PLAIN = re.compile(r"[A-Za-z0-9_.:/+-]+")


@dataclass(frozen=True)
class RunLine:
    """A run that has ended. ``outcome``: ok, partial, failed, breaker or crashed. ``milliseconds``: from its beginning to its end.

    ``counts``: what it did, by the names that its procedure counts under; ``quarantined``: how many memories it put aside.
    """

    at: datetime
    run: str
    job: str
    outcome: str
    milliseconds: int
    selected: int
    changed: int
    batches: int
    failed_batches: int
    quarantined: int
    mode: str | None
    counts: Mapping[str, int]

    @classmethod
    def of(cls, run: Mapping[str, Any], at: datetime) -> RunLine:
        """From the properties of a :JochiJobRun."""
        numbers = {name: value for name, value in run.items() if type(value) is int and _NAME.fullmatch(name)}
        counts = {name: n for name, n in sorted(numbers.items()) if n and name not in _NOT_COUNTED}
        took = run["finished_at"] - run["started_at"]
        return cls(
            at,
            run["id"],
            run["job"],
            run.get("status") or "unknown",
            max(0, round(took / timedelta(milliseconds=1))),
            **{name: numbers.get(name, 0) for name in _SIZE},
            quarantined=len(run.get("quarantined") or ()),
            mode=run.get("mode"),
            counts=counts,
        )

    def as_json(self) -> str:
        """One JSON object."""
        return json_line(self.at, {name: value for name, value in vars(self).items() if name != "at"})

    def as_text(self) -> str:
        """`name=value` in a fixed order, the counts last."""
        fields = {name: value for name, value in vars(self).items() if name not in ("at", "counts")}
        return text_line(self.at, {**fields, **self.counts})


def json_line(at: datetime, fields: Mapping[str, Any]) -> str:
    """One JSON object: when, in UTC, and the fields, without those that are None."""
    given = {name: value for name, value in fields.items() if value is not None}
    return json.dumps({"at": utc(at), **given}, ensure_ascii=False)


def text_line(at: datetime, fields: Mapping[str, Any]) -> str:
    """The same as `name=value`, as logfmt has it: what isn't a plain word is a JSON text."""
    given = (f"{name}={_value(value)}" for name, value in fields.items() if value is not None)
    return " ".join((f"at={utc(at)}", *given))


def _value(value: Any) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=True)


def utc(moment: datetime) -> str:
    """ISO 8601 to the millisecond, in UTC."""
    return f"{moment.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


class LineFormatter(logging.Formatter):
    """Records of the logger `jochi.worker` as such lines: the event, and the record's ``fields``."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._line = json_line if as_json else text_line

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        at = datetime.fromtimestamp(record.created, timezone.utc)
        return self._line(at, {"event": record.msg, **getattr(record, "fields", {})})


class Tail:
    """The runs of a database as they end: first the last of those that have, then, look by look, those that did since, each once.

    A run whose beginning was dated otherwise than by the server's clock (a replay) is seen only where that lies within ten
    minutes of now.
    """

    def __init__(self, client: JobVerbs) -> None:
        self._client = client
        self._clock: ServerClock | None = None
        policy = client.policy.policy
        cycles = {name: derived.cycle for name, derived in policy.derive.items()} | {
            "compress": policy.compression.cycle
        }
        # A batch that was leased in a cycle may be stored after it.
        self._cycles = {name: (cycle + policy.work.lease).total_seconds() for name, cycle in cycles.items()}
        self._since: datetime | None = None
        self._open: list[str] = []
        self._shown: dict[str, datetime] = {}
        """When each began of those that the next look will see again."""

    def last(self, n: int, *, now: datetime | None = None) -> list[RunLine]:
        """The last ``n`` that have ended, the newest last. What ended before these is never shown."""
        clock = self._now(now)
        begun, open_ = self._read(clock, clock - _OVERLAP, _MOST)
        self._see(begun)
        rows, still_open = self._read(clock, _EVER, max(1, n))
        rows = rows[len(rows) - n :] if n < len(rows) else rows
        self._see(rows)
        self._next(clock, [*open_, *still_open])
        return [line for line, _ in rows]

    def ended(self, *, now: datetime | None = None) -> list[RunLine]:
        """Those that have ended since the last call, in the order in which they ended. Raises what the database raises, and
        goes on from there at the next call."""
        clock = self._now(now)
        since = clock - _OVERLAP if self._since is None else self._since
        rows, open_ = self._read(clock, since, _MOST)
        new = [row for row in rows if row[0].run not in self._shown]
        held = [row for row in new if clock - _SETTLED < row[0].at <= clock]
        new = [row for row in new if row not in held]
        self._see(new)
        self._next(clock, [*open_, *(line.run for line, _ in held)])
        return [line for line, _ in new]

    def lost(self) -> None:
        """The connection broke: another server may answer next, with a clock of its own."""
        self._clock = None

    def _now(self, now: datetime | None) -> datetime:
        if now is not None:
            return now
        self._clock = self._clock or ServerClock(self._client.database)
        return self._clock.now().astimezone(timezone.utc)

    def _read(self, clock: datetime, since: datetime, limit: int) -> tuple[list[tuple[RunLine, datetime]], list[str]]:
        engine = self._client.engine
        asked = {"clock": clock, "since": since, "open": self._open, "limit": limit, "cycles": self._cycles}
        text = engine.text("jobs/ended")
        # Not tried again by the driver, which would do it in silence for half a minute.
        row = to_python(engine.database.autocommit(text, engine.given(text, asked))[0])
        lines = [(RunLine.of(each["run"], each["at"]), each["run"]["started_at"]) for each in row["ended"]]
        return lines, row["open"]

    def _see(self, rows: list[tuple[RunLine, datetime]]) -> None:
        self._shown |= {line.run: began for line, began in rows}

    def _next(self, clock: datetime, open_: list[str]) -> None:
        self._since = clock - _OVERLAP
        self._open = list(dict.fromkeys(open_))
        self._shown = {run: began for run, began in self._shown.items() if began >= self._since or run in self._open}


def follow(
    client: JobVerbs,
    *,
    last: int,
    pause: Callable[[], bool],
    say: Callable[[str], None],
) -> Iterator[RunLine]:
    """The last lines, then those that come. ``pause`` waits between two looks, and returns False where there are to be no more.

    While the database is away it goes on looking; ``say`` is told of that once, and when it is back.
    """
    tail = Tail(client)
    yield from tail.last(last)
    away = False
    while pause():
        try:
            lines = tail.ended()
        except (ConnectionFailed, TransientError) as error:
            tail.lost()
            if not away:
                away = True
                say(
                    f"waiting for the database ({error.code if isinstance(error, TransientError) else 'no connection'})"
                )
            continue
        if away:
            away = False
            say("the database is back")
        yield from lines
