"""The policy's tables that hold for all kinds, as types: rails, limits, queue, scheduler, jobs and the like (DESIGN §5, §8).

Each checks itself; `model` checks what they say of each other and of the kinds.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, model_validator

from jochi.policy.durations import Duration, format_duration
from jochi.policy.parts import Count, Name, Part, PositiveDuration, Share, repeated
from jochi.policy.rules import Condition
from jochi.policy.schedule import FixedSlot
from jochi.text.slot_names import normal_text

_PROCEDURE_NAME = re.compile(r"[a-z_]+/[a-z0-9_]+")


class About(Part):
    """`[policy]`: the name that runs and audits carry, and the zone of fixed slots."""

    name: Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$")]
    """The name that runs and audit records carry."""
    time_zone: str = "UTC"
    """The time zone of fixed slots, such as `Europe/Berlin`."""
    extends: Literal["default", "rules"] | None = None
    """`default`: this file says only what differs from the shipped policy. `rules`: from the same, where nothing is derived."""

    @model_validator(mode="after")
    def _zone_exists(self) -> About:
        try:
            ZoneInfo(self.time_zone)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(f"there is no time zone {self.time_zone!r}") from error
        return self


class Queue(Part):
    """`[queue]`: when a memory is looked at again (DESIGN §8)."""

    volatile_horizon: PositiveDuration
    """The longest wait until the next look at a memory whose verdict depends on what apps write."""
    horizon_min: PositiveDuration
    """The shortest wait until the next look at any other memory."""
    horizon_max: PositiveDuration
    """The longest wait until the next look at any other memory."""
    horizon_growth: Share
    """The share of its age that a memory may wait for the next look."""
    pause_recheck: PositiveDuration
    """The wait until the next look at a memory of a paused kind or scope."""

    @model_validator(mode="after")
    def _in_order(self) -> Queue:
        if self.horizon_min > self.horizon_max:
            raise ValueError("horizon_min is longer than horizon_max")
        return self


class RailFloor:
    """The rails as seed 000 (Never-Prune Safety Rails) and DESIGN §8 state them: the floor under every policy."""

    grace = timedelta(hours=24)
    active_tasks = ("in_progress", "pending", "blocked")
    active_beliefs = ("active", "core", "validated")
    confident_belief = 0.9
    proven_accesses = 5
    consensus_agents = 4
    lock_ttl = timedelta(minutes=10)
    hold = timedelta(days=30)


class Rails(Part):
    """`[rails]`: thresholds of the never-prune rails. Each may only be as strict as `RailFloor` or stricter."""

    grace: Duration
    """No younger memory is pruned."""
    active_tasks: Annotated[tuple[str, ...], Field(strict=False)]
    """The values of `status` with which a Task is never pruned."""
    active_beliefs: Annotated[tuple[str, ...], Field(strict=False)]
    """The values of `state` with which a Belief counts as active."""
    confident_belief: Share
    """An active Belief of this confidence or more is never pruned."""
    proven_accesses: Annotated[int, Field(ge=0)]
    """A consolidated Reflection with more accesses than this is never pruned."""
    consensus_agents: Annotated[int, Field(ge=1)]
    """A memory that so many distinct agents share is never pruned."""
    lock_ttl: Duration
    """How long the lock of an agent is honoured."""
    hold: Duration
    """How long restore and undo protect what they bring back."""

    @model_validator(mode="after")
    def _never_looser_than_the_floor(self) -> Rails:
        floor = RailFloor
        looser = {
            f"grace: at least {format_duration(floor.grace)}": self.grace < floor.grace,
            f"active_tasks: all of {list(floor.active_tasks)}": not set(floor.active_tasks) <= set(self.active_tasks),
            f"active_beliefs: all of {list(floor.active_beliefs)}": not set(floor.active_beliefs)
            <= set(self.active_beliefs),
            f"confident_belief: at most {floor.confident_belief}": self.confident_belief > floor.confident_belief,
            f"proven_accesses: at most {floor.proven_accesses}": self.proven_accesses > floor.proven_accesses,
            f"consensus_agents: at most {floor.consensus_agents}": self.consensus_agents > floor.consensus_agents,
            f"lock_ttl: at least {format_duration(floor.lock_ttl)}": self.lock_ttl < floor.lock_ttl,
            f"hold: at least {format_duration(floor.hold)}": self.hold < floor.hold,
        }
        wrong = [wanted for wanted, is_looser in looser.items() if is_looser]
        if wrong:
            raise ValueError("a policy can tighten the rails, never loosen them: " + "; ".join(wrong))
        return self


class BreakerBound:
    """The circuit breaker as DESIGN §8 states it: what no run and no day prunes more than, under any policy."""

    window = timedelta(hours=24)
    share = 0.1
    floor = 100


class Limits(Part):
    """`[limits]`: the circuit breaker, tombstones, history, plans.

    Of a kind in a scope, in a rolling ``breaker_window`` and in one run, no more is pruned than a share of what lives, but at
    least a floor (memories) may be. Each may only be as strict as `BreakerBound` or stricter.
    """

    breaker_window: PositiveDuration
    """The rolling window of the circuit breaker."""
    breaker_share: Share
    """The greatest share of a kind in a scope that is pruned within the window."""
    breaker_floor: Annotated[int, Field(ge=0)]
    """So many memories of a kind in a scope may be pruned within the window in any case."""
    breaker_run_share: Share
    """The greatest share of a kind in a scope that one run prunes."""
    breaker_run_floor: Annotated[int, Field(ge=0)]
    """So many memories of a kind in a scope may be pruned by one run in any case."""
    breaker_pause: PositiveDuration
    """In a replay, the wait until the next look at what the breaker held back."""
    plan_keep: PositiveDuration
    """How long a saved plan can be applied."""
    tombstone_ttl: PositiveDuration
    """The age at which a tombstone is deleted for good."""
    purge_relationships: Count
    """How many relationships of one tombstone a transaction deletes."""
    history_age: PositiveDuration
    """The age at which a run leaves the history."""
    history_per_job: Count
    """How many runs the history keeps for each job."""
    plan_samples: Annotated[int, Field(ge=0, le=100)]
    """How many memories a plan names for each rule and kind."""

    @model_validator(mode="after")
    def _never_looser_than_the_bound(self) -> Limits:
        bound = BreakerBound
        looser = {
            f"breaker_window: at least {format_duration(bound.window)}": self.breaker_window < bound.window,
            f"breaker_share: at most {bound.share}": self.breaker_share > bound.share,
            f"breaker_floor: at most {bound.floor}": self.breaker_floor > bound.floor,
            f"breaker_run_share: at most {bound.share}": self.breaker_run_share > bound.share,
            f"breaker_run_floor: at most {bound.floor}": self.breaker_run_floor > bound.floor,
        }
        wrong = [wanted for wanted, is_looser in looser.items() if is_looser]
        if wrong:
            raise ValueError("a policy can tighten the circuit breaker, never loosen it: " + "; ".join(wrong))
        return self


class Audit(Part):
    """`[audit]`: what is on record of what the engine did, and for how long (docs/reference/audit-and-undo.md)."""

    level: Literal["all", "destructive"]
    """`all`, or `destructive`: only prunes, archivals, merges and purges."""
    keep: PositiveDuration
    """How long a record is kept. It is never deleted before the tombstone that it can bring back."""
    per_memory: Annotated[int, Field(ge=1, le=1_000)]
    """Where there are more records than this for each memory, the oldest that no tombstone needs expire early."""


class Content(Part):
    """`[content]`: what a memory may hold."""

    longest: Annotated[int, Field(ge=1, le=10_000_000)]
    """The greatest length of a content, in characters. A longer one is refused."""
    date_ahead: PositiveDuration
    """The furthest that `created_at` and other dates may lie ahead. A later date is taken for a mistaken unit and refused."""


class Work(Part):
    """`[work]`: batches leased to workers outside the database."""

    lease: PositiveDuration
    """How long a worker may be silent before it loses its batch."""
    retry_min: PositiveDuration
    """The wait after a first failure. It doubles with each further one."""
    retry_max: PositiveDuration
    """The longest wait after a failure."""
    give_up_after: Count
    """After so many failures a memory is put aside until its content changes or a person asks."""
    prompts: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    """A folder on the machines of workers: its `<derivation>.md.j2` is what models are told instead of the package's own prompt."""


