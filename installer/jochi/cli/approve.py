"""`jochi approve`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, write_json


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
            if as_json:
                write_json(approved)
                return
            for lift in approved.lifts:
                out.print(f"lifted for {lift.n:,} of {lift.kind} in scope {lift.scope}", markup=False)
            out.print(f"approved: {approved.run}; {approved.job} goes on", markup=False)
            return
        was = client.approve()
    if as_json:
        write_json({"was": was})
        return
    out.print("the guard was open" if was is None else f"approved: {was}")
