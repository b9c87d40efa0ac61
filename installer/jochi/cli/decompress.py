"""`jochi decompress`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, write_json
from jochi.cli.way_back import print_changed, what_to_look_at
from jochi.errors import PartlyDone


def decompress(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of memories whose content was shortened.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would come back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring contents back that a compression shortened. A content that was written since stays."""
    words = {
        "decompressed": "whole again, {tokens:,} tokens",
        "would_decompress": "would be whole again, {tokens:,} tokens",
        "not_found": "there is no live memory of this key",
        "not_compressed": "it isn't compressed",
        "changed": "left as it is: another content was written since",
    }
    with jochi(context) as client:
        results = client.decompress(keys, dry_run=dry_run)
    if as_json:
        write_json(results)
    else:
        for result in results:
            out.print(f"{result.key}: {words[result.outcome].format(tokens=result.tokens or 0)}", markup=False)
            print_changed(result.changed)
    failed = sum(result.outcome not in ("decompressed", "would_decompress") for result in results)
    if failed:
        raise PartlyDone(
            f"{failed} of {len(results)} were not decompressed",
            fix=what_to_look_at(result.key for result in results if result.outcome in ("not_found", "not_compressed")),
        )
