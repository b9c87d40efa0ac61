"""One look at all memories before anything is written: how many, from when to when, and which are held back.

What is held back is written when the live part begins, with an `expires_at` that the demonstration sets, so that the
database has something to do while somebody watches.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from jochi.demo.source import Source
from jochi.errors import UsageError
from jochi.policy.model import Policy
from jochi.write.importing import MemoryRecord

HELD_BACK = 180
"""Memories that are held back, in equal parts from every scope."""
EVERY = timedelta(seconds=10)
LIVE_FOR = timedelta(minutes=15)
"""One memory or more expires every `EVERY` for so long; what `--keep` leaves goes on without Python."""

# What the rails read beside a kind's own state (DESIGN §8): who carries any of it is not held back, nor is what has an
# expiry of its own. The database's rails decide in the end.
_SPEAKS_TO_A_RAIL = ("pinned", "keep_forever", "ttl_policy", "locked_by", "agents", "expires_at")


@dataclass
class Survey:
    """What there is. ``created`` counts what the replay gets, by kind and hour; ``held_back`` are keys, oldest first."""

    memories: int = 0
    generated: int = 0
    """Memories that say of themselves that a generator made them."""
    start: datetime | None = None
    end: datetime | None = None
    created: Counter[tuple[str, datetime]] = field(default_factory=Counter)
    held_back: dict[str, datetime] = field(default_factory=dict)
    held_back_kinds: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    bad_count: int = 0

    def span(self) -> tuple[datetime, datetime]:
        """First and last `created_at`; a survey that `look` returned has both."""
        assert self.start is not None
        assert self.end is not None
        return self.start, self.end


_Newest = dict[str, list[tuple[datetime, str, str]]]
"""By scope: a heap of (created_at, key, kind), at most `HELD_BACK` of them."""


def look(source: Source, *, now: datetime, policy: Policy) -> Survey:
    """Reads all memories once. `UsageError` if there are none, or if none of them could expire within minutes."""
    survey = Survey()

    def on_bad(reason: str) -> None:
        survey.bad_count += 1
        if len(survey.bad) < 5:
            survey.bad.append(reason)

    entries: _Newest = {}
    others: _Newest = {}
    latest = now - policy.rails.grace
    for record in source.records(on_bad):
        at = record.properties.get("created_at", now)
        survey.memories += 1
        survey.generated += record.properties.get("generated") is True
        survey.start = at if survey.start is None else min(survey.start, at)
        survey.end = at if survey.end is None else max(survey.end, at)
        survey.created[record.kind, hour_of(at)] += 1
        if at <= latest and can_expire(record, policy):
            _keep(entries if record.kind == "MemoryEntry" else others, record, at)
    if survey.memories == 0:
        why = f"; the first of {survey.bad_count:,} bad lines: {survey.bad[0]}" if survey.bad else ""
        raise UsageError(f"no memories in it{why}", where=source.name, fix="give a LoCoMo or JSON Lines file")
    _hold_back(survey, entries or others)
    if not survey.held_back:
        raise UsageError(
            "no memory in it could expire while somebody watches: all are younger than the grace period, under a rail, "
            "or of kinds on a slower schedule",
            where=source.name,
            fix="give memories older than a day, some of them of kind MemoryEntry or Notification; or leave --data out",
        )
    return survey


def can_expire(record: MemoryRecord, policy: Policy) -> bool:
    """Whether the memory's kind is on the demonstration's schedule and the memory carries nothing that a rail reads."""
    kind = policy.labels().get(record.kind)
    return (
        kind is not None and kind.class_ <= EVERY and not any(name in record.properties for name in _SPEAKS_TO_A_RAIL)
    )


def hour_of(at: datetime) -> datetime:
    """The hour that a moment lies in."""
    return at.replace(minute=0, second=0, microsecond=0)


def _keep(newest: _Newest, record: MemoryRecord, at: datetime) -> None:
    heap = newest.setdefault(record.scope, [])
    heapq.heappush(heap, (at, record.key, record.kind))
    if len(heap) > HELD_BACK:
        heapq.heappop(heap)


def _hold_back(survey: Survey, newest: _Newest) -> None:
    share = max(1, HELD_BACK // max(1, len(newest)))
    chosen = [entry for heap in newest.values() for entry in heapq.nlargest(share, heap)]
    for at, key, kind in heapq.nlargest(HELD_BACK, chosen)[::-1]:
        survey.held_back[key] = at
        survey.held_back_kinds[kind] += 1
        survey.created[kind, hour_of(at)] -= 1


def on_schedule(moment: datetime) -> datetime:
    """The last multiple of `EVERY` before ``moment``: what expires then is not rounded up to a later run."""
    return moment - timedelta(seconds=moment.timestamp() % EVERY.total_seconds())


def expiries(count: int, start: datetime) -> list[datetime]:
    """``count`` moments from ``start`` on, at least one every `EVERY`, spread over `LIVE_FOR`.

    Fewer memories than places: the first ten come one after the other, the rest are spread evenly.
    """
    places = LIVE_FOR // EVERY
    if count >= places:
        return [start + EVERY * (number * places // count) for number in range(count)]
    close = min(count, 10)
    far = count - close
    return [
        start + EVERY * (number if number < close else close + (number - close) * (places - close) // far)
        for number in range(count)
    ]


class Parts:
    """The two parts of the memories: ``early`` for the replay, then ``late`` for the live part.

    A relationship from an early memory to one that is held back is written with the late part.
    """

    def __init__(self, records: Iterable[MemoryRecord], held_back: Iterable[str]) -> None:
        self._records = records
        self._held_back = frozenset(held_back)
        self._late: list[MemoryRecord] = []
        self._sources: list[MemoryRecord] = []

    def early(self) -> Iterator[MemoryRecord]:
        """What the replay gets. Must be read to its end before `late`."""
        for record in self._records:
            if record.key in self._held_back:
                self._late.append(record)
                continue
            waiting = tuple(link for link in record.relationships if link.to_key in self._held_back)
            if not waiting:
                yield record
                continue
            self._sources.append(replace(record, relationships=waiting))
            yield replace(record, relationships=tuple(link for link in record.relationships if link not in waiting))

    def late(self, start: datetime) -> Iterator[MemoryRecord]:
        """What was held back, oldest first, each with its expiry; then the early memories that lead to them."""
        by_age = sorted(self._late, key=lambda record: (record.properties["created_at"], record.key))
        for record, expires_at in zip(by_age, expiries(len(by_age), start), strict=True):
            yield replace(record, properties={**record.properties, "expires_at": expires_at})
        yield from self._sources
