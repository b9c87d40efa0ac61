"""`jochi heartbeat`: tasks of agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, finish_with_json, moment, out, printable, say, some, table
from jochi.errors import UsageError
from jochi.files import place, read_text
from jochi.heartbeat import NewTask, ReportResult
from jochi.heartbeat.file import MAX_TOKENS
from jochi.heartbeat.heartbeat import LEASE
from jochi.policy.durations import format_duration, parse_duration

app = typer.Typer(help="Tasks of agents: their definitions are in the graph, HEARTBEAT.md stays small.")

Id = Annotated[str, typer.Argument(help="The task's id.")]
Scope = Annotated[str, typer.Option("--scope", "-s", help="The scope that the tasks are in.")]
Token = Annotated[str, typer.Option(help="What `jochi heartbeat due` gave with the task.")]
Most = Annotated[int, typer.Option("--max-tokens", min=1, help="Tokens of the file at most.")]


@app.command()
def add(
    context: typer.Context,
    id: Id,
    definition: Annotated[str | None, typer.Option(help="What is to be done.")] = None,
    file: Annotated[Path | None, typer.Option(help="A file that says what is to be done.")] = None,
    schedule: Annotated[
        str | None, typer.Option(help="Five fields of cron ('30 9 * * 1') or an interval ('every 15min').")
    ] = None,
    time_zone: Annotated[str, typer.Option(help="IANA time zone that a cron expression is read in.")] = "UTC",
    name: Annotated[str | None, typer.Option(help="Its name; default: the id.")] = None,
    scope: Scope = "default",
) -> None:
    """Write a task, or what is given of one that is there."""
    if definition is not None and file is not None:
        raise UsageError("--definition and --file both say what is to be done", fix="give one of them")
    if file is not None and (definition := read_text(file, pipes=True)) is None:
        raise UsageError("there is no such file", where=str(file), fix="name the file that holds the definition")
    with jochi(context) as client:
        outcome = client.heartbeat.add(NewTask(id, definition, schedule, time_zone, name), scope=scope)
        task = client.heartbeat.task(id, scope=scope)
    due = f"next due {moment(task.next_due)}" if task.next_due else "never due: give it a --schedule, or resume it"
    say(f"{outcome}; {due}")


@app.command()
def ls(context: typer.Context, scope: Scope = "default", as_json: AsJson = False) -> None:
    """Show all tasks of a scope, and which changed since the last sync."""
    with jochi(context) as client:
        tasks = list(client.heartbeat.ls(scope=scope))
        pending = set(client.heartbeat.start(scope=scope, limit=0, include_sensitive=True).pending)
    finish_with_json(
        [{**vars(task), "problem": task.problem, "pending": task.id in pending} for task in tasks], as_json
    )
    titles = ("id", "schedule", "zone", "next due", "runs", "failed", "tokens", "")
    table(
        "Tasks",
        titles,
        [
            (
                task.id,
                task.schedule or "none",
                task.time_zone if task.schedule else "",
                moment(task.next_due) if task.is_active else "paused",
                task.execution_count,
                task.error_count,
                task.definition_tokens,
                task.problem or ("changed" if task.id in pending else ""),
            )
            for task in tasks
        ],
        right=(4, 5, 6),
    )


@app.command()
def sync(
    context: typer.Context,
    scope: Scope = "default",
    file: Annotated[Path, typer.Option("--out", help="The file to be written.")] = Path("HEARTBEAT.md"),
    max_tokens: Most = MAX_TOKENS,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Also replace a file that Jochi didn't write, that somebody edited, or of another scope.",
        ),
    ] = False,
    include_sensitive: Annotated[
        bool, typer.Option("--include-sensitive", help="Also tasks whose access_tier is SENSITIVE; PRIVATE ones never.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring HEARTBEAT.md up to date from the graph. Nothing is read from it."""
    with jochi(context) as client:
        done = client.heartbeat.sync(
            file, scope=scope, max_tokens=max_tokens, overwrite=overwrite, include_sensitive=include_sensitive
        )
    finish_with_json(done, as_json)
    say(f"{place(file)}: {'written' if done.rewritten else 'up to date'}")


