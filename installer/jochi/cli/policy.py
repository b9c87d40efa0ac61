"""`jochi policy show|check|rules|actions`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from jochi.cli import policy_actions
from jochi.cli.connection import connect
from jochi.cli.options import options_of
from jochi.cli.output import AsJson, say
from jochi.database.engine import NOT_INSTALLED, Engine
from jochi.errors import Refused
from jochi.operate.rule_tables import rule_tables
from jochi.policy import LoadedPolicy, load_policy, stored_policy

app = typer.Typer(help="The policy: one TOML file with every number of the engine.", no_args_is_help=True)
app.add_typer(policy_actions.app, name="actions")


@app.command()
def show(
    context: typer.Context,
    installed: Annotated[
        bool, typer.Option("--installed", help="What the database keeps: what its author wrote.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the policy that --policy names, else the shipped one; with --installed what the database keeps."""
    loaded = _installed(context) if installed else options_of(context).load_policy() or load_policy()
    if as_json:
        typer.echo(json.dumps(json.loads(loaded.canonical), indent=2, ensure_ascii=False))
        return
    say(f"# {loaded.label} from {loaded.path}")
    typer.echo(loaded.text if installed else loaded.path.read_text(encoding="utf-8"))


def _installed(context: typer.Context) -> LoadedPolicy:
    with connect(context) as database:
        text = Engine(database).state().policy_text
        if text is None:
            raise Refused("jochi is not installed", where=f"database {database.name}", fix=NOT_INSTALLED)
    return stored_policy(text)


@app.command()
def check(file: Annotated[Path, typer.Argument(help="A policy file.")]) -> None:
    """Read a policy file and show each mistake with file, line and key."""
    loaded = load_policy(file)
    say(f"{file}: good, {loaded.label}")


@app.command()
def rules(context: typer.Context) -> None:
    """Show every rule with its numbers and their source, as one Markdown table for each kind."""
    loaded = options_of(context).load_policy() or load_policy()
    typer.echo(rule_tables(loaded.policy))
