"""`jochi explain`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from jochi.cli.arguments import At, parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, finish_with_json, moment, out, table
from jochi.curate.duplicates import held_in_words
from jochi.curate.explain import Explanation, RuleCheck
from jochi.errors import UsageError


def explain(
    context: typer.Context,
    memory: Annotated[str, typer.Argument(help="The memory's key scope/id, or its id in the scope default.")],
    scope: Annotated[str, typer.Option("--scope", "-s", help="Scope, where only the id is given.")] = "default",
    at: At = None,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Every rule with its source, and every rail.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show why a memory is still here or why it is gone."""
    with jochi(context) as client:
        found = client.explain(memory, scope=scope, at=parse_moment(at))
    if not found.found:
        raise UsageError(f"nothing is known of {found.key}", fix="give the key as scope/id; `jochi plan` names some")
    finish_with_json(found, as_json)
    if found.kind is not None:
        _print_live(found, everything)
    for tombstone in found.tombstones:
        into = tombstone["merged_into"]
        gone = "pruned" if into is None else f"merged into {into}"
        out.print(
            f"{gone} at {moment(tombstone['deleted_at'])}, deleted for good after {moment(tombstone['purge_due'])}; "
            f"bring it back: jochi {'restore' if into is None else 'unmerge'} {found.key}",
            markup=False,
        )
        table(
            "What the rule and the rails read of it",
            ("property", "value"),
            [(entry["property"], _told(entry["value"])) for entry in tombstone["inputs"]],
        )
    if found.duplicates:
        table(
            "May be the same memory",
            ("other", "verdict", "cosine", "why", "held by", "looked at again"),
            [
                (
                    d["other"],
                    d["verdict"] + (f" by {d['decided_by']}" if d["verdict"] in ("approved", "rejected") else ""),
                    "same text" if d["same_text"] else "" if d["score"] is None else f"{d['score']:.3f}",
                    ", ".join(d["reasons"]),
                    held_in_words(d["held_by"], d["constraints"]),
                    moment(d["merge_due"]),
                )
                for d in found.duplicates
            ],
        )
    if found.audits:
        rows = [(moment(a["at"]), _deed(a), a.get("rule"), a["run"], a.get("policy"), a["id"]) for a in found.audits]
        table("Record", ("at", "action", "rule", "run", "policy", "audit id"), rows)


def _deed(audit: Mapping[str, Any]) -> str:
    """What was done, or by which rails nothing was."""
    return f"kept by {', '.join(audit['rails'])}" if audit["action"] == "protect" else str(audit["action"])


def _told(value: object) -> str:
    return moment(value) if isinstance(value, datetime) else str(value)


def _print_live(found: Explanation, everything: bool) -> None:
    out.print(
        f"{found.key} is a {found.kind}. Verdict at {moment(found.at)}: [bold]{found.outcome}[/]"
        + (f" ({found.rule})" if found.rule else "")
    )
    for change in found.changes:
        way = f" from {change.from_} to {change.to}" if change.to else f" {change.flag or change.state}"
        deed = "set the state" if change.state else change.action
        out.print(f"it would {deed}{way}, by {change.rule}, due since {moment(change.due)}")
    if everything:
        _print_all_rules(found)
    else:
        near = [rule for rule in found.rules if rule.action == "prune" or rule.due or rule.unknown]
        table("Rules", ("rule", "would", "state"), [(rule.rule, rule.action, _state(rule)) for rule in near])
        blocking = [(r.rail, r.until, r.required, r.current) for r in found.rails if r.blocks]
        if blocking:
            table("Rails that block", ("rail", "until", "passes if", "current"), blocking)
        else:
            out.print(f"none of {len(found.rails)} rails blocks")
    if found.value is not None:
        lost = found.lost_by_signal
        signals = [
            (
                name,
                "unknown" if found.value[name] is None else f"{found.value[name]:.3f}",
                f"{weight:g}",
                f"{lost.get(name, 0):.3f}",
            )
            for name, weight in found.value["weights"].items()
        ]
        table("Value", ("signal", "0 to 1", "weight", "takes"), signals, right=(1, 2, 3))
        since = f"; first found by the look at {moment(found.value['low_since'])}" if found.value["low_since"] else ""
        out.print(found.value_words + since, markup=False)
    if found.orphan is not None:
        due = f"; due {moment(found.orphan.due)}" if found.orphan.due else ""
        out.print(f"orphan: {found.orphan.words}{due}")
    out.print(
        f"in the queue for {moment(found.next_due)}; looked at now, it would come up again at {moment(found.next_look)}"
    )
    if not everything:
        out.print(
            f"`jochi explain {found.key} --all` shows all {len(found.rules)} rules and {len(found.rails)} rails",
            markup=False,
        )


def _state(rule: RuleCheck) -> str:
    """Whether a rule is met; if it isn't, what stands against it."""
    if rule.unknown:
        return "unknown: blocks"
    if rule.due is not None:
        return f"{'met since' if rule.met else 'met at'} {moment(rule.due)}"
    against = [
        f"{c['property']} is {_value(c['current'])}, required: {c['required']}" for c in rule.conditions if not c["met"]
    ]
    unset = " and ".join(c["property"] for c in rule.clock if c["current"] is None)
    return "no: " + ("; ".join(against) or f"{unset or 'its moment'} is not set")


def _value(value: object) -> str:
    return "not set" if value is None else _told(value) if isinstance(value, datetime) else repr(value)


def _print_all_rules(found: Explanation) -> None:
    rows: list[tuple[Any, ...]] = []
    for rule in found.rules:
        clock = " or ".join(c["property"] for c in rule.clock)
        required = [f"{c['property']} {c['required']}" for c in rule.conditions] + [
            f"{rule.after} after {clock}" if clock else rule.after
        ]
        current = [f"{c['current']!r}" for c in rule.conditions] + [
            str(c["current"]) for c in rule.clock if c["current"] is not None
        ][:1]
        state = "met" if rule.met else "unknown: blocks" if rule.unknown else "not met"
        rows.append((rule.rule, "\n".join(required), "\n".join(current), state, moment(rule.due), rule.source))
    table("Rules", ("rule", "required", "current", "state", "due", "source"), rows)
    table(
        "Rails",
        ("rail", "blocks", "until", "passes if", "current"),
        [(r.rail, r.blocks, r.until, r.required, r.current) for r in found.rails],
    )
