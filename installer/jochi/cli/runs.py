"""`jochi runs ls|show|tail`."""

from __future__ import annotations

from collections.abc import Mapping
from time import sleep
from typing import Annotated

import typer

from jochi.cli.connection import answer, job_verbs, jochi
from jochi.cli.output import AsJson, err, expect_reader, finish_with_json, forbidden_by, moment, out, table
from jochi.errors import UsageError
from jochi.operate.run_lines import Tail
from jochi.operate.run_lines import follow as follow_runs
from jochi.undo.violations import read_message

app = typer.Typer(help="Runs of curation and undos, and what they did.", no_args_is_help=True)

_OF = {"undo": "undo of", "plan": "application of the plan"}


@app.command("ls")
def list_runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many runs.")] = 20,
    every: Annotated[bool, typer.Option("--all", help="Show runs that found nothing to do, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the last runs of curation and undos that did something, newest first."""
    found = answer(context, as_json, lambda client: client.runs(limit=limit, changed_only=not every))
    rows = [
        (
            run.id,
            run.started_at,
            "–" if run.seconds is None else f"{run.seconds:.2f} s",
            run.status,
            run.scanned,
            _counts(run.counts)
            or (f"undid {run.changed:,} of {run.target}" if run.target and run.job == "undo" else None)
            or (f"consolidated {run.scope}: {run.changed:,} changed" if run.steps else None),
            _counts(run.skipped) or None,
        )
        for run in found
    ]
    table("Runs", ("run", "started", "took", "status", "looked at", "what", "held by rails"), rows, right=(2, 4))


@app.command()
def show(
    context: typer.Context,
    run: Annotated[str, typer.Argument(help="Id of the run.")],
    as_json: AsJson = False,
) -> None:
    """Show one run: what it did by action and rule, what rails held, and tokens by tier."""
    with jochi(context) as client:
        found = client.runs(run)
        error = found[0].error if found else None
        forbidden = None if error is None or as_json else read_message(client.database, error)
    if not found:
        raise UsageError(f"there is no run {run!r}", fix="`jochi runs ls` lists runs")
    (one,) = found
    finish_with_json(one, as_json)
    took = "still running" if one.seconds is None else f"{one.seconds:.2f} s"
    out.print(f"{one.id}: {one.status}, {moment(one.started_at)}, {took}", markup=False)
    out.print(
        f"{one.procedure} (version {one.version or '–'}), policy {one.policy}, mode {one.mode or '–'}", markup=False
    )
    if one.target:
        out.print(f"{_OF.get(one.job, 'of')} {one.target}", markup=False)
    out.print(f"looked at {one.scanned:,}, changed {one.changed:,}, failed batches {one.errors:,}")
    for title, counts in (
        ("done", one.counts),
        ("held by rails", one.skipped),
        ("tokens of these before", one.tokens_before),
        ("tokens of these after", one.tokens_after),
    ):
        if counts:
            out.print(f"{title}: {_counts(counts)}", markup=False)
    if one.steps:
        steps = [(each.step, each.began, each.ended, each.changed, each.said or None) for each in one.steps]
        table(
            f"Consolidation of the scope {one.scope}",
            ("step", "began", "ended", "changed", "what was in the way"),
            steps,
            right=(3,),
        )
    for stop in one.stops:
        out.print(f"stopped by the circuit breaker: {stop.words}", markup=False)
    if one.stops and one.approved_at is not None:
        out.print(f"approved at {moment(one.approved_at)} by {one.approved_by}", markup=False)
    elif one.stops:
        out.print(
            f"{one.job} stands still until `jochi approve {one.id}`, or until another policy is installed", markup=False
        )
    if one.quarantined:
        out.print(f"put aside: {', '.join(one.quarantined)}", markup=False)
    if one.error:
        why = forbidden_by(forbidden.constraint, forbidden.holder) if forbidden else one.error
        out.print(f"error: {why}", markup=False)
    if one.done:
        rows = [(each.action, each.rule, each.n, each.undone, ", ".join(each.keys)) for each in one.done]
        table("On record", ("action", "rule", "memories", "undone", "such as"), rows, right=(2, 3))


@app.command()
def tail(
    context: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=1000, help="How many of those that have ended.")
    ] = 10,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Then show each run when it has ended, until Ctrl-C.")
    ] = False,
    every: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds between two looks.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show one line a run, of all jobs, in the order in which they ended: for a log, or to watch the engine work.

    No line says anything of a memory. With --follow each run is shown once; the database may go away meanwhile.
    """
    with job_verbs(context) as client:
        try:
            lines = (
                follow_runs(client, last=limit, pause=lambda: _waited(every), say=_say)
                if follow
                else Tail(client).last(limit)
            )
            for line in lines:
                typer.echo(line.as_json() if as_json else line.as_text())
        except KeyboardInterrupt:
            if not follow:
                raise


def _waited(seconds: float) -> bool:
    sleep(seconds)
    expect_reader()
    return True


def _say(words: str) -> None:
    err.print(words, markup=False)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.items())