@app.command()
def due(
    context: typer.Context,
    agent: Annotated[str, typer.Option(help="Who will do them.")],
    scope: Scope = "default",
    lease: Annotated[
        str, typer.Option(help="How long they are this agent's: 30s, 10min, 2h. Then another agent can have them.")
    ] = format_duration(LEASE),
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="So many at most.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Claim the tasks that are due. Each is given to one agent alone; report it with its token: done or failed."""
    try:
        span = parse_duration(lease)
    except ValueError as error:
        raise UsageError(str(error), where="--lease") from None
    with jochi(context) as client:
        claims = client.heartbeat.due(agent, scope=scope, lease=span, limit=limit)
    finish_with_json(claims, as_json)
    if not claims:
        out.print("nothing is due")
    else:
        rows = [(each.task.id, each.task.task_name, moment(each.task.next_due), each.token) for each in claims]
        table(f"Claimed until {moment(claims[0].until)}", ("id", "name", "due", "token"), rows)


@app.command()
def load(context: typer.Context, id: Id, scope: Scope = "default") -> None:
    """Print the definition of a task."""
    with jochi(context) as client:
        definition = client.heartbeat.load(id, scope=scope)
    for line in definition.splitlines():
        out.print(printable(line), markup=False, highlight=False, soft_wrap=True)


@app.command()
def done(context: typer.Context, id: Id, token: Token, scope: Scope = "default") -> None:
    """Report that a claimed task ran."""
    with jochi(context) as client:
        reported = client.heartbeat.done(id, token, scope=scope)
    out.print(_reported(reported))


@app.command()
def failed(
    context: typer.Context,
    id: Id,
    token: Token,
    error: Annotated[str, typer.Option(help="What went wrong; 500 characters of it are kept.")] = "",
    scope: Scope = "default",
) -> None:
    """Report that a claimed task failed. It is due again after a pause that doubles with each failure in a row."""
    with jochi(context) as client:
        reported = client.heartbeat.failed(id, token, error, scope=scope)
    out.print(_reported(reported))


@app.command()
def pause(context: typer.Context, id: Id, scope: Scope = "default") -> None:
    """Stop a task being due until it is resumed."""
    with jochi(context) as client:
        client.heartbeat.pause(id, scope=scope)
    out.print("paused")


@app.command()
def resume(context: typer.Context, id: Id, scope: Scope = "default") -> None:
    """Let a paused task be due again, from its next moment on."""
    with jochi(context) as client:
        client.heartbeat.resume(id, scope=scope)
        task = client.heartbeat.task(id, scope=scope)
    out.print(f"next due {moment(task.next_due)}")


@app.command()
def migrate(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A HEARTBEAT.md that people wrote.")],
    scope: Scope = "default",
    time_zone: Annotated[str, typer.Option(help="IANA time zone that its times of day are in.")] = "UTC",
    max_tokens: Most = MAX_TOKENS,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would become of what.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take the tasks of a file into the graph, keep it as FILE.pre-migration, and write the small file in its place."""
    found = answer(
        context,
        as_json,
        lambda client: client.migrate_heartbeat(
            file, scope=scope, time_zone=time_zone, max_tokens=max_tokens, dry_run=dry_run
        ),
    )
    if found.already:
        say(f"{file} is Jochi's own already: nothing was changed")
        return
    rows = [
        (
            f"{task.first}-{task.last}",
            task.id,
            (task.schedule + (f" ({task.note})" if task.note else "")) if task.schedule else f"none: {task.reason}",
            task.outcome,
        )
        for task in found.tasks
    ]
    table(f"{file}", ("lines", "id", "schedule", "outcome"), rows)
    without = sum(task.schedule is None for task in found.tasks)
    if without:
        they = some(without, "task has", "tasks have")
        say(f"{they} no schedule and won't run: `jochi heartbeat add ID --schedule …`")
    unsaid = sum(task.note is not None for task in found.tasks)
    if unsaid:
        they = some(unsaid, "task says", "tasks say")
        say(f"{they} no time of day; where it matters: `jochi heartbeat add ID --schedule …`")
    if found.kept:
        say(f"the old file is kept as {found.kept}")


def _reported(reported: ReportResult) -> str:
    counted = "was reported before" if reported.repeated else "counted"
    return f"{counted}; {f'next due {moment(reported.next_due)}' if reported.next_due else 'paused'}"
