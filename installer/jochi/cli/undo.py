"""`jochi undo`, `jochi restore`, `jochi unmerge`, `jochi decompress`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from jochi.cli.arguments import parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, forbidden_by, out, some, write_json
from jochi.errors import PartlyDone, UsageError
from jochi.toml import beside
from jochi.undo.results import DecompressResult, RestoreResult, UnmergeResult
from jochi.undo.undo import UndoneAction

_ROWS_SHOWN = 200
_WORDS: Mapping[str, str] = beside(__file__, "sentences.toml")["undo"]


def undo(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(help="Id of the run: `jochi runs ls`.")] = None,
    since: Annotated[str | None, typer.Option(help="All that the engine did since this moment (ISO 8601).")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen, row by row.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Take back what changed since, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take back what a run did, newest first. What changed since stays and is named. An undo can be undone."""
    moment = parse_moment(since)
    if (run is None) == (moment is None):
        raise UsageError("name a run, or a moment with --since", fix="`jochi runs ls` lists runs")
    target = moment if moment is not None else run
    assert target is not None
    with jochi(context) as client:
        done = client.undo(target, dry_run=dry_run, force=force)
    if as_json:
        write_json(done)
    else:
        for row in done.rows[:_ROWS_SHOWN]:
            out.print(_row_line(row), markup=False)
        if len(done.rows) > _ROWS_SHOWN:
            out.print(f"… and {len(done.rows) - _ROWS_SHOWN:,} more: --json names all")
        said = ", ".join(f"{outcome} {n:,}" for outcome, n in sorted(done.counts.items())) or "nothing left to undo"
        earlier = f"; {some(done.already, 'was', 'were')} undone before" if done.already else ""
        out.print(f"{'would be' if dry_run else 'undo of'} {done.target}: {said}{earlier}", markup=False)
        if done.run:
            out.print(f"this undo is the run {done.run}", markup=False)
    if done.left:
        raise PartlyDone(
            some(done.left, "action", "actions")
            + (" would stay" if dry_run else " stays" if done.left == 1 else " stay")
            + (" as it is" if done.left == 1 else " as they are")
        )


def _row_line(row: UndoneAction) -> str:
    changed = f": {', '.join(row.changed)}" if row.changed else ""
    if row.constraint:
        changed = f": {forbidden_by(row.constraint, row.holder)}"
    return f"{row.key} ({row.action}): {_WORDS.get(row.outcome, row.outcome)}{changed}"


DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would come back.")]

_RESTORED: Mapping[str, str] = beside(__file__, "sentences.toml")["restore"]
_UNMERGED: Mapping[str, str] = beside(__file__, "sentences.toml")["unmerge"]
_DECOMPRESSED: Mapping[str, str] = beside(__file__, "sentences.toml")["decompress"]


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

    _print_results(results, as_json, _RESTORED, "restored", well={"restored"}, unknown={"not_found"})


def unmerge(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of memories that were merged into others.")],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take merges back: both memories become what they were. What changed since stays and is named."""
    with jochi(context) as client:
        results = client.unmerge(keys, dry_run=dry_run)

    _print_results(
        results, as_json, _UNMERGED, "taken back", well={"unmerged", "would_unmerge"}, unknown={"not_merged"}
    )


def decompress(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of memories whose content was shortened.")],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Bring contents back that a compression shortened. A content that was written since stays."""
    with jochi(context) as client:
        results = client.decompress(keys, dry_run=dry_run)

    well = {"decompressed", "would_decompress"}
    _print_results(results, as_json, _DECOMPRESSED, "decompressed", well=well, unknown={"not_found", "not_compressed"})


def _print_results(
    results: Sequence[RestoreResult] | Sequence[UnmergeResult] | Sequence[DecompressResult],
    as_json: bool,
    sentences: Mapping[str, str],
    word: str,
    *,
    well: set[str],
    unknown: set[str],
) -> None:
    """What became of each key; `PartlyDone` where some stay as they are, with what to look at where a key isn't what is meant."""
    if as_json:
        write_json(results)
    else:
        for result in results:
            why = f": {forbidden_by(result.constraint, result.holder)}" if result.constraint else ""
            owner = getattr(result, "duplicate_of", None)
            beside = f"; {owner} has the same content" if owner else ""
            sentence = sentences[result.outcome].format(**{name: value or 0 for name, value in vars(result).items()})
            out.print(f"{result.key}: {sentence}{beside}{why}", markup=False)
            for name in getattr(result, "changed", ()):
                out.print(f"  changed since, left as it is: {name}", markup=False)
    if failed := sum(result.outcome not in well for result in results):
        key = next((result.key for result in results if result.outcome in unknown), None)
        look = f"`jochi explain {key}` says what is known of a key; `jochi runs ls` what was done lately"
        raise PartlyDone(f"{failed} of {len(results)} were not {word}", fix=look if key else None)
