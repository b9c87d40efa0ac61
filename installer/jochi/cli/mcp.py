"""`jochi mcp`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from jochi.cli.arguments import PROVIDERS
from jochi.cli.connection import jochi
from jochi.cli.recall import embedder


def mcp(
    context: typer.Context,
    scope: Annotated[str, typer.Option("--scope", "-s", help="Whose memories: the tools see no others.")] = "default",
    provider: Annotated[
        str | None,
        typer.Option(help=f"Search by meaning, too: embed questions with {PROVIDERS}."),
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Who remembers and uses memories, for the record.")] = None,
) -> None:
    """Serve the memories of a scope to an agent, by the Model Context Protocol on standard input and output. How to reach the
    database comes from the options before the command and from the environment, as everywhere; the password from the environment
    or a file."""
    from jochi.mcp.server import server
    from jochi.mcp.tools import Tools

    with jochi(context) as client, ExitStack() as stack:
        client.engine.text("memory/recall")  # says at once where it isn't installed
        embed = None if provider is None else stack.enter_context(embedder(provider, client.policy.policy.embedding))
        server(Tools(client, scope, embed, agent)).run()
