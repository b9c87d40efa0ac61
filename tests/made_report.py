"""A report that no database was read for: numbers from a seed, names as given. For tests of the page."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from jochi.jobs.results import JobState
from jochi.operate.inbox import MOST, Inbox
from jochi.operate.report.figures import (
    Change,
    Changes,
    Failure,
    HeldBack,
    JobSummary,
    Memories,
    Report,
    RunCount,
    Runs,
    ScopeSize,
    Spending,
)
from jochi.operate.report.span import span
from jochi.operate.status import Overview, Paused, Tripped, Versions, Waiting
from jochi.operate.work import Backlog

NOW = datetime(2026, 11, 10, 12, 0, tzinfo=timezone.utc)
KINDS = (
    "MemoryEntry",
    "Notification",
    "Task",
    "Belief",
    "SessionContext",
    "Reflection",
    "Analysis",
    "Fact",
    "Note",
    "Person",
)
RULES = ("notification.read", "session.inactive", "any.expires_at", "task.completed", "score.prune")
JOBS = ("curate_due", "enforce_budgets", "merge_duplicates", "sweep_orphans", "purge_tombstones", "fold_accesses")
SCOPES = ("anna", "bert", "team-7")
BANDS = {"keep": 8.0, "lean": 5.0, "improve": 3.0, "demote": 1.5, "prune": 0.5}


def made_report(
    *,
    days: float = 30,
    kinds: Sequence[str] = KINDS,
    rules: Sequence[str] = RULES,
    jobs: Sequence[str] = JOBS,
    scopes: Sequence[str] = SCOPES,
    error: str = "Neo.ClientError.Statement.TypeError: it was 'a secret'",
    n: int = 40,
    zone: str = "Europe/Berlin",
) -> Report:
    """``n``: how much of everything; 0: an empty database."""
    dice = random.Random(7)
    over = span(NOW - timedelta(days=days), NOW, ZoneInfo(zone))
    places = range(len(over.starts))

    def some(names: Sequence[str]) -> str:
        return names[min(int(dice.expovariate(0.6)), len(names) - 1)]

    changes = Changes()
    memories = Memories()
    for place in places if n else ():
        for rule in rules:
            changes.changes.append(Change(place, "prune", some(kinds), rule, None, dice.randrange(1, n + 1), place % 3))
        changes.changes += [
            Change(place, "demote", "", "budget.HOT", "WARM", dice.randrange(1, n + 1), 0),
            Change(place, "archive", "Task", "task.completed", None, 2, 1),
            Change(place, "restore", some(kinds), "restore.asked", None, 1, 0),
        ]
        changes.held.append(HeldBack(place, dice.choice(("pinned", "consensus", "grace")), dice.randrange(1, 9)))
        for kind in kinds:
            memories.came[kind, place] = dice.randrange(0, 3 * n)
            memories.came_and_went[kind] += memories.came[kind, place] // 3
    for kind in kinds if n else ():
        for tier in ("HOT", "WARM", "COLD", "ARCHIVE"):
            amount = dice.randrange(1, 9 * n)
            memories.live[kind, tier] = (amount, amount * 31)
            memories.n += amount
        memories.tombstones[kind] = (n, 17 * n)
    if n:
        memories.points = Counter({low / 2: dice.randrange(1, 99) for low in range(-2, 19)})
        memories.scopes = len(scopes)
        memories.scopes_with.update(dict.fromkeys(("HOT", "WARM", "COLD", "ARCHIVE"), len(scopes)))
        memories.scopes_over["HOT"] = 1
        memories.largest = [ScopeSize(name, 900 - i, (1700, 300, 90, 40_000 - i)) for i, name in enumerate(scopes)]
    ends = ("ok", "ok", "ok", "partial", "failed", "breaker")
    runs = [
        RunCount(job, place, end, dice.randrange(1, 9), 900, dice.randrange(0, 90), 4_000)
        for job in jobs
        for place in places
        for end in dice.sample(ends, 2)
        if n
    ]
    summaries = [
        JobSummary(job, NOW - timedelta(days=20), 41, 12_345, 1, (9, 8, 7, 0), (0, 3, 4, 9)) for job in jobs if n
    ]
    failures = [Failure(f"{job}/3", job, NOW, "failed", error, 2, None) for job in jobs if n]
    midnight = NOW.replace(hour=0)
    spending = [
        Spending(name, midnight - timedelta(days=day), 9, 8, dice.randrange(9_000), dice.randrange(900), 1, 0.0123)
        for name in ("describe", "extract", "embed")
        for day in range(min(28, int(days)))
        if n
    ]
    backlog = Backlog(waiting=7, later=1, unsure=0, put_aside=2, oldest=None, an_hour=3.0, spent=None, money=None)
    now = Overview(
        "neo4j",
        NOW,
        True,
        Versions("0.2.0", "0.2.0", "default", "5.26.30", "community", "5.26.19"),
        None,
        jobs=list[JobState](),
        waiting=[Waiting("apply", "nobody has said go under this policy", None, list(jobs))] if n else [],
        paused=[Paused("scope", scopes[0], NOW, "ops", "jochi resume --scope …")] if n else [],
        tripped=[Tripped(scopes[0], kinds[0], NOW)] if n else [],
        work={"describe": backlog} if n else {},
        inbox=Inbox(NOW, (), {"go": 1, "duplicate": MOST} if n else {}, more=frozenset({"duplicate"} if n else ())),
    )
    return Report(
        over,
        None,
        now,
        "default@0123456789ab",
        {"HOT": 1600, "WARM": 400, "COLD": 200},
        BANDS,
        9_000 if n else 0,
        NOW - timedelta(days=25) if n else None,
        timedelta(days=30),
        changes,
        memories,
        Runs(runs, summaries, failures),
        spending,
        3 if n else 0,
        1 if n else 0,
    )
