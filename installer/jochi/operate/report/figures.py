"""What a report is made of, read from any database: records, runs, memories, workers (DESIGN §10; docs/reference/report.md).

Every read is a page or goes through an index over what was done in the span; the memories are walked once, in pages of keys.
Nothing that a memory says is read.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from jochi.database.batches import PageSize
from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.errors import Refused
from jochi.graph.driver_values import read_as, to_python
from jochi.operate.report.span import Intervals, Span
from jochi.operate.status import Overview, overview
from jochi.policy.rules import TIERS

if TYPE_CHECKING:
    from jochi.client.jobs import JobVerbs

Progress = Callable[[str, float, float], None]
"""What is going on, how much of it is done, and how much there is."""

_INTERVALS_AT_ONCE = 31
_MOST_GROUPS = 20_000
_MEMORIES_AT_ONCE = 20_000
_FAILURES = 20
_SCOPES = 10
_DAYS_OF_SPENDING = 32
"""What was spent is kept for 31 days (`work/reserve`)."""
_BEYOND = "\U0010ffff\U0010ffff"
"""Comes after each key."""


@dataclass(frozen=True)
class Change:
    """What was done to ``n`` memories within the interval ``place``, of which ``undone`` were taken back since.

    ``kind``: '' where the record is of several. ``to``: the tier that they were moved to.
    """

    place: int
    action: str
    kind: str
    rule: str
    to: str | None
    n: int
    undone: int


@dataclass(frozen=True)
class HeldBack:
    """Memories that a rail held back within the interval ``place``, once for each rule and set of rails."""

    place: int
    rail: str
    n: int


@dataclass
class Changes:
    """What was done in a span, and what rails held. ``left_out``: how many more, in groups too small and many to be named."""

    changes: list[Change] = field(default_factory=list)
    held: list[HeldBack] = field(default_factory=list)
    left_out: int = 0

    def counts(self, name: Callable[[Change], str | None]) -> dict[tuple[str, str], tuple[int, int]]:
        """(number, undone) by rule and what ``name`` calls it, the most first; without what it calls None."""
        sums: dict[tuple[str, str], tuple[int, int]] = {}
        for change in self.changes:
            called = name(change)
            if called is not None:
                n, undone = sums.get((change.rule, called), (0, 0))
                sums[change.rule, called] = n + change.n, undone + change.undone
        return dict(sorted(sums.items(), key=lambda item: (-item[1][0], item[0])))

    def sum_of(self, *actions: str) -> int:
        """How many memories had one of these done to them."""
        return sum(change.n for change in self.changes if change.action in actions)

    def rails(self) -> dict[str, int]:
        """Memories by the rail that held them, the most first."""
        sums: Counter[str] = Counter()
        for held in self.held:
            sums[held.rail] += held.n
        return dict(sums.most_common())


GONE = frozenset({"prune", "merge"})
"""Actions that leave a tombstone."""

BACK = frozenset({"restore", "unmerge", "decompress"})
"""Actions that bring a memory or its content back."""


def gone(change: Change) -> str | None:
    """The kind, of what became a tombstone."""
    return change.kind if change.action in GONE else None


def moved_to(tier: str) -> str:
    """What a move is called."""
    return f"moved to {tier}"


_DONE = {
    "archive": "archived",
    "flag": "flagged",
    "unflag": "flag taken off",
    "state": "state set",
    "repair": "repaired",
    "compress": "compressed",
    "derive": "made or made anew",
    "edit": "edited",
    "restore": "restored",
    "unmerge": "unmerged",
    "decompress": "decompressed",
    "unarchive": "archival taken back",
    "unrepair": "repair taken back",
    "archive_edge": "relationship archived",
    "unarchive_edge": "archival of a relationship taken back",
    "slot": "placed in a slot",
    "pair": "pair found or gone",
    "decide": "decided by a person",
}


def less_than_gone(change: Change) -> str | None:
    """What was done to what stayed; None of prunes, merges and purges."""
    if change.action in GONE or change.action == "purge":
        return None
    return _DONE.get(change.action, change.action) if change.to is None else moved_to(change.to)


def read_changes(engine: Engine, intervals: Intervals, *, scope: str | None = None) -> Changes:
    """What was done in these intervals, by the records."""
    found = Changes()
    for first, page in intervals.pages(_INTERVALS_AT_ONCE):
        asked = {**page.asked(), "scope": scope, "most": _MOST_GROUPS}
        row = engine.call("report/changes", asked, write=False)
        found.changes += [Change(**{**entry, "place": first + entry["place"]}) for entry in row["changes"]]
        found.held += [HeldBack(**{**entry, "place": first + entry["place"]}) for entry in row["held"]]
        named = sum(entry["n"] for entry in (*row["changes"], *row["held"]))
        found.left_out += row["n"] + row["held_n"] - named
    return found


@dataclass(frozen=True)
class ScopeSize:
    """What one scope holds; ``tokens`` by tier, HOT first."""

    name: str
    n: int
    tokens: tuple[int, ...]


@dataclass
class Memories:
    """All memories, counted once. ``live``: (memories, tokens) by kind and tier; ``came``: by kind and interval of their
    creation, tombstones too; ``points``: live ones by their stored value score, to the half below it."""

    n: int = 0
    live: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    tombstones: dict[str, tuple[int, int]] = field(default_factory=dict)
    came: Counter[tuple[str, int]] = field(default_factory=Counter)
    came_and_went: Counter[str] = field(default_factory=Counter)
    """Of what came in the span, those that are tombstones now, by kind."""
    points: Counter[float] = field(default_factory=Counter)
    scopes: int = 0
    scopes_over: Counter[str] = field(default_factory=Counter)
    """Scopes above the budget of a tier."""
    scopes_with: Counter[str] = field(default_factory=Counter)
    """Scopes that have anything in a tier."""
    largest: list[ScopeSize] = field(default_factory=list)

    def by_tier(self) -> dict[str, tuple[int, int]]:
        """(memories, tokens) by tier."""
        return _sums((tier, found) for (_, tier), found in self.live.items())

    def by_kind(self) -> dict[str, tuple[int, int]]:
        """(memories, tokens) by kind."""
        return _sums((kind, found) for (kind, _), found in self.live.items())


def read_memories(
    engine: Engine,
    intervals: Intervals,
    budgets: Mapping[str, int],
    *,
    scope: str | None = None,
    on_progress: Progress | None = None,
) -> Memories:
    """Walks all live memories (of one scope) in the order of their keys, a page a transaction, and reads the tombstones."""
    found = Memories()
    asked = intervals.asked()
    total = engine.database.run(statement("report/stored"), write=False)[0]["live"]
    largest: list[tuple[int, str, ScopeSize]] = []

    def close(size: ScopeSize | None) -> None:
        if size is None:
            return
        found.scopes += 1
        for tier, tokens in zip(TIERS, size.tokens, strict=True):
            found.scopes_with[tier] += tokens > 0
            found.scopes_over[tier] += tokens > budgets.get(tier, tokens)
        heapq.heappush(largest, (sum(size.tokens), size.name, size))
        if len(largest) > _SCOPES:
            heapq.heappop(largest)

    open_scope: ScopeSize | None = None
    for row in _walk(engine, asked, scope):
        found.n += row["n"]
        for entry in row["live"]:
            n, tokens = found.live.get((entry["kind"], entry["tier"]), (0, 0))
            found.live[entry["kind"], entry["tier"]] = n + entry["n"], tokens + entry["tokens"]
        for entry in row["came"]:
            found.came[entry["kind"], entry["place"]] += entry["n"]
        for entry in row["points"]:
            found.points[entry["points"]] += entry["n"]
        # A scope's keys follow each other, so only the last of a page can go on in the next.
        for entry in row["scopes"]:
            size = ScopeSize(entry["scope"], entry["n"], tuple(entry["tokens"]))
            if open_scope is not None and open_scope.name == size.name:
                sums = tuple(a + b for a, b in zip(open_scope.tokens, size.tokens, strict=True))
                size = ScopeSize(size.name, size.n + open_scope.n, sums)
            else:
                close(open_scope)
            open_scope = size
        if on_progress is not None:
            on_progress("counting memories", found.n, max(total, found.n))
    close(open_scope)
    found.largest = [size for *_, size in sorted(largest, key=lambda item: (-item[0], item[1]))]
    for entry in engine.call("report/tombstones", {**asked, "scope": scope}, write=False)["groups"]:
        n, tokens = found.tombstones.get(entry["kind"], (0, 0))
        found.tombstones[entry["kind"]] = n + entry["n"], tokens + entry["tokens"]
        if entry["place"] is not None:
            found.came[entry["kind"], entry["place"]] += entry["n"]
            found.came_and_went[entry["kind"]] += entry["n"]
    return found


def _walk(engine: Engine, asked: Mapping[str, Any], scope: str | None) -> Iterator[dict[str, Any]]:
    # '0' is the character after '/': the keys between are those of the scope.
    after, before = ("", _BEYOND) if scope is None else (f"{scope}/", f"{scope}0")
    pages = PageSize(_MEMORIES_AT_ONCE)
    while True:
        row = engine.call_page("report/memories", {**asked, "after": after, "before": before}, pages, write=False)
        if row["last"] is None:
            return
        yield row
        after = row["last"]


@dataclass(frozen=True)
class RunCount:
    """Runs of a job that began within the interval ``place`` and ended with a status; ``milliseconds``: what they took in all."""

    job: str
    place: int
    status: str
    n: int
    selected: int
    changed: int
    milliseconds: int


@dataclass(frozen=True)
class JobSummary:
    """A job in the span. ``since``: its oldest run on record; ``median`` and ``most``: milliseconds of a run.

    ``left`` and ``came``: tokens by tier of what its runs moved.
    """

    job: str
    since: datetime
    median: int | None
    most: int | None
    put_aside: int
    left: tuple[int, ...]
    came: tuple[int, ...]


@dataclass(frozen=True)
class Failure:
    """A run that failed in part or whole, or was stopped. ``error``: as it is on record, with what it may quote of a memory."""

    id: str
    job: str
    started_at: datetime
    status: str | None
    error: str | None
    put_aside: int
    approved: datetime | None


@dataclass(frozen=True)
class Runs:
    """Runs of the span, its jobs, and the newest runs that failed or were stopped."""

    runs: list[RunCount]
    jobs: list[JobSummary]
    failures: list[Failure]

    def sum_of(self, job: str, *statuses: str) -> int:
        """Runs of a job, of any status or of these."""
        return sum(run.n for run in self.runs if run.job == job and (not statuses or run.status in statuses))


def read_runs(engine: Engine, intervals: Intervals) -> Runs:
    """The runs that began in these intervals."""
    row = engine.call("report/runs", {**intervals.asked(), "samples": _FAILURES}, write=False)
    jobs = [
        read_as(JobSummary, entry, left=tuple(entry["left"]), came=tuple(entry["came"]))
        for entry in to_python(row["jobs"])
    ]
    return Runs(
        [RunCount(**entry) for entry in row["runs"]], jobs, [Failure(**entry) for entry in to_python(row["failures"])]
    )


@dataclass(frozen=True)
class Spending:
    """What a derivation did on one day of UTC, and what its models took. ``money``: None where the policy has no prices."""

    derivation: str
    day: datetime
    items: int
    done: int
    tokens_in: int
    tokens_out: int
    rejected: int
    money: float | None


def read_spending(engine: Engine, intervals: Intervals, now: datetime) -> list[Spending]:
    """By derivation and day of UTC; older than a month nothing is on record."""
    last = intervals.until.replace(hour=0, minute=0, second=0, microsecond=0)
    days = [last - timedelta(days=day) for day in range(_DAYS_OF_SPENDING)]
    asked = [day for day in days if day > intervals.since - timedelta(days=1)]
    row = engine.call("report/spent", {"now": now, "days": asked}, write=False)
    return [Spending(**entry) for entry in to_python(row["spent"])]


@dataclass(frozen=True)
class Report:
    """Everything that a report says. ``scope``: it is of that one alone, and what speaks of the whole database is None.

    ``memories``: None where they weren't to be counted.
    """

    span: Span
    scope: str | None
    now: Overview
    policy: str
    budgets: Mapping[str, int]
    bands: Mapping[str, float] | None
    """Thresholds of the value score's bands; None where these aren't read from the score itself."""
    records: int
    records_since: datetime | None
    records_kept: timedelta
    changes: Changes
    memories: Memories | None
    runs: Runs | None
    spending: list[Spending] | None
    receipts: int | None
    forgettings: int | None


def read_report(
    client: JobVerbs,
    span: Span,
    *,
    scope: str | None = None,
    count: bool = True,
    on_progress: Progress | None = None,
) -> Report:
    """Reads all of it. ``count`` False leaves out the walk over all memories. `Refused` where Jochi isn't installed."""
    engine, policy = client.engine, client.policy.policy
    now = overview(client, tiers=False)
    if not now.installed:
        raise Refused("jochi is not installed", where=f"database {now.database}", fix="run `jochi install` first")
    if (other := engine.other_version()) is not None:
        raise other
    budgets: dict[str, int] = {tier: getattr(policy.tiers, tier) for tier in TIERS if hasattr(policy.tiers, tier)}
    size = engine.call("report/audit", {"samples": 0, "actions": False, "since": None}, write=False)
    if on_progress is not None:
        on_progress("reading records", 0, 1)
    changes = read_changes(engine, span, scope=scope)
    memories = read_memories(engine, span, budgets, scope=scope, on_progress=on_progress) if count else None
    whole = scope is None
    asked = {"since": span.since, "until": span.until}
    receipts = client.database.run(statement("report/receipts"), asked, write=False)[0] if whole else {}
    return Report(
        span,
        scope,
        now,
        client.policy.label,
        budgets,
        policy.value.bands.in_order if policy.value.profile == "seed" else None,
        size["records"],
        to_python(size["oldest"]),
        policy.audit_keep(),
        changes,
        memories,
        read_runs(engine, span) if whole else None,
        read_spending(engine, span, now.at.astimezone(timezone.utc)) if whole else None,
        receipts.get("receipts"),
        receipts.get("open"),
    )


def _sums(rows: Any) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for name, (n, tokens) in rows:
        before = sums.get(name, (0, 0))
        sums[name] = before[0] + n, before[1] + tokens
    return sums
