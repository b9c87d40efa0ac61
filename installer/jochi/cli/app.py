"""The tree of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from jochi.cli import (
    actions,
    context,
    derive,
    duplicates,
    heartbeat,
    intake,
    jobs,
    migrations,
    mirror,
    plan,
    policy,
    procedures,
    runs,
    server,
    sources,
    tokens,
)
from jochi.cli.apply import apply
from jochi.cli.approve import approve
from jochi.cli.budgets import budgets
from jochi.cli.connection import Options
from jochi.cli.demo import demo
from jochi.cli.doctor import doctor
from jochi.cli.edges import edges
from jochi.cli.enrol import disenrol, enrol
from jochi.cli.explain import explain
from jochi.cli.explore import explore
from jochi.cli.forget import forget, receipts
from jochi.cli.history import history
from jochi.cli.importing import import_command
from jochi.cli.ingest import ingest
from jochi.cli.install import install, uninstall
from jochi.cli.levels import levels
from jochi.cli.mcp import mcp
from jochi.cli.mode import mode
from jochi.cli.observe import observe
from jochi.cli.originals import originals
from jochi.cli.pause import pause, resume
from jochi.cli.recall import recall
from jochi.cli.remember import remember
from jochi.cli.run import run
from jochi.cli.score import score
from jochi.cli.status import status
from jochi.cli.supersede import supersede
from jochi.cli.topics import topics
from jochi.cli.touch import touch
from jochi.cli.undo import undo
from jochi.cli.way_back import decompress, restore, unmerge
from jochi.cli.worker import worker
from jochi.extras import extra_named
from jochi.version import __version__


class Commands(TyperGroup):
    """Where a command needs a package of an extra that isn't installed, the extra is named."""

    def invoke(self, ctx: Any) -> Any:
        with extra_named():
            return super().invoke(ctx)


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
        Path | None, typer.Option(envvar="JOCHI_POLICY", help="Policy file; default: the one Jochi ships.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that hold for every command; give them before it."""
    context.obj = Options(uri, user, password_file, database, policy)


_GROUPS = (
    server,
    migrations,
    procedures,
    jobs,
    runs,
    plan,
    policy,
    tokens,
    derive,
    context,
    mirror,
    heartbeat,
    intake,
    duplicates,
    sources,
    actions,
)
for _group in _GROUPS:
    app.add_typer(_group.app, name=_group.__name__.rpartition(".")[2])
app.command("import")(import_command)
app.command()(remember)
app.command()(ingest)
app.command()(observe)
app.command()(status)
app.command()(mode)
app.command()(worker)
app.command()(mcp)
app.command()(touch)
app.command()(undo)
app.command()(forget)
app.add_typer(receipts, name="receipts")
app.command()(recall)
app.command()(explore)
app.command()(history)
app.command()(supersede)
app.command()(levels)
app.command()(originals)
app.command()(topics)
app.command()(doctor)
app.command()(demo)
app.command()(install)
app.command()(uninstall)
app.command()(enrol)
app.command()(disenrol)
app.command()(explain)
app.command()(score)
app.command()(budgets)
app.command()(edges)
app.command()(apply)
app.command()(approve)
app.command()(restore)
app.command()(unmerge)
app.command()(decompress)
app.command()(run)
app.command()(pause)
app.command()(resume)
