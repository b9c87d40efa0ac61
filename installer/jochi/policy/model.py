"""The policy as types: what one TOML file may say, and what it must not (DESIGN §7, §8).

Everything is frozen. Templates read these objects; no number of the policy stands in a template.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field, model_validator

from jochi.graph.catalogue import MEMORY, WRITTEN
from jochi.policy.actions import Actions
from jochi.policy.classification import Classification
from jochi.policy.context import Context
from jochi.policy.derive import Compression, Derived
from jochi.policy.duplicates import Duplicates
from jochi.policy.edges import Edges
from jochi.policy.facts import FACT_TYPES, Facts
from jochi.policy.forgetting import Forgetting
from jochi.policy.ingest import Ingest
from jochi.policy.mapping import CONVERTED_TYPES, Mapping, Source, check_mapping, identifier, source_of
from jochi.policy.observe import Observe
from jochi.policy.parts import Name, Part, repeated
from jochi.policy.predicates import shipped_predicates
from jochi.policy.rules import (
    COMPUTED,
    TIERS,
    Decay,
    Lifecycle,
    Predicate,
    Rule,
    Rules,
    Salience,
    TierRule,
    names_read,
)
from jochi.policy.settings import (
    About,
    Accesses,
    Audit,
    Budgets,
    Consolidation,
    Content,
    Embedding,
    Hygiene,
    Intake,
    Job,
    Limits,
    Modes,
    Orphans,
    Queue,
    Rails,
    Recall,
    Scheduler,
    Slots,
    Tiers,
    Topics,
    Work,
)
from jochi.policy.value import Value
from jochi.text.slot_names import attribute_mark
from jochi.toml import beside

PROTECTED_KINDS = frozenset({"Agent", "AgentKey", "SystemConfig", "Migration"})
"""Labels that are never enrolled and never pruned: rails 1, 2, 7 and 8 of seed 000."""

RESERVED_LABEL = re.compile(r"Jochi.*|Curat(ed|ion.*)|Tombstone|__.*")

ORPHAN_RULE = "orphan.unlinked"
"""The rule by which memories go that hang on nothing (docs/reference/orphans.md)."""

_JOB_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

_MOMENT = "ZONED DATETIME"
_READ_BY_RAILS = {
    "Task": {"status": "STRING"},
    "SessionContext": {"active": "BOOLEAN"},
    "Belief": {"state": "STRING", "confidence": "FLOAT"},
    "Reflection": {"consolidated": "BOOLEAN"},
}

_SALIENCE_TYPES = {
    "state": {"STRING"},
    "confidence": {"INTEGER", "FLOAT"},
    "salience": {"INTEGER", "FLOAT"},
    "salience_at": {_MOMENT},
}
_READ_BY_SALIENCE = frozenset({*_SALIENCE_TYPES, "created_at", "ttl_policy", "is_owner"})


def _shipped(table: str) -> dict[str, Any]:
    """A table of the policy that Jochi ships."""
    return dict(beside(__file__, "default.toml")[table])


class Kind(Rules):
    """`[kinds.<name>]`: a label that the engine looks after, with its rules in order of precedence."""

    label: Name | None = None
    """The label of its nodes. None: the name of the table."""
    unique_content: bool = True
    """One live memory for each content, scope and kind."""
    embed: bool = True
    """Its content gets an embedding."""
    properties: Mapping = Field(default_factory=dict)
    """Standard names and the app's own properties, which are read in place and never copied."""
    intake: bool = False
    """Nodes of this label that apps write in plain Cypher are enrolled by themselves."""
    decay: Decay | None = None
    """How confidence falls while nobody uses the memory."""
    container: bool = False
    """It holds what statements were made of, word for word. Recall and MEMORY.md leave it out unless its kind is named."""
    lifecycle: Name | None = None
    """A table of `[lifecycles]` whose rules it uses after its own."""

    @model_validator(mode="after")
    def _what_decays_is_compared_downwards(self) -> Kind:
        for rule in self.rules if self.decay else ():
            for condition in rule.when:
                if condition.subject == "confidence" and condition.below is None:
                    raise ValueError(f"{rule.name}: a confidence that decays can only be compared with below")
        return self

    def read_by_rules(self) -> frozenset[str]:
        """The names that this kind's own rules read."""
        return names_read(self.rules) | ({"confidence", "confidence_at", "created_at"} if self.decay else set())


