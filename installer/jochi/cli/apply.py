"""`jochi apply`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.asking import ask
from jochi.cli.connection import jochi
from jochi.cli.output import out, some
from jochi.cli.plan import print_plan


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
