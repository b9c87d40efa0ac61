"""What is to be watched from outside, for Prometheus (docs/reference/metrics.md): one read of the database, one table of metrics.

Labels are bounded: jobs, kinds, tiers, rules, rails, actions, outcomes, derivations and workers; scopes only where somebody asks
for the largest. Nothing that a memory says, no key of one, and no id of a run is in a metric.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from neo4j.exceptions import ClientError, DriverError, Neo4jError
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from jochi import clock
from jochi.database.server_facts import ServerFacts, read_facts
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, JochiError
from jochi.graph.driver_values import to_python
from jochi.operate.check import Level
from jochi.operate.inbox import KINDS, inbox
from jochi.operate.restart import restart_of, unread
from jochi.operate.work import Backlog
from jochi.operate.work import status as work_left
from jochi.schema.indexes import wanted_indexes
from jochi.version import __version__, minor_of

if TYPE_CHECKING:
    from jochi.client.jobs import JobVerbs

T = TypeVar("T")
Labels = tuple[str, ...]
Samples = Iterable[tuple[Labels, float]]

MOST_COUNTED = 100_000
"""Backlogs are counted up to here: more reads as this."""

MOST_LOOKED = 5_000
"""Memories that are read for a backlog that no index tells: long ones of the archive."""

MOST_KINDS = 64
"""Kinds that have a label of their own; the rest is `other`."""

MOST_SCOPES = 100
"""Scopes that `--by-scope` may name."""

LONGEST_LABEL = 200
"""Characters of a label's value."""

OUTCOMES = ("ok", "partial", "failed", "breaker", "crashed")
"""How runs end."""

RARELY = 300.0
"""Seconds for which what changes with a restart or an install is taken as it was: the server's facts, indexes, the restart line."""

INBOX_KEPT = 60.0
"""Seconds for which what waits for a person is taken as it was: pairs and doubts are many reads, and persons aren't that quick."""

MANY = 10_000
"""A backlog of so many changes slowly in proportion: it is taken as it was for `BACKLOG_KEPT`. Fewer are counted each time."""

BACKLOG_KEPT = 60.0
"""Seconds for which a long backlog of workers is taken as it was: counting it is most of what a read costs."""

_ALIVE = 3
"""A worker that says nothing for so many of its intervals is taken for gone."""

_PREFIX = "jochi_"


@dataclass(frozen=True)
class Rare:
    """What is looked at less often. ``offline``: indexes that are not ONLINE; None: may not be read."""

    facts: ServerFacts
    offline: int | None
    restart_line_missing: bool | None


@dataclass(frozen=True)
class Reading:
    """What one read found. ``row``: of `report/metrics`; None where no engine of this version is installed.

    ``armed``: of the repeat jobs `pump` and `watch`, whether APOC runs them; empty where none is to be armed or the list can't
    be read. ``inbox``: what waits for a person, by kind; empty where it wasn't asked for. ``kinds``: of the policy, and
    ``prunes``: the rules by which it may prune, with the label of the kind.
    """

    at: datetime
    rare: Rare
    row: Mapping[str, Any] | None = None
    work: Mapping[str, Backlog] = field(default_factory=dict)
    armed: Mapping[str, bool] = field(default_factory=dict)
    inbox: Mapping[str, int] = field(default_factory=dict)
    by_scope: int = 0
    kinds: tuple[str, ...] = ()
    prunes: tuple[tuple[str, str], ...] = ()

    @property
    def pump(self) -> Mapping[str, Any]:
        """The pump's properties; empty where nothing is installed."""
        return (self.row and self.row["pump"]) or {}


@dataclass(frozen=True)
class Metric:
    """One family of metrics: ``name`` with its ending, ``type`` as Prometheus names it, its samples of a `Reading` or of what else
    counts.

    ``source``: where the database has it from, for the reference.
    """

    name: str
    type: str
    help: str
    labels: Labels
    source: str
    samples: Callable[[Any], Samples]

    def family(self, found: Any) -> Family:
        """The family with its samples of ``found``."""
        labels, rows = list(self.labels), list(self.samples(found))
        if self.type == "counter":
            counter = CounterMetricFamily(self.name.removesuffix("_total"), self.help, labels=labels)
            for values, number in rows:
                counter.add_metric(_bounded(values), number)
            return counter
        if self.type == "info":
            info = InfoMetricFamily(self.name.removesuffix("_info"), self.help)
            for values, _ in rows:
                info.add_metric([], dict(zip(labels, _bounded(values), strict=True)))
            return info
        gauge = GaugeMetricFamily(self.name, self.help, labels=labels)
        for values, number in rows:
            gauge.add_metric(_bounded(values), number)
        return gauge


