"""`jochi memory topics`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, moment, out, printable, some, table, write_json


def topics(
    context: typer.Context,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="Only this scope.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="So many scopes at most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show what the memories of each scope are about, and the newest of each topic."""
    with jochi(context) as client:
        found = client.topics(scope=scope, limit=limit)
    if as_json:
        write_json(found)
        return
    if not found:
        out.print("none yet: the job index_topics finds them; `jochi jobs run index_topics` does it now")
    for index in found:
        title = f"{printable(index.scope)}: {some(index.read, 'memory', 'memories')} read {moment(index.at)}"
        rows = [(printable(each.topic), each.n, "\n".join(each.newest)) for each in index.topics]
        table(f"{title}{', and it has more' if index.cut else ''}", ("topic", "memories", "newest"), rows, right=(1,))
