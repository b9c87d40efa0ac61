"""`jochi import FILE…`: memories from JSON Lines and LoCoMo files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import TaskProgressColumn, TimeRemainingColumn

from jochi import clock
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, printable, some, table, write_json
from jochi.cli.progress import bar
from jochi.write import importing
from jochi.write.newborn import Newborn

SHOWN_LINES = 20
PHASES = {"checking": "checking all files", "memories": "memories", "relationships": "relationships"}


def import_command(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="JSON Lines or LoCoMo files, also packed with gzip.")],
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, max=5_000, help="Memories in one transaction.")
    ] = importing.BATCH_SIZE,
    strict: Annotated[
        bool, typer.Option("--strict", help="Check all files first, and write nothing from the first bad line on.")
    ] = False,
    errors: Annotated[Path | None, typer.Option("--errors", help="Write every bad line into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Import memories. A memory that exists stays as it is, and one that was pruned stays pruned.

    A bad line is named with its number and its reason, and the others are written: exit code 3.
    """
    with jochi(ctx) as client, _shown_progress(hidden=as_json) as on_progress:
        result = importing.import_files(
            client.database,
            files,
            now=clock.now(),
            kinds=frozenset(client.policy.policy.labels()),
            newborn=Newborn.of(client.policy.policy),
            batch_size=batch_size,
            strict=strict,
            errors=errors,
            on_progress=on_progress,
        )
    if as_json:
        write_json(result.as_dict())
    else:
        _show(result, errors)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


@contextlib.contextmanager
def _shown_progress(*, hidden: bool) -> Iterator[importing.OnProgress]:
    """A bar on standard error, for a terminal only."""
    with bar(TaskProgressColumn(), TimeRemainingColumn(), hidden=hidden) as shown:
        task = shown.add_task("reading", total=None)

        def on_progress(progress: importing.Progress) -> None:
            description = PHASES[progress.phase]
            if progress.memories:
                description = f"{description} ({some(progress.memories, 'memory', 'memories')})"
            shown.update(task, description=description, completed=progress.done, total=progress.total or None)

        yield on_progress


def _show(result: importing.ImportResult, errors: Path | None) -> None:
    rows = [
        (kind, counts.written, counts.already_there, counts.pruned_before)
        for kind, counts in sorted(result.kinds.items())
    ]
    if len(rows) != 1:
        rows.append(("all", result.written, result.already_there, result.pruned_before))
    table("memories", ("kind", "written", "already there", "pruned before"), rows, right=(1, 2, 3))
    if result.forgotten:
        out.print(
            some(
                result.forgotten,
                "memory was forgotten on request and is not learned again",
                "memories were forgotten on request and are not learned again",
            )
        )
    links = result.relationships
    out.print(
        f"relationships: {links.written:,} written, {links.already_there:,} already there, {links.left_out:,} left out"
    )
    for note, times in sorted(result.notes.items()):
        out.print(f"note: {times:,} × {note}", markup=False)
    # Plain lines, never wrapped: people pass them to grep and editors.
    for bad in result.bad_lines[:SHOWN_LINES]:
        typer.echo(printable(str(bad)), err=True)
    if result.bad_count > SHOWN_LINES:
        where = f"all are in {errors}" if errors else "--errors FILE writes them all"
        typer.echo(f"… and {result.bad_count - SHOWN_LINES:,} more; {where}", err=True)
    if result.stopped_at is not None:
        before_it = some(result.written, "memory that stands before it was", "memories that stand before it were")
        typer.echo(f"stopped by --strict: {before_it} written, nothing of it or after", err=True)
    elif result.bad_count:
        faults = some(result.bad_count, "fault; what it doesn't concern", "faults; what they don't concern")
        typer.echo(f"{faults} is in", err=True)
