"""`jochi actions add|ls|guidelines`: how it went what agents did with memories."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from jochi.cli.arguments import At, parse_moment
from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, finish_with_json, moment, out, printable, say, table
from jochi.client.actions import WHOLE_DATABASE, guidelines_page
from jochi.errors import UsageError
from jochi.files import write_atomically
from jochi.write.action_records import ActionsResult

app = typer.Typer(help="What agents did with memories, how it went, and what follows from it.", no_args_is_help=True)

SHOWN_LINES = 20


@app.command()
def add(
    context: typer.Context,
    action: Annotated[str | None, typer.Argument(help="What was done, such as store_note.")] = None,
    outcome: Annotated[str | None, typer.Argument(help="applied, skipped or failed.")] = None,
    files: Annotated[
        list[Path] | None, typer.Option("--file", help="Actions as JSON Lines instead, also packed with gzip.")
    ] = None,
    scope: Annotated[str, typer.Option("--scope", "-s", help="The scope of what was done.")] = "default",
    id: Annotated[
        str | None, typer.Option(help="That of a decision, or your own: the same again changes nothing.")
    ] = None,
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Report what agents did. A bad line or file is named, and the others are taken: exit code 3."""
    if (action is None or outcome is None) == (files is None) or (files is not None and action is not None):
        raise UsageError("nothing to report, or too much", fix="give an action and its outcome, or --file")
    with jochi(context) as client:
        if files is not None:
            done = client.add_actions(files)
        else:
            done = client.report_action(cast(Any, action), cast(Any, outcome), scope=scope, id=id, at=parse_moment(at))
    _show_added(done, as_json=as_json)
    if done.exit_code:
        raise typer.Exit(done.exit_code)


def _show_added(done: ActionsResult, *, as_json: bool) -> None:
    finish_with_json(
        {**vars(done), "bad_lines": [line._asdict() for line in done.bad_lines]}, as_json, exit_code=done.exit_code
    )
    out.print(f"{done.added:,} added, {done.known:,} known, {done.old:,} too old, {done.bad_count:,} bad")
    for line in done.bad_lines[:SHOWN_LINES]:
        typer.echo(printable(str(line)), err=True)
    if done.bad_count > SHOWN_LINES:
        typer.echo(f"… and {done.bad_count - SHOWN_LINES:,} more; --json names up to a thousand", err=True)


@app.command()
def ls(
    context: typer.Context,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="Only this scope.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="So many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show what agents asked and did, the newest first."""
    found = answer(context, as_json, lambda client: client.actions(scope=scope, limit=limit))
    rows = [(moment(each.at), each.scope, each.action, each.verdict, each.rule, each.outcome) for each in found]
    table("Actions", ("at", "scope", "action", "verdict", "rule", "outcome"), rows)


@app.command()
def guidelines(
    context: typer.Context,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="Only this scope, and the whole database.")] = None,
    file: Annotated[
        Path | None, typer.Option("--out", help="Write them into a file: compression-guidelines.md.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what follows from what agents reported, and from what of the engine's own work was taken back."""
    found = answer(context, as_json, lambda client: client.guidelines(scope=scope))
    if file is not None:
        write_atomically(file, guidelines_page(found))
        say(f"{file}: written")
        return
    if not found:
        out.print("none yet: the job learn_guidelines makes them; `jochi jobs run learn_guidelines` makes them now")
    for each in found:
        where = "The whole database" if each.scope == WHOLE_DATABASE else printable(each.scope)
        say(f"{where}, version {each.version} of {_day(each.at)}")
        for line in each.lines or ("Nothing was reported.",):
            say(f"  {line}")


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
