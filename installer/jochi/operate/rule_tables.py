"""A policy's rules as Markdown tables, one a kind: what the reference page and `jochi policy rules` show."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from jochi.policy.durations import format_duration
from jochi.policy.model import Policy
from jochi.policy.rules import Condition, Rule, TierRule
from jochi.policy.value import Value, Worth

_HEAD = ["| rule | when | clock | after | then | source |", "|---|---|---|---|---|---|"]


def rule_tables(policy: Policy) -> str:
    """One table for every kind with rules of its own, one for the rules of every kind, one for tiers, one for what fades, and those
    of the value score."""
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
    parts += ["", *_bands(policy), "", *_value_score(policy), "", *_terms(policy.value)]
    return "\n".join(parts) + "\n"


def _bands(policy: Policy) -> list[str]:
    value = policy.value
    lives, most = f"{1 / value.most_lives:g}", f"{value.most_lives:g}"
    without_ttl, at_once = ", ".join(policy.without_ttl()), ", ".join(value.at_once)
    acts = {
        "keep": f"TTLs wait until it is below, and last {most} times as long at most",
        "lean": "flag `needs_compression`, above the target tokens",
        "improve": "flag `needs_improvement`, where something is missing and nothing may merge with it",
        "demote": f"one tier down, not before it is {format_duration(value.grace)} old",
        "prune": f"prune: what a rule prunes later goes now, not before {lives} of its TTL"
        + (f"; {without_ttl} without a TTL" if without_ttl else ""),
    }
    last = f"{at_once} don't wait for that part of their TTL" if at_once else "as `prune`"
    read = "of the score itself" if value.profile == "seed" else "of what the score has above the type weight"
    does = acts if value.over_ttl else dict.fromkeys(acts, "only reported")
    rows = [f"| {name} | {least:g} | {does[name]} |" for name, least in value.bands.in_order.items()]
    return [
        f"### Value score: bands {read}",
        "| band | from | then |",
        "|---|---|---|",
        *rows,
        f"| prune at once | below | {last if value.over_ttl else 'only reported'} |",
    ]


def _value_score(policy: Policy) -> list[str]:
    value = policy.value
    targets: dict[int, list[str]] = {}
    for kind, tokens in value.targets.items():
        targets.setdefault(tokens, []).append(kind)
    others = "; ".join([*(f"{', '.join(kinds)} {n}" for n, kinds in targets.items()), f"others {value.other_target}"])
    return [
        "### Value score: kinds",
        "| kind | when | type weight | half-life | target tokens |",
        "|---|---|---|---|---|",
        *(
            f"| {row.kind} | {_holds(row)} | {row.weight:g} | {_half(row.half_life)} | {row.target} |"
            for row in value.kinds
        ),
        "| every other, and what its row doesn't hold for |  "
        f"| {value.other.weight:g} | {_half(value.other.half_life)} | {others} |",
    ]


def _half(life: timedelta | None) -> str:
    return "none" if life is None else format_duration(life)


def _holds(row: Worth) -> str:
    conditions = [] if row.when is None else [f"`{row.when.property}` one of {', '.join(row.when.one_of)}"]
    if row.confidence_above is not None:
        conditions.append(f"`confidence` > {row.confidence_above:g}")
    return " and ".join(conditions)


def _terms(value: Value) -> list[str]:
    t = value.terms
    severities = "".join(f", `severity` {name} {added:g}" for name, added in value.severities.items())
    rows = [
        ("recency", t.recency, f"{t.recency:g} · 0.5^(age / half-life)"),
        ("frequency", t.frequency, f"{t.frequency:g} · ln(1 + `access_count`) / ln {t.many_accesses}"),
        ("quality", t.quality, f"{t.quality:g} · `confidence`{severities}"),
        ("centrality", t.centrality, f"{t.centrality:g} · relationships / {t.relationships}"),
        ("cross-agent", t.cross_agent, f"{t.per_agent:g} an agent"),
        ("bloat", t.bloat, f"taken off: {t.bloat:g} · (tokens − target) / target"),
    ]
    return [
        "### Value score: terms beside the type weight",
        "| term | at most | is |",
        "|---|---|---|",
        *(f"| {name} | {most:g} | {text} |" for name, most, text in rows),
    ]


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
    conditions = [_condition(condition) for condition in rule.when]
    longest = getattr(rule, "unless_at_most", None)
    no_longer = "" if longest is None else f" (for {format_duration(longest)} at most)"
    conditions += [f"not *{name.replace('_', ' ')}*{no_longer}" for name in rule.unless]
    if rule.if_any:
        conditions.append(" or ".join(f"*{name.replace('_', ' ')}*" for name in rule.if_any))
    if isinstance(rule, TierRule):
        if rule.new_access == "since_move":
            conditions.append("accessed since its last move")
        elif rule.new_access == "after_budget":
            conditions.append("accessed since, if a budget moved it")
    return conditions


def _condition(condition: Condition) -> str:
    name, value = f"`{condition.subject}`", condition.value
    if condition.operator == "absent":
        return f"{name} absent"
    if isinstance(value, tuple):
        return f"{name} one of {', '.join(value)}"
    text = str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
    return f"{name} {condition.operator.replace('>=', '≥').replace('<=', '≤').replace('<>', '≠')} {text}"