class Policy(Part):
    """One whole policy file, checked."""

    policy: About
    """Its name and its time zone."""
    queue: Queue
    """When a memory is looked at again."""
    rails: Rails
    """What is never pruned."""
    limits: Limits
    """The circuit breaker, tombstones, history and plans."""
    audit: Audit
    """What is on record, and for how long."""
    content: Content
    """What a memory may hold."""
    work: Work
    """Batches for workers."""
    embedding: Embedding
    """The model whose vectors are stored."""
    recall: Recall
    """How memories are found."""
    accesses: Accesses
    """How uses are counted."""
    intake: Intake
    """How nodes of apps are found."""
    orphans: Orphans
    """Memories that nothing is linked to."""
    hygiene: Hygiene
    """The search for what is broken."""
    slots: Slots = Field(default_factory=Slots)
    """Facts that replace each other."""
    duplicates: Duplicates
    """Near duplicates."""
    edges: Edges
    """Relationships with a confidence."""
    tiers: Tiers
    """Token budgets of each scope."""
    budgets: Budgets
    """How the budgets are kept."""
    scheduler: Scheduler
    """Pump, watch, leases and guards."""
    modes: Modes
    """How the pace follows the applications."""
    jobs: dict[str, Job]
    """The jobs by name."""
    predicates: dict[Name, Predicate] = Field(default_factory=dict)
    """Predicates of your own, by name."""
    kinds: dict[str, Kind]
    """The kinds by name."""
    any_kind: Rules
    """What holds for every kind."""
    salience: Salience
    """How salience falls and rises."""
    facts: Facts
    """Heat and decay of facts."""
    value: Value
    """The Memory Value Score."""
    # Policies that were installed before these came lack them.
    classification: Classification = Field(
        default_factory=lambda: Classification.model_validate(_shipped("classification"))
    )
    """How likely a memory is needed again."""
    context: Context = Field(default_factory=lambda: Context.model_validate(_shipped("context")))
    """What an agent starts with."""
    ingest: Ingest = Field(default_factory=lambda: Ingest.model_validate(_shipped("ingest")))
    """How raw sources are taken in."""
    actions: Actions = Field(default_factory=lambda: Actions.model_validate(_shipped("actions")))
    """What agents may do with memories, and how it went."""
    topics: Topics = Field(default_factory=lambda: Topics.model_validate(_shipped("topics")))
    """What the memories of a scope are about."""
    consolidation: Consolidation = Field(
        default_factory=lambda: Consolidation.model_validate(_shipped("consolidation"))
    )
    """Passes over scopes in which something was learned."""
    observe: Observe = Field(default_factory=lambda: Observe.model_validate(_shipped("observe")))
    """How conversations are learned from."""
    compression: Compression
    """Compression of long memories."""
    derive: dict[Name, Derived] = Field(default_factory=dict)
    """Memories that are made out of memories, by derivation."""
    forgetting: Forgetting
    """Forgetting on request."""
    lifecycles: dict[Name, Lifecycle] = Field(default_factory=dict)
    """Rules that several kinds share, by name."""
    tier_rules: Annotated[tuple[TierRule, ...], Field(strict=False)] = ()
    """Moves between tiers, for every kind."""

    @model_validator(mode="after")
    def _names_fit_together(self) -> Policy:
        for name in self.jobs:
            if not _JOB_NAME.fullmatch(name):
                raise ValueError(f"jobs.{name}: a job's name is lower case letters, digits and underscores")
        for name, kind in self.kinds.items():
            label = kind.label or name
            identifier(label)
            if label in PROTECTED_KINDS or RESERVED_LABEL.fullmatch(label):
                raise ValueError(f"kinds.{name}: the label {label} is protected and can't be enrolled")
            if kind.lifecycle is not None and kind.lifecycle not in self.lifecycles:
                there = ", ".join(sorted(self.lifecycles)) or "none"
                raise ValueError(f"kinds.{name}: there is no lifecycle {kind.lifecycle!r}; there are: {there}")
            if self.living(kind) and kind.decay:
                raise ValueError(
                    f"kinds.{name}: it has a lifecycle with salience, so its confidence can't decay besides"
                )
            if self.living(kind) and (mapped := sorted({"salience", "salience_at"} & kind.properties.keys())):
                raise ValueError(f"kinds.{name}.properties.{mapped[0]}: the engine writes this, so it can't be mapped")
            for compared in self.rules_of(kind) if self.scored(kind) else ():
                for condition in compared.when:
                    if condition.subject in ("heat_score", "decay_score") and condition.at_least is None:
                        raise ValueError(f"{compared.name}: {condition.subject} can only be compared with at_least")
            try:
                check_mapping(kind.properties, self.read_by(kind) | self.read_of_every_kind())
            except ValueError as error:
                raise ValueError(f"kinds.{name}.{error}") from None
        labels = [kind.label or name for name, kind in self.kinds.items()]
        if twice := repeated(labels):
            raise ValueError(f"two kinds have the same label: {', '.join(twice)}")
        rules: list[Rule | TierRule] = [*self.all_rules(), *self.tier_rules]
        if twice := repeated([rule.name for rule in rules]):
            raise ValueError(f"two rules have the same name: {', '.join(twice)}")
        if twice := repeated([rule.constant for rule in rules]):
            raise ValueError(f"the names of two rules differ only in dots and underscores: {', '.join(twice)}")
        shipped = shipped_predicates()
        if both := sorted(self.predicates.keys() & shipped):
            raise ValueError(f"predicates.{both[0]}: Jochi ships a predicate of this name; give yours another")
        elsewhere = [(rule.name, rule.when) for rule in self.all_rules()]
        for where, conditions in (*elsewhere, *((f"orphans.{entry.kind}", entry.when) for entry in self.orphans.kinds)):
            if any(condition.subject == "tier_value" for condition in conditions):
                raise ValueError(f"{where}: tier_value moves between tiers only: [[tier_rules]]")
        for rule in rules:
            for name in (*rule.unless, *rule.if_any):
                if name not in shipped and name not in self.predicates:
                    there = ", ".join(sorted(shipped | self.predicates.keys()))
                    raise ValueError(f"{rule.name}: there is no predicate {name!r}; there are: {there}")
        if unknown := sorted({entry.kind for entry in self.orphans.kinds} - set(labels)):
            raise ValueError(f"orphans.kinds: no kind of this policy has the label {', '.join(unknown)}")
        for label in self.slot_labels():
            if "status" in _READ_BY_RAILS.get(label, {}):
                raise ValueError(f"slots.kinds: rails read status of {label}, which slots write")
        for name, derivation in self.derive.items():
            unclassified = sorted(set(derivation.of) - set(self.classification.labels))
            if derivation.deriving and derivation.retention and unclassified:
                raise ValueError(
                    f"derive.{name}.retention: not all kinds of `of` are classified ([classification]): {', '.join(unclassified)}"
                )
        if self.scheduler.backoff_min > self.scheduler.backoff_max:
            raise ValueError("scheduler.backoff_min is longer than scheduler.backoff_max")
        if self.scheduler.quarantine_min > self.scheduler.quarantine_max:
            raise ValueError("scheduler.quarantine_min is longer than scheduler.quarantine_max")
        return self

    def all_rules(self) -> list[Rule]:
        """Every rule of every kind, those for any kind first."""
        own = (rule for kind in self.kinds.values() for rule in kind.rules)
        return [*self.any_kind.rules, *own, *(rule for life in self.lifecycles.values() for rule in life.rules)]

    def audit_keep(self) -> timedelta:
        """How long a record is kept: as long as the tombstone that it can bring back."""
        return max(self.audit.keep, self.limits.tombstone_ttl)

    def inputs_of_rules(self) -> dict[str, list[str]]:
        """What each rule compares besides moments, under the app's own names: what a record of the rule shows.

        By the rule's name.
        """
        found: dict[str, set[str]] = {}
        every = [(label, rule) for label, kind in self.labels().items() for rule in self.rules_of(kind)]
        for label, rule in every:
            found.setdefault(rule.name, set()).update(self.own_name(label, each.subject) for each in rule.when)
        for shared in (*self.any_kind.rules, *self.tier_rules):
            found.setdefault(shared.name, set()).update(each.subject for each in shared.when)
        return {name: sorted(names) for name, names in sorted(found.items()) if names}

    def prunes(self) -> tuple[tuple[str, str], ...]:
        """The rules by which memories may be pruned, each with each label that it may take, in the policy's order."""
        by_rules = [
            (rule.name, label)
            for label, kind in self.labels().items()
            for rule in (*self.any_kind.rules, *self.rules_of(kind))
            if rule.action == "prune"
        ]
        return (*by_rules, *((ORPHAN_RULE, entry.kind) for entry in self.orphans.kinds))

    def rules_of(self, kind: Kind) -> tuple[Rule, ...]:
        """A kind's own rules and then those of its lifecycle."""
        return kind.rules + (self.lifecycles[kind.lifecycle].rules if kind.lifecycle else ())

    def tier_rules_of(self, *kinds: Rules) -> tuple[TierRule, ...]:
        """The moves between tiers that hold for one of these kinds (or for one that the policy doesn't name), in order."""
        scored = any(isinstance(kind, Kind) and self.scored(kind) for kind in kinds)
        return tuple(rule for rule in self.tier_rules if scored or not rule.by_value)

    def acting(self, kind: Rules, action: str) -> tuple[Rule, ...]:
        """The rules with one action that hold for a kind (or for one that the policy doesn't name), in order of precedence."""
        return self.any_kind.acting(action) + self.own_acting(kind, action)

    def own_acting(self, kind: Rules, action: str) -> tuple[Rule, ...]:
        """The same without the rules for every kind."""
        own = self.rules_of(kind) if isinstance(kind, Kind) else ()
        return tuple(rule for rule in own if rule.action == action)

    def ttl_rules(self) -> frozenset[str]:
        """The names of the rules whose time the score makes longer or shorter: those that its kinds have of their own."""
        kinds = [self.labels()[label] for label in self.value.labels if label in self.labels()]
        return frozenset(
            rule.name for kind in kinds for rule in kind.rules if rule.action in ("prune", "archive") and rule.after
        )

    def without_ttl(self) -> list[str]:
        """The labels of the score's kinds that have no such rule: their score alone prunes them."""
        rules = {label: kind.rules for label, kind in self.labels().items()}
        return [
            label for label in self.value.labels if not self.ttl_rules() & {rule.name for rule in rules.get(label, ())}
        ]

    def living(self, kind: Kind) -> bool:
        """Whether its memories have salience and the states that go with it."""
        return kind.lifecycle is not None and self.lifecycles[kind.lifecycle].salience

    def scored(self, kind: Kind) -> bool:
        """Whether its memories have heat and decay."""
        return kind.lifecycle is not None and self.lifecycles[kind.lifecycle].scores

    def scored_labels(self) -> list[str]:
        """The labels of the kinds whose memories have heat and decay."""
        return [label for label, kind in self.labels().items() if self.scored(kind)]

    def living_labels(self) -> list[str]:
        """The labels of the kinds whose memories have salience."""
        return [label for label, kind in self.labels().items() if self.living(kind)]

    def read_by(self, kind: Kind) -> frozenset[str]:
        """The names that its rules read, its lifecycle's, its moves between tiers, and what its numbers fall by."""
        ours = (_READ_BY_SALIENCE if self.living(kind) else frozenset()) | (
            frozenset({*FACT_TYPES, "created_at"}) if self.scored(kind) else frozenset()
        )
        return kind.read_by_rules() | names_read((*self.rules_of(kind), *self.tier_rules_of(kind))) | ours

    def sets_states(self) -> bool:
        """Whether a rule sets a state (other than archived)."""
        return any(rule.action == "state" for rule in self.all_rules())

    def expiries(self) -> dict[timedelta, list[str]]:
        """By the time after which what is ephemeral is archived, the labels with salience that it holds for."""
        found: dict[timedelta, list[str]] = {}
        for label, kind in self.labels().items():
            for rule in self.rules_of(kind) if self.living(kind) else ():
                if rule.action == "archive" and rule.if_any == ("ephemeral",) and rule.clock == ("created_at",):
                    found.setdefault(rule.after, []).append(label)
        return found

    def read_of_every_kind(self) -> frozenset[str]:
        """The names that rules for every kind read."""
        return names_read((*self.any_kind.rules, *self.tier_rules_of(self.any_kind)))

    def ups(self) -> tuple[TierRule, ...]:
        """Moves towards the context, from the farthest tier on, so that one can follow another; else in order."""
        found = [rule for rule in self.tier_rules_of(*self.kinds.values()) if not rule.down]
        return tuple(sorted(found, key=lambda rule: -TIERS.index(rule.from_)))

    def downs(self) -> tuple[TierRule, ...]:
        """Moves away from the context, from the nearest tier on, so that one can follow another; else in order."""
        found = [rule for rule in self.tier_rules_of(*self.kinds.values()) if rule.down]
        return tuple(sorted(found, key=lambda rule: TIERS.index(rule.from_)))

    def predicates_used(self, all_of_them: bool) -> list[str]:
        """The predicates that rules for every kind read (so every look at a memory does), or those that any rule reads."""
        rules: list[Rule | TierRule] = [*self.tier_rules, *(self.all_rules() if all_of_them else self.any_kind.rules)]
        named = {name for rule in rules for name in (*rule.unless, *rule.if_any)}
        by_worth = self.value.labels or self.classification.classifying
        return sorted(named | ({"active_session", "in_progress_task"} if by_worth else set()))

    def decays(self) -> dict[str, Decay]:
        """How confidence falls, by the label of the kinds where it does."""
        return {label: kind.decay for label, kind in self.labels().items() if kind.decay}

    def slot_labels(self) -> list[str]:
        """Labels whose memories have slots."""
        return [label for label in self.labels() if label in self.slots.kinds]

    def many_marks(self) -> list[str]:
        """The attributes that hold several values at once, as they stand in a slot's name."""
        return sorted(attribute_mark(attribute) for attribute in self.slots.many)

    def promoted_from(self) -> list[str]:
        """The tiers that a count of accesses can bring a memory up from."""
        counted = [rule for rule in self.ups() if rule.reads_accesses]
        return sorted({rule.from_ for rule in counted})

    def promoted_by(self) -> int:
        """The least count of accesses in seven days that can bring a memory up (`scored_labels`: by its value, any can)."""
        needed = [
            condition.value
            for rule in self.ups()
            for condition in rule.when
            if condition.subject == "access_count_7d" and condition.at_least is not None
        ]
        return min((int(n) for n in needed if isinstance(n, int | float)), default=0)

    def labels(self) -> dict[str, Kind]:
        """The kinds by the label that their memories carry, in the policy's order."""
        return {kind.label or name: kind for name, kind in self.kinds.items()}

    def embedded_labels(self) -> list[str]:
        """Labels whose content gets an embedding; none where embeddings are off."""
        return [label for label, kind in self.labels().items() if kind.embed and self.embedding.enabled]

    def container_labels(self) -> list[str]:
        """Labels of what is handed over only where its kind is named."""
        return [label for label, kind in self.labels().items() if kind.container]

    def unique_labels(self) -> list[str]:
        """Labels of which one live memory has a content in a scope."""
        return [label for label, kind in self.labels().items() if kind.unique_content]

    def moments(self) -> list[str]:
        """Properties that start a rule's clock, sorted: each must be a zoned datetime."""
        rules = [*self.all_rules(), *self.tier_rules]
        return sorted({name for rule in rules for name in rule.clock})

    def longest_wait(self) -> timedelta:
        """The longest that anything may put a memory's next look off: its rules, the horizon, a pause after failures."""
        spans = [rule.after for rule in self.all_rules()] + [
            rule.after for rule in self.downs() if rule.after is not None
        ]
        classes = [self.any_kind.class_, *(kind.class_ for kind in self.kinds.values())]
        beside = max(self.queue.horizon_max, self.queue.volatile_horizon, self.scheduler.quarantine_max)
        return beside + max(spans, default=timedelta(0)) + max(classes)

    def derived_labels(self) -> tuple[str, ...]:
        """The labels of what derivations look at because the policy says so, sorted."""
        return tuple(sorted({label for each in self.derive.values() if each.deriving for label in each.of}))

    def resolved_labels(self) -> tuple[str, ...]:
        """The labels of which names are looked at for who may be who; none where nothing is extracted (seed 002)."""
        extract = self.derive.get("extract")
        return ("Person", "Concept", "Entity") if extract and extract.deriving else ()

    def derived_by_value(self) -> tuple[str, ...]:
        """Those of which only some tiers of value have an output, sorted."""
        by_value = (each for each in self.derive.values() if each.deriving and each.retention)
        return tuple(sorted({label for each in by_value for label in each.of}))

    def compressed_labels(self) -> tuple[str, ...]:
        """The labels whose long memories give way to a summary. What has one beside it is kept whole (seed 001)."""
        levels = self.derive.get("levels")
        beside = levels.of if levels and levels.deriving else ()
        return tuple(label for label in self.compression.kinds if label not in beside)

    def verdict_parts(self) -> dict[str, object]:
        """What decides over memories: rules, rails, limits. A change here asks for a new plan and a new `jochi apply`."""
        living = bool(self.living_labels())
        decides = {
            **dict.fromkeys(
                ("queue", "rails", "limits", "orphans", "predicates", "kinds", "any_kind", "tier_rules"), True
            ),
            "salience": living,
            "lifecycles": living,
            "facts": bool(self.scored_labels()),
            "value": bool(self.value.labels),
            "classification": self.classification.classifying,
            "duplicates": self.duplicates.merging and {"kinds", "merge", "most", "by_kind"},
            "compression": self.compression.compressing and {"kinds", "above", "share"},
        }
        beside: dict[str, Any] = {
            "kinds": {"__all__": {"unique_content", "embed", "intake"}},
            # What they bound is bounded by the day's limit as well.
            "limits": {"breaker_run_share", "breaker_run_floor", "plan_keep"},
            "orphans": {"pause"},
            "facts": {"recall", "filter_stale"},
        }
        include = {name: which for name, which in decides.items() if which}
        return self.model_dump(mode="json", by_alias=True, include=include, exclude=beside)

    def kinds_without_rules(self) -> list[tuple[int, bool, str]]:
        """(class in seconds, volatile, label) of the kinds that only the rules for every kind hold for, by standard names."""
        told = {label for labels, _kind in self.kinds_with_rules() for label in labels}
        return [
            (int(kind.class_.total_seconds()), kind.volatile, label)
            for label, kind in self.labels().items()
            if label not in told
        ]

    def kinds_with_rules(self) -> list[tuple[list[str], Kind]]:
        """The other kinds with their labels, in order. Those with a lifecycle and nothing else of their own go together by it."""
        found: list[tuple[list[str], Kind]] = []
        together: dict[object, list[str]] = {}
        for label, kind in self.labels().items():
            if kind.rules or kind.properties or kind.decay:
                found.append(([label], kind))
            elif self.rules_of(kind) or self.living(kind):
                alike = (kind.class_, kind.volatile, kind.lifecycle)
                if alike in together:
                    together[alike].append(label)
                else:
                    together[alike] = [label]
                    found.append((together[alike], kind))
        return found

    def sources(self, label: str | None = None) -> dict[str, tuple[Source, ...]]:
        """Where each mapped standard name is read, for a memory that carries ``label`` (None: any memory).

        The first mapped label in the policy's order that a memory carries decides. The last source of a chain has no
        label where nothing else is possible; else the standard name itself stands at its end.
        """
        chains: dict[str, tuple[Source, ...]] = {}
        for of, kind in self.labels().items():
            for name, own in kind.properties.items():
                chain = chains.get(name, ())
                if chain and chain[-1].label is None:
                    continue
                chains[name] = (*chain, source_of(None if of == label else of, own))
        return chains

    @property
    def protected_kinds(self) -> frozenset[str]:
        """Labels that are never enrolled."""
        return PROTECTED_KINDS

    def reads(self) -> dict[str, list[str]]:
        """By label, the app's own properties that rules and rails read of such a node."""
        return {label: sorted(self.expected_types(label)) for label in self.labels()}

    def _wanted_types(self, label: str) -> dict[str, set[str]]:
        """By standard name, the types that rules and rails need of such a node."""
        kind = self.labels()[label]
        wanted: dict[str, set[str]] = {name: {_MOMENT} for name in ("created_at", "expires_at", "locked_at")}
        wanted |= {"pinned": {"BOOLEAN"}, "ttl_policy": {"STRING"}, "locked_by": {"STRING"}}
        wanted |= {name: {type} for name, type in _READ_BY_RAILS.get(label, {}).items()}
        wanted |= dict(_SALIENCE_TYPES) if self.living(kind) else {}
        wanted |= {name: set(types) for name, types in FACT_TYPES.items()} if self.scored(kind) else {}
        for rule in (*self.rules_of(kind), *self.any_kind.rules, *self.tier_rules_of(kind)):
            for name in rule.clock:
                wanted.setdefault(name, {_MOMENT})
            for condition in rule.when:
                if condition.absent is None and condition.subject not in COMPUTED:
                    wanted.setdefault(condition.subject, set(condition.cypher_type.split(" | ")))
        return wanted

    def mapped_moments(self, label: str) -> dict[str, str]:
        """By the app's own property, the standard name of each moment that rules and rails read."""
        return {
            self.own_name(label, name): name for name, types in self._wanted_types(label).items() if types == {_MOMENT}
        }

    def expected_types(self, label: str) -> dict[str, frozenset[str]]:
        """By the app's own property, the types (as valueType() names them) that rules and rails can use."""
        kind = self.labels()[label]
        found: dict[str, frozenset[str]] = {}
        for name, types in self._wanted_types(label).items():
            own = kind.properties.get(name, name)
            extra = set() if isinstance(own, str) else CONVERTED_TYPES[own.as_]
            found[self.own_name(label, name)] = frozenset(f"{type} NOT NULL" for type in types | extra)
        return found

    def conversions(self) -> dict[str, dict[str, str]]:
        """By label and the app's own property: as what a moment that isn't zoned is read (its `as`)."""
        return {
            label: {own.property: own.as_ for own in kind.properties.values() if not isinstance(own, str)}
            for label, kind in self.labels().items()
        }

    def intake_labels(self) -> dict[str, Kind]:
        """The kinds whose new nodes are enrolled without being asked, by label."""
        return {label: kind for label, kind in self.labels().items() if kind.intake}

    def own_name(self, label: str, name: str) -> str:
        """The app's own property that stands for the standard ``name`` on nodes with ``label``."""
        own = self.labels()[label].properties.get(name, name)
        return own if isinstance(own, str) else own.property

    def content_names(self) -> list[str]:
        """The properties under which kinds keep their content, the standard name first."""
        own = {self.own_name(label, "content") for label in self.labels()}
        return ["content", *sorted(own - {"content"})]

    def read_names(self) -> list[str]:
        """Every property that a rule or rail reads, under all its names: an app's and the engine's."""
        ours = {each.name for each in MEMORY if each.owner and each.has("read")}
        return sorted(ours | set(self.watched()))

    def watched(self) -> list[str]:
        """The properties whose change an app makes and a rule or rail reads, under all their names (for the trigger)."""
        names = {each.name for each in MEMORY if each.owner is None and each.has("read")} | self.read_of_every_kind()
        for kind in self.kinds.values():
            names |= self.read_by(kind)
        mapped = {self.own_name(label, name) for label in self.labels() for name in names}
        return sorted((names | mapped) - set(WRITTEN))
