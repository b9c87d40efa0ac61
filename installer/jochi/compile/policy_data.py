"""A policy's rules as data for the one interpreter, procedures/_macros/verdict/judge.j2 (DESIGN §6, §8).

Compiled by Python when a policy is installed, kept as JSON on its :JochiPolicy node, handed to bodies as `$in.p`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jochi.compile.constants import constants_of, decay_data, salience_data, seconds
from jochi.compile.quoting import literal
from jochi.policy.derive import Caps
from jochi.policy.durations import format_duration
from jochi.policy.model import Kind, Policy
from jochi.policy.rules import TIERS, Condition, Rule, Rules, TierRule, class_seconds
from jochi.policy.tasks import means_statuses, of_task_status
from jochi.policy.value import OneOf, Value

_AT_ALL = ("access_count", "access_count_7d")
"""What is read as the measure stage has it, in every kind."""


def policy_data(policy: Policy) -> dict[str, Any]:
    """The whole: constants, a profile a kind with its rules in order of precedence, moves up, and what measures need.

    ``chosen``: [label, number of its profile], in the order in which a memory's labels are tried.
    """
    compiler = _Compiler(policy)
    profiles: list[dict[str, Any]] = []
    chosen: list[dict[str, Any]] = []
    for labels, kind in policy.kinds_with_rules():
        chosen += [{"label": label, "profile": len(profiles)} for label in labels]
        profiles.append(compiler.profile(kind, labels[0]))
    for class_s, volatile, label in sorted(policy.kinds_without_rules(), key=lambda each: each[:2]):
        chosen.append({"label": label, "profile": len(profiles)})
        profiles.append({**compiler.profile(policy.any_kind, None, class_s), "volatile": volatile})
    return {
        **constants_of(policy),
        # What each rule compares, and how long it waits: for the records.
        "reads": policy.inputs_of_rules(),
        "after_s": {rule.name: seconds(rule.after) for rule in policy.all_rules()}
        | {rule.name: seconds(rule.after) for rule in policy.tier_rules},
        "profiles": profiles,
        "chosen": chosen,
        "other": compiler.profile(policy.any_kind, None),
        "moves": [compiler.tier_rule(rule) for rule in (*policy.downs(), *policy.ups())],
        "salience": salience_data(policy.salience),
        "facts": facts_data(policy),
        "value": value_data(policy),
        "classes": classes_data(policy),
        "context": context_data(policy),
        "actions": actions_data(policy),
        "observe": observe_data(policy),
        "names": compiler.names(),
        "state_i": compiler.state,
        "created_i": compiler.created,
        "tombstone_ttl_s": seconds(policy.limits.tombstone_ttl),
        "plan_samples": policy.limits.plan_samples,
        "read_names": policy.read_names(),
        "work": {
            "lease_s": policy.work.lease.total_seconds(),
            "retry_min_s": policy.work.retry_min.total_seconds(),
            "retry_max_s": policy.work.retry_max.total_seconds(),
            "give_up_after": policy.work.give_up_after,
        },
        "derive": {
            "compress": _caps(policy.compression),
            **{name: {**_caps(each), **each.numbers} for name, each in policy.derive.items()},
        },
    }


def _caps(derivation: Caps) -> dict[str, Any]:
    """What `work/reserve` keeps a derivation to (DESIGN §13): items, tokens and money, by span; None: as much as it takes.

    Of `[derive.<name>]` the rest as well, its numbers by their own names.
    """
    capped = derivation.model_dump(exclude={"compressing", "kinds", "above", "share", "cycle", "numbers"})
    return {"cycle_s": seconds(derivation.cycle), **capped}


class _Compiler:
    """Rules read properties by their number in `names`: each is read once a memory, whatever many rules ask for."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._names: list[str] = []
        self._ttl = policy.ttl_rules()
        for rule in (*policy.ups(), *policy.downs(), *policy.any_kind.rules):
            for name in (*(each.subject for each in rule.when), *rule.clock):
                self._number(name)
        self.state, self.created = self._number("state"), self._number("created_at")

    def names(self) -> list[dict[str, Any]]:
        """What is read: a standard name and, where kinds keep it under a name of their own, where (in order; the first decides)."""
        sources = self._policy.sources()
        return [
            {
                "name": name,
                "own": [
                    {"label": source.label, "name": source.property, "conversion": source.conversion}
                    for source in sources[name]
                ]
                if name in sources
                else None,
            }
            for name in self._names
        ]

    def profile(self, kind: Rules, label: str | None, class_s: int | None = None) -> dict[str, Any]:
        """What one kind's memories are judged by; ``label`` None: none of its own."""
        policy = self._policy
        own = kind if isinstance(kind, Kind) and label else None
        falls = self._falls(own)
        of_kind = class_s or int(kind.class_.total_seconds())
        rules = [
            self._row(rule, (rule.class_ and int(rule.class_.total_seconds())) or of_kind, falls, label)
            for action in ("prune", "archive", "flag", "state")
            for rule in policy.acting(kind, action)
        ]
        asked = {name for rule in [*rules, *map(self.tier_rule, policy.tier_rules)] for name in rule["asks"]}
        if policy.value.labels or policy.classification.classifying:
            asked |= {"active_session", "in_progress_task"}
        return {
            "class_s": of_kind,
            "volatile": kind.volatile,
            "state": policy.own_name(label, "state") if label else "state",
            "salience": "salience" in falls,
            "fades": decay_data(own.decay) if own else None,
            "asks": sorted(asked),
            "rules": rules,
        }

    def tier_rule(self, rule: TierRule) -> dict[str, Any]:
        """A move between tiers: the same for every kind."""
        falls = {"heat_score", "decay_score", "tier_value"} if rule.by_value else set()
        return self._row(rule, class_seconds(rule, self._policy.any_kind.class_), falls, None)

    def _falls(self, kind: Kind | None) -> set[str]:
        """What time changes by itself in a kind."""
        if kind is None:
            return set()
        falls = {"confidence"} if kind.decay else set()
        falls |= {"salience"} if self._policy.living(kind) else set()
        return falls | ({"heat_score", "decay_score", "tier_value"} if self._policy.scored(kind) else set())

    def _row(self, rule: Rule | TierRule, class_s: int, falls: set[str], label: str | None) -> dict[str, Any]:
        when = [self._condition(each, falls, label) for each in rule.when]
        row: dict[str, Any] = {
            "rule": rule.name,
            "action": rule.action,
            "class_s": class_s,
            "when": when,
            "decays": any(each["how"] not in ("read", "access_count", "task_status") for each in when),
            "unless": list(rule.unless),
            "if_any": list(rule.if_any),
            "asks": sorted({*rule.unless, *rule.if_any}),
            "clock": [{"i": self._number(name), "shown": self._shown(name, label)} for name in rule.clock],
            "made": "created_at" in rule.clock,
            "by_accesses": rule.reads_accesses,
            "source": rule.source,
            "after": format_duration(rule.after) if rule.after is not None and rule.clock else "at once",
            "after_s": seconds(rule.after),
        }
        if isinstance(rule, Rule):
            row |= {
                "flag": rule.flag,
                "state": rule.state,
                "waits_s": seconds(rule.unless_at_most),
                "waits": ""
                if rule.unless_at_most is None
                else f", or longer than {format_duration(rule.unless_at_most)}",
                "life": seconds(rule.after) if rule.name in self._ttl else None,
            }
        else:
            row |= {
                "from": rule.from_,
                "to": rule.to,
                "reach": list(TIERS[TIERS.index(rule.from_) :]),
                "by_value": rule.by_value,
                "new_access": rule.new_access,
            }
        return {key: value for key, value in row.items() if value is not None}

    def _condition(self, condition: Condition, falls: set[str], label: str | None) -> dict[str, Any]:
        name, value = condition.subject, condition.value
        how = name if name in _AT_ALL or name in falls else "read"
        if of_task_status(label, name) and means_statuses(value):
            how = "task_status"
        kinds = {"BOOLEAN": "boolean", "STRING": "text"}
        return {
            "i": self._number(name),
            "how": how,
            "op": condition.operator,
            "type": kinds.get(condition.cypher_type, "number"),
            "value": list(value) if isinstance(value, tuple) else value,
            "shown": self._shown(name, label),
            "required": "absent" if condition.absent else f"{condition.operator} {literal(value)}",
        }

    def _number(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def _shown(self, name: str, label: str | None) -> str:
        return self._policy.own_name(label, name) if label else name


def facts_data(policy: Policy) -> dict[str, Any]:
    """What heat and decay of facts are made of (procedures/_macros/measure/facts.j2)."""
    n = policy.facts
    return {
        "kinds": policy.scored_labels(),
        "tiers": [{"name": tier.name, "from": tier.from_, "weight": float(tier.weight)} for tier in n.confidence_tiers],
        "unknown_weight": float(n.unknown_weight),
        "importance": float(n.importance),
        "access_scale": n.access_scale,
        "recent_s": n.recent.total_seconds(),
        "old_s": n.old.total_seconds(),
        "unused_s": n.unused.total_seconds(),
        "disputed": float(n.disputed),
        "protected": list(n.protected_categories),
        "unimportant": n.unimportant,
        "heat": {**_floats(n.heat.model_dump()), "feedback": n.heat.feedback * 0.5},
        "decay": {**_floats(n.decay.model_dump()), "feedback": n.decay.feedback * 0.5},
        "worth": {**_floats(n.worth.model_dump()), "feedback": n.worth.feedback * 0.5},
    }


def value_data(policy: Policy) -> dict[str, Any]:
    """What the Memory Value Score is made of (procedures/_macros/measure/score.j2)."""
    n: Value = policy.value
    kinds = policy.labels()
    above = " above the type weight" if n.profile != "seed" else ""
    return {
        "profile": n.profile,
        "over_ttl": n.over_ttl,
        "most_lives": n.most_lives,
        "grace_s": seconds(n.grace),
        "grace": format_duration(n.grace),
        "class_s": seconds(n.class_),
        "bands": [{"name": name, "least": float(least)} for name, least in n.bands.in_order.items()],
        **{name: float(least) for name, least in n.bands.in_order.items()},
        "shown": {name: f"< {least}{above}" for name, least in n.bands.in_order.items()},
        "shown_lives": f"< {n.bands.keep}{above}, or {n.most_lives} times as long",
        "rows": [
            {
                "kind": row.kind,
                "weight": float(row.weight),
                "half": None if row.half_life is None else row.half_life.total_seconds(),
                "target": row.target,
                **_when(row.kind, row.when),
                "above": row.confidence_above,
                "fades": decay_data(kinds[row.kind].decay) if row.kind in kinds else None,
            }
            for row in n.kinds
        ],
        "other": {"weight": float(n.other.weight), "half": n.other.half_life.total_seconds()},
        "targets": [{"kind": kind, "target": target} for kind, target in n.targets.items()],
        "other_target": n.other_target,
        "terms": {**_floats(n.terms.model_dump(), {"relationships"}), "many": float(n.terms.many_accesses)},
        "severities": _floats(n.severities),
        "most_severe": float(n.most_severe),
        "at_once": list(n.at_once),
        "claims": list(n.claims),
        "without_ttl": policy.without_ttl() if n.over_ttl else [],
        "embeds": policy.embedding.enabled,
        "never_embedded": [label for label, kind in kinds.items() if not kind.embed],
        "walked": n.walked,
    }


def classes_data(policy: Policy) -> dict[str, Any]:
    """What the value by five signals is made of (procedures/_macros/measure/classification.j2)."""
    n = policy.classification
    return {
        "kinds": list(n.labels),
        "weights": _floats(n.weights.model_dump()),
        "retention": [
            {"kind": row.kind, "score": float(row.score), **_when(row.kind, row.when)} for row in n.retention
        ],
        "other_retention": float(n.other_retention),
        "most_accesses": n.most_accesses,
        "recent_s": n.recent.total_seconds(),
        "keep": float(n.keep),
        "summarize": float(n.summarize),
        "compare_s": seconds(n.compare_every),
        "grace_s": seconds(n.grace),
        "grace": format_duration(n.grace),
        "class_s": seconds(n.class_),
    }


def observe_data(policy: Policy) -> dict[str, Any]:
    """What boxes and traces are made by (procedures/_macros/observe/boxes.j2)."""
    n = policy.observe
    return {
        "topics": n.topics,
        "context": n.context,
        "box_overlap": float(n.box_overlap),
        "box_gap_s": seconds(n.box_gap),
        "box_memories": n.box_memories,
        "trace_overlap": float(n.trace_overlap),
        "trace_window_s": seconds(n.trace_window),
        "trace_boxes": n.trace_boxes,
    }


def context_data(policy: Policy) -> dict[str, Any]:
    """What the manifest of a scope is chosen by (procedures/_macros/context/choosing.j2)."""
    n = policy.context
    return {
        "max_tokens": n.max_tokens,
        "line_tokens": n.line_tokens,
        "frame_tokens": n.frame_tokens,
        "sections": [each.model_dump(include={"name", "title", "tokens", "newest"}) for each in n.sections],
        "rows": [
            {"section": each.name, "kind": row.kind, **_when(row.kind, row.when)}
            for each in n.sections
            for row in each.of
        ],
        "task_statuses": n.meanings(),
        "rest": next(each.name for each in n.sections if not each.of),
        "never": list(dict.fromkeys((*n.never, *policy.container_labels()))),
        "candidates": n.candidates,
        "every_s": seconds(n.every),
        "versions": n.versions,
    }


def actions_data(policy: Policy) -> dict[str, Any]:
    """What actions are judged by (procedures/_macros/actions/judgement.j2), and what guidelines say when (…/guidance.j2)."""
    n = policy.actions
    return {
        "needs": {
            action: {**need, "confidence": _bounds(need["confidence"]), "importance": _bounds(need["importance"])}
            for action, need in n.needs.model_dump(mode="json").items()
        },
        "keep_s": seconds(n.keep),
        "window_s": seconds(n.window),
        "learn_every_s": seconds(n.learn_every),
        **n.model_dump(include={"most", "least"}),
        **_floats(n.model_dump(include={"failed", "skipped", "taken_back"})),
    }


def _bounds(span: list[float]) -> dict[str, float]:
    return {"least": float(span[0]), "most": float(span[1])}


def _when(kind: str, condition: OneOf | None) -> dict[str, Any]:
    """What must hold of a memory for a row of that kind: one of some texts (procedures/_macros/values/one_of.j2)."""
    return {
        "when": condition and condition.property,
        "one_of": condition and list(condition.one_of),
        "of_task_status": condition is not None and of_task_status(kind, condition.property),
    }


def _floats(numbers: dict[str, Any], but: Iterable[str] = ()) -> dict[str, Any]:
    """As floats: Cypher divides whole numbers into whole numbers."""
    return {name: value if name in but else float(value) for name, value in numbers.items()}
