"""Buffers, boxes and traces in plain Python, written from seed 003 (Write Path, Memory Box Lifecycle) and DESIGN §14, not from the
templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@dataclass
class Buffered:
    opened: datetime
    turns: list[tuple[datetime, int, str]] = field(default_factory=list)
    high: bool = False


@dataclass
class Buffers:
    """``flushed``: session, reason, ids of turns in the order in which they were said."""

    turns: int = 5
    wait: timedelta = 15 * MINUTE
    pause: timedelta = 10 * SECOND
    most_open: int = 200
    open: dict[str, Buffered] = field(default_factory=dict)
    last: dict[str, datetime] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    flushed: list[tuple[str, str, list[str]]] = field(default_factory=list)

    def observe(self, session: str, turn: str, at: datetime, high: bool, now: datetime) -> None:
        if (session, turn) in self.seen:
            return
        self.seen.add((session, turn))
        if session not in self.open:
            if len(self.open) >= self.most_open:
                oldest = min(self.open, key=lambda each: (self.open[each].opened, each))
                self._flush(oldest, "gave way", now)
            self.open[session] = Buffered(now)
        buffer = self.open[session]
        buffer.turns.append((at, len(buffer.turns), turn))
        buffer.high |= high
        if len(buffer.turns) >= self.turns:
            self._flush(session, "turns", now)
        elif self._due(session) <= now:
            self._flush(session, "high" if buffer.high else "wait", now)

    def job(self, now: datetime) -> None:
        """What time alone makes due."""
        for session in sorted(self.open):
            if self._due(session) <= now:
                self._flush(session, "high" if self.open[session].high else "wait", now)

    def _due(self, session: str) -> datetime:
        buffer = self.open[session]
        late = buffer.opened + self.wait
        last = self.last.get(session)
        soon = buffer.opened if last is None else last + self.pause
        return min(late, soon) if buffer.high else late

    def _flush(self, session: str, reason: str, now: datetime) -> None:
        buffer = self.open.pop(session)
        self.last[session] = now
        self.flushed.append((session, reason, [turn for _, _, turn in sorted(buffer.turns)]))


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Jaccard."""
    both = {*one} | {*other}
    return len({*one} & {*other}) / len(both) if both else 0.0


@dataclass
class Box:
    topics: list[str]
    memories: list[str]
    last: datetime
    reason: str | None = None
    sealed: datetime | None = None
    trace: int | None = None


@dataclass
class Boxes:
    """Of one session of one scope. ``all``: in the order in which they were opened."""

    most: int = 50
    least_overlap: float = 0.35
    gap: timedelta = 30 * MINUTE
    topics: int = 20
    trace_overlap: float = 0.4
    window: timedelta = timedelta(days=7)
    newest: int = 50
    all: list[Box] = field(default_factory=list)
    traces: int = 0
    open: Box | None = None

    def add(self, topics: Sequence[str], memories: Sequence[str], first: datetime, last: datetime) -> None:
        """What was learned from turns that were said from ``first`` to ``last``."""
        box = self.open
        new = [memory for memory in memories if box is None or memory not in box.memories]
        if not new:
            return
        if box is not None:
            if len(box.memories) + len(new) > self.most:
                self._seal(box, "max_memories", max(first, box.last))
            elif topics and overlap(topics, box.topics) < self.least_overlap:
                self._seal(box, "topic_shift", max(first, box.last))
            elif first - box.last >= self.gap:
                self._seal(box, "time_gap", box.last + self.gap)
        if self.open is None:
            self.open = Box(list(topics), new, last)
            self.all.append(self.open)
        else:
            self.open.topics = [*topics, *(each for each in self.open.topics if each not in topics)][: self.topics]
            self.open.memories += new
            self.open.last = max(self.open.last, last)

    def end(self, reason: str) -> None:
        """By order, or because nothing came for long."""
        if self.open is not None:
            self._seal(self.open, reason, self.open.last + (self.gap if reason == "time_gap" else timedelta()))

    def _seal(self, box: Box, reason: str, at: datetime) -> None:
        known = [
            (each.sealed, n, each)
            for n, each in enumerate(self.all)
            if each.sealed and at - self.window <= each.sealed <= at
        ]
        newest = sorted(known, key=lambda each: each[:2], reverse=True)[: self.newest]
        near = [(overlap(box.topics, each.topics), sealed, n, each) for sealed, n, each in newest]
        best = max((each for each in near if each[0] >= self.trace_overlap), key=lambda each: each[:3], default=None)
        if best is None:
            self.traces += 1
        box.trace = best[3].trace if best else self.traces
        box.reason, box.sealed, self.open = reason, at, None


NOTE_CATEGORIES = {"preference", "decision", "commitment", "principle", "correction", "relationship", "skill", "entity"}
NOTE_TAGS = {"preference", "rule", "principle", "convention", "standard", "decision", "belief", "policy", "habit"}
EPISODE_TAGS = {"event", "meeting", "incident", "trip", "visit", "deployment", "milestone", "release"}


def kind(moment: bool, category: str, tags: Sequence[str], past: bool, note: bool) -> str:
    """Episode or note, of a text that has a true marker of time, a verb of what was done, a word of what holds (seed 003)."""
    steps = [
        (moment, "episode"),
        (category in NOTE_CATEGORIES, "note"),
        (category in {"moment", "event", "action"}, "episode"),
        (bool({*tags} & NOTE_TAGS), "note"),
        (bool({*tags} & EPISODE_TAGS), "episode"),
        (past, "episode"),
        (note, "note"),
        (True, "episode"),
    ]
    return next(found for holds, found in steps if holds)
