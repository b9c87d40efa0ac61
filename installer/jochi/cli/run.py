"""`jochi jobs run`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, table, write_json
from jochi.errors import PartlyDone
from jochi.jobs.runner import Run


def run(
    context: typer.Context,
    job: Annotated[str, typer.Argument(help="Name of the job: `jochi jobs ls` lists them.")],
    drain: Annotated[bool, typer.Option("--drain", help="Go on until nothing is left to do.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a job from here, with the same texts, leases and rails as in the database. Needs no APOC."""
    with jochi(context) as client:
        runs = client.run(job, drain=drain)
    if as_json:
        write_json(runs)
    else:
        rows = [(r.id, r.status, r.batches, r.selected, r.changed, _tally(r), r.error) for r in runs]
        table("Runs", ("run", "status", "batches", "looked at", "changed", "what", "error"), rows, right=(2, 3, 4))
    if any(r.status not in {"ok", "breaker"} for r in runs):
        raise PartlyDone("not everything went well: see the runs above", fix=f"`jochi jobs history {job}`")


_TOLD: Mapping[str, str] = {
    "keep": "kept",
    "archive": "archived",
    "promote": "promoted",
    "demote": "demoted",
    "flag": "flagged",
    "unflag": "unflagged",
    "state": "state changed",
    "unknown": "where a rule can't tell",
}
"""What a run counts under words of its own, as a person says it."""


def _tally(run: Run) -> str:
    told = {**_TOLD, "unknown": "of unknown keys"} if run.job == "fold_accesses" else _TOLD
    return ", ".join(f"{told.get(name, name)} {n:,}" for name, n in sorted(run.tally.items()))
