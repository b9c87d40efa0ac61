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
from jochi.policy.slots import Slot
from jochi.slot_names import normal_text

_PROCEDURE_NAME = re.compile(r"[a-z_]+/[a-z0-9_]+")


class About(Part):
    """`[policy]`: the name that runs and audits carry, and the zone of fixed slots."""

    name: Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$")]
    time_zone: str = "UTC"
    extends: Literal["default"] | None = None

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
    horizon_min: PositiveDuration
    horizon_max: PositiveDuration
    horizon_growth: Share
    pause_recheck: PositiveDuration

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
    active_tasks: Annotated[tuple[str, ...], Field(strict=False)]
    active_beliefs: Annotated[tuple[str, ...], Field(strict=False)]
    confident_belief: Share
    proven_accesses: Annotated[int, Field(ge=0)]
    consensus_agents: Annotated[int, Field(ge=1)]
    lock_ttl: Duration
    hold: Duration

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
    breaker_share: Share
    breaker_floor: Annotated[int, Field(ge=0)]
    breaker_run_share: Share
    breaker_run_floor: Annotated[int, Field(ge=0)]
    breaker_pause: PositiveDuration
    plan_keep: PositiveDuration
    tombstone_ttl: PositiveDuration
    purge_relationships: Count
    history_age: PositiveDuration
    history_per_job: Count
    plan_samples: Annotated[int, Field(ge=0, le=100)]

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
    """`[audit]`: what is on record of what the engine did, and for how long (docs/reference/audit-and-undo.md).

    ``level``: 'all', or 'destructive' (prunes, archivals, merges, purges). ``per_memory``: beyond so many records a memory the
    oldest expire early that no tombstone needs.
    """

    level: Literal["all", "destructive"]
    keep: PositiveDuration
    per_memory: Annotated[int, Field(ge=1, le=1_000)]


class Content(Part):
    """`[content]`: what a memory may hold."""

    longest: Annotated[int, Field(ge=1, le=10_000_000)]
    date_ahead: PositiveDuration


class Work(Part):
    """`[work]`: batches leased to workers outside the database."""

    lease: PositiveDuration
    retry_min: PositiveDuration
    retry_max: PositiveDuration
    give_up_after: Count


class Embedding(Part):
    """`[embedding]`: the one model whose vectors lie in the database, and their length.

    A text of which the model doesn't know more than ``unknown_share`` of the tokens has that share (`embedding_unknown`) and no
    vector: the vectors of such texts are all alike.
    """

    model: Annotated[str, Field(min_length=1, max_length=200)]
    dimensions: Annotated[int, Field(ge=1, le=4096)]
    enabled: bool = True
    unknown_share: Share = 0.3


class Recall(Part):
    """`[recall]`: how vector and full-text results are found and combined."""

    rank_constant: Count
    fused_depth: Annotated[int, Field(ge=1, le=20)]
    most: Annotated[int, Field(ge=1, le=10_000)]
    exact_up_to: Annotated[int, Field(ge=0, le=100_000)]
    first_width: Annotated[int, Field(ge=1, le=1_000)]
    margin: Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)]
    widest: Count
    spare: Annotated[int, Field(ge=0, le=1_000)]
    longest_text: Annotated[int, Field(ge=1, le=10_000)]


class Accesses(Part):
    """`[accesses]`: how often a used memory is reinforced, and what folding remembers (docs/reference/accesses.md)."""

    window: PositiveDuration
    per_window: Count
    windows_kept: Annotated[int, Field(ge=1, le=10_000)]
    agents_kept: Annotated[int, Field(ge=RailFloor.consensus_agents, le=10_000)]
    batch_records: Annotated[int, Field(ge=1, le=100_000)]
    batch_memory: PositiveDuration

    @model_validator(mode="after")
    def _windows_fill_days(self) -> Accesses:
        if timedelta(days=1) % self.window:
            raise ValueError("window must go into a day without a rest (such as 15min, 1h, 6h, 1d)")
        return self


class Intake(Part):
    """`[intake]`: how new nodes of kinds with `intake = true` are found that apps wrote in plain Cypher."""

    verify_every: PositiveDuration
    longest_key: Annotated[int, Field(ge=10, le=2_000)]


_Rate = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
_Tokens = Annotated[int, Field(ge=0, le=1_000_000)]


class Tiers(Part):
    """`[tiers]`: token budget of each tier per scope. What fits into a budget of n tokens is held in memory, n memories at most."""

    HOT: _Tokens
    WARM: _Tokens
    COLD: _Tokens


