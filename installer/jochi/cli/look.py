"""Reading verbs: `jochi explain`, `jochi score`, `jochi budgets`, `jochi edges`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from itertools import islice
from typing import Annotated, Any

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, moment, out, some, table, write_json
from jochi.curate.explain import Explanation
from jochi.curate.plan import Plan
from jochi.curate.score import Scored
from jochi.errors import UsageError

At = Annotated[
    str | None, typer.Option("--at", help="Another moment than now, in ISO 8601 with a zone: 2026-12-24T18:00:00Z.")
]


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the tree."""
    app.command()(explain)
    app.command()(score)
    app.command()(budgets)
    app.command()(edges)


def parse_moment(text: str | None) -> datetime | None:
    """A zoned time from ISO 8601 text; `UsageError` for anything else."""
    if text is None:
        return None
    try:
        value = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise UsageError(f"{text!r} is not a time", fix="write it like 2026-12-24T18:00:00Z") from None
    if value.tzinfo is None:
        raise UsageError(f"{text!r} has no zone", fix="write it like 2026-12-24T18:00:00Z or …+01:00")
    return value.astimezone(timezone.utc)


def keys_of(memories: Iterable[str], scope: str) -> list[str]:
    """The keys of memories that are named by key, or by id in ``scope``."""
    return [memory if "/" in memory else f"{scope}/{memory}" for memory in memories]


def print_plan(found: Plan) -> None:
    """A plan as tables."""
    rows = [(g.outcome, g.kind, g.rule, g.n, g.scopes, ", ".join(g.samples)) for g in found.groups]
    table(
        f"Plan for {moment(found.at)}",
        ("outcome", "kind", "rule", "memories", "scopes", "for example"),
        rows,
        right=(3, 4),
    )
    if found.rails:
        table("Rails that hold memories back", ("rail", "memories"), sorted(found.rails.items()), right=(1,))
    moved = f"{found.archives:,} archived and {found.moves:,} moved to another tier"
    out.print(
        f"{some(found.looked_at, 'memory is', 'memories are')} due for a look; {found.prunes:,} would be pruned, {moved}."
    )
    if found.edges:
        told = ", ".join(f"{n:,} {type_}" for type_, n in sorted(found.edges.items()))
        out.print(f"Time would take from these edges: {told}. `jochi edges` shows some.")
    if found.merges:
        out.print(
            f"{some(found.merges, 'pair', 'pairs')} of near duplicates may be merged. `jochi duplicates` shows them."
        )


