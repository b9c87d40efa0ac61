"""A policy's rules as Markdown tables, one a kind: what the reference page and `jochi policy rules` show."""

from __future__ import annotations

from collections.abc import Iterable

from jochi.policy.durations import format_duration
from jochi.policy.model import Policy
from jochi.policy.rules import Condition, Rule, TierRule

_HEAD = ["| rule | when | clock | after | then | source |", "|---|---|---|---|---|---|"]


def rule_tables(policy: Policy) -> str:
    """One table for every kind with rules of its own, one for the rules of every kind, one for tiers, one for what fades."""
    parts = ["### Every kind", *_table(policy.any_kind.rules)]
    for label, kind in policy.labels().items():
        if kind.rules:
            parts += ["", f"### {label}", *_table(kind.rules)]
    for name, life in policy.lifecycles.items():
        used_by = [label for label, kind in policy.labels().items() if kind.lifecycle == name]
        if used_by:
            parts += ["", f"### Lifecycle *{name}*: {', '.join(used_by)}", *_table(life.rules)]
    parts += ["", "### Moves between tiers, every kind", *_table(policy.tier_rules)]
    parts += [
        "",
        "### Confidence that fades",
        "| kind | a day | after | from below | not under |",
        "|---|---|---|---|---|",
    ]
    parts += [
        f"| {label} | −{decay.per_day} | {format_duration(decay.idle)} without access | {decay.below} | {decay.floor} |"
        for label, decay in policy.decays().items()
    ]
    living, numbers = policy.living_labels(), policy.salience
    if living:
        parts += [
            "",
            "### Salience that fades",
            "| kinds | at first | a day | a candidate | a use adds | core from |",
            "|---|---|---|---|---|---|",
            f"| {', '.join(living)} | {numbers.initial} "
            f"| × e^−r, r = {numbers.per_day} / (1 + `recall_frequency` ^ `decay_gradient`) "
            f"| r × (1 + (1 − `confidence`) · {numbers.doubt:g}); from {numbers.steady_from} on it doesn't fall "
            f"| {numbers.gain_most} at salience 0 to {numbers.gain_least} at 1 | {numbers.core_from} uses |",
        ]
    return "\n".join(parts) + "\n"


def _table(rules: Iterable[Rule | TierRule]) -> list[str]:
    return [*_HEAD, *(_row(rule) for rule in rules)]


def _row(rule: Rule | TierRule) -> str:
    clock = ", else ".join(f"`{name}`" for name in rule.clock)
    after = "at once" if rule.after is None or not rule.after else format_duration(rule.after)
    cells = (f"`{rule.name}`", " and ".join(_conditions(rule)), clock, after, _action(rule), rule.source)
    return "| " + " | ".join(cells) + " |"


def _action(rule: Rule | TierRule) -> str:
    if isinstance(rule, TierRule):
        return f"{rule.from_} → {rule.to}"
    return f"flag `{rule.flag}`" if rule.flag else f"state {rule.state}" if rule.state else rule.action


def _conditions(rule: Rule | TierRule) -> list[str]:
    told = [_condition(condition) for condition in rule.when]
    longest = getattr(rule, "unless_at_most", None)
    no_longer = "" if longest is None else f" (for {format_duration(longest)} at most)"
    told += [f"not *{name.replace('_', ' ')}*{no_longer}" for name in rule.unless]
    if rule.if_any:
        told.append(" or ".join(f"*{name.replace('_', ' ')}*" for name in rule.if_any))
    if isinstance(rule, TierRule):
        if rule.new_access == "since_move":
            told.append("accessed since its last move")
        elif rule.new_access == "after_budget":
            told.append("accessed since, if a budget moved it")
    return told


def _condition(condition: Condition) -> str:
    name, value = f"`{condition.subject}`", condition.value
    if condition.operator == "absent":
        return f"{name} absent"
    if isinstance(value, tuple):
        return f"{name} one of {', '.join(value)}"
    shown = str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
    return f"{name} {condition.operator.replace('>=', '≥').replace('<=', '≤').replace('<>', '≠')} {shown}"
