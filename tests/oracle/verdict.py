"""The verdict over one memory, and when it must be looked at again (DESIGN §8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from tests.oracle.memory import Memory
from tests.oracle.rails import blocking_rails, ends
from tests.oracle.rules import Due, crossings

CLASS_MINUTES = {"Notification": 5, "SessionContext": 5, "Task": 15, "MemoryEntry": 15, "Reflection": 360}
"""The seed's schedule by kind; everything else is looked at by the hour."""
OTHER_CLASS_MINUTES = 60
LONGEST = timedelta(days=30)
VOLATILE = timedelta(days=1)
VOLATILE_KINDS = {"Notification", "SessionContext", "Task"}


@dataclass(frozen=True)
class Verdict:
    """``outcome``: prune | protected | paused | keep; ``met`` the rule that is met first, or None."""

    outcome: str
    met: Due | None
    rails: frozenset[str]


def judge(memory: Memory, now: datetime, paused: frozenset[str] = frozenset()) -> Verdict:
    """What must happen to ``memory`` at ``now``. ``paused``: kill switches, `kind/<label>` and `scope/<scope>`."""
    met = next((due for due in crossings(memory) if due.at <= now), None)
    if met is None:
        return Verdict("keep", None, frozenset())
    if paused & ({f"kind/{label}" for label in memory.labels} | {f"scope/{memory.scope}"}):
        return Verdict("paused", met, frozenset())
    rails = blocking_rails(memory, now)
    return Verdict("protected" if rails else "prune", met, rails)


def first_prune(memory: Memory, after: datetime) -> datetime | None:
    """The first instant later than ``after`` at which time alone makes the verdict `prune`; None if it never does."""
    moments = sorted({due.at for due in crossings(memory)} | set(ends(memory)))
    return next((m for m in moments if m > after and judge(memory, m).outcome == "prune"), None)


def latest_look(memory: Memory, now: datetime) -> datetime:
    """The latest instant at which the next look may be: the change that time makes, or the horizon, each rounded up to
    the whole second and then to the class of the seed's schedule."""
    horizon = VOLATILE if VOLATILE_KINDS & set(memory.labels) else LONGEST
    change = first_prune(memory, now)
    bound = now + horizon if change is None else min(change, now + horizon)
    minutes = [CLASS_MINUTES[label] for label in memory.labels if label in CLASS_MINUTES]
    return _rounded_up(bound, 60 * max(minutes, default=OTHER_CLASS_MINUTES))


def _rounded_up(moment: datetime, seconds: int) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    micros = (moment - epoch) // timedelta(microseconds=1)
    return epoch + timedelta(seconds=math.ceil(math.ceil(micros / 1_000_000) / seconds) * seconds)