class Budgets(Part):
    """`[budgets]`: how the job `enforce_budgets` works."""

    check_every: PositiveDuration
    batch_moves: Annotated[int, Field(ge=1, le=50_000)]
    batch_records: Annotated[int, Field(ge=1, le=50_000)]


class Scheduler(Part):
    """`[scheduler]`: pump, watch, leases, backoff, guards (DESIGN §5)."""

    pump_every: PositiveDuration
    watch_every: PositiveDuration
    tick_mark: PositiveDuration
    stall_after: PositiveDuration
    clock_tolerance: Duration
    gap: PositiveDuration
    lease: PositiveDuration
    backoff_min: PositiveDuration
    backoff_max: PositiveDuration
    jitter: Annotated[float, Field(ge=0, le=0.5, allow_inf_nan=False)]
    retry_after: PositiveDuration
    isolate_in_a_row: Count
    skip_for: PositiveDuration
    slow_batch: PositiveDuration
    batch_step: Annotated[Share, Field(gt=0)]
    batch_floor: Annotated[Share, Field(gt=0)]
    quarantine_min: PositiveDuration
    quarantine_max: PositiveDuration


class Job(Part):
    """`[jobs.<name>]`: a job as desired state (DESIGN §5). ``budget`` is the time one run may take.

    Either ``every`` (an interval) or ``at`` (a fixed slot in `policy.time_zone`: `daily at 03:00`, `Sunday at 02:00`).
    """

    procedure: Annotated[str, Field(pattern=_PROCEDURE_NAME.pattern)]
    every: PositiveDuration | None = None
    at: Slot | None = None
    budget: PositiveDuration
    batch_size: Annotated[int, Field(ge=1, le=50_000)]
    max_batches: Annotated[int, Field(ge=1, le=1_000)]
    priority: Annotated[int, Field(ge=1, le=9)] = 5
    destructive: bool
    adaptive: bool = False
    """Its interval follows the mode (`[modes]`)."""
    enabled: bool = True
    parameters: dict[Name, str | int | float | bool] = Field(default_factory=dict)

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
    idle_below: _Rate
    idle_until: _Rate
    minimal_from: _Rate
    minimal_until: _Rate
    hold: Duration
    idle_pace: Annotated[float, Field(ge=0.1, le=1, allow_inf_nan=False)]
    minimal_pace: Annotated[float, Field(ge=1, le=12, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _in_order(self) -> Modes:
        if not self.idle_below <= self.idle_until <= self.minimal_until <= self.minimal_from:
            raise ValueError("these must not fall: idle_below, idle_until, minimal_until, minimal_from")
        return self


class OrphanKind(Part):
    """One entry of `orphans.kinds`: a label, and what must hold besides of its memories."""

    kind: Name
    when: Annotated[tuple[Condition, ...], Field(strict=False)] = ()


class Orphans(Part):
    """`[orphans]`: memories that hang on nothing, of kinds that mean nothing without what they hang on.

    ``clock``: the newest of these moments counts, and of the times at which neighbours were pruned; ``after`` it a memory is
    swept. ``pause``: between two walks over all memories there is at least this.
    """

    kinds: Annotated[tuple[OrphanKind, ...], Field(strict=False)]
    clock: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    after: PositiveDuration
    pause: Duration

    @model_validator(mode="after")
    def _created_at_counts(self) -> Orphans:
        if "created_at" not in self.clock:
            raise ValueError("clock must name created_at: an orphan's age has to be known")
        if twice := repeated([entry.kind for entry in self.kinds]):
            raise ValueError(f"a kind is there twice: {', '.join(twice)}")
        return self


class Hygiene(Part):
    """`[hygiene]`: the walk that looks for what is broken. ``samples``: keys that a report names per fault."""

    leftover_after: PositiveDuration
    samples: Annotated[int, Field(ge=0, le=20)]


class Slots(Part):
    """`[slots]`: facts of one subject's attribute, of which one value holds at a time (docs/reference/facts.md).

    ``kinds``: labels whose memories have slots; the policy need not have all of them. ``many``: attributes that hold several
    values at once, in whatever spelling.
    """

    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    many: Annotated[tuple[str, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _each_once_and_readable(self) -> Slots:
        if any(not normal_text(attribute) for attribute in self.many):
            raise ValueError("many names an attribute that is blank")
        if twice := repeated([normal_text(attribute) for attribute in self.many]):
            raise ValueError(f"many names an attribute twice: {', '.join(twice)}")
        return self