def _bounded(values: Labels) -> list[str]:
    return [value if len(value) <= LONGEST_LABEL else value[: LONGEST_LABEL - 1] + "…" for value in values]


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment is not None else 0.0


def _one(read: Callable[[Mapping[str, Any]], Any]) -> Callable[[Reading], Samples]:
    """One sample without labels: a number, a flag or a moment of the row; none where it is None."""

    def samples(found: Reading) -> Samples:
        value = None if found.row is None else read(found.row)
        if isinstance(value, datetime):
            value = _seconds(value)
        return [] if value is None else [((), float(value))]

    return samples


def _of_pump(name: str) -> Callable[[Reading], Samples]:
    return _one(lambda row: (row["pump"] or {}).get(name))


def _of_jobs(read: Callable[[Mapping[str, Any]], Any]) -> Callable[[Reading], Samples]:
    def samples(found: Reading) -> Samples:
        for job in found.row["jobs"] if found.row else ():
            value = read(job)
            if value is not None:
                yield (job["name"],), _seconds(value) if isinstance(value, datetime) else float(value)

    return samples


def _of_work(read: Callable[[Backlog], Any]) -> Callable[[Reading], Samples]:
    def samples(found: Reading) -> Samples:
        for name, backlog in found.work.items():
            value = read(backlog)
            if value is not None:
                yield (name,), _seconds(value) if isinstance(value, datetime) else float(value)

    return samples


def totals(found: Reading) -> Iterator[tuple[str, Mapping[str, int]]]:
    """The totals of runs by job: those of the schedule and those that somebody asks for."""
    row = found.row
    if row is None:
        return
    for name, total in [
        *((job["name"], job["total"]) for job in row["jobs"]),
        *((each["job"], each["total"]) for each in row["totals"]),
    ]:
        yield name, _counts(total)


def _counts(total: Mapping[str, Any] | None) -> dict[str, int]:
    """From the two lists of a total."""
    return dict(zip(total["names"] or (), total["counts"] or (), strict=True)) if total else {}


def _parts(counts: Mapping[str, int], what: str, parts: int) -> Iterator[tuple[Labels, int]]:
    """Of the names ``<what>|…`` the rest, in so many parts."""
    for name, n in counts.items():
        head, bar, rest = name.partition("|")
        if head == what and bar:
            yield tuple(rest.split("|", parts - 1)), n


def _summed(
    what: str,
    parts: int,
    *,
    by_job: bool = False,
    kind: int | None = None,
    ever: Callable[[Reading], Iterable[Labels]] | None = None,
) -> Callable[[Reading], Samples]:
    """What runs counted under ``what``, over all jobs or job by job. ``kind``: which of the labels is a kind, of which there are
    only so many. ``ever``: what is there from the start, with 0: Prometheus sees no increase where a counter begins at 1."""

    def samples(found: Reading) -> Samples:
        sums: Counter[Labels] = Counter(dict.fromkeys(ever(found) if ever else (), 0))
        for job, counts in totals(found):
            for labels, n in _parts(counts, what, parts):
                sums[(job, *labels) if by_job else labels] += n
        if kind is not None:
            sums = _few_kinds(sums, kind, found.kinds)
        return [(labels, float(n)) for labels, n in sorted(sums.items())]

    return samples


def _few_kinds(sums: Mapping[Labels, int], at: int, first: Sequence[str]) -> Counter[Labels]:
    """The same with the kinds beyond `MOST_KINDS` as `other`. Those named ``first`` come before the rest, which is in the order of
    names: by their counts a kind would go in and out of `other`, and a counter back."""
    there = {labels[at] for labels in sums}
    shown = {*[*(kind for kind in first if kind in there), *sorted(there.difference(first))][:MOST_KINDS]}
    found: Counter[Labels] = Counter()
    for labels, n in sums.items():
        found[tuple(v if i != at or v in shown else "other" for i, v in enumerate(labels))] += n
    return found


