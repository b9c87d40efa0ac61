"""The generated team: six agents that run a software product, day by day (kinds and agents of seed 000)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from jochi.errors import UsageError
from jochi.generate.dice import Dice
from jochi.generate.edges import edge_cases
from jochi.generate.texts import AGENTS, ENTRIES, ROLES, SLOTS, SUMMARIES, TEXTS
from jochi.write.record import DEFAULT_SCOPE, MemoryRecord, Relationship

# How many an agent makes on an average day; a session makes about eight entries and one compressed context besides.
RATES = {
    "SessionContext": 2.2,
    "Task": 3.0,
    "Notification": 4.5,
    "Belief": 1.6,
    "Reflection": 0.8,
    "Analysis": 0.9,
    "Recommendation": 0.5,
    "Synthesis": 0.25,
}
ENTRIES_A_SESSION = (4, 12)
MEMORIES_A_DAY = sum(RATES.values()) + RATES["SessionContext"] * (sum(ENTRIES_A_SESSION) / 2 + 1)

# Weight of each UTC hour: mornings and afternoons, a little at night (jobs and on-call).
HOURS = (1, 1, 1, 1, 1, 2, 5, 9, 14, 16, 15, 11, 8, 12, 15, 14, 11, 7, 4, 3, 2, 2, 1, 1)
WEEKDAY, WEEKEND = 1.22, 0.45


def team(
    seed: int = 7,
    *,
    end: datetime,
    days: int = 30,
    agents: int = len(AGENTS),
    size: int = 6_000,
    scope: str = DEFAULT_SCOPE,
) -> Iterator[MemoryRecord]:
    """Memories that ``agents`` agents made in the ``days`` days before ``end`` (zoned), oldest first.

    About ``size`` memories of all ten kinds of seed 000, each with `generated: true`; the same arguments give the same
    memories. A few fixed ones stand at the edges of the rules and rails (ids that begin with `edge_`). Every
    relationship leads to a memory of the same team.
    """
    if end.utcoffset() is None:
        raise UsageError("the end of the generated month has no zone")
    if not 1 <= agents <= len(AGENTS) or days < 1 or size < 1:
        raise UsageError(f"a team has 1 to {len(AGENTS)} agents, and days and size of at least 1")
    made = _Month(Dice(seed), end.astimezone(timezone.utc), days, AGENTS[:agents], size, scope).made()
    yield from sorted(made, key=lambda record: (record.properties["created_at"], record.id))


class _Month:
    """One run of the generator."""

    def __init__(self, dice: Dice, end: datetime, days: int, agents: Sequence[str], size: int, scope: str) -> None:
        self.dice = dice
        self.end = end
        self.start = end - timedelta(days=days)
        self.days = days
        self.agents = agents
        self.scope = scope
        self.scale = size / (MEMORIES_A_DAY * days * len(agents))
        self.records: list[MemoryRecord] = []
        kinds = (*RATES, "MemoryEntry", "CompressedContext")
        self.ids: dict[str, list[tuple[datetime, str]]] = {kind: [] for kind in kinds}
        self.done_tasks: list[tuple[datetime, str]] = []
        self.old_beliefs: list[tuple[datetime, str]] = []
        self.numbers: Counter[str] = Counter()

    def made(self) -> list[MemoryRecord]:
        self.records += edge_cases(self.start, self.end, self.agents, self.scope)
        begins = [self.start + timedelta(days=day) for day in range(self.days)]
        weights = [WEEKEND if begin.weekday() >= 5 else WEEKDAY for begin in begins]
        for begin, weight in zip(begins, weights, strict=True):
            # Few days may be all weekend: the size is kept to all the same.
            busy = self.scale * weight * len(weights) / sum(weights)
            events = [
                (self._hour(begin), kind, agent)
                for agent in self.agents
                for kind, rate in RATES.items()
                for _ in range(self.dice.often(rate * busy))
            ]
            for at, kind, agent in sorted(events):
                if at < self.end:
                    getattr(self, f"_{kind.lower()}")(agent, at)
        return self.records

    def _hour(self, begin: datetime) -> datetime:
        """A moment in the 24 hours from ``begin``, in the rhythm of a working day."""
        left = self.dice.share() * sum(HOURS)
        # The window of a day begins at any hour, the rhythm goes by the clock.
        for ahead in range(24):
            weight = HOURS[(begin.hour + ahead) % 24]
            if left < weight:
                return begin + timedelta(hours=ahead, seconds=int(left / weight * 3600))
            left -= weight
        return begin

    def _add(
        self, kind: str, agent: str, at: datetime, content: str, links: Sequence[tuple[str, str]] = (), **more: Any
    ) -> str:
        self.numbers[kind] += 1
        id = f"{kind.lower()}_{self.numbers[kind]:05d}"
        properties = {"content": content, "created_at": at, "author": agent, "generated": True}
        properties.update(self._accesses(kind, agent, at))
        properties.update({name: value for name, value in more.items() if value is not None})
        relationships = tuple(Relationship(type, self.scope, to) for type, to in links)
        self.records.append(MemoryRecord(kind, id, self.scope, properties, relationships))
        self.ids[kind].append((at, id))
        return id

    def _earlier(self, known: Sequence[tuple[datetime, str]], at: datetime, most: int) -> list[str]:
        """Up to ``most`` of the last hundreds of memories that were there at ``at``."""
        return self.dice.some([id for since, id in known[-400:] if since < at], most)

    def _accesses(self, kind: str, agent: str, at: datetime) -> dict[str, Any]:
        """Who read it, how often and when last. Knowledge is read more than what passes by; half of it never."""
        lasting = kind in ("Belief", "Reflection", "Synthesis", "Analysis")
        if self.dice.hit(0.3 if lasting else 0.55):
            return {}
        count = 1 + int(self.dice.share() ** 3 * (24 if lasting else 10))
        last = self.dice.moment(at, self.end, lean=1.5 if lasting else 3)
        readers = {agent, *(self.dice.one(self.agents) for _ in range(min(count, 5) - 1))}
        found: dict[str, Any] = {"access_count": count, "last_accessed_at": last, "agents": sorted(readers)}
        if self.end - last < timedelta(days=7):
            found["access_count_7d"] = 1 + int(self.dice.share() * count)
        if count > 1:
            found["prev_accessed_at"] = self.dice.moment(at, last)
        return found

    def _write(self, kind: str) -> str:
        return self.dice.text(self.dice.one(TEXTS[kind]))

    def _sessioncontext(self, agent: str, at: datetime) -> None:
        dice = self.dice
        part = dice.one(SLOTS["part"])
        number = self.numbers["SessionContext"] + 1
        session = f"sessioncontext_{number:05d}"
        texts: list[str] = []
        now = at
        for _ in range(dice.between(*ENTRIES_A_SESSION)):
            now += timedelta(seconds=dice.between(40, 900))
            if now >= self.end:
                break
            text = dice.text(dice.one(ENTRIES[ROLES[agent]]))
            texts.append(text)
            self._add(
                "MemoryEntry",
                agent,
                now,
                text,
                [("PART_OF", session)],
                speaker=agent,
                importance=round(dice.share(), 2),
                expires_at=now + timedelta(days=dice.between(2, 20)) if dice.hit(0.04) else None,
                pinned=True if dice.hit(0.01) else None,
            )
        last = min(now, self.end - timedelta(seconds=1))
        active = self.end - last < timedelta(minutes=20)
        self._add(
            "SessionContext", agent, at, f"{agent} works on {part}.", active=active, last_active_at=last, topic=part
        )
        if active or not texts:
            return
        age = self.end - at
        level = "full" if age < timedelta(days=3) else "summary" if dice.hit(0.6) else "keywords"
        content = dice.text(
            SUMMARIES[level], agent=agent, part=part, count=str(len(texts)), first=texts[0], texts="\n".join(texts)
        )
        self._add(
            "CompressedContext", agent, last, content, [("PART_OF", session)], compression_level=level, speaker=agent
        )

    def _task(self, agent: str, at: datetime) -> None:
        dice = self.dice
        old = self.end - at > timedelta(days=2)
        draw = dice.share()
        status = "in_progress" if draw < 0.1 else "pending" if draw < 0.18 else "blocked" if draw < 0.21 else "done"
        if status != "done" or not old:
            status = status if status != "done" else "in_progress"
            locked = dice.moment(max(at, self.end - timedelta(minutes=30)), self.end) if dice.hit(0.1) else None
            self._add(
                "Task",
                agent,
                at,
                self._write("Task"),
                status=status,
                updated_at=dice.moment(at, self.end),
                locked_by=agent if locked else None,
                locked_at=locked,
            )
            return
        status = "failed" if dice.hit(0.12) else "completed"
        ended = dice.moment(at, min(at + timedelta(days=4), self.end))
        id = self._add(
            "Task",
            agent,
            at,
            self._write("Task"),
            status=status,
            updated_at=ended,
            completed_at=ended if status == "completed" else None,
            failed_at=ended if status == "failed" else None,
        )
        self.done_tasks.append((ended, id))

    def _notification(self, agent: str, at: datetime) -> None:
        dice = self.dice
        read = dice.hit(0.72)
        self._add(
            "Notification",
            agent,
            at,
            self._write("Notification"),
            recipient=agent,
            read=read,
            read_at=dice.moment(at, min(at + timedelta(days=2), self.end)) if read else None,
            priority="critical" if dice.hit(0.04) else "high" if dice.hit(0.15) else "normal",
            expires_at=at + timedelta(days=dice.between(1, 14)) if dice.hit(0.1) else None,
            pinned=True if dice.hit(0.01) else None,
        )

    def _belief(self, agent: str, at: datetime) -> None:
        dice = self.dice
        archived = dice.hit(0.12)
        confidence = round(0.1 + 0.3 * dice.share() if archived else 0.2 + 0.78 * dice.share() ** 0.6, 2)
        links = [("EVIDENCE", id) for id in self._earlier(self.ids["MemoryEntry"], at, 3)]
        if not archived and dice.hit(0.1):
            links += [("EVIDENCE", id) for id in self._earlier(self.old_beliefs, at, 1)]
        id = self._add(
            "Belief",
            agent,
            at,
            self._write("Belief"),
            links,
            state="archived" if archived else "active",
            archived_at=dice.moment(at, self.end) if archived else None,
            confidence=confidence,
            confidence_at=at,
            subject=dice.one(SLOTS["customer"]),
        )
        if archived:
            self.old_beliefs.append((at, id))

    def _reflection(self, agent: str, at: datetime) -> None:
        dice = self.dice
        consolidated = dice.hit(0.5)
        links = [("LEARNED_FROM", id) for id in self._earlier(self.done_tasks, at, 2)]
        self._add(
            "Reflection",
            agent,
            at,
            self._write("Reflection"),
            links,
            consolidated=consolidated,
            consolidated_at=dice.moment(at, self.end) if consolidated else None,
            importance=round(0.4 + 0.6 * dice.share(), 2),
        )

    def _analysis(self, agent: str, at: datetime) -> None:
        severity = self.dice.one(("info", "info", "low", "low", "medium", "medium", "high", "critical"))
        links = [("EVIDENCE", id) for id in self._earlier(self.ids["MemoryEntry"], at, 2)]
        self._add("Analysis", agent, at, self._write("Analysis"), links, severity=severity)

    def _recommendation(self, agent: str, at: datetime) -> None:
        links = [("EVIDENCE", id) for id in self._earlier(self.ids["Analysis"], at, 2)]
        accepted = "accepted" if self.dice.hit(0.4) else "open"
        self._add("Recommendation", agent, at, self._write("Recommendation"), links, status=accepted)

    def _synthesis(self, agent: str, at: datetime) -> None:
        sources = self._earlier(self.ids["Analysis"], at, 3) + self._earlier(self.ids["Belief"], at, 2)
        self._add("Synthesis", agent, at, self._write("Synthesis"), [("EVIDENCE", id) for id in sources])
