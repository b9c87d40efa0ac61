"""`jochi jobs ls|run|mode|pause|resume|history|arm`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, finish_with_json, moment, out, table, write_json
from jochi.errors import PartlyDone, UsageError
from jochi.graph.driver_values import to_python
from jochi.jobs.results import JobState, Mode, Switch
from jochi.jobs.runner import DueJob, Run
from jochi.toml import beside

if TYPE_CHECKING:
    from jochi.client import Jochi

app = typer.Typer(help="The scheduled jobs of the engine.", no_args_is_help=True)

JobName = Annotated[str, typer.Argument(help="Name of the job.")]


@app.command()
def run(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(help="Name of the job: `jochi jobs ls` lists them.")] = None,
    due: Annotated[bool, typer.Option("--due", help="Every job that is due, each once.")] = False,
    drain: Annotated[bool, typer.Option("--drain", help="Go on until nothing is left to do.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a job from here, with the same texts, leases and rails as in the database. Needs no APOC."""
    if due == (job is not None) or (due and drain):
        raise UsageError(
            "give the name of a job, or --due alone", fix="`jochi jobs ls` lists the jobs, and when each starts next"
        )
    with jochi(context) as client:
        if job is None:
            return _run_due(client, as_json)
        runs = client.run(job, drain=drain)
    if as_json:
        write_json(runs)
    else:
        rows = [(r.id, r.status, r.batches, r.selected, r.changed, _tally(r), r.error) for r in runs]
        table("Runs", ("run", "status", "batches", "looked at", "changed", "what", "error"), rows, right=(2, 3, 4))
    if not all(r.went_well for r in runs):
        raise PartlyDone("not everything went well: see the runs above", fix=f"`jochi jobs history {job}`")


def _run_due(client: Jochi, as_json: bool) -> None:
    found = client.run_due(on_job=None if as_json else _print_due)
    if as_json:
        write_json(found)
    elif not found:
        out.print("nothing is due")
    if failed := [one.job for one in found if not one.went_well]:
        raise PartlyDone(f"not everything went well: {', '.join(failed)}", fix=f"`jochi jobs history {failed[0]}`")


def _print_due(one: DueJob) -> None:
    """One line: in the log of a cron job nobody reads a table."""
    words = [f"{one.job}: {one.outcome}"]
    if (run := one.run) is not None:
        words += [f"batches {run.batches:,}, looked at {run.selected:,}, changed {run.changed:,}", _tally(run)]
    words += [" ".join((one.why or "").split()), one.fix or ""]
    out.print("; ".join(filter(None, words)), soft_wrap=True, markup=False)


_COUNTED_AS: Mapping[str, str] = beside(__file__, "sentences.toml")["counted"]
"""What a run counts under words of its own, as a person says it."""


def _tally(run: Run) -> str:
    words = {**_COUNTED_AS, "unknown": "of unknown keys"} if run.job == "fold_accesses" else _COUNTED_AS
    return ", ".join(f"{words.get(name, name)} {n:,}" for name, n in sorted(run.tally.items()))


class Wanted(str, Enum):
    """What a person can ask for."""

    IDLE = "IDLE"
    BACKGROUND = "BACKGROUND"
    MINIMAL = "MINIMAL"
    AUTO = "auto"


@app.command()
def mode(
    context: typer.Context,
    wanted: Annotated[
        Wanted | None,
        typer.Argument(
            case_sensitive=False, help="Keep this mode, whatever applications do. auto lets the engine choose again."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how busy the engine is, and why: IDLE if applications are quiet, MINIMAL if they work hard, else BACKGROUND."""
    with jochi(context) as client:
        found = client.pin_mode(None if wanted is Wanted.AUTO else wanted.value) if wanted else client.mode()
    finish_with_json(found, as_json)
    out.print(mode_in_words(found), soft_wrap=True, markup=False)


def mode_in_words(found: Mode) -> str:
    """One line: the mode, why, and since when."""
    why = (
        "nothing has looked yet"
        if found.rate is None
        else f"{found.rate:,.1f} accesses and writes a minute at {moment(found.looked_at)}"
    )
    if found.pinned_by is not None:
        why = f"pinned by {found.pinned_by}; `jochi jobs mode auto` lets it choose; {why}"
    since = f" since {moment(found.since)}" if found.since else ""
    return f"mode: {found.mode}{since}: {why}"


@app.command("ls")
def list_jobs(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every job: its pace, last run, next start, and what it waits for."""
    with jochi(context) as client:
        jobs = client.jobs()
    finish_with_json(jobs, as_json)
    print_jobs(jobs)


def print_jobs(jobs: list[JobState]) -> None:
    """Jobs as a table."""
    rows = [
        (
            job.name,
            _starts(job),
            job_word(job),
            job.last_status,
            moment(job.last_finished_at),
            job.last_changed,
            moment(job.next_start),
            job.failures,
            job.crashes,
        )
        for job in jobs
    ]
    table(
        "Jobs",
        ("job", "starts", "state", "last", "finished", "changed", "next", "failures", "crashes"),
        rows,
        right=(5, 7, 8),
    )


def _starts(job: JobState) -> str | None:
    if job.every is None:
        return job.slot
    if job.pace is None or job.pace == job.every:
        return f"{job.every.total_seconds():g} s"
    return f"{job.pace.total_seconds():g} s ({job.every.total_seconds():g} s)"


def job_word(job: JobState) -> str:
    """The state of a job in a word or two."""
    if not job.enabled:
        return "off"
    if job.paused_at is not None:
        return f"paused by {job.paused_by}"
    if job.waits_for is not None:
        return f"waits for {job.waits_for}"
    if job.running:
        return "running"
    if job.failures:
        return "backing off"
    return "nothing to do" if job.idle else "ready"


@app.command()
def history(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(help="Only this job.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many runs.")] = 20,
    changed: Annotated[bool, typer.Option("--changed", help="Only runs that changed something.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the last runs, newest first."""
    with jochi(context) as client:
        runs = [to_python(entry) for entry in client.history(job, limit=limit, changed_only=changed)]
    finish_with_json(runs, as_json)
    rows = [
        (
            r["id"],
            moment(r["started_at"]),
            _seconds(r),
            r["runner"],
            r["status"],
            r["selected"],
            r["changed"],
            r.get("error") or ", ".join(r.get("quarantined") or []),
        )
        for r in runs
    ]
    table(
        "Runs",
        ("run", "started", "took", "by", "status", "looked at", "changed", "error or put aside"),
        rows,
        right=(2, 5, 6),
    )


def _seconds(run: dict[str, object]) -> str:
    started, finished = run["started_at"], run.get("finished_at")
    return "–" if finished is None else f"{(finished - started).total_seconds():.2f} s"  # type: ignore[operator]


@app.command()
def pause(context: typer.Context, job: JobName) -> None:
    """Stop one job until it is resumed."""
    with jochi(context) as client:
        client.pause(Switch("job", job))
    out.print(f"paused: {job}; a run in progress ends after its batch", markup=False)


@app.command()
def resume(context: typer.Context, job: JobName) -> None:
    """Let a paused job run again."""
    with jochi(context) as client:
        was_paused = client.resume(Switch("job", job))
    out.print(f"{'resumed' if was_paused else 'was not paused'}: {job}", markup=False)


@app.command()
def arm(context: typer.Context) -> None:
    """Arm the pump and the watch if they aren't armed, as the user who is connected."""
    with jochi(context) as client:
        armed = client.ensure_jobs()
    out.print(f"armed: {', '.join(armed)}" if armed else "both were armed already")
