"""Notes and how long they matter (seed 002, Nightly Note Cleanup and Note Retention; DESIGN §9: nodes, not maps in a list).

Ours, where the seed is silent:
- ``expires_at`` decides where it is there. Else created_at plus the lifetime. With neither it stays: the seed's cleanup keeps
  what has no expires_at, and its default, month, is what the writer of a note fills in.
- The note goes from the very instant on: the seed keeps what has expires_at > now.
- A lifetime or moment that can't be read is unknown: the note stays.
- It waits for a dirty owner, because the seed's cleanup "runs after description consolidation"; seven days from its expiry at
  most (the issue). One dirty owner of several is enough. An is_dirty that is no truth value may mean dirty.
- A tombstone waits for nothing, so nothing waits for it. A note without an owner doesn't wait.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import EVER, Due, after
from tests.oracle.memory import Memory
from tests.oracle.rails import blocking_rails
from tests.oracle.reading import text

LIFETIMES = {"week": timedelta(days=7), "month": timedelta(days=30), "year": timedelta(days=365)}
"""Seed 002, Note Retention; in days by peers A2. "forever" never ends."""
LONGEST_WAIT = timedelta(days=7)
OWNED_BY = "HAS_NOTE"


def expiry(note: Memory) -> datetime | None:
    """When its lifetime is over; None if never, or unknown."""
    if note.get("expires_at") is not None:
        return note.moment("expires_at")
    made, life = note.moment("created_at"), LIFETIMES.get(text(note, "lifetime", "") or "")
    return None if made is None or life is None else made + life


def waits(note: Memory) -> bool:
    """Whether somebody whose note it is still has to take it in: the owner's end is in ``links``, HAS_NOTE coming in."""
    owners = [link for link in note.links if link.live and (link.type, link.direction) == (OWNED_BY, "in")]
    return any(link.properties.get("is_dirty") not in (None, False) for link in owners)


def goes(note: Memory) -> datetime | None:
    """From when on it goes, as things hang on it now."""
    over = expiry(note)
    return None if over is None else over + longest_wait(note)


def crossings(note: Memory, _now: datetime, _first: datetime | None) -> list[Due]:
    """The rule of its lifetime, for a table of rules; expires_at is everybody's."""
    over = expiry(note)
    if over is None or note.get("expires_at") is not None:
        return []
    return after(f"note.{note.get('lifetime')}", over, longest_wait(note))


def longest_wait(memory: Memory) -> timedelta:
    """How long its expiry is put off as things hang on it now."""
    return LONGEST_WAIT if "Note" in memory.labels and waits(memory) else timedelta(0)


def outcome(note: Memory, now: datetime) -> str:
    """prune | protected | keep."""
    if (goes(note) or _NEVER) > now:
        return "keep"
    return "protected" if blocking_rails(note, now) else "prune"


_NEVER = datetime.max.replace(tzinfo=EVER.tzinfo)
