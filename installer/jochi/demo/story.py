"""What happened in a demonstration: the one object that the terminal and the report show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from jochi.operate.plan import Plan
from jochi.operate.results import Amount, TierReport
from jochi.temporal import to_python


@dataclass(frozen=True)
class Action:
    """What was done to ``n`` memories at one moment. ``replayed``: by the replay, else by a run in real time."""

    at: datetime
    action: str
    kind: str
    rule: str | None
    replayed: bool
    n: int
    keys: tuple[str, ...]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Action:
        """From a row of `demo/actions`."""
        plain = to_python(dict(row))
        return cls(**{**plain, "keys": tuple(plain["keys"])})


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

    @classmethod
    def from_node(cls, node: Mapping[str, Any], armed_at: datetime, rules: Mapping[str, str]) -> LiveRun:
        """From the properties of a :JochiJobRun that has ended. ``rules``: the tally's names of rules to their own."""
        plain = to_python(dict(node))
        started: datetime = plain["started_at"]
        return cls(
            plain["id"],
            plain["job"],
            started,
            (started - armed_at).total_seconds(),
            (plain["finished_at"] - started).total_seconds(),
            plain["status"],
            plain["selected"],
            plain["changed"],
            {rules[name]: n for name, n in plain.items() if name in rules},
        )


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
class Totals:
    """Memories and tokens of one kind and tier at three moments; tokens as the records carry them."""

    kind: str
    tier: str
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
    actions: tuple[Action, ...]

    held_back: Mapping[str, int]
    """By kind: memories that came in with an expiry for the live part."""
    plan: Plan
    applied: int
    armed_at: datetime
    live_until: datetime
    runs: tuple[LiveRun, ...]
    replay_jobs: tuple[JobLine, ...]

    phases: Mapping[str, float]
    """Seconds by part, in order."""
    kept: bool

    @property
    def label(self) -> str:
        """What to call the memories."""
        return "generated memories" if self.generated else "memories"

    @property
    def changing_runs(self) -> tuple[LiveRun, ...]:
        """Runs of curate_due that pruned something."""
        return tuple(run for run in self.runs if run.job == "curate_due" and run.changed > 0)

    def totals(self) -> list[Totals]:
        """By kind and tier: imported, after the replay, now."""
        three = [
            {(amount.kind, amount.tier): (amount.n, amount.tokens) for amount in report.live}
            for report in (self.imported, self.after_replay, self.after)
        ]
        places = sorted(set().union(*three))
        return [Totals(*place, *(found.get(place, (0, 0)) for found in three)) for place in places]

    def tombstones(self) -> dict[str, tuple[int, int]]:
        """(memories, tokens) by kind that can be brought back now."""
        return {amount.kind: (amount.n, amount.tokens) for amount in self.after.tombstones}

    def pruned(self) -> list[tuple[str, str, int, int]]:
        """(rule, kind, by the replay, by the database), most first."""
        counts: dict[tuple[str, str], list[int]] = {}
        for action in self.actions:
            if action.action == "prune":
                counts.setdefault((action.rule or "–", action.kind), [0, 0])[not action.replayed] += action.n
        return sorted(((rule, kind, a, b) for (rule, kind), (a, b) in counts.items()), key=lambda row: -row[2] - row[3])

    def purged(self) -> int:
        """Tombstones that were deleted for good."""
        return sum(action.n for action in self.actions if action.action == "purge")

    def job_lines(self) -> list[JobLine]:
        """Each job's runs: by the replay, then by the database."""
        times: dict[str, JobTimes] = {}
        for run in self.runs:
            times.setdefault(run.job, JobTimes()).add(run.took, run.selected, run.changed)
        return [*self.replay_jobs, *(times[job].line(job, "database") for job in sorted(times))]

    def examples(self) -> list[str]:
        """Keys of memories that the database pruned and that can be brought back."""
        live = [
            key for action in self.actions if action.action == "prune" and not action.replayed for key in action.keys
        ]
        return live[:3]


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
