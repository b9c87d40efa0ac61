"""Rules as types: rows of a kind's table, moves between tiers, how confidence decays (DESIGN §7–9; seed 000, Option A)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, model_validator

from jochi.policy.durations import Duration
from jochi.policy.parts import Name, Part, PositiveDuration, Share

Tier = Literal["HOT", "WARM", "COLD", "ARCHIVE"]
TIERS: tuple[Tier, ...] = ("HOT", "WARM", "COLD", "ARCHIVE")
"""From the nearest to the context to the farthest."""

FROM_ACCESSES = frozenset({"last_accessed_at", "access_count", "access_count_7d", "tier_value"})
"""What only means something in a scope that reports accesses (DESIGN §8)."""

MOVING = frozenset({"confidence", "salience", "heat_score", "decay_score"})
"""What time changes by itself in kinds whose policy says so, so that rules compute it for the moment at hand."""

COMPUTED = frozenset({"tier_value"})
"""What no memory has as a property."""

_RULE_NAME = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$"


class Condition(Part):
    """One condition of a rule on one property: exactly one operator. An absent or mistyped property is *unknown*.

    An absent `access_count` or `access_count_7d` is 0.
    """

    subject: Annotated[Name, Field(alias="property")]
    """The property that is compared."""
    is_: Annotated[bool | str | int | float | None, Field(alias="is")] = None
    """It must be this."""
    is_not: bool | str | int | float | None = None
    """It must be anything but this."""
    one_of: Annotated[tuple[str, ...] | None, Field(strict=False)] = None
    """It must be one of these texts."""
    below: Annotated[float | None, Field(allow_inf_nan=False)] = None
    """It must be less than this."""
    at_least: Annotated[float | None, Field(allow_inf_nan=False)] = None
    """It must be this or more."""
    at_most: Annotated[float | None, Field(allow_inf_nan=False)] = None
    """It must be this or less (`tier_value` only)."""
    absent: Literal[True] | None = None
    """`true`: the property must not be there."""

    @model_validator(mode="after")
    def _one_operator(self) -> Condition:
        given = [self.is_, self.is_not, self.one_of, self.below, self.at_least, self.at_most, self.absent]
        if sum(value is not None for value in given) != 1:
            raise ValueError("a condition has exactly one of: is, is_not, one_of, below, at_least, at_most, absent")
        if self.at_most is not None and self.subject != "tier_value":
            raise ValueError("at_most compares tier_value only; of anything else it is below")
        return self

    @property
    def operator(self) -> str:
        """`=`, `<>`, `IN`, `<`, `>=`, `<=` or `absent`."""
        if self.is_ is not None:
            return "="
        if self.is_not is not None:
            return "<>"
        if self.one_of is not None:
            return "IN"
        if self.absent is not None:
            return "absent"
        if self.at_most is not None:
            return "<="
        return "<" if self.below is not None else ">="

    @property
    def value(self) -> bool | str | int | float | tuple[str, ...]:
        """What the property is compared with."""
        for value in (self.is_, self.is_not, self.one_of, self.below, self.at_least, self.at_most, self.absent):
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


class Predicate(Part):
    """`[predicates.<name>]`: a condition on the graph around a memory `m`, as one Cypher expression that is true or false."""

    cypher: Annotated[str, Field(min_length=1, max_length=5000)]
    """The Cypher expression over `m`."""


class _Timed(Part):
    """What rules of tables and rules of tiers have in common."""

    name: Annotated[str, Field(pattern=_RULE_NAME)]
    """The name of the rule, such as `task.completed`. Each name is there once."""
    source: str
    """Where the rule comes from. It is shown and never read."""
    when: Annotated[tuple[Condition, ...], Field(strict=False)] = ()
    """The conditions, all of which must hold."""
    unless: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """Predicates that must all be false."""
    clock: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """The properties that start the time. The first one that is there counts."""
    class_: Annotated[PositiveDuration | None, Field(alias="class")] = None
    """The schedule that the rule's times are rounded up to. None: the kind's."""

    @property
    def constant(self) -> str:
        """The name of this rule's duration in the map of constants at the head of a rendered body."""
        return self.name.replace(".", "_") + "_after"

    @property
    def reads_accesses(self) -> bool:
        """Whether it means nothing in a scope that never reported an access (DESIGN §8)."""
        return bool(FROM_ACCESSES & {*self.clock, *(condition.subject for condition in self.when)})