class Embedding(Part):
    """`[embedding]`: the one model whose vectors lie in the database, and their length."""

    model: Annotated[str, Field(min_length=1, max_length=200)]
    """The name of the model whose vectors are stored. Vectors of another model are not compared."""
    dimensions: Annotated[int, Field(ge=1, le=4096)]
    """The length of a vector."""
    enabled: bool = True
    """`false`: there is no vector index, and no memory waits for an embedding."""
    unknown_share: Share = 0.3
    """A text gets no vector if the model does not know more than this share of its tokens. It gets `embedding_unknown` instead."""


class Recall(Part):
    """`[recall]`: how vector and full-text results are found and combined."""

    text_weight: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
    """What the best match by words counts beside the nearest memory by meaning, which counts 1."""
    full_text_score: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]
    """Lucene's score from which a match by words counts in full beside vectors. Words that many memories have score less."""
    fused_depth: Annotated[int, Field(ge=1, le=20)]
    """Each of the two lists that are combined has this many times `k` entries."""
    most: Annotated[int, Field(ge=1, le=10_000)]
    """The greatest `k`."""
    exact_up_to: Annotated[int, Field(ge=0, le=100_000)]
    """In a scope of at most so many memories each vector is compared. In a larger one the vector index is asked."""
    first_width: Annotated[int, Field(ge=1, le=1_000)]
    """The index is first asked for this many times `k` neighbours, of all scopes."""
    margin: Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)]
    """The factor on the estimate of how many neighbours the second question needs."""
    widest: Count
    """The second question asks for no more neighbours than this."""
    spare: Annotated[int, Field(ge=0, le=1_000)]
    """So many hits of the index are compared exactly besides twice the wanted number."""
    longest_text: Annotated[int, Field(ge=1, le=10_000)]
    """How many characters of a text are searched for."""
    near: Annotated[int, Field(ge=1, le=100)]
    """What was said later belongs to a hit if it is among so many nearest statements of the scope, earlier ones counted."""
    later: Annotated[int, Field(ge=0, le=5)]
    """So many later statements are handed over with a hit; 0: none."""


