"""`jochi grants`: the statements that give a role of Enterprise Edition what it needs, and nothing more."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.options import options_of
from jochi.errors import UsageError
from jochi.operate.rights import ROLES, Rights
from jochi.policy import load_policy

ALL = "all"


def grants(
    context: typer.Context,
    role: Annotated[
        list[str], typer.Option(help=f"{', '.join(ROLES)}, or {ALL}; may be given more than once.", show_default=False)
    ],
    name: Annotated[
        str | None,
        typer.Option(help="The role's name on the server; default: jochi_ and the role.", show_default=False),
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Print the way back instead.")] = False,
) -> None:
    """Print the statements that make a role on Enterprise Edition, for `cypher-shell -d system`. Asks no server.

    Of the database that --database names (default: neo4j) and of the kinds that --policy has. Again they change nothing.
    docs/reference/rights.md.
    """
    if unknown := [each for each in role if each not in (*ROLES, ALL)]:
        raise UsageError(f"there is no role {unknown[0]!r}", fix=f"there are: {', '.join(ROLES)}, {ALL}")
    roles = list(ROLES) if ALL in role else list(dict.fromkeys(role))
    if name is not None and len(roles) > 1:
        raise UsageError("--name is for one role", fix="run it once for each")
    if name is not None and (not name or "`" in name or "\\" in name):
        raise UsageError(f"{name!r} can't be a role's name", fix="letters, digits and _")
    options = options_of(context)
    rights = Rights((options.load_policy() or load_policy()).policy)
    made = rights.revocations if revoke else rights.statements
    for one in roles:
        for statement in made(one, database=options.database or "neo4j", name=name):
            typer.echo(f"{statement};")
