"""`jochi engine procedures ls|diff|show|install|prune`: the Cypher in the database against that of this version and policy."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.install import install
from jochi.cli.output import AsJson, finish_with_json, out, table
from jochi.compile.registry import ProcedureStatus, Status
from jochi.errors import Refused, UsageError
from jochi.install.install import prune_procedures, status_of_procedures

app = typer.Typer(
    help="The procedures in the database: INSTALLED, OUTDATED, MODIFIED, MISSING, PRUNE.", no_args_is_help=True
)
app.command("install")(install)

Name = Annotated[str | None, typer.Argument(help="Only this procedure, such as curate/curate_due.")]


def _rows(context: typer.Context, name: str | None = None) -> list[ProcedureStatus]:
    with jochi(context) as client:
        rows = status_of_procedures(client.database, client.policy)
    chosen = [row for row in rows if name in (None, row.name)]
    if name is not None and not chosen:
        raise UsageError(f"there is no procedure {name!r}", fix="`jochi engine procedures ls` lists them")
    return chosen


@app.command("ls")
def list_procedures(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every procedure and its status word."""
    rows = _rows(context)
    finish_with_json([_as_plain(row) for row in rows], as_json)
    table("Procedures", ("procedure", "status", "kind", "version", "hash"), [_cells(row) for row in rows])


def _cells(row: ProcedureStatus) -> tuple[object, ...]:
    have, want = row.installed, row.wanted
    sha256 = (have.sha256 if have else want.sha256 if want else None) or ""
    return row.name, row.status.value, want.kind if want else None, have.version if have else None, sha256[:12]


def _as_plain(row: ProcedureStatus) -> dict[str, object]:
    return {
        "name": row.name,
        "status": row.status.value,
        "kind": row.wanted.kind if row.wanted else None,
        "sha256": row.wanted.sha256 if row.wanted else None,
        "installed_sha256": row.installed.sha256 if row.installed else None,
        "installed_version": row.installed.version if row.installed else None,
    }


@app.command()
def diff(context: typer.Context, name: Name = None) -> None:
    """Show what differs between the database and this version, as a unified diff. The exit code is 5 if anything differs."""
    differs = [row for row in _rows(context, name) if row.status is not Status.INSTALLED]
    for row in differs:
        have = row.installed.text if row.installed else ""
        want = row.wanted.text if row.wanted else ""
        lines = difflib.unified_diff(
            have.splitlines(), want.splitlines(), f"{row.name} (database)", f"{row.name} (this version)", lineterm=""
        )
        text = "\n".join(lines)
        typer.echo(text or f"{row.name}: {row.status.value}")
    if differs:
        raise Refused(f"{len(differs)} procedures differ", fix="`jochi install` makes the database right")
    out.print("no difference")


@app.command()
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the procedure, such as curate/curate_due.")],
    installed: Annotated[
        bool, typer.Option("--installed", help="Show the text in the database and not that of this version.")
    ] = False,
) -> None:
    """Show the rendered Cypher, ready to paste into Neo4j Browser."""
    row = _rows(context, name)[0]
    source = row.installed if installed else row.wanted
    if source is None:
        raise UsageError(f"{name} is {row.status.value}", fix="leave --installed away, or install first")
    typer.echo(source.text)


@app.command()
def prune(context: typer.Context) -> None:
    """Remove procedures that this version no longer has."""
    with jochi(context) as client:
        names = prune_procedures(client.database, client.policy)
    out.print(f"removed: {', '.join(names)}" if names else "nothing to remove", markup=False)
