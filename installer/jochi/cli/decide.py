"""`jochi apply`, `jochi approve`, `jochi pause`, `jochi resume`: what a person decides."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.asking import ask
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, finish_with_json, out, some
from jochi.cli.plan import print_plan
from jochi.errors import UsageError
from jochi.jobs.results import Switch


def apply(context: typer.Context, yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False) -> None:
    """Say go: show the plan, ask, and let destructive jobs run from now on."""
    with jochi(context) as client:
        found = client.plan()
        print_plan(found)
        ask("Prune like this from now on?", yes=yes)
        applied = client.apply(found)
    out.print(
        f"applied: {some(applied.prunes, 'memory', 'memories')} may be pruned now, and later ones as they come due"
    )


def approve(
    context: typer.Context,
    run: Annotated[
        str | None, typer.Argument(help="Id of a run that the circuit breaker stopped: `jochi status` names it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a job go on that the circuit breaker stopped. Without RUN, open the gap guard again after a jump of the clock, a long
    silence or a copied store."""
    with jochi(context) as client:
        if run is not None:
            approved = client.approve_run(run)
            finish_with_json(approved, as_json)
            for lift in approved.lifts:
                out.print(f"lifted for {lift.n:,} of {lift.kind} in scope {lift.scope}", markup=False)
            out.print(f"approved: {approved.run}; {approved.job} goes on", markup=False)
            return
        was = client.approve()
    finish_with_json({"was": was}, as_json)
    out.print("the guard was open" if was is None else f"approved: {was}")


def pause(
    context: typer.Context,
    kind: Annotated[str | None, typer.Option("--kind", "-k", help="Pause one kind.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="Pause one scope.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Pause everything.")] = False,
) -> None:
    """Stop a kind, a scope or everything (a kill switch). For a single job: `jochi jobs pause`."""
    switch = _switch(kind, scope, everything)
    with jochi(context) as client:
        client.pause(switch)
    out.print(
        f"paused: {switch.what} {switch.name}".rstrip() + "; a run in progress ends after its batch", markup=False
    )


def resume(
    context: typer.Context,
    kind: Annotated[str | None, typer.Option("--kind", "-k", help="Resume one kind.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="Resume one scope.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Resume everything.")] = False,
) -> None:
    """Take a pause back."""
    switch = _switch(kind, scope, everything)
    with jochi(context) as client:
        was_paused = client.resume(switch)
    out.print(f"{'resumed' if was_paused else 'was not paused'}: {switch.what} {switch.name}".rstrip(), markup=False)


def _switch(kind: str | None, scope: str | None, everything: bool) -> Switch:
    given = [] if kind is None else [Switch("kind", kind)]
    given += [] if scope is None else [Switch("scope", scope)]
    given += [Switch("all")] if everything else []
    if len(given) != 1:
        raise UsageError("name exactly one: --kind, --scope or --all", fix="for one job: `jochi jobs pause NAME`")
    return given[0]
