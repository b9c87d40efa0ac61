"""`jochi memory levels`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, printable, shortened, table, write_json

_LONGEST = 120


def levels(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(help="A context's key scope/id: of its whole text, its summary or its keywords.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show the levels of a context, from its whole text to its keywords, and its neighbours in time. This writes nothing."""
    with jochi(context) as client:
        found = client.levels(key)
    if as_json:
        write_json(found)
        return
    rows = [
        (
            f"{one.level} *" if one.key == key else one.level,
            one.key,
            one.token_count,
            None if one.ratio is None else f"{one.ratio:.1%}",
            one.content_type,
            one.access_tier,
            one.access_count,
            shortened(one.content, _LONGEST),
        )
        for one in found.levels
    ]
    titles = ("level", "key", "tokens", "of the longer", "holds", "for", "accesses", "content")
    table(f"Levels of {key}", titles, rows, right=(2, 3, 6))
    for way, neighbour in (("before it", found.previous), ("after it", found.next)):
        if neighbour:
            out.print(printable(f"{way} in time: {neighbour}"), markup=False)