class Accesses(Part):
    """`[accesses]`: how often a used memory is reinforced, and what folding remembers (docs/reference/accesses.md)."""

    window: PositiveDuration
    """The window within which the uses of a memory are limited. It divides a day evenly."""
    per_window: Count
    """How many uses of a memory count within one window."""
    windows_kept: Annotated[int, Field(ge=1, le=10_000)]
    """For how many windows a memory remembers its count."""
    agents_kept: Annotated[int, Field(ge=RailFloor.consensus_agents, le=10_000)]
    """How many distinct agents a memory names."""
    batch_records: Annotated[int, Field(ge=1, le=100_000)]
    """How many touches one transaction folds."""
    batch_memory: PositiveDuration
    """How long a batch of touches is remembered. If it is sent again within this time, it counts nothing."""

    @model_validator(mode="after")
    def _windows_fill_days(self) -> Accesses:
        if timedelta(days=1) % self.window:
            raise ValueError("window must go into a day without a rest (such as 15min, 1h, 6h, 1d)")
        return self


class Intake(Part):
    """`[intake]`: how new nodes of kinds with `intake = true` are found that apps wrote in plain Cypher."""

    verify_every: PositiveDuration
    """How often all nodes of a label are walked through. Between two walks, counts say whether to look."""
    longest_key: Annotated[int, Field(ge=10, le=2_000)]
    """The greatest length of `scope/id`, in characters. A node with a longer one is not enrolled."""


_Rate = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
_Tokens = Annotated[int, Field(ge=0, le=1_000_000)]


class Tiers(Part):
    """`[tiers]`: token budget of each tier per scope. What fits into a budget of n tokens is held in memory, n memories at most."""

    HOT: _Tokens
    """Tokens of each scope in HOT."""
    WARM: _Tokens
    """Tokens of each scope in WARM."""
    COLD: _Tokens
    """Tokens of each scope in COLD."""


class Budgets(Part):
    """`[budgets]`: how the job `enforce_budgets` works."""

    check_every: PositiveDuration
    """How often every scope is checked. A scope in which Jochi wrote something is checked at the next run."""
    batch_moves: Annotated[int, Field(ge=1, le=50_000)]
    """How many memories one transaction moves."""
    batch_records: Annotated[int, Field(ge=1, le=50_000)]
    """How many reported changes one transaction reads."""


