"""`jochi memory touch`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.arguments import At, parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, some, write_json
from jochi.errors import PartlyDone


def touch(
    context: typer.Context,
    keys: Annotated[
        list[str], typer.Argument(help="Keys scope/id of memories, or ids in the scope that --scope names.")
    ],
    recalled: Annotated[
        bool,
        typer.Option(
            "--recalled", help="They were only shown and not used. This counts as a recall and not as an access."
        ),
    ] = False,
    agent: Annotated[str | None, typer.Option(help="Who used them.")] = None,
    batch: Annotated[
        str | None,
        typer.Option(help="A text of your own. If you send the same command with it again, it counts nothing."),
    ] = None,
    scope: Annotated[str, typer.Option("--scope", "-s", help="Scope, where only the id is given.")] = "default",
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Report that memories were used, so that the engine reinforces and protects them."""
    named = [key if "/" in key else f"{scope}/{key}" for key in keys]
    with jochi(context) as client:
        done = client.touch(named, used=not recalled, agent=agent, batch=batch, now=parse_moment(at))
    if as_json:
        write_json(done)
    else:
        again = f"; {some(done.repeated, 'was', 'were')} taken before under this batch" if done.repeated else ""
        they = "it is" if done.touched == 1 else "they are"
        taken = some(done.touched, "touch", "touches")
        out.print(f"{taken} taken{again}; {they} counted within seconds", soft_wrap=True)
    if done.unknown:
        raise PartlyDone(
            f"no memory has {', '.join(done.unknown_samples)}{', …' if done.unknown > len(done.unknown_samples) else ''}",
            fix="look at the spelling; `jochi recall` finds memories by their words",
        )
    if done.rejected:
        raise PartlyDone(
            f"{done.rejected:,} can't be keys (such as {done.samples[0]!r})", fix="a key is scope/id: default/m1"
        )
