"""`jochi bundle`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from jochi.cli.connection import connect
from jochi.cli.options import options_of
from jochi.cli.output import AsJson, finish_with_json, out
from jochi.database.server_facts import read_facts
from jochi.install import bundle as bundles
from jochi.install.changelog import changelog_files
from jochi.policy import load_policy


class Form(str, Enum):
    """Which tool the files are for."""

    CYPHER = "cypher"
    NEO4J_MIGRATIONS = "neo4j-migrations"
    LIQUIBASE = "liquibase"


_FILES = {
    Form.CYPHER: bundles.plain_files,
    Form.NEO4J_MIGRATIONS: bundles.migration_files,
    Form.LIQUIBASE: changelog_files,
}


def bundle(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A folder for the files; it is made where there is none.")],
    target: Annotated[
        str,
        typer.Option(
            "--for", help="The Neo4j that they are for: 5.26, 2025, 2026, or `server`: the one that --uri names."
        ),
    ] = bundles.NEWEST,
    apoc: Annotated[
        bool, typer.Option("--apoc/--no-apoc", help="Whether APOC Core is there, and may be called.")
    ] = True,
    form: Annotated[
        Form,
        typer.Option("--as", help="Plain files, a folder of neo4j-migrations, or a changelog of Liquibase."),
    ] = Form.CYPHER,
    as_json: AsJson = False,
) -> None:
    """Write an install as plain Cypher files, for cypher-shell or Browser, or for a tool of migrations.

    No server is asked, but by `--for server`. Of --policy the rules are in the files; without it those that are shipped.
    """
    options = options_of(context)
    policy = options.load_policy() or load_policy()
    if target == "server":
        with connect(context) as database:
            facts, name = read_facts(database), database.name
        if not apoc:
            facts = facts.without_apoc()
    else:
        facts, name = bundles.target_facts(target, apoc=apoc), options.database or "neo4j"
    made = bundles.bundle(policy, facts, name)
    written = bundles.write(folder, _FILES[form](made))
    finish_with_json({"folder": str(folder), "files": written, "for": made.target, "policy": policy.label}, as_json)
    for file in written:
        out.print(file, markup=False, highlight=False)
    out.print(f"{len(written)} files in {folder}, for {made.target}", markup=False, highlight=False, soft_wrap=True)
