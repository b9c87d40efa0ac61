"""What happened in a demonstration: the one object that the terminal and the report show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any, TypeVar

from jochi.curate.plan import Plan
from jochi.graph.driver_values import read_as, to_python
from jochi.operate.report.figures import Change, Changes, gone, less_than_gone
from jochi.operate.report.span import Intervals
from jochi.operate.results import Amount, TierReport
from jochi.policy.rules import TIERS

K = TypeVar("K")

_REPAIRED = "repaired_"


@dataclass(frozen=True)
class NearTokens:
    """Tokens by tier at one moment of the replay, after the budgets were looked at."""

    at: datetime
    tokens: Mapping[str, int]


@dataclass(frozen=True)
class Budgets:
    """The token budget of each tier in one scope, the number of scopes, and what stands above a budget because it can't move."""

    tokens: Mapping[str, int]
    scopes: int
    overflowing: int

    def of(self, tier: str) -> int | None:
        """The tier's budget in all scopes together; ARCHIVE has none."""
        return self.tokens[tier] * self.scopes if tier in self.tokens else None

    @property
    def total(self) -> int:
        """All budgets in all scopes."""
        return sum(self.tokens.values()) * self.scopes


@dataclass(frozen=True)
class LiveRun:
    """A run that the database made on its own. ``seconds`` since the jobs were armed; ``took`` in seconds."""

    id: str
    job: str
    started_at: datetime
    seconds: float
    took: float
    status: str
    selected: int
    changed: int
    rules: Mapping[str, int]
    """What it changed by rule or move, most first."""

    @classmethod
    def from_node(cls, node: Mapping[str, Any], armed_at: datetime, rules: Mapping[str, str]) -> LiveRun:
        """From the properties of a :JochiJobRun that has ended. ``rules``: names of a tally to those of rules and moves."""
        plain = to_python(dict(node))
        started: datetime = plain["started_at"]
        called = {name: rules.get(name) or name.replace(_REPAIRED, "hygiene.", 1) for name in plain}
        named = {called[name]: n for name, n in plain.items() if name in rules or name.startswith(_REPAIRED)}
        seconds, took = (started - armed_at).total_seconds(), (plain["finished_at"] - started).total_seconds()
        by_most = dict(sorted(named.items(), key=lambda found: -found[1]))
        return read_as(cls, plain, seconds=seconds, took=took, rules=by_most)


@dataclass(frozen=True)
class JobLine:
    """All runs of one job by one runner (`replay` or `database`). Times in seconds."""

    job: str
    runner: str
    runs: int
    changing: int
    selected: int
    changed: int
    total: float
    median: float


@dataclass
class JobTimes:
    """Collects runs of one job by one runner."""

    took: list[float] = field(default_factory=list)
    changing: int = 0
    selected: int = 0
    changed: int = 0

    def add(self, took: float, selected: int, changed: int) -> None:
        """One more run."""
        self.took.append(took)
        self.changing += changed > 0
        self.selected += selected
        self.changed += changed

    def line(self, job: str, runner: str) -> JobLine:
        """What they come to."""
        total, middle = sum(self.took), median(self.took) if self.took else 0.0
        return JobLine(job, runner, len(self.took), self.changing, self.selected, self.changed, total, middle)


@dataclass(frozen=True)
class Embeddings:
    """What a worker embedded, in how many seconds, leasing and storing included."""

    model: str
    done: int
    failed: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Memories a second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Start:
    """What an agent of one scope starts with, of all that lives there; tokens as the manifest counts them."""

    scope: str
    memories: int
    tokens: int
    max_tokens: int
    of_memories: int
    of_tokens: int


@dataclass(frozen=True)
class Totals:
    """Memories and tokens of one kind, or of one tier, at three moments; tokens as the records carry them."""

    name: str
    imported: tuple[int, int]
    replayed: tuple[int, int]
    now: tuple[int, int]


