"""`jochi import FILE…`: memories from JSON Lines and LoCoMo files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer
from jochi.cli.connection import connect
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from jochi import importing

SHOWN_LINES = 20
PHASES = {"checking": "checking all files", "memories": "memories", "relationships": "relationships"}


def import_command(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="JSON Lines or LoCoMo files, also packed with gzip.")],
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, max=5_000, help="Memories in one transaction.")
    ] = importing.BATCH_SIZE,
    strict: Annotated[
        bool, typer.Option("--strict", help="Check all files first; write nothing of the first bad line and after it.")
    ] = False,
    errors: Annotated[Path | None, typer.Option("--errors", help="Write every bad line into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Import memories. What is there already stays as it is; what was pruned stays pruned.

    A bad line is reported with its number and reason and the others go in: exit code 3.
    """
    with connect(ctx) as database, _shown_progress(hidden=as_json) as on_progress:
        result = importing.import_files(
            database,
            files,
            now=datetime.now(timezone.utc),
            batch_size=batch_size,
            strict=strict,
            errors=errors,
            on_progress=on_progress,
        )
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _show(result, errors)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


@contextlib.contextmanager
def _shown_progress(*, hidden: bool) -> Iterator[importing.OnProgress]:
    """A bar on standard error, for a terminal only."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def on_progress(progress: importing.Progress) -> None:
            description = PHASES[progress.phase]
            if progress.memories:
                description = f"{description} ({progress.memories:,} memories)"
            bar.update(task, description=description, completed=progress.done, total=progress.total or None)

        yield on_progress


def _show(result: importing.ImportResult, errors: Path | None) -> None:
    console = Console()
    table = Table("kind", "written", "already there", "pruned before")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, counts in sorted(result.kinds.items()):
        table.add_row(escape(kind), f"{counts.written:,}", f"{counts.already_there:,}", f"{counts.pruned_before:,}")
    if len(result.kinds) != 1:
        table.add_row("all", f"{result.written:,}", f"{result.already_there:,}", f"{result.pruned_before:,}")
    console.print(table)
    links = result.relationships
    console.print(
        f"relationships: {links.written:,} written, {links.already_there:,} already there, {links.left_out:,} left out"
    )
    for note, times in sorted(result.notes.items()):
        console.print(f"note: {times:,} × {note}", markup=False)
    # Plain lines, never wrapped: people pass them to grep and editors.
    for bad in result.bad_lines[:SHOWN_LINES]:
        typer.echo(_printable(str(bad)), err=True)
    if result.bad_count > SHOWN_LINES:
        where = f"all are in {errors}" if errors else "--errors FILE writes them all"
        typer.echo(f"… and {result.bad_count - SHOWN_LINES:,} more; {where}", err=True)
    if result.stopped_at is not None:
        typer.echo(
            f"stopped by --strict: {result.written:,} memories before that line were written, nothing of it or after it",
            err=True,
        )
    elif result.bad_count:
        typer.echo(f"{result.bad_count:,} bad lines were not imported; the others are in", err=True)


def _printable(text: str) -> str:
    """The text without control characters: a reason may quote what stood in the file."""
    return "".join(c if c.isprintable() else "�" for c in text)