def known(found: Reading) -> list[str]:
    """The jobs of the schedule."""
    return [job["name"] for job in found.row["jobs"]] if found.row else []


def _changed(found: Reading) -> Samples:
    sums = dict.fromkeys(known(found), 0) | {job: counts.get("changed|memories", 0) for job, counts in totals(found)}
    return [((job,), float(n)) for job, n in sums.items()]


def _memories(column: str) -> Callable[[Reading], Samples]:
    def samples(found: Reading) -> Samples:
        counted = found.row and found.row["counted"]
        if not counted:
            return []
        sums: Counter[Labels] = Counter()
        for name, n in zip(counted["names"], counted[column], strict=True):
            tier, _, kind = name.partition("|")
            sums[kind, tier] += n
        return [(labels, float(n)) for labels, n in sorted(_few_kinds(sums, 0, found.kinds).items())]

    return samples


def _scopes(column: str) -> Callable[[Reading], Samples]:
    def samples(found: Reading) -> Samples:
        counted = found.row and found.row["counted"]
        if not counted or not found.by_scope:
            return []
        # Two long names may be shortened to one.
        sums: Counter[str] = Counter()
        for scope, n in list(zip(counted["scopes"] or (), counted[column] or (), strict=True))[: found.by_scope]:
            sums[_bounded((scope,))[0]] += n
        return [((scope,), float(n)) for scope, n in sums.items()]

    return samples


def _of_derivations(what: str) -> Callable[[Reading], Samples]:
    def samples(found: Reading) -> Samples:
        for each in found.row["derivations"] if found.row else ():
            for labels, n in sorted(_parts(_counts(each["total"]), what, 1)):
                yield (each["name"], *labels), float(n)

    return samples


def _costs(found: Reading) -> Samples:
    for each in found.row["derivations"] if found.row else ():
        if cost := each["total"]["cost"]:
            yield (each["name"],), float(cost)


def _build(found: Reading) -> Samples:
    facts = found.rare.facts
    policy = str(found.pump.get("policy") or "")
    return [((__version__, policy, facts.version, facts.edition, facts.apoc or ""), 1.0)]


def _last_change(row: Mapping[str, Any]) -> datetime | None:
    moments = [job["total"]["changed_at"] for job in row["jobs"] if job["total"] and job["total"]["changed_at"]]
    return max(moments, default=None)


def _workers(found: Reading) -> Samples:
    return [((each["id"],), _seconds(each["seen_at"])) for each in (found.row["workers"] if found.row else ())]


def _workers_alive(found: Reading) -> Samples:
    if found.row is None:
        return []
    alive = [
        each
        for each in found.row["workers"]
        if found.at - each["seen_at"] <= timedelta(seconds=_ALIVE * (each["every_s"] or 60))
    ]
    return [((), float(len(alive)))]


def _pauses(found: Reading) -> Samples:
    if found.row is None:
        return []
    on: Counter[str] = Counter(dict.fromkeys(("all", "job", "kind", "scope"), 0))
    for each in found.row["pauses"]:
        on[each["what"]] += each["n"]
    return [((what,), float(n)) for what, n in on.items()]


def _budgets(found: Reading) -> Samples:
    if found.row is None:
        return []
    over = dict.fromkeys(("HOT", "WARM", "COLD"), 0) | {each["tier"]: each["n"] for each in found.row["budgets_over"]}
    return [((tier,), float(n)) for tier, n in over.items()]


def _none(_found: Reading) -> Samples:
    return []


_OF_RUNS = "the totals of runs, `:JochiSpent`"
_OF_JOBS = "`:JochiJob`"
_OF_PUMP = "`:JochiPump`"
_STORED = "the count store"
_WALK = "the last walk of the job `hygiene`"
_WORK = "`:JochiWork` and the marks of memories, by index, up to 100,000"
_OF_DERIVATIONS = "the totals of derivations, `:JochiSpent`"

_GAUGE, _COUNTER = "gauge", "counter"

