"""What an agent starts with (seed 001, Rolling Window with Value-Based Retention; DESIGN §14), chosen in plain Python.

Ours, where the seed is silent:
- Looked at is what is near: HOT, WARM or COLD, or the last used of ARCHIVE; what is worth most in each section where memories are
  classified; and active tasks and preferences in whatever tier, unless what is near fills their section's share and the whole.
  First comes what is HOT or was used within 30 days, then what is near or was ever used, then the rest.
- Not chosen: superseded, archived, stale facts, expired, PRIVATE, SENSITIVE unless that is asked for, without content, of no
  section. SENSITIVE is also what is of high sensitivity, and what holds something personal and isn't said to be PUBLIC; odd
  values of either say the same.
- Tokens are those that the budgets count, and a few for the line.
- Each section has its share, what is worth most first, of equals the shortest; of `recent` the last used first.
  What doesn't fit is passed over.
  What is left of the whole goes to what is worth most of all sections. Of two with one content the first has it.
- In the file what is worth most comes first, whatever its length, then what was used last; of `recent` the last used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from tests.oracle.budgets import tokens
from tests.oracle.classification import RECENT, worth
from tests.oracle.memory import Memory, is_moment
from tests.oracle.task_statuses import task_status

SECTIONS = {"preferences": 500, "tasks": 800, "insights": 500, "recent": 200}
FRAME, LINE = 55, 5
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NEVER = frozenset(
    {
        "Notification",
        "Task",
        "Source",
        "Artifact",
        "HeartbeatTask",
        "HeartbeatTaskRegistry",
        "MemoryBox",
        "Trace",
        "StoreItem",
        "Person",
        "Concept",
        "Entity",
    }
)
ROWS = (
    ("preferences", "Fact", "category", ("preference", "identity")),
    ("preferences", "CompressedContext", "content_type", ("preference",)),
    ("tasks", "Task", "status", ("in_progress", "pending", "blocked", "unknown")),
    ("tasks", "CompressedContext", "content_type", ("task",)),
    ("recent", "CompressedContext", None, ()),
    ("recent", "SessionContext", None, ()),
)


@dataclass(frozen=True)
class Chosen:
    key: str
    section: str
    reason: str


@dataclass(frozen=True)
class _Row:
    key: str
    section: str
    tokens: int
    value: float
    used: int
    rank: int
    hash: str


def choose(
    memories: Iterable[Memory], now: datetime, first: datetime | None, *, max_tokens: int = 2000, open: bool = False
) -> list[Chosen]:
    """In the order of the file. ``memories`` of one scope; ``first``: when it first reported an access."""

    def row_of(m: Memory) -> _Row | None:
        section = section_of(m)
        if not section or _ruled_out(m, now, open):
            return None
        cost, value = tokens(m) + LINE, worth(m, now, first).value
        return _Row(
            m.key, section, cost, value, _used(m, first), _rank(m, now, first), str(m.get("content_hash") or m.key)
        )

    room = max(0, max_tokens - FRAME)
    memories = list(memories)
    rows = [r for m in memories if _looked_at(m) and (r := row_of(m))]
    near = sum(r.tokens for r in rows)
    held = {s: sum(r.tokens for r in rows if r.section == s) for s in SECTIONS}
    rows += [
        r
        for m in memories
        if _named(m) and not _looked_at(m) and (r := row_of(m))
        if near < room or held[r.section] < SECTIONS[r.section] * room // 2000
    ]
    by_value = sorted(rows, key=lambda r: (r.rank, -r.value, r.tokens, r.key))
    by_age = sorted(rows, key=lambda r: (-r.used, r.key))
    taken: list[tuple[_Row, str]] = []
    for section, share in SECTIONS.items():
        left, hashes = share * room // 2000, set[str]()
        for row in by_age if section == "recent" else by_value:
            if row.section == section and row.tokens <= left and row.hash not in hashes:
                left -= row.tokens
                hashes.add(row.hash)
                taken.append((row, "minimum"))
    spare = room - sum(row.tokens for row, _ in taken)
    keys, hashes = {row.key for row, _ in taken}, {row.hash for row, _ in taken}
    for row in by_value:
        if row.key not in keys and row.tokens <= spare and row.hash not in hashes:
            spare -= row.tokens
            hashes.add(row.hash)
            taken.append((row, "handed_on"))
    names = list(SECTIONS)

    def place(one: tuple[_Row, str]) -> tuple[int, int, float, int, str]:
        row, section = one[0], names.index(one[0].section)
        return (section, *((0, 0.0) if row.section == "recent" else (row.rank, -row.value)), -row.used, row.key)

    return [Chosen(row.key, row.section, why) for row, why in sorted(taken, key=place)]


def _named(memory: Memory) -> bool:
    """Active tasks and preferences are found in whatever tier, where a word that is known says so."""
    return any(
        kind in memory.labels
        and _value(memory, kind, name) in words
        and memory.has(name)
        and _value(memory, kind, name) != "unknown"
        for _, kind, name, words in ROWS
        if kind in ("Task", "Fact")
    )


def _value(memory: Memory, kind: str, name: str) -> Any:
    """Of tasks what the status means."""
    return task_status(memory.get(name)) if (kind, name) == ("Task", "status") else memory.get(name)


def _looked_at(memory: Memory) -> bool:
    tier, last = memory.get("tier"), memory.get("last_accessed_at")
    return tier in ("HOT", "WARM", "COLD") or (tier == "ARCHIVE" and is_moment(last) and last > EPOCH)


def _rank(memory: Memory, now: datetime, first: datetime | None) -> int:
    last, used = memory.get("last_accessed_at"), first is not None and memory.has("last_accessed_at")
    if memory.get("tier") == "HOT" or (used and is_moment(last) and now - last < RECENT):
        return 0
    return 1 if used or memory.get("tier") in ("WARM", "COLD") else 2


def section_of(memory: Memory) -> str | None:
    for section, kind, name, words in ROWS:
        value = name and _value(memory, kind, name)
        if kind in memory.labels and (name is None or (isinstance(value, str) and value in words)):
            return section
    return None if NEVER & set(memory.labels) else "insights"


def _ruled_out(memory: Memory, now: datetime, open: bool) -> bool:
    content, expires = memory.get("content"), memory.get("expires_at")
    fact = "Fact" in memory.labels
    return (
        not (isinstance(content, str) and content.strip())
        or memory.get("status") == "superseded"
        or memory.get("state") == "archived"
        or (fact and (memory.get("state") == "stale" or memory.get("status") == "archived"))
        or (is_moment(expires) and expires <= now)
        or reach(memory.get) not in (("PUBLIC", "SENSITIVE") if open else ("PUBLIC",))
    )


def reach(get: Callable[[str], Any]) -> str:
    """PUBLIC, SENSITIVE or PRIVATE, by what is said of it (``get``)."""
    tier = get("access_tier")
    if tier not in (None, "PUBLIC", "SENSITIVE"):
        return "PRIVATE"
    personal = tier is None and (get("contains_pii") not in (None, False) or get("private_kinds") is not None)
    return (
        "SENSITIVE"
        if tier == "SENSITIVE" or personal or get("sensitivity") not in (None, "low", "normal")
        else "PUBLIC"
    )


def _used(memory: Memory, first: datetime | None) -> int:
    at = memory.get("last_accessed_at") if first and memory.has("last_accessed_at") else memory.get("created_at")
    return int(at.astimezone(timezone.utc).timestamp() * 1000 // 1) if is_moment(at) else 0
