"""`jochi budgets`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import answer
from jochi.cli.output import AsJson, out, some, table


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