METRICS: tuple[Metric, ...] = (
    Metric("jochi_up", _GAUGE, "Whether the database answered and could be read.", (), "the read itself", _none),
    Metric("jochi_scrape_duration_seconds", _GAUGE, "How long the read took.", (), "the read itself", _none),
    Metric(
        "jochi_build_info",
        "info",
        "Versions of jochi, the policy, the server and APOC.",
        ("version", "policy", "server", "edition", "apoc"),
        "the server and `:JochiPump`",
        _build,
    ),
    Metric("jochi_curated_memories", _GAUGE, "Memories, now.", (), _STORED, _one(lambda row: row["stored"]["curated"])),
    Metric(
        "jochi_memories",
        _GAUGE,
        "Memories by kind and tier, when they were counted last.",
        ("kind", "tier"),
        _WALK,
        _memories("counts"),
    ),
    Metric(
        "jochi_memory_tokens",
        _GAUGE,
        "Tokens of memories by kind and tier, when they were counted last.",
        ("kind", "tier"),
        _WALK,
        _memories("tokens"),
    ),
    Metric(
        "jochi_memories_counted_timestamp_seconds",
        _GAUGE,
        "When memories were counted by kind and tier.",
        (),
        _WALK,
        _one(lambda row: row["counted"] and row["counted"]["at"]),
    ),
    Metric(
        "jochi_scope_memories",
        _GAUGE,
        "Memories of the largest scopes, only with --by-scope.",
        ("scope",),
        _WALK,
        _scopes("scope_counts"),
    ),
    Metric(
        "jochi_scope_tokens",
        _GAUGE,
        "Tokens of the largest scopes, only with --by-scope.",
        ("scope",),
        _WALK,
        _scopes("scope_tokens"),
    ),
    Metric(
        "jochi_memories_due",
        _GAUGE,
        "Memories that wait to be looked at, up to 100,000.",
        (),
        "the index of `next_due`",
        _one(lambda row: row["due"]["n"]),
    ),
    Metric(
        "jochi_memories_due_oldest_timestamp_seconds",
        _GAUGE,
        "Since when the memory waits that has waited longest; absent where none does.",
        (),
        "the index of `next_due`",
        _one(lambda row: row["due"]["oldest"]),
    ),
    Metric("jochi_tombstones", _GAUGE, "Tombstones.", (), _STORED, _one(lambda row: row["stored"]["tombstones"])),
    Metric(
        "jochi_tombstones_due",
        _GAUGE,
        "Tombstones that have stood long enough to be purged, up to 100,000.",
        (),
        "the index of `deleted_at`",
        _one(lambda row: row["tombstones_due"]),
    ),
    Metric(
        "jochi_records",
        _GAUGE,
        "Records of what was done (CurationAudit).",
        (),
        _STORED,
        _one(lambda row: row["stored"]["records"]),
    ),
    Metric(
        "jochi_snapshots",
        _GAUGE,
        "Copies that records keep (CurationSnapshot).",
        (),
        _STORED,
        _one(lambda row: row["stored"]["snapshots"]),
    ),
    Metric(
        "jochi_runs_total",
        _COUNTER,
        "Runs that ended: ok, partial, failed, breaker, or crashed (they were cut off).",
        ("job_name", "outcome"),
        _OF_RUNS,
        _summed("run", 1, by_job=True, ever=lambda found: product(known(found), OUTCOMES)),
    ),
    Metric(
        "jochi_run_duration_seconds",
        "histogram",
        "How long runs took from their first batch to their end.",
        ("job_name",),
        _OF_RUNS,
        _none,
    ),
    Metric("jochi_memories_changed_total", _COUNTER, "What runs changed.", ("job_name",), _OF_RUNS, _changed),
    Metric(
        "jochi_actions_total",
        _COUNTER,
        "What was done to memories; kind is empty where a job counts by action only.",
        ("action", "kind"),
        _OF_RUNS,
        _summed("action", 2, kind=1),
    ),
    Metric(
        "jochi_memories_pruned_total",
        _COUNTER,
        "Memories that were pruned, by the rule that asked for it.",
        ("rule", "kind"),
        _OF_RUNS,
        _summed("pruned", 2, kind=1, ever=lambda found: found.prunes),
    ),
    Metric(
        "jochi_memories_held_total",
        _COUNTER,
        "How often a rail held back what a rule asked for, look by look.",
        ("rail",),
        _OF_RUNS,
        _summed("rail", 1),
    ),
    Metric(
        "jochi_job_enabled",
        _GAUGE,
        "Whether the policy has the job run.",
        ("job_name",),
        _OF_JOBS,
        _of_jobs(lambda job: job["enabled"]),
    ),
    Metric(
        "jochi_job_failures",
        _GAUGE,
        "Failures of the job in a row.",
        ("job_name",),
        _OF_JOBS,
        _of_jobs(lambda job: job["failures"]),
    ),
    Metric(
        "jochi_job_last_start_timestamp_seconds",
        _GAUGE,
        "When the job's last run began.",
        ("job_name",),
        _OF_JOBS,
        _of_jobs(lambda job: job["started_at"]),
    ),
    Metric(
        "jochi_job_last_change_timestamp_seconds",
        _GAUGE,
        "When a run of the job last changed something.",
        ("job_name",),
        _OF_RUNS,
        _of_jobs(lambda job: job["total"] and job["total"]["changed_at"]),
    ),
    Metric(
        "jochi_job_next_start_timestamp_seconds",
        _GAUGE,
        "When the job is to start next.",
        ("job_name",),
        _OF_JOBS,
        _of_jobs(lambda job: job["next_start"]),
    ),
    Metric(
        "jochi_job_waits_since_timestamp_seconds",
        _GAUGE,
        "Since when the job waits for a person (a go, the guard, an approval); absent where it doesn't.",
        ("job_name",),
        _OF_JOBS,
        _of_jobs(lambda job: job["waits_since"]),
    ),
    Metric(
        "jochi_last_tick_timestamp_seconds",
        _GAUGE,
        "The pump's last sign of life.",
        (),
        _OF_PUMP,
        _of_pump("last_tick"),
    ),
    Metric(
        "jochi_last_change_timestamp_seconds",
        _GAUGE,
        "When a run of any job last changed something.",
        (),
        _OF_RUNS,
        _one(_last_change),
    ),
    Metric("jochi_pump_every_seconds", _GAUGE, "Seconds between two ticks.", (), _OF_PUMP, _of_pump("every_s")),
    Metric(
        "jochi_repeat_job_armed",
        _GAUGE,
        "Whether APOC runs the pump and the watch; absent where its list can't be read, or none is to be armed.",
        ("name",),
        "apoc.periodic.list",
        lambda found: [((name,), float(armed)) for name, armed in found.armed.items()],
    ),
    Metric(
        "jochi_paused",
        _GAUGE,
        "Kill switches that are on.",
        ("what",),
        "`:JochiPump`, `:JochiJob` and `:JochiPause`",
        _pauses,
    ),
    Metric(
        "jochi_waiting_for_go",
        _GAUGE,
        "Whether destructive jobs wait for `jochi apply`.",
        (),
        _OF_PUMP,
        _one(lambda row: row["pump"] and row["pump"]["applied_at"] is None),
    ),
    Metric(
        "jochi_guard_closed",
        _GAUGE,
        "Whether the gap guard waits for `jochi approve`.",
        (),
        _OF_PUMP,
        _one(lambda row: row["pump"] and row["pump"]["guard"] is not None),
    ),
    Metric(
        "jochi_breakers_tripped",
        _GAUGE,
        "Kinds in scopes for which the circuit breaker has a job stand still.",
        (),
        _OF_JOBS,
        _one(lambda row: row["tripped"]),
    ),
    Metric(
        "jochi_restart_line_missing",
        _GAUGE,
        "Whether a restart of the server has not armed the jobs again; absent where nothing shows it.",
        (),
        _OF_PUMP,
        lambda found: [] if (missing := found.rare.restart_line_missing) is None else [((), float(missing))],
    ),
    Metric(
        "jochi_budgets_over",
        _GAUGE,
        "Scopes above a token budget by what can't be moved.",
        ("tier",),
        "`:JochiBudget`, as the job `enforce_budgets` left it",
        _budgets,
    ),
    Metric(
        "jochi_quarantined_memories",
        _GAUGE,
        "Memories that are put aside after a failure.",
        (),
        "the runs that put them aside",
        _one(lambda row: row["quarantined"]),
    ),
    Metric(
        "jochi_work_waiting",
        _GAUGE,
        "Work that a worker may take now, up to 100,000 of a sort.",
        ("derivation",),
        _WORK,
        _of_work(lambda backlog: backlog.waiting),
    ),
    Metric(
        "jochi_work_oldest_timestamp_seconds",
        _GAUGE,
        "Since when the work waits that has waited longest.",
        ("derivation",),
        _WORK,
        _of_work(lambda backlog: backlog.oldest),
    ),
    Metric(
        "jochi_work_put_aside",
        _GAUGE,
        "Work that workers gave up on.",
        ("derivation",),
        _WORK,
        _of_work(lambda backlog: backlog.put_aside),
    ),
    Metric(
        "jochi_derivation_items_total",
        _COUNTER,
        "What became of work: done, failed, put_aside.",
        ("derivation", "outcome"),
        _OF_DERIVATIONS,
        _of_derivations("item"),
    ),
    Metric(
        "jochi_model_tokens_total",
        _COUNTER,
        "Tokens that models were sent (in) and wrote (out).",
        ("derivation", "direction"),
        _OF_DERIVATIONS,
        _of_derivations("tokens"),
    ),
    Metric(
        "jochi_model_cost_total",
        _COUNTER,
        "What models cost, in the currency of the policy's prices, at the prices of the day.",
        ("derivation",),
        _OF_DERIVATIONS,
        _costs,
    ),
    Metric(
        "jochi_worker_last_seen_timestamp_seconds",
        _GAUGE,
        "When a worker last said that it lives; one that ended as asked is absent, one that didn't is shown for a week.",
        ("worker",),
        "`:JochiWorker`, 50 at most",
        _workers,
    ),
    Metric("jochi_workers", _GAUGE, "Workers that live.", (), "`:JochiWorker`", _workers_alive),
    Metric(
        "jochi_forgettings_open",
        _GAUGE,
        "Forgettings that are under way or were cut off.",
        (),
        "`:JochiForgetting`",
        _one(lambda row: row["forgettings"]),
    ),
    Metric(
        "jochi_indexes_offline",
        _GAUGE,
        "Indexes of Jochi's that are not ONLINE.",
        (),
        "SHOW INDEXES, every 5 minutes",
        lambda found: [] if found.rare.offline is None else [((), float(found.rare.offline))],
    ),
    Metric(
        "jochi_inbox_items",
        _GAUGE,
        "What waits for a person.",
        ("kind",),
        "`jochi inbox`",
        lambda found: [((kind,), float(n)) for kind, n in found.inbox.items()],
    ),
)
"""Every metric of the database, in the order in which they are shown. What a worker counts of itself: `jochi_workers.metrics`."""


