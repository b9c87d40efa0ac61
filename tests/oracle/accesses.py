"""What touches do to a memory, in plain Python, by docs/reference/accesses.md and not by the template that it judges.

It keeps every touch and computes what the memory must say from all of them, so portions and order can't matter to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Touch:
    """One touch, as the application reported it."""

    key: str
    at: datetime
    used: bool
    agent: str | None


@dataclass
class Ledger:
    """Everything that was folded into one memory; ``kept``, ``window`` and ``per_window`` are the policy's."""

    window: timedelta
    per_window: int
    kept: int
    agents_kept: int
    recalls: list[datetime] = field(default_factory=list)
    uses: list[datetime] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    counted: Counter[datetime] = field(default_factory=Counter)
    """How many count, by the start of their window; never forgotten here."""

    def fold(self, touches: Iterable[Touch], now: datetime) -> None:
        """One portion, at ``now``."""
        portion = Counter[datetime]()
        for touch in touches:
            at = min(touch.at, now)
            self.recalls.append(at)
            if touch.used:
                self.uses.append(at)
                portion[EPOCH + (at - EPOCH) // self.window * self.window] += 1
                if touch.agent:
                    self.agents.add(touch.agent)
        newest = sorted({*self.counted, *portion}, reverse=True)[: self.kept]
        for start, n in portion.items():
            if start in newest:
                self.counted[start] = min(self.per_window, self.counted[start] + n)

    def expected(self, now: datetime) -> dict[str, Any]:
        """The properties after a fold (or a roll) at ``now``; absent ones are None."""
        today = now.astimezone(timezone.utc).date()
        days = [self._on(today - timedelta(days=i)) for i in range(7)]
        moments = [*sorted(set(self.uses), reverse=True), None, None]
        newest = sorted(self.counted, reverse=True)[: self.kept]
        windows = [n for start in newest for n in (int((start - EPOCH).total_seconds()), self.counted[start])]
        return {
            "recall_count": len(self.recalls),
            "last_recalled_at": max(self.recalls, default=None),
            "last_accessed_at": moments[0],
            "prev_accessed_at": moments[1],
            "agents": sorted(self.agents)[: self.agents_kept] or None,
            "access_count": sum(self.counted.values()),
            "access_count_7d": sum(days),
            "access_days": days if any(days) else None,
            "access_day": today if any(days) else None,
            "access_windows": windows or None,
        }

    def _on(self, day: date) -> int:
        return sum(n for start, n in self.counted.items() if start.date() == day)
