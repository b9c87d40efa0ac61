"""`jochi restore`, `jochi unmerge`, `jochi decompress`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, forbidden_by, out, write_json
from jochi.errors import PartlyDone, UsageError
from jochi.undo.results import DecompressResult, RestoreResult, UnmergeResult

_T = TypeVar("_T", RestoreResult, UnmergeResult, DecompressResult)

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would come back.")]

_RESTORED = {
    "restored": "restored",
    "not_found": "there is no tombstone of this key",
    "taken": "not restored: the key is in use by a live memory",
    "purging": "not restored: it is being deleted for good",
    "forbidden": "not restored",
    "merged": "not restored: it was merged into another memory; `jochi unmerge` takes that back",
}
_UNMERGED = {
    "unmerged": "apart from {into} again, with {n:,} relationships",
    "would_unmerge": "would part from {into}, with {n:,} relationships",
    "not_merged": "no memory of this key was merged into another",
    "taken": "not taken back: the key is in use by a live memory",
    "survivor_gone": "not taken back: what it was merged into is gone",
    "purging": "not taken back: it is being deleted for good",
    "merged_on": "not taken back: {into} was merged away itself; take that back first",
    "busy": "not taken back: relationships of {into} are being moved; try again when that is done",
    "forbidden": "not taken back",
    "no_record": "not taken back: there is no record of what the merge changed",
}
_DECOMPRESSED = {
    "decompressed": "whole again, {tokens:,} tokens",
    "would_decompress": "would be whole again, {tokens:,} tokens",
    "not_found": "there is no live memory of this key",
    "not_compressed": "it isn't compressed",
    "forbidden": "left as it is",
    "changed": "left as it is: another content was written since",
}


def restore(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of pruned memories.")],
    audit: Annotated[str | None, typer.Option(help="Audit id of one prune, if a key has several tombstones.")] = None,
    as_json: AsJson = False,
) -> None:
    """Bring pruned memories back as they were."""
    if audit is not None and len(keys) != 1:
        raise UsageError("--audit goes with exactly one key")
    with jochi(context) as client:
        results = client.restore(keys, audit=audit)

    def said(result: RestoreResult) -> str:
        owner = f"; {result.duplicate_of} has the same content" if result.duplicate_of else ""
        return _RESTORED[result.outcome] + owner

    _tell(results, as_json, said, "restored", well={"restored"}, unknown={"not_found"})


def unmerge(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of memories that were merged into others.")],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take merges back: both memories become what they were. What changed since stays and is named."""
    with jochi(context) as client:
        results = client.unmerge(keys, dry_run=dry_run)

    def said(result: UnmergeResult) -> str:
        return _UNMERGED[result.outcome].format(into=result.into, n=result.relationships)

    _tell(results, as_json, said, "taken back", well={"unmerged", "would_unmerge"}, unknown={"not_merged"})


def decompress(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of memories whose content was shortened.")],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Bring contents back that a compression shortened. A content that was written since stays."""
    with jochi(context) as client:
        results = client.decompress(keys, dry_run=dry_run)

    def said(result: DecompressResult) -> str:
        return _DECOMPRESSED[result.outcome].format(tokens=result.tokens or 0)

    well = {"decompressed", "would_decompress"}
    _tell(results, as_json, said, "decompressed", well=well, unknown={"not_found", "not_compressed"})


def _tell(
    results: Sequence[_T], as_json: bool, said: Callable[[_T], str], word: str, *, well: set[str], unknown: set[str]
) -> None:
    """What became of each key; `PartlyDone` where some stay as they are, with what to look at where a key isn't what is meant."""
    if as_json:
        write_json(results)
    else:
        for result in results:
            why = f": {forbidden_by(result.constraint, result.holder)}" if result.constraint else ""
            out.print(f"{result.key}: {said(result)}{why}", markup=False)
            changed: tuple[str, ...] = () if isinstance(result, RestoreResult) else result.changed
            for name in changed:
                out.print(f"  changed since, left as it is: {name}", markup=False)
    if failed := sum(result.outcome not in well for result in results):
        key = next((result.key for result in results if result.outcome in unknown), None)
        look = f"`jochi explain {key}` says what is known of a key; `jochi runs ls` what was done lately"
        raise PartlyDone(f"{failed} of {len(results)} were not {word}", fix=look if key else None)