def _durations(found: Reading, about: Metric) -> Family:
    """The histogram, from the counts of single buckets."""
    family = HistogramMetricFamily(about.name, about.help, labels=list(about.labels))
    for job, counts in totals(found):
        took = {float(labels[0]): n for labels, n in _parts(counts, "took", 1)}
        if not took:
            continue
        of_now = found.row["bounds"] if found.row else ()
        bounds = sorted({*map(float, of_now), *took, float("inf")})
        buckets, sum_so_far = [], 0
        for bound in bounds:
            sum_so_far += took.get(bound, 0)
            buckets.append(("+Inf" if bound == float("inf") else repr(bound), sum_so_far))
        family.add_metric(_bounded((job,)), buckets, counts.get("took_ms", 0) / 1000)
    return family


def families(found: Reading | None, seconds: float) -> Iterator[Family]:
    """All families of what one read found, which took ``seconds``; of None, that there was no answer."""
    for metric in METRICS:
        if metric.name == "jochi_up":
            yield GaugeMetricFamily(metric.name, metric.help, value=0 if found is None else 1)
        elif metric.name == "jochi_scrape_duration_seconds":
            yield GaugeMetricFamily(metric.name, metric.help, value=seconds)
        elif found is not None:
            yield _durations(found, metric) if metric.type == "histogram" else metric.family(found)