class Scheduler(Part):
    """`[scheduler]`: pump, watch, leases, backoff, guards (DESIGN §5)."""

    pump_every: PositiveDuration
    """The interval of the pump, which runs the jobs that are due."""
    watch_every: PositiveDuration
    """The interval of the watch, which arms a pump that stopped."""
    tick_mark: PositiveDuration
    """How often an idle pump writes that it is alive."""
    stall_after: PositiveDuration
    """A pump that writes no mark for this long is armed again."""
    clock_tolerance: Duration
    """How far the clock may go back before the guard closes."""
    gap: PositiveDuration
    """If no tick comes for longer than this, the guard closes: destructive jobs wait for `jochi approve`."""
    restart_gap: PositiveDuration
    """If the server started so long after the last tick, the guard closes: what was restored from a backup looks so."""
    lease: PositiveDuration
    """The lease of a run. Each batch renews it."""
    backoff_min: PositiveDuration
    """The wait of a job after a first failed run. It doubles with each further one."""
    backoff_max: PositiveDuration
    """The longest wait of a job after failed runs."""
    jitter: Annotated[float, Field(ge=0, le=0.5, allow_inf_nan=False)]
    """The share by which a start is moved at random, so that jobs do not start together."""
    retry_after: PositiveDuration
    """The wait before a failed batch is tried again with fewer memories."""
    isolate_in_a_row: Count
    """After so many failed memories in a row the job itself counts as broken."""
    skip_for: PositiveDuration
    """How long a job passes over a memory that failed, even where the memory cannot be marked."""
    slow_batch: PositiveDuration
    """After a batch that takes longer, the next one is half as large."""
    batch_step: Annotated[Share, Field(gt=0)]
    """After any other batch the next one grows by this share of the job's `batch_size`."""
    batch_floor: Annotated[Share, Field(gt=0)]
    """A batch does not shrink below this share of `batch_size`, unless it fails."""
    quarantine_min: PositiveDuration
    """How long a memory that failed is put aside at first. It doubles with each further failure."""
    quarantine_max: PositiveDuration
    """The longest time for which a memory is put aside."""


class Job(Part):
    """`[jobs.<name>]`: a job as desired state (DESIGN §5). It has either ``every`` or ``at``."""

    procedure: Annotated[str, Field(pattern=_PROCEDURE_NAME.pattern)]
    """The procedure that the job runs, as `area/name`."""
    every: PositiveDuration | None = None
    """The interval between two runs. A job has this or `at`."""
    at: FixedSlot | None = None
    """A fixed slot, such as `daily at 03:00` or `Sunday at 02:00`, in the policy's time zone."""
    budget: PositiveDuration
    """The time that one run may take."""
    batch_size: Annotated[int, Field(ge=1, le=50_000)]
    """How many keys a batch has."""
    max_batches: Annotated[int, Field(ge=1, le=1_000)]
    """How many batches a run has at most."""
    priority: Annotated[int, Field(ge=1, le=9)] = 5
    """1 comes first, 9 last. Each step puts the job's deadline 10 s later."""
    destructive: bool
    """The job waits for `jochi apply` and for an open guard."""
    # The default is for policies that were installed before modes came: they keep their pace.
    adaptive: bool = False
    """Its interval follows the mode (`[modes]`)."""
    enabled: bool = True
    """`false`: the job never runs."""
    parameters: dict[Name, str | int | float | bool] = Field(default_factory=dict)
    """Values that the procedure is given besides."""

    @model_validator(mode="after")
    def _interval_or_slot(self) -> Job:
        if (self.every is None) == (self.at is None):
            raise ValueError("a job has either every (an interval) or at (a fixed slot)")
        return self


class Modes(Part):
    """`[modes]`: how the engine's pace follows what applications do (seed 000, Option C, Adaptive mode switching).

    Accesses and writes of the last ``window``, a minute: below ``idle_below`` the mode is IDLE, until it reaches
    ``idle_until``; from ``minimal_from`` it is MINIMAL, until it falls to ``minimal_until``; else BACKGROUND. A mode lasts at
    least ``hold``. ``idle_pace`` and ``minimal_pace`` multiply the intervals of jobs with `adaptive = true` and the classes of
    the due queue.
    """

    window: PositiveDuration
    """The time whose accesses and writes are counted."""
    idle_below: _Rate
    """Below this rate, in accesses and writes a minute, the mode becomes IDLE."""
    idle_until: _Rate
    """IDLE lasts until this rate is reached."""
    minimal_from: _Rate
    """From this rate on the mode becomes MINIMAL."""
    minimal_until: _Rate
    """MINIMAL lasts until the rate has fallen to this."""
    hold: Duration
    """A mode lasts at least this long."""
    idle_pace: Annotated[float, Field(ge=0.1, le=1, allow_inf_nan=False)]
    """The factor on intervals in IDLE."""
    minimal_pace: Annotated[float, Field(ge=1, le=12, allow_inf_nan=False)]
    """The factor on intervals in MINIMAL."""

    @model_validator(mode="after")
    def _in_order(self) -> Modes:
        if not self.idle_below <= self.idle_until <= self.minimal_until <= self.minimal_from:
            raise ValueError("these must not fall: idle_below, idle_until, minimal_until, minimal_from")
        return self


