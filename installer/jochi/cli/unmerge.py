"""`jochi unmerge`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, write_json
from jochi.cli.way_back import print_changed, what_to_look_at
from jochi.errors import PartlyDone


def unmerge(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of memories that were merged into others.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would come back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take merges back: both memories become what they were. What changed since stays and is named."""
    words = {
        "unmerged": "apart from {into} again, with {n:,} relationships",
        "would_unmerge": "would part from {into}, with {n:,} relationships",
        "not_merged": "no memory of this key was merged into another",
        "taken": "not taken back: the key is in use by a live memory",
        "survivor_gone": "not taken back: what it was merged into is gone",
        "purging": "not taken back: it is being deleted for good",
        "merged_on": "not taken back: {into} was merged away itself; take that back first",
        "busy": "not taken back: relationships of {into} are being moved; try again when that is done",
        "no_record": "not taken back: there is no record of what the merge changed",
    }
    with jochi(context) as client:
        results = client.unmerge(keys, dry_run=dry_run)
    if as_json:
        write_json(results)
    else:
        for result in results:
            said = words[result.outcome].format(into=result.into, n=result.relationships)
            out.print(f"{result.key}: {said}", markup=False)
            print_changed(result.changed)
    failed = sum(result.outcome not in ("unmerged", "would_unmerge") for result in results)
    if failed:
        raise PartlyDone(
            f"{failed} of {len(results)} were not taken back",
            fix=what_to_look_at(result.key for result in results if result.outcome == "not_merged"),
        )