@dataclass
class _Kept(Generic[T]):
    """What was read, taken as it was for so many ``seconds``."""

    seconds: float
    last: tuple[float, T] | None = None

    def read(self, now: float, look: Callable[[], T], worth: Callable[[T], bool] = lambda _: True) -> T:
        """What is known, else what ``look`` finds; that is kept only if it is ``worth`` it."""
        if self.last is not None and now - self.last[0] < self.seconds:
            return self.last[1]
        found = look()
        self.last = (now, found) if worth(found) else None
        return found


class Metrics(Collector):
    """Reads the database where it is collected, one read at a time; within ``keep`` seconds everybody gets what was read before.

    Where there is no answer `jochi_up` is 0, and ``fault`` says why.
    """

    def __init__(
        self, client: JobVerbs, *, by_scope: int = 0, keep: float = 0.0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.fault: str | None = None
        self.found: Reading | None = None
        self._client = client
        self._by_scope = min(by_scope, MOST_SCOPES)
        self._keep = keep
        self._monotonic = monotonic
        self._lock = Lock()
        self._forget()
        self._generation: int | None = None
        self._read_at: float | None = None
        self._seconds = 0.0

    @property
    def stall_after(self) -> timedelta:
        """How old the last tick of a pump may be that makes progress."""
        return self._client.policy.policy.scheduler.stall_after

    def describe(self) -> Iterable[Family]:
        """Nothing: registering reads nothing."""
        return []

    def collect(self) -> Iterator[Family]:
        """All families."""
        yield from families(*self._look(waits=True))

    def look(self) -> Reading | None:
        """What a read finds now, or was found within ``keep`` seconds, without what waits for a person; None where there is no
        answer."""
        return self._look(waits=False)[0]

    def _look(self, *, waits: bool) -> tuple[Reading | None, float]:
        with self._lock:
            began = self._monotonic()
            stale = self._read_at is None or began - self._read_at >= self._keep
            try:
                if stale:
                    self.found, self.fault = self._read(), None
                if waits and self.found is not None:
                    self.found = replace(self.found, inbox=self._waits(self.found))
            except (JochiError, Neo4jError, DriverError) as error:
                self.found = None
                self._forget()  # another server may answer next
                self.fault = error.what if isinstance(error, JochiError) else _name_of(error)
                self._client.engine.refresh()
            if stale:
                self._read_at = self._monotonic()
                self._seconds = self._read_at - began
            return self.found, self._seconds

    def _read(self) -> Reading:
        client, now = self._client, clock.now()
        client.database.expect_answer()
        engine = client.engine
        if engine.other_version() is not None or not engine.has("report/metrics"):
            engine.refresh()  # somebody may install it meanwhile
            return Reading(now, self._rarely(None))
        asked = {"now": now, "pump": engine.pump, "scopes": self._by_scope}
        row = to_python(engine.call("report/metrics", asked, write=False))
        rare = self._rarely(row["pump"])
        generation = (row["pump"] or {}).get("generation")
        if self._generation not in (None, generation):
            engine.refresh()  # it was installed anew since the texts were read
        self._generation = generation
        return Reading(
            now,
            rare,
            row,
            self._backlogs(now),
            _armed(client, rare.facts, row["pump"] or {}),
            by_scope=self._by_scope,
            kinds=tuple(client.policy.policy.kinds),
            prunes=client.policy.policy.prunes(),
        )

    def _forget(self) -> None:
        """Nothing that is looked at less often is known."""
        self._rare = _Kept[Rare](RARELY)
        self._inbox = _Kept[Mapping[str, int]](INBOX_KEPT)
        self._work = _Kept[Mapping[str, Backlog]](BACKLOG_KEPT)

    def _rarely(self, pump: Mapping[str, Any] | None) -> Rare:
        def look() -> Rare:
            facts = read_facts(self._client.database)
            return Rare(facts, _offline(self._client), _line_missing(self._client, facts, pump))

        return self._rare.read(self._monotonic(), look)

    def _backlogs(self, now: datetime) -> Mapping[str, Backlog]:
        """What waits for workers, by derivation; as of within `BACKLOG_KEPT` where it is much."""
        return self._work.read(
            self._monotonic(),
            lambda: work_left(self._client.engine, now, most=MOST_COUNTED, looked=MOST_LOOKED),
            lambda work: any(one.waiting >= MANY for one in work.values()),
        )

    def _waits(self, found: Reading) -> Mapping[str, int]:
        """What waits for a person, by kind, as of within `INBOX_KEPT`."""
        if not found.pump:
            return {}
        return self._inbox.read(self._monotonic(), lambda: self._count(found.rare.facts))

    def _count(self, facts: ServerFacts) -> Mapping[str, int]:
        counts = inbox(self._client, limit=0, facts=facts).counts
        return {kind: counts.get(kind, 0) for kind in KINDS}


def _name_of(error: Neo4jError | DriverError) -> str:
    return str(error.code) if isinstance(error, Neo4jError) else type(error).__name__


def _armed(client: JobVerbs, facts: ServerFacts, pump: Mapping[str, Any]) -> dict[str, bool]:
    if not pump.get("armed") or "apoc.periodic.list" not in facts.callable:
        return {}
    engine = client.engine
    rows = client.database.run(statement("install/repeat_jobs"), {"names": [engine.pump, engine.watch]})
    runs = {row["name"]: row["rate"] is not None and row["rate"] == row["every_s"] for row in rows}
    return {"pump": runs.get(engine.pump, False), "watch": runs.get(engine.watch, False)}


def _offline(client: JobVerbs) -> int | None:
    ours = {index.name for index in wanted_indexes(client.policy.policy)}
    try:
        rows = client.database.run(statement("report/indexes"), write=False)
    except ClientError:
        return None
    return sum(1 for row in rows if row["state"] != "ONLINE" and (row["name"] in ours or _is_ours(row["label"])))


def _is_ours(label: str | None) -> bool:
    return label in {"Curated", "Tombstone", "CurationAudit"} or (label or "").startswith("Jochi")


def _line_missing(client: JobVerbs, facts: ServerFacts, pump: Mapping[str, Any] | None) -> bool | None:
    if pump is None or not pump.get("armed"):
        return None
    try:
        started: datetime | None = to_python(client.database.run(statement("server/started_at"))[0]["started_at"])
    except ClientError:
        started = None
    level = restart_of(client.database, facts, pump, started, unread).level
    return None if level is Level.UNKNOWN else level is not Level.OK


def registry(client: JobVerbs, *, by_scope: int = 0, keep: float = 0.0) -> CollectorRegistry:
    """A registry that reads the database of ``client`` whenever it is collected, at most once in ``keep`` seconds.

    ``by_scope``: also the memories and tokens of so many of the largest scopes, at most `MOST_SCOPES`.
    """
    made = CollectorRegistry(auto_describe=False)
    made.register(Metrics(client, by_scope=by_scope, keep=keep))
    return made


def openmetrics(client: JobVerbs, *, by_scope: int = 0) -> str:
    """What is to be watched from outside, as OpenMetrics text (docs/reference/metrics.md).

    ``by_scope``: also the memories and tokens of so many of the largest scopes. Raises `ConnectionFailed`
    where there is no answer.
    """
    collector = Metrics(client, by_scope=by_scope)
    made = CollectorRegistry(auto_describe=False)
    made.register(collector)
    text = str(generate_latest(made).decode("utf-8"))  # type: ignore[no-untyped-call]
    if collector.found is None:
        raise ConnectionFailed(collector.fault or "no answer", fix="`jochi doctor` looks for the cause")
    return text


def why_not_ready(metrics: Metrics) -> str | None:
    """Why what ``metrics`` reads isn't ready to be used, in one line; None where the database answers, the engine is installed in
    this version, and its pump, where it is armed, ticked lately."""
    found = metrics.look()
    if found is None:
        return metrics.fault or "no answer from the database"
    pump = found.pump
    if not pump:
        return f"jochi {__version__} is not installed in the database"
    if minor_of(pump["version"]) != minor_of(__version__):
        return f"jochi {pump['version']} is installed in the database, and this is {__version__}"
    tick, late = pump["last_tick"], metrics.stall_after
    if pump["armed"] and (tick is None or found.at - tick > late):
        return f"the pump has not ticked for {int(late.total_seconds())} s"
    return None