class OrphanKind(Part):
    """One entry of `orphans.kinds`: a label, and what must hold besides of its memories."""

    kind: Name
    """A label whose memories are swept when they are orphans."""
    when: Annotated[tuple[Condition, ...], Field(strict=False)] = ()
    """Conditions that must also hold for the memory."""


class Orphans(Part):
    """`[orphans]`: memories without a relationship, of kinds that mean nothing without what they are linked to."""

    kinds: Annotated[tuple[OrphanKind, ...], Field(strict=False)]
    """The kinds that mean nothing without what they are linked to."""
    clock: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    """The properties that start the time. The newest of them counts, and so does the time at which a neighbour was pruned."""
    after: PositiveDuration
    """How long after that an orphan is pruned."""
    pause: Duration
    """The shortest time between two walks over all memories."""

    @model_validator(mode="after")
    def _created_at_counts(self) -> Orphans:
        if "created_at" not in self.clock:
            raise ValueError("clock must name created_at: an orphan's age has to be known")
        if twice := repeated([entry.kind for entry in self.kinds]):
            raise ValueError(f"a kind is there twice: {', '.join(twice)}")
        return self


class Hygiene(Part):
    """`[hygiene]`: the walk that looks for what is broken."""

    leftover_after: PositiveDuration
    """A lock or a pause that ended this long ago is removed."""
    samples: Annotated[int, Field(ge=0, le=20)]
    """How many keys a report names for each fault."""


class Topics(Part):
    """`[topics]`: the index of what the memories of each scope are about (docs/reference/topics.md)."""

    every: PositiveDuration
    """How often the job walks over all scopes."""
    most: Annotated[int, Field(ge=1, le=10_000)]
    """How many topics of a scope are kept, the most frequent."""
    newest: Annotated[int, Field(ge=0, le=100)]
    """How many memories each names, the newest."""
    longest: Annotated[int, Field(ge=1, le=1_000)]
    """A longer text, in characters, is no topic."""
    read: Annotated[int, Field(ge=1, le=1_000_000)]
    """So many memories of a scope are read."""


ConsolidationStep = Literal[
    "duplicates", "merge", "descriptions", "profile", "facts", "identity", "topics", "guidelines"
]
"""What a pass can do (procedures/consolidation/consolidate_scopes)."""


class Consolidation(Part):
    """`[consolidation]`: passes over scopes in which something was learned (docs/reference/consolidation-pass.md)."""

    every: Annotated[int, Field(ge=1, le=10_000)]
    """A pass begins when so many batches of turns were learned from since the last one began …"""
    at: FixedSlot
    """… and at this time, in the policy's zone, where any was."""
    steps: Annotated[tuple[ConsolidationStep, ...], Field(strict=False, min_length=1)]
    """What a pass does, in this order."""

    @model_validator(mode="after")
    def _each_once(self) -> Consolidation:
        if len(set(self.steps)) < len(self.steps):
            raise ValueError("steps names a step twice")
        return self


class Slots(Part):
    """`[slots]`: facts of one subject's attribute, of which one value holds at a time (docs/reference/facts.md)."""

    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """The labels whose memories replace each other by subject, attribute and `valid_from`. The policy need not have all of them."""
    many: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Attributes that hold several values at once. Each value then has a history of its own."""

    @model_validator(mode="after")
    def _each_once_and_readable(self) -> Slots:
        if any(not normal_text(attribute) for attribute in self.many):
            raise ValueError("many names an attribute that is blank")
        if twice := repeated([normal_text(attribute) for attribute in self.many]):
            raise ValueError(f"many names an attribute twice: {', '.join(twice)}")
        return self
