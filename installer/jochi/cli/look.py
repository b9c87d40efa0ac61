"""Reading verbs: `jochi status`, `jochi plan`, `jochi explain`, `jochi doctor`."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Any

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, moment, out, table, write_json
from jochi.errors import UsageError
from jochi.operate.explain import Explanation
from jochi.operate.plan import Plan

At = Annotated[
    str | None, typer.Option("--at", help="Another moment than now, ISO 8601 with a zone: 2026-12-24T18:00:00Z.")
]


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the tree."""
    app.command()(plan)
    app.command()(explain)


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


def plan(context: typer.Context, at: At = None, as_json: AsJson = False) -> None:
    """What would be pruned now (or at another time), by rule and kind. Writes nothing."""
    with jochi(context) as client:
        found = client.plan(parse_moment(at))
    if as_json:
        write_json(found)
    else:
        print_plan(found)


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
    out.print(f"{found.looked_at:,} memories are due for a look; {found.prunes:,} of them would be pruned.")


def explain(
    context: typer.Context,
    memory: Annotated[str, typer.Argument(help="The memory's key scope/id, or its id in the scope default.")],
    scope: Annotated[str, typer.Option(help="Scope, where only the id is given.")] = "default",
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Why a memory is still here, or why it is gone: every rule and every rail."""
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
        out.print(
            f"pruned at {moment(tombstone['deleted_at'])}, deleted for good after {moment(tombstone['purge_due'])}; "
            f"bring it back: jochi restore {found.key}"
        )
    if found.audits:
        rows = [(moment(a["at"]), a["action"], a.get("rule"), a["run"], a.get("policy"), a["id"]) for a in found.audits]
        table("Record", ("at", "action", "rule", "run", "policy", "audit id"), rows)


def _print_live(found: Explanation) -> None:
    out.print(
        f"{found.key} is a {found.kind}. Verdict at {moment(found.at)}: [bold]{found.outcome}[/]"
        + (f" ({found.rule})" if found.rule else "")
    )
    rows: list[tuple[Any, ...]] = []
    for rule in found.rules:
        required = [f"{c['property']} {c['required']}" for c in rule.conditions] + [
            f"{rule.after} after " + " or ".join(c["property"] for c in rule.clock)
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
    out.print(
        f"in the queue for {moment(found.next_due)}; looked at now, it would come up again at {moment(found.next_look)}"
    )
