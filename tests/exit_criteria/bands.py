"""What the value score keeps of LoCoMo: TTLs alone against both profiles of its bands, on the same data and the same accesses.

Half of the questions are asked while the jobs run, each once, between its evidence and the end: its evidence and what was
observed from that is used then. The other half is never asked and judges what is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from tests.exit_criteria import curve
from tests.exit_criteria.activity import Event
from tests.exit_criteria.play import play

from jochi import Jochi
from jochi.write.importing import MemoryRecord

PROFILES = {"TTL only": "over_ttl = false", "seed": "profile = 'seed'", "relative": "profile = 'relative'"}
"""By name: what stands in `[value]`."""
QUIET = timedelta(days=240)
"""Played on after the last session, while nobody writes."""
EVERY = timedelta(days=6)
JOBS = ("fold_accesses", "roll_access_days", "curate_due", "enforce_budgets", "sweep_orphans")
LOOKS = 8

_KEPT = """
MATCH (m:Curated)
RETURN coalesce(m.tier, 'HOT') AS tier, count(*) AS memories, sum(coalesce(m.token_count, 0)) AS tokens
"""


@dataclass(frozen=True)
class Kept:
    """A look at what one profile keeps, so many days after the first memory: memories and tokens by tier."""

    profile: str
    days: int
    memories: Mapping[str, int]
    tokens: Mapping[str, int]


@dataclass(frozen=True)
class Left:
    """What one profile has left at the end, and the shares of questions, asked and not, with all their evidence near and there."""

    profile: str
    memories: int
    tokens: int
    asked_near: float
    asked_exists: float
    other_near: float
    other_exists: float


def halves(asked: Sequence[frozenset[str]]) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The questions that are asked, and the others."""
    return list(asked[::2]), list(asked[1::2])


def uses(asked: Sequence[frozenset[str]], records: Sequence[MemoryRecord], end: datetime) -> list[Event]:
    """Each question's evidence, and what was observed from it, used at one moment between the newest of these and ``end``."""
    born = {record.key: record.properties["created_at"] for record in records}
    observed = defaultdict(set)
    for record in records:
        for link in record.relationships:
            if link.type == "EVIDENCE":
                observed[link.to_key].add(record.key)
    events = []
    for number, evidence in enumerate(asked):
        keys = {key for turn in evidence for key in (turn, *observed[turn]) if key in born}
        if keys:
            since = max(born[key] for key in keys)
            at = since + (end - since) * Random(number).random()
            events += [Event(at.replace(microsecond=0), key, agent="asked") for key in sorted(keys)]
    return events


def compare(
    client: Jochi,
    profile: str,
    events: Sequence[Event],
    questions: Sequence[frozenset[str]],
    *,
    end: datetime,
) -> tuple[list[Kept], Left]:
    """Plays it all with the policy of ``client``, of which nothing but the profile's lines differ."""
    start = events[0].at
    looks = [start + (end - start) * (i + 1) / LOOKS for i in range(LOOKS)]
    found: list[Kept] = []

    def look(job: str, at: datetime) -> None:
        if job == "enforce_budgets" and len(found) < LOOKS and at + EVERY > looks[len(found)]:
            rows = client.database.run(_KEPT, write=False)
            memories = {row["tier"]: row["memories"] for row in rows}
            tokens = {row["tier"]: row["tokens"] for row in rows}
            found.append(Kept(profile, (at - start).days, memories, tokens))

    played = play(client, events, dict.fromkeys(JOBS, EVERY), start=start, end=end, after=look)
    if played.errors:
        raise RuntimeError(f"{profile}: {played.errors[0]}")
    held = curve.read(client)
    near, there = [m.key for m in held if m.tier != "ARCHIVE"], [m.key for m in held]
    shares = [curve.share(half, kept) for half in halves(questions) for kept in (near, there)]
    return found, Left(profile, len(held), sum(m.tokens for m in held), *shares)
