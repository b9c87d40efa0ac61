"""`jochi pause` and `jochi resume`: a kind, a scope or everything."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import out
from jochi.errors import UsageError
from jochi.jobs.results import Switch


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
