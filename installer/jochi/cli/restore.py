"""`jochi restore`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, write_json
from jochi.cli.way_back import what_to_look_at
from jochi.errors import PartlyDone, UsageError


def restore(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of pruned memories.")],
    audit: Annotated[str | None, typer.Option(help="Audit id of one prune, if a key has several tombstones.")] = None,
    as_json: AsJson = False,
) -> None:
    """Bring pruned memories back as they were."""
    if audit is not None and len(keys) != 1:
        raise UsageError("--audit goes with exactly one key")
    words = {
        "restored": "restored",
        "not_found": "there is no tombstone of this key",
        "taken": "not restored: the key is in use by a live memory",
        "purging": "not restored: it is being deleted for good",
        "merged": "not restored: it was merged into another memory; `jochi unmerge` takes that back",
    }
    with jochi(context) as client:
        results = client.restore(keys, audit=audit)
    if as_json:
        write_json(results)
    else:
        for result in results:
            owner = f"; {result.duplicate_of} has the same content" if result.duplicate_of else ""
            out.print(f"{result.key}: {words[result.outcome]}{owner}", markup=False)
    failed = sum(result.outcome != "restored" for result in results)
    if failed:
        raise PartlyDone(
            f"{failed} of {len(results)} were not restored",
            fix=what_to_look_at(result.key for result in results if result.outcome == "not_found"),
        )
