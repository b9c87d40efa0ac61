"""`jochi derive`: what is made out of memories outside the database, and how much of it is left."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, some, table, write_json

app = typer.Typer(help="See what workers have to make out of memories, and put back what they gave up on.")


@app.command()
def ls(context: typer.Context, as_json: AsJson = False) -> None:
    """Show how much is left for workers, what it has cost today (UTC), and what they gave up on."""
    from jochi_workers import queue

    with jochi(context) as client:
        derivations = queue.status(client.engine)
    if as_json:
        write_json(derivations)
        return
    titles = ("derivation", "due", "leased or later", "unsure", "put aside", "waiting since")
    rows = [
        (
            name,
            left.waiting,
            left.later,
            left.unsure,
            left.put_aside,
            f"{left.oldest:%Y-%m-%d %H:%M}" if left.oldest else "",
        )
        for name, left in derivations.items()
    ]
    table("Work for `jochi worker`", titles, rows, right=(1, 2, 3, 4))
    for name, left in derivations.items():
        if not left.spent:
            continue
        sent, received = left.spent["tokens_in"], left.spent["tokens_out"]
        used = f"; {sent:,} tokens sent, {received:,} received" if sent else ""
        cost = f", cost {left.money:,.4f}" if left.money is not None and sent else ""
        done = left.spent.get("done", 0)
        out.print(f"{name} today: {done:,} of {left.spent['items']:,} tried{used}{cost}", markup=False)
        if left.rejected:
            refused = ", ".join(f"{n:,} {reason}" for reason, n in sorted(left.rejected.items()))
            out.print(f"  rejected: {refused}", markup=False)
    if any(left.put_aside for left in derivations.values()):
        out.print("`jochi derive retry` puts back what was put aside after failures", markup=False)


@app.command()
def retry(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Only this derivation.", show_default="all")] = None,
) -> None:
    """Put back what workers gave up on: it starts afresh."""
    from jochi_workers import queue

    with jochi(context) as client:
        out.print(f"put back: {some(queue.retry(client.engine, derivation=name), 'piece of work', 'pieces of work')}")