def explain(
    context: typer.Context,
    memory: Annotated[str, typer.Argument(help="The memory's key scope/id, or its id in the scope default.")],
    scope: Annotated[str, typer.Option(help="Scope, where only the id is given.")] = "default",
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Show why a memory is still here or why it is gone, with every rule and every rail."""
    with jochi(context) as client:
        found = client.explain(memory, scope=scope, at=parse_moment(at))
    if not found.found:
        raise UsageError(f"nothing is known of {found.key}", fix="give the key as scope/id; `jochi plan` names some")
    if as_json:
        write_json(found)
        return
    if found.kind is not None:
        _print_live(found)
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
                    ", ".join(d["held_by"]),
                    moment(d["merge_due"]),
                )
                for d in found.duplicates
            ],
        )
    if found.audits:
        rows = [(moment(a["at"]), _deed(a), a.get("rule"), a["run"], a.get("policy"), a["id"]) for a in found.audits]
        table("Record", ("at", "action", "rule", "run", "policy", "audit id"), rows)


def score(
    context: typer.Context,
    memories: Annotated[list[str] | None, typer.Argument(help="Keys scope/id, or ids in the scope default.")] = None,
    scope: Annotated[
        str | None, typer.Option(help="Scope, where only ids are given (default); with --improve: only this one.")
    ] = None,
    improve: Annotated[
        bool, typer.Option("--improve", help="List the memories to which something could be added, and what.")
    ] = False,
    most: Annotated[int, typer.Option("-n", min=1, help="With --improve: how many.")] = 50,
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Show what memories are worth, term by term, and what follows from it. This writes nothing."""
    if improve == bool(memories):
        raise UsageError("name memories, or --improve", fix="`jochi score default/m1`, or `jochi score --improve`")
    if improve:
        _improvable(context, scope, most, as_json)
        return
    keys = keys_of(memories or [], scope or "default")
    with jochi(context) as client:
        found = client.score(keys, at=parse_moment(at))
    if missing := sorted(set(keys) - {one.key for one in found}):
        raise UsageError(f"no live memory has the key {missing[0]}", fix="`jochi explain KEY` says what became of it")
    if as_json:
        write_json(found)
        return
    for one in found:
        _print_score(one)


def _improvable(context: typer.Context, scope: str | None, most: int, as_json: bool) -> None:
    with jochi(context) as client:
        found = list(islice(client.improvable(scope), most + 1))
    if as_json:
        write_json(found[:most])
        return
    rows = [(one.key, one.kind, ", ".join(one.missing), None if one.mvs is None else f"{one.mvs:.4f}") for one in found]
    table("What could be added", ("memory", "kind", "missing", "score"), rows[:most], right=(3,))
    if len(found) > most:
        out.print(f"… and more: -n {most * 10}")


def _print_score(found: Scored) -> None:
    rows = [
        (
            name.replace("_", " "),
            f"{-term.value if name == 'bloat' else term.value:.4f}",
            "" if term.known else f"up to {term.most:.4f}",
        )
        for name, term in found.terms.items()
    ]
    table(found.key, ("term", "adds", "unknown"), [*rows, ("score", f"{found.mvs:.4f}", "")], right=(1,))
    read = f"{found.above:.4f} above its type weight" if found.profile == "relative" else f"{found.mvs:.4f}"
    asks = found.action + (f": {', '.join(found.missing)}" if found.action == "improve" else "")
    out.print(f"{read} is in the band {found.band.replace('_', ' ')}; it asks for: [bold]{asks.replace('_', ' ')}[/]")
    if found.acting != found.band:
        best = found.above_most if found.profile == "relative" else found.most
        out.print(f"as something is unknown, it is judged by what it may be worth: {best:.4f}, {found.acting}")
    falls = f"at {moment(found.falls_at)}" if found.falls_at else "never" if found.falls_known else "at a time unknown"
    out.print(f"by time alone it leaves that band {falls}; {found.tokens:,} tokens of {found.target:,}")
    if found.rails:
        out.print(f"protected, whatever it is worth: {', '.join(sorted(found.rails))}")


def _deed(audit: Mapping[str, Any]) -> str:
    """What was done, or by which rails nothing was."""
    return f"kept by {', '.join(audit['rails'])}" if audit["action"] == "protect" else str(audit["action"])


def _told(value: object) -> str:
    return moment(value) if isinstance(value, datetime) else str(value)


def _print_live(found: Explanation) -> None:
    out.print(
        f"{found.key} is a {found.kind}. Verdict at {moment(found.at)}: [bold]{found.outcome}[/]"
        + (f" ({found.rule})" if found.rule else "")
    )
    for change in found.changes:
        way = f" from {change.from_} to {change.to}" if change.to else f" {change.flag or change.state}"
        deed = "set the state" if change.state else change.action
        out.print(f"it would {deed}{way}, by {change.rule}, due since {moment(change.due)}")
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
    if found.orphan is not None:
        due = f"; due {moment(found.orphan.due)}" if found.orphan.due else ""
        out.print(f"orphan: {found.orphan.words}{due}")
    out.print(
        f"in the queue for {moment(found.next_due)}; looked at now, it would come up again at {moment(found.next_look)}"
    )


def budgets(
    context: typer.Context,
    scope: Annotated[str | None, typer.Option(help="Only this scope. Without it, every memory is read.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the token budgets would move between tiers now, and what is pinned above them. This writes nothing."""
    with jochi(context) as client:
        found = client.plan_budgets(scope)
    if as_json:
        write_json(found)
        return
    rows = [(v.scope, v.before, v.after, v.n, v.tokens, ", ".join(v.samples)) for v in found.moves]
    table("Moves", ("scope", "from", "to", "memories", "tokens", "for example"), rows, right=(3, 4))
    if found.overflows:
        table(
            "Pinned above a budget",
            ("scope", "tier", "budget", "pinned tokens", "above"),
            [(o.scope, o.tier, o.budget, o.held, o.above) for o in found.overflows],
            right=(2, 3, 4),
        )
    out.print(
        f"{some(found.scopes, 'scope', 'scopes')}: {some(found.memories, 'memory', 'memories')} would move; "
        f"{some(found.overflowing, 'scope is', 'scopes are')} above a budget by what is pinned."
    )


def edges(context: typer.Context, at: At = None, as_json: AsJson = False) -> None:
    """Show how many edges there are of each declared type, how many are due, and which have waited longest."""
    with jochi(context) as client:
        found = client.edges(parse_moment(at))
    if as_json:
        write_json(found)
        return
    rows = [
        (t.type, "one way" if t.one_way else "both ways", t.lifecycle, t.stored, t.due, moment(t.next_due))
        for t in found.types
    ]
    table("Edges", ("type", "recall follows it", "time takes its", "stored", "due", "next due"), rows, right=(3, 4))
    waiting = [
        (t.type, e.start, e.end, e.confidence, moment(e.anchor), moment(e.next_due))
        for t in found.types
        for e in t.samples
    ]
    if waiting:
        table("Longest due", ("type", "from", "to", "confidence", "counted from", "due since"), waiting, right=(3,))
    out.print(f"edges that something else wrote were last looked for at {moment(found.walked_at)}")
