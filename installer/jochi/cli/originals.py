"""`jochi memory originals`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, shortened, table, write_json

_LONGEST = 160


def originals(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(help="Key scope/id of what was made: an insight, a summary, a storyline, a theme.")
    ],
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1_000, help="So many at most, the newest first.")
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the sources that a memory was made of, archived ones too. `--json` has their whole text. This writes nothing."""
    with jochi(context) as client:
        found = client.originals(key, limit=limit)
    if as_json:
        write_json(found)
        return
    rows = [
        (
            one.key,
            f"{one.at:%Y-%m-%d}" if one.at else "",
            "pruned" if one.pruned else one.state,
            one.title,
            shortened(one.content, _LONGEST),
        )
        for one in found.originals
    ]
    table(f"Originals of {key}", ("key", "from", "state", "title", "content"), rows)
    out.print(f"{len(rows):,} of {found.total:,}", markup=False)