@dataclass(frozen=True)
class Story:
    """One demonstration from beginning to end."""

    source: str
    generated: bool
    licence: str | None
    seed: int | None
    versions: Mapping[str, str]
    began_at: datetime
    policy: str

    memories: int
    relationships: int
    bad_count: int
    bad: tuple[str, ...]
    span: tuple[datetime, datetime]
    replayed_until: datetime
    caught_up_at: datetime
    step: timedelta
    breaker: Mapping[str, int]
    """Memories that the circuit breaker held back, in the `replay` and in the `database`; empty if it never did."""

    imported: TierReport
    """All that was imported, with what was held back from the replay."""
    after_replay: TierReport
    after: TierReport
    created: Mapping[tuple[str, datetime], int]
    steps: Intervals
    """Those of the replay; the last one goes on to the live part."""
    replayed: Changes
    """What the replay did, in its steps."""
    alone: Changes
    """What the database did on its own."""
    examples: tuple[str, ...]
    """Keys of memories that the database pruned on its own and that can be brought back."""
    near: tuple[NearTokens, ...]
    budgets: Budgets
    starts: tuple[Start, ...]

    held_back: Mapping[str, int]
    """By kind: memories that came in with an expiry for the live part."""
    plan: Plan
    applied: int
    armed_at: datetime
    live_until: datetime
    runs: tuple[LiveRun, ...]
    replay_jobs: tuple[JobLine, ...]

    embeddings: Embeddings | None
    """None without the extra `[embeddings]`."""

    phases: Mapping[str, float]
    """Seconds by part, in order."""
    kept: bool

    @property
    def label(self) -> str:
        """What to call the memories."""
        return "generated memories" if self.generated else "memories"

    @property
    def changing_runs(self) -> tuple[LiveRun, ...]:
        """Runs that changed something, of whatever job."""
        return tuple(run for run in self.runs if run.changed > 0)

    @property
    def budget_words(self) -> str:
        """What the budgets mean, and how many scopes stand above them."""
        scopes = self.budgets.scopes
        where = "" if scopes == 1 else f", here in {scopes:,} scopes"
        above = f" In {self.budgets.overflowing:,} what is pinned weighs more." if self.budgets.overflowing else ""
        return (
            f"Budgets bound the tokens that are kept near{where}. What doesn't fit goes down, at last to ARCHIVE, which has no "
            f"budget and is still found by recall.{above}"
        )

    def totals(self) -> list[Totals]:
        """By kind: imported, after the replay, now."""
        three = [_by_kind(report) for report in (self.imported, self.after_replay, self.after)]
        kinds = sorted(set().union(*three))
        return [Totals(kind, *(found.get(kind, (0, 0)) for found in three)) for kind in kinds]

    def tiers(self) -> list[Totals]:
        """By tier, nearest first: imported, after the replay, now. What has none of the four comes last."""
        three = [report.by_tier() for report in (self.imported, self.after_replay, self.after)]
        others = sorted(set().union(*three) - set(TIERS))
        return [Totals(tier, *(found.get(tier, (0, 0)) for found in three)) for tier in (*TIERS, *others)]

    def tombstones(self) -> dict[str, tuple[int, int]]:
        """(memories, tokens) by kind that can be brought back now."""
        return {amount.kind: (amount.n, amount.tokens) for amount in self.after.tombstones}

    def pruned(self) -> list[tuple[str, str, int, int]]:
        """Pruned, and merged into another: (rule, kind, by the replay, by the database), most first."""
        return self._counts(gone)

    def changed(self) -> list[tuple[str, str, int, int]]:
        """Archived, moved and flagged: (rule, what it did, by the replay, by the database), most first."""
        return self._counts(lambda change: less_than_gone(change) if change.to or change.action in _SHOWN else None)

    def rails(self) -> list[tuple[str, int, int]]:
        """What rails held: (rail, in the replay, in runs of the database), most first."""
        return _beside(self.replayed.rails(), self.alone.rails())

    def sum_of(self, did: str) -> int:
        """Times something was done whose name in `changed` begins so."""
        return sum(a + b for _, name, a, b in self.changed() if name.startswith(did))

    def _counts(self, name: Callable[[Change], str | None]) -> list[tuple[str, str, int, int]]:
        both = ({place: n for place, (n, _) in found.counts(name).items()} for found in (self.replayed, self.alone))
        return [(rule, called, a, b) for (rule, called), a, b in _beside(*both)]

    def purged(self) -> int:
        """Tombstones that were deleted for good."""
        return self.replayed.sum_of("purge") + self.alone.sum_of("purge")

    def job_lines(self) -> list[JobLine]:
        """Each job's runs: by the replay, then by the database."""
        times: dict[str, JobTimes] = {}
        for run in self.runs:
            times.setdefault(run.job, JobTimes()).add(run.took, run.selected, run.changed)
        return [*self.replay_jobs, *(times[job].line(job, "database") for job in sorted(times))]


_SHOWN = frozenset({"archive", "flag", "unflag", "state"})
"""What rules do to what stays. The others follow from how the demonstration brings memories in."""


def _beside(replayed: Mapping[K, int], alone: Mapping[K, int]) -> list[tuple[K, int, int]]:
    rows = [(key, replayed.get(key, 0), alone.get(key, 0)) for key in {**replayed, **alone}]
    return sorted(rows, key=lambda row: -row[1] - row[2])


def _by_kind(report: TierReport) -> dict[str, tuple[int, int]]:
    kinds = {amount.kind for amount in report.live}
    return {kind: total((found.n, found.tokens) for found in report.live if found.kind == kind) for kind in kinds}


def total(rows: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Memories and tokens, summed."""
    found = list(rows)
    return sum(n for n, _ in found), sum(tokens for _, tokens in found)


def with_arrivals(imported: TierReport, before: TierReport, after: TierReport) -> TierReport:
    """``imported``, and besides what came in between the reports ``before`` and ``after``."""
    counts: dict[tuple[str, str], list[int]] = {}
    for report, sign in ((imported, 1), (before, -1), (after, 1)):
        for amount in report.live:
            found = counts.setdefault((amount.kind, amount.tier), [0, 0])
            found[0] += sign * amount.n
            found[1] += sign * amount.tokens
    return TierReport([Amount(*place, *found) for place, found in sorted(counts.items())], imported.tombstones)
