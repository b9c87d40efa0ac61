"""`jochi plan`, `jochi plan ls|show|exclude|apply` and `jochi budgets`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.arguments import At, keys_of, parse_moment
from jochi.cli.asking import ask
from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, finish_with_json, moment, out, some, table, write_json
from jochi.curate.plan import Plan
from jochi.curate.saved_plans import PlannedMemory, SavedPlan
from jochi.errors import PartlyDone


def budgets(
    context: typer.Context,
    scope: Annotated[
        str | None, typer.Option("--scope", "-s", help="Only this scope. Without it, every memory is read.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the token budgets would move between tiers now, and what is pinned above them. This writes nothing."""
    found = answer(context, as_json, lambda client: client.plan_budgets(scope))
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


app = typer.Typer(
    help="Show what would be done now, by rule and kind. The commands below save plans, show them and apply them."
)

PlanId = Annotated[str, typer.Argument(help="Id of the plan: `jochi plan ls`.")]


@app.callback(invoke_without_command=True)
def plan(
    context: typer.Context,
    at: At = None,
    save: Annotated[bool, typer.Option("--save", help="Save the plan with every memory that it names.")] = False,
    as_json: AsJson = False,
) -> None:
    """What would be pruned, archived, moved or changed otherwise now (or at another time), by rule and kind. Writes nothing.

    With --save the plan is kept: `jochi plan show|exclude|apply` take it from there.
    """
    if context.invoked_subcommand is not None:
        return
    with jochi(context) as client:
        found = client.plan(parse_moment(at))
        kept = client.save_plan(found) if save else None
    finish_with_json(found if kept is None else kept, as_json)
    print_plan(found)
    if kept is not None:
        out.print(
            f"kept as {kept.id}: {some(kept.memories, 'memory', 'memories')}, until {moment(kept.expires_at)}",
            markup=False,
        )
        out.print(f"  → jochi plan show {kept.id}; jochi plan apply {kept.id}", markup=False)


@app.command("ls")
def list_plans(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many plans.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the saved plans, newest first."""
    found = answer(context, as_json, lambda client: client.plans(limit=limit))
    rows = [(p.id, p.state, p.made_at, p.by, p.at, p.memories, p.excluded, p.expires_at, p.run) for p in found]
    columns = ("plan", "state", "made", "by", "speaks of", "memories", "excluded", "expires", "run")
    table("Plans", columns, rows, right=(5, 6))


@app.command()
def show(
    context: typer.Context,
    plan: PlanId,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=10_000, help="How many memories to name.")] = 50,
    skip: Annotated[int, typer.Option(min=0, help="Skip so many memories first.")] = 0,
    drift: Annotated[bool, typer.Option("--drift", help="Only memories that were not done as planned.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a plan names: groups, rails and the memories, a page at a time. After it was applied, show what became of each."""
    with jochi(context) as client:
        found = client.show_plan(plan)
        named = client.plan_entries(plan, skip=skip, limit=limit, drifted=drift) if limit else []
    finish_with_json({"plan": found, "memories": named}, as_json)
    _print_saved(found)
    _print_memories(found, named, skip, drift=drift)


def _print_saved(found: SavedPlan) -> None:
    out.print(
        f"{found.id}: {found.state}, for {moment(found.at)}, made {moment(found.made_at)} by {found.by}, "
        f"policy {found.policy}, expires {moment(found.expires_at)}",
        markup=False,
    )
    rows = [
        (g.action, g.kind, g.rule, g.n, g.excluded, g.applied, g.scopes, ", ".join(g.samples)) for g in found.groups
    ]
    columns = ("action", "kind", "rule", "memories", "excluded", "applied", "scopes", "for example")
    table("What it names", columns, rows, right=(3, 4, 5, 6))
    if found.rails:
        table("Rails that held memories back then", ("rail", "memories"), sorted(found.rails.items()), right=(1,))
    if found.outcomes:
        out.print("what became of them: " + ", ".join(f"{word} {n:,}" for word, n in sorted(found.outcomes.items())))
    if found.run:
        out.print(f"applied by the run {found.run}; `jochi undo {found.run}` takes it back", markup=False)


def _print_memories(found: SavedPlan, named: list[PlannedMemory], skip: int, *, drift: bool) -> None:
    if named:
        rows = [
            (
                one.key,
                one.kind,
                ", ".join(one.deeds),
                one.outcome or ("excluded" if one.excluded else None),
                one.note or None,
            )
            for one in named
        ]
        table("Memories", ("memory", "kind", "what", "outcome", "by"), rows)
    if not drift:
        out.print(
            f"{skip + len(named):,} of {some(found.memories, 'memory', 'memories')}"
            + (": --skip and -n show more" if skip + len(named) < found.memories else "")
        )


@app.command()
def exclude(
    context: typer.Context,
    plan: PlanId,
    memories: Annotated[list[str], typer.Argument(help="Keys scope/id, or ids in the scope default.")],
    scope: Annotated[str, typer.Option("--scope", "-s", help="Scope, where only ids are given.")] = "default",
    as_json: AsJson = False,
) -> None:
    """Leave memories out of a plan. They are held for 30 days (policy), so that no job prunes them either."""
    keys = keys_of(memories, scope)
    words = {
        "excluded": "left out, and held",
        "already": "was left out before",
        "gone": "left out; no live memory has this key any more",
        "not_named": "the plan doesn't name it",
    }
    with jochi(context) as client:
        results = client.exclude(plan, keys)
    if as_json:
        write_json(results)
    else:
        for result in results:
            out.print(f"{result.key}: {words[result.outcome]}", markup=False)
    if missed := sum(result.outcome == "not_named" for result in results):
        raise PartlyDone(f"{missed} of {len(results)} are not in the plan", fix=f"`jochi plan show {plan}` names them")


@app.command()
def apply(
    context: typer.Context,
    plan: PlanId,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Do what a plan names, and nothing else. Each memory is judged again. What changed since stays and is named.

    The exit code is 3 if something was not done as planned. A plan that was cut off goes on when you call this again.
    """
    with jochi(context) as client:
        found = client.show_plan(plan)
        if not as_json:
            _print_saved(found)
        ask("Do this now?", yes=yes)
        done = client.apply_plan(plan)
        drift = client.plan_entries(plan, drifted=True, limit=50)
    if as_json:
        write_json(done)
    else:
        if drift:
            rows = [(one.key, ", ".join(one.deeds), one.outcome, one.note or None) for one in drift]
            table("Not done as planned", ("memory", "planned", "why", "by"), rows)
        told = ", ".join(f"{word} {n:,}" for word, n in sorted(done.outcomes.items())) or "it names nothing"
        out.print(f"{told}; this is the run {done.run}", markup=False)
    if done.drifted:
        raise PartlyDone(
            f"{some(done.drifted, 'memory was', 'memories were')} not done as planned",
            fix=f"`jochi plan show {plan} --drift` names all",
        )


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
        out.print(f"Time would take from these edges: {told}. `jochi memory edges` shows some.")
    if found.merges:
        out.print(
            f"{some(found.merges, 'pair', 'pairs')} of near duplicates may be merged. `jochi duplicates` shows them."
        )