class Rule(_Timed):
    """One row of a kind's rule table: when, counted from which clock, after how long, what happens."""

    clock: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    """The properties that start the time. The first one that is there counts; a value of a wrong type is unknown."""
    after: Duration
    """How long after that the rule is met."""
    action: Literal["prune", "archive", "flag", "state"]
    """What happens to the memory.

    `prune`; `archive` (state archived, tier ARCHIVE); `flag` (sets a property while the rule holds); `state` (sets the state).
    """
    flag: Annotated[str | None, Field(pattern=r"^needs_[a-z0-9_]{1,50}$")] = None
    """The property that `flag` sets to true."""
    state: Annotated[str | None, Field(pattern=r"^[a-z][a-z_]{0,49}$")] = None
    """The state that `state` sets."""
    if_any: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """Predicates of which one must be true."""
    unless_at_most: PositiveDuration | None = None
    """How long `unless` can hold the rule back. None: for as long as it is true."""

    @model_validator(mode="after")
    def _a_wait_is_for_something(self) -> Rule:
        if self.unless_at_most is not None and not self.unless:
            raise ValueError("unless_at_most goes with unless: it says for how long that holds the rule back")
        return self

    @model_validator(mode="after")
    def _a_flag_has_a_name(self) -> Rule:
        if (self.action == "flag") != (self.flag is not None):
            raise ValueError('action = "flag" goes with flag = "needs_…", the property that is set')
        if (self.action == "state") != (self.state is not None):
            raise ValueError('action = "state" goes with state = "…", the state that is set')
        if self.state == "archived":
            raise ValueError('what is archived leaves recall and its tier, too: action = "archive"')
        return self


class TierRule(_Timed):
    """`[[tier_rules]]`: a move from one tier to another, for every kind (seed 000, Tier Demotion Rules, Tier Promotion Rules).

    A move down has a ``clock`` and ``after``; a move up happens when its conditions hold and a predicate of ``if_any`` (if there
    are some) is true. `tier_value` (kinds with scores; `[facts] worth`): at_least moves up, at_most moves down.
    """

    from_: Annotated[Tier, Field(alias="from")]
    """The tier that a memory leaves."""
    to: Tier
    """The tier that it moves to."""
    after: Duration | None = None
    """How long after its clock a move down is met. A move up has none."""
    if_any: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """Predicates of which one must be true."""
    new_access: Literal["since_move", "after_budget"] | None = None
    """A move up needs an access after the last change of tier.

    `since_move`: always. `after_budget`: only where a budget made that change.
    """

    @model_validator(mode="after")
    def _up_or_down(self) -> TierRule:
        if self.from_ == self.to:
            raise ValueError("from and to are the same tier")
        if self.down and (not self.clock or self.after is None):
            raise ValueError("a move down has a clock and after")
        if not self.down and (self.clock or self.after is not None):
            raise ValueError("a move up has neither a clock nor after: it happens when its conditions hold")
        if not self.down and not self.when and not self.if_any:
            raise ValueError("a move up has a condition: when or if_any")
        for condition in self.when:
            if condition.subject == "tier_value" and (condition.at_most if self.down else condition.at_least) is None:
                raise ValueError("a move down compares tier_value with at_most, a move up with at_least")
        return self

    @property
    def by_value(self) -> bool:
        """Whether it is for kinds with scores only."""
        return any(condition.subject == "tier_value" for condition in self.when)

    @property
    def down(self) -> bool:
        """Whether it leads away from the context."""
        return TIERS.index(self.to) > TIERS.index(self.from_)

    @property
    def action(self) -> str:
        """`demote` or `promote`."""
        return "demote" if self.down else "promote"


class Decay(Part):
    """`[kinds.<name>.decay]`: confidence falls while nobody uses the memory (seed 000, Heartbeat Schedule; DESIGN §9).

    Computed for the moment at hand and never rewritten by time alone: from ``idle`` after the later of `confidence_at` (else
    `created_at`) and the last access, by ``per_day`` a day, only from below ``below`` and never under ``floor``.
    """

    per_day: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    """How much confidence a day takes."""
    idle: Duration
    """How long after the last access confidence begins to fall."""
    below: Share
    """Only a lower confidence falls."""
    floor: Share
    """Confidence never falls below this."""


