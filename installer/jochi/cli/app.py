"""The command line: its options, and its tree of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jochi.cli.lazy import Commands
from jochi.cli.options import Options
from jochi.version import __version__

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Memory curation inside Neo4j: the database expires, tiers and forgets what agents remember, on its own schedule.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jochi {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    uri: Annotated[str | None, typer.Option(help="Address of the server (env: JOCHI_URI).")] = None,
    user: Annotated[str | None, typer.Option(help="User name (env: JOCHI_USER).")] = None,
    password_file: Annotated[
        Path | None, typer.Option(help="File that holds the password (env: JOCHI_PASSWORD_FILE, JOCHI_PASSWORD).")
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="Database (env: JOCHI_DATABASE; default: the home database).")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(envvar="JOCHI_POLICY", help="Policy file, or `rules`; default: the one Jochi ships.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that hold for every command; give them before it."""
    context.obj = Options(uri, user, password_file, database, policy)
