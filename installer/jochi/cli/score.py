"""`jochi memory score`."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from jochi.cli.arguments import At, keys_of, parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, table, write_json
from jochi.curate.score import Scored
from jochi.errors import UsageError


def score(
    context: typer.Context,
    memories: Annotated[list[str] | None, typer.Argument(help="Keys scope/id, or ids in the scope default.")] = None,
    scope: Annotated[
        str | None,
        typer.Option("--scope", "-s", help="Scope, where only ids are given (default); with --improve: only this one."),
    ] = None,
    improve: Annotated[
        bool, typer.Option("--improve", help="List the memories to which something could be added, and what.")
    ] = False,
    most: Annotated[int, typer.Option("--limit", "-n", min=1, help="With --improve: how many.")] = 50,
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Show what memories are worth, term by term, and what follows from it. This writes nothing."""
    if improve == bool(memories):
        raise UsageError(
            "name memories, or --improve", fix="`jochi memory score default/m1`, or `jochi memory score --improve`"
        )
    if improve:
        _improvable(context, scope, most, as_json)
        return
    keys = keys_of(memories or [], scope or "default")
    with jochi(context) as client:
        found = client.score(keys, at=parse_moment(at))
    if missing := sorted(set(keys) - {one.key for one in found}):
        raise UsageError(f"no live memory has the key {missing[0]}", fix="`jochi explain KEY` says what became of it")
    if as_json:
        write_json(found)
        return
    for one in found:
        _print_score(one)


def _improvable(context: typer.Context, scope: str | None, most: int, as_json: bool) -> None:
    with jochi(context) as client:
        found = list(islice(client.improvable(scope), most + 1))
    if as_json:
        write_json(found[:most])
        return
    rows = [(one.key, one.kind, ", ".join(one.missing), None if one.mvs is None else f"{one.mvs:.4f}") for one in found]
    table("What could be added", ("memory", "kind", "missing", "score"), rows[:most], right=(3,))
    if len(found) > most:
        out.print(f"… and more: -n {most * 10}")


def _print_score(found: Scored) -> None:
    rows = [
        (
            name.replace("_", " "),
            f"{-term.value if name == 'bloat' else term.value:.4f}",
            "" if term.known else f"up to {term.most:.4f}",
        )
        for name, term in found.terms.items()
    ]
    table(found.key, ("term", "adds", "unknown"), [*rows, ("score", f"{found.mvs:.4f}", "")], right=(1,))
    read = f"{found.above:.4f} above its type weight" if found.profile == "relative" else f"{found.mvs:.4f}"
    asks = found.action + (f": {', '.join(found.missing)}" if found.action == "improve" else "")
    out.print(f"{read} is in the band {found.band.replace('_', ' ')}; it asks for: [bold]{asks.replace('_', ' ')}[/]")
    if found.acting != found.band:
        best = found.above_most if found.profile == "relative" else found.most
        out.print(f"as something is unknown, it is judged by what it may be worth: {best:.4f}, {found.acting}")
    out.print(f"{found.tokens:,} tokens of {found.target:,}")
    if found.rails:
        out.print(f"protected, whatever it is worth: {', '.join(sorted(found.rails))}")
