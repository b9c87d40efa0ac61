"""The curve that users care about: how many questions still find their evidence, against the tokens that are kept near."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random

from pydantic_core import from_json

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.write.importing.locomo import turn_ids

RANDOM_DRAWS = 20

_ROWS = """
MATCH (m:Curated)
RETURN m.key AS key, m.scope AS scope, m.tier AS tier, coalesce(m.token_count, 0) AS tokens,
  coalesce(m.last_accessed_at, m.created_at) AS last
ORDER BY key
"""


@dataclass(frozen=True)
class Held:
    """A live memory: its size and when it was used last."""

    key: str
    scope: str
    tier: str
    tokens: int
    last: datetime


@dataclass(frozen=True)
class Point:
    """One policy at one size: tokens kept near, and shares of the questions that have all their evidence there."""

    policy: str
    factor: float
    tokens: int
    near: float
    exists: float


def questions(path: Path) -> list[frozenset[str]]:
    """The keys of each question's evidence turns; empty where the file names none."""
    found = []
    for sample in from_json(path.read_bytes(), allow_inf_nan=False):
        for question in sample["qa"]:
            found.append(frozenset(f"{sample['sample_id']}/{id}" for id in turn_ids(question.get("evidence"))))
    return found


def read(client: Jochi) -> list[Held]:
    """Every live memory."""
    rows = client.database.run(_ROWS, write=False)
    return [Held(r["key"], r["scope"], r["tier"], r["tokens"], to_python(r)["last"]) for r in rows]


def share(asked: list[frozenset[str]], kept: Iterable[str]) -> float:
    """Of all questions, those that have evidence and all of it in ``kept``."""
    there = set(kept)
    return sum(bool(evidence) and evidence <= there for evidence in asked) / len(asked)


def points(asked: list[frozenset[str]], held: list[Held], factor: float, name: str) -> list[Point]:
    """Ours, and at equal tokens in each scope random and LRU, at equal tokens in all scopes together TTL-only."""
    near = [m for m in held if m.tier != "ARCHIVE"]
    tokens = sum(m.tokens for m in near)
    exists = share(asked, (m.key for m in held))
    found = [Point(name, factor, tokens, share(asked, (m.key for m in near)), exists)]
    room: dict[str, int] = defaultdict(int)
    for m in near:
        room[m.scope] += m.tokens
    # LRU and random throw away what they don't keep.
    lru = _fill(held, room, lambda m: (-m.last.timestamp(), m.key))
    found.append(_point("LRU", factor, asked, lru))
    draws = [_fill(held, room, _drawn(Random(seed))) for seed in range(RANDOM_DRAWS)]
    shares = [share(asked, (m.key for m in draw)) for draw in draws]
    mean, kept = sum(shares) / len(shares), sum(sum(m.tokens for m in draw) for draw in draws) // len(draws)
    found.append(Point("random", factor, kept, mean, mean))
    ttl = _fill_all(held, tokens)
    found.append(_point("TTL only", factor, asked, ttl))
    return found


def ceiling(asked: list[frozenset[str]], held: list[Held]) -> Point:
    """Everything kept near."""
    return _point("keep all", 1, asked, held)


def _point(name: str, factor: float, asked: list[frozenset[str]], kept: list[Held]) -> Point:
    there = share(asked, (m.key for m in kept))
    return Point(name, factor, sum(m.tokens for m in kept), there, there)


def _drawn(dice: Random) -> Callable[[Held], tuple[float, str]]:
    return lambda m: (dice.random(), m.key)


def _fill(held: list[Held], room: dict[str, int], order: Callable[[Held], tuple[float, str]]) -> list[Held]:
    """In this order as long as it fits into the scope's tokens; the first that doesn't ends it."""
    left, full, kept = dict(room), set[str](), []
    for m in sorted(held, key=order):
        if m.scope in full:
            continue
        if m.tokens > left.get(m.scope, 0):
            full.add(m.scope)
            continue
        left[m.scope] -= m.tokens
        kept.append(m)
    return kept


def _fill_all(held: list[Held], tokens: int) -> list[Held]:
    """One age for all scopes, counted from the newest memory of each: the greatest with which the tokens fit."""
    newest: dict[str, datetime] = {}
    for m in held:
        newest[m.scope] = max(newest.get(m.scope, m.last), m.last)
    kept, left = [], tokens
    for m in sorted(held, key=lambda m: (newest[m.scope] - m.last, m.key)):
        if m.tokens > left:
            break
        left -= m.tokens
        kept.append(m)
    return kept