class Lifecycle(Part):
    """`[lifecycles.<name>]`: rules that kinds can use beside their own (`lifecycle = "<name>"`), after them.

    ``salience``: its kinds have one (`[salience]`), which falls while they aren't used and is raised by each use that counts; their
    state goes from candidate to active to core with it (seed 002, Memory Lifecycle & Decay).
    ``scores``: its kinds have heat and decay (`[facts]`), which rules compare as `heat_score` and `decay_score` (seed 003,
    Lifecycle Policy States).
    """

    salience: bool = False
    """Its kinds have a salience, which falls without use and rises by use."""
    scores: bool = False
    """Its kinds have heat and decay."""
    rules: Annotated[tuple[Rule, ...], Field(strict=False)] = ()
    """The rules, in order of precedence."""

    @model_validator(mode="after")
    def _one_owner_of_the_state(self) -> Lifecycle:
        if self.salience and self.scores:
            raise ValueError("salience and scores exclude each other: both say what the state is")
        return self

    @model_validator(mode="after")
    def _salience_is_compared_downwards(self) -> Lifecycle:
        for rule in self.rules if self.salience else ():
            for condition in rule.when:
                if condition.subject == "salience" and condition.below is None:
                    raise ValueError(f"{rule.name}: a salience that falls can only be compared with below")
        return self


class Salience(Part):
    """`[salience]`: how salience falls and rises (seed 002, Memory Lifecycle & Decay, Salience Updates; DESIGN §9).

    Computed for the moment at hand from the value at its anchor: value · e^(-rate · days), where the rate of a day is
    ``per_day`` / (1 + recall_frequency^decay_gradient), times 1 + (1 - confidence) · ``doubt`` for a candidate whose confidence
    is below ``steady_from``, and 0 from there on.
    """

    initial: Share
    """The salience of a new memory."""
    per_day: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    """The rate of a day, before the spacing effect divides it."""
    steady_from: Share
    """A candidate of this confidence does not fall before its first use."""
    doubt: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
    """How much faster any other candidate falls: times 1 + (1 - confidence) · this."""
    gain_least: Share
    """What a use adds at salience 1."""
    gain_most: Share
    """What a use adds at salience 0."""
    gradient: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
    """The first `decay_gradient`."""
    gradient_least: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
    """The least `decay_gradient`."""
    gradient_longer: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
    """What is added to it after a longer interval than the one before."""
    gradient_shorter: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
    """What is taken from it after a shorter one."""
    core_from: Annotated[int, Field(ge=1, le=1_000_000)]
    """From so many uses on a memory is core."""

    @model_validator(mode="after")
    def _in_order(self) -> Salience:
        if self.gain_least > self.gain_most:
            raise ValueError("gain_least is greater than gain_most")
        if self.gradient_least > self.gradient:
            raise ValueError("gradient_least is greater than gradient")
        return self


def names_read(rules: Iterable[Rule | TierRule]) -> frozenset[str]:
    """The standard names of the properties that these rules read."""
    named = (name for rule in rules for name in (*rule.clock, *(condition.subject for condition in rule.when)))
    return frozenset(named) - COMPUTED


class Rules(Part):
    """`[any_kind]`: rules that hold for every curated memory, and how often one of no known kind is looked at.

    The tables of kinds have these fields, too.
    """

    class_: Annotated[PositiveDuration, Field(alias="class")]
    """The schedule that the times of its rules are rounded up to."""
    volatile: bool = False
    """Apps change what the verdict reads, so the memory is looked at again within `queue.volatile_horizon`."""
    rules: Annotated[tuple[Rule, ...], Field(strict=False)] = ()
    """The rules, in order of precedence."""

    def acting(self, action: str) -> tuple[Rule, ...]:
        """Those of these rules with one action."""
        return tuple(rule for rule in self.rules if rule.action == action)


def class_seconds(rule: _Timed, of_the_kind: timedelta) -> int:
    """The schedule that a rule's crossings are rounded up to, in seconds."""
    return int((rule.class_ or of_the_kind).total_seconds())
