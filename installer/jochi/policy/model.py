"""The policy as types: what one TOML file may say, and what it must not (DESIGN §7, §8).

Everything is frozen. Templates read these objects; no number of the policy stands in a template.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from jochi.policy.durations import Duration, format_duration

PROTECTED_KINDS = frozenset({"Agent", "AgentKey", "SystemConfig", "Migration"})
"""Labels that are never enrolled and never pruned: rails 1, 2, 7 and 8 of seed 000."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_RESERVED_LABEL = re.compile(r"Jochi.*|Curat(ed|ion.*)|Tombstone|__.*")
_JOB_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PROCEDURE_NAME = re.compile(r"[a-z_]+/[a-z0-9_]+")


def identifier(value: str) -> str:
    """``value`` if it can stand unquoted as a label, type or property name in Cypher; ValueError if not."""
    if not _IDENTIFIER.fullmatch(value):
        raise ValueError(f"{value!r} is not a plain name (letters, digits, underscore; at most 64)")
    return value


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise ValueError("must be longer than zero")
    return value


def _repeated(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


Name = Annotated[str, AfterValidator(identifier)]
PositiveDuration = Annotated[Duration, AfterValidator(_positive)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class About(_Part):
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


class Queue(_Part):
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


class Rails(_Part):
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


class Limits(_Part):
    """`[limits]`: the circuit breaker, tombstones, history."""

    breaker_window: PositiveDuration
    breaker_share: Share
    breaker_floor: Annotated[int, Field(ge=0)]
    breaker_pause: PositiveDuration
    tombstone_ttl: PositiveDuration
    purge_relationships: Count
    history_age: PositiveDuration
    history_per_job: Count
    plan_samples: Annotated[int, Field(ge=0, le=100)]


class Tiers(_Part):
    """`[tiers]`: token budget of each tier per scope; `status` shows them beside what is there."""

    HOT: Annotated[int, Field(ge=0)]
    WARM: Annotated[int, Field(ge=0)]
    COLD: Annotated[int, Field(ge=0)]


class Scheduler(_Part):
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
    quarantine_min: PositiveDuration
    quarantine_max: PositiveDuration


class Job(_Part):
    """`[jobs.<name>]`: a job as desired state (DESIGN §5). ``budget`` is the time one run may take."""

    procedure: Annotated[str, Field(pattern=_PROCEDURE_NAME.pattern)]
    every: PositiveDuration
    budget: PositiveDuration
    batch_size: Annotated[int, Field(ge=1, le=50_000)]
    max_batches: Annotated[int, Field(ge=1, le=1_000)]
    priority: Annotated[int, Field(ge=1, le=9)] = 5
    destructive: bool
    enabled: bool = True
    parameters: dict[Name, str | int | float | bool] = Field(default_factory=dict)


class Condition(_Part):
    """One condition of a rule on one property: exactly one operator. An absent or mistyped property is *unknown*."""

    subject: Annotated[Name, Field(alias="property")]
    is_: Annotated[bool | str | int | float | None, Field(alias="is")] = None
    is_not: bool | str | int | float | None = None
    one_of: Annotated[tuple[str, ...] | None, Field(strict=False)] = None
    below: Annotated[float | None, Field(allow_inf_nan=False)] = None
    at_least: Annotated[float | None, Field(allow_inf_nan=False)] = None

    @model_validator(mode="after")
    def _one_operator(self) -> Condition:
        given = [self.is_, self.is_not, self.one_of, self.below, self.at_least]
        if sum(value is not None for value in given) != 1:
            raise ValueError("a condition has exactly one of: is, is_not, one_of, below, at_least")
        return self

    @property
    def operator(self) -> str:
        """`=`, `<>`, `IN`, `<` or `>=`."""
        if self.is_ is not None:
            return "="
        if self.is_not is not None:
            return "<>"
        if self.one_of is not None:
            return "IN"
        return "<" if self.below is not None else ">="

    @property
    def value(self) -> bool | str | int | float | tuple[str, ...]:
        """What the property is compared with."""
        for value in (self.is_, self.is_not, self.one_of, self.below, self.at_least):
            if value is not None:
                return value
        raise AssertionError("checked when the condition was made")

    @property
    def cypher_type(self) -> str:
        """The type that the property must have for the comparison to mean anything."""
        value = self.value
        if isinstance(value, bool):
            return "BOOLEAN"
        return "INTEGER | FLOAT" if isinstance(value, int | float) else "STRING"


class Rule(_Part):
    """One row of a kind's rule table: when, counted from which clock, after how long, what happens.

    ``clock`` names properties; the first that is there starts the clock, and a value of a wrong type is unknown.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$")]
    source: str
    when: Annotated[tuple[Condition, ...], Field(strict=False)]
    clock: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    after: Duration
    action: Literal["prune"]

    @property
    def constant(self) -> str:
        """The name of this rule's duration in the map of constants at the head of a rendered body."""
        return self.name.replace(".", "_") + "_after"


class Rules(_Part):
    """`[any_kind]`: rules that hold for every curated memory, and how often one of no known kind is looked at.

    ``class`` is the schedule that crossings are rounded up to; ``volatile`` says that apps change what the verdict
    reads, so that the memory is looked at again within `queue.volatile_horizon`.
    """

    class_: Annotated[PositiveDuration, Field(alias="class")]
    volatile: bool = False
    rules: Annotated[tuple[Rule, ...], Field(strict=False)] = ()


class Kind(Rules):
    """`[kinds.<name>]`: a label that the engine looks after, with its rules in order of precedence."""

    label: Name | None = None


class Policy(_Part):
    """One whole policy file, checked."""

    policy: About
    queue: Queue
    rails: Rails
    limits: Limits
    tiers: Tiers
    scheduler: Scheduler
    jobs: dict[str, Job]
    kinds: dict[str, Kind]
    any_kind: Rules

    @model_validator(mode="after")
    def _names_fit_together(self) -> Policy:
        for name in self.jobs:
            if not _JOB_NAME.fullmatch(name):
                raise ValueError(f"jobs.{name}: a job's name is lower case letters, digits and underscores")
        for name, kind in self.kinds.items():
            label = kind.label or name
            identifier(label)
            if label in PROTECTED_KINDS or _RESERVED_LABEL.fullmatch(label):
                raise ValueError(f"kinds.{name}: the label {label} is protected and can't be enrolled")
        labels = [kind.label or name for name, kind in self.kinds.items()]
        if twice := _repeated(labels):
            raise ValueError(f"two kinds have the same label: {', '.join(twice)}")
        rules = [*self.any_kind.rules, *(rule for kind in self.kinds.values() for rule in kind.rules)]
        if twice := _repeated([rule.name for rule in rules]):
            raise ValueError(f"two rules have the same name: {', '.join(twice)}")
        if twice := _repeated([rule.constant for rule in rules]):
            raise ValueError(f"the names of two rules differ only in dots and underscores: {', '.join(twice)}")
        if self.scheduler.backoff_min > self.scheduler.backoff_max:
            raise ValueError("scheduler.backoff_min is longer than scheduler.backoff_max")
        if self.scheduler.quarantine_min > self.scheduler.quarantine_max:
            raise ValueError("scheduler.quarantine_min is longer than scheduler.quarantine_max")
        return self

    def labels(self) -> dict[str, Kind]:
        """The kinds by the label that their memories carry, in the policy's order."""
        return {kind.label or name: kind for name, kind in self.kinds.items()}

    def verdict_parts(self) -> dict[str, object]:
        """What decides over memories: rules, rails, limits. A change here asks for a new plan and a new `jochi apply`."""
        parts = self.model_dump(mode="json", by_alias=True)
        return {name: parts[name] for name in ("queue", "rails", "limits", "kinds", "any_kind")}

    def kinds_without_rules(self) -> list[tuple[int, bool, str]]:
        """(class in seconds, volatile, label) of the kinds that only the rules for every kind hold for."""
        return [
            (int(kind.class_.total_seconds()), kind.volatile, label)
            for label, kind in self.labels().items()
            if not kind.rules
        ]
