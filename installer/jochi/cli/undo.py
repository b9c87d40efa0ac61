"""`jochi undo`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.arguments import parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, forbidden_by, out, some, write_json
from jochi.errors import PartlyDone, UsageError
from jochi.undo.undo import UndoneAction

_SHOWN = 200
_WORDS = {
    "undone": "goes back",
    "as_before": "is as it was already",
    "conflict": "left as it is: changed since",
    "partly": "goes back but for what changed since",
    "taken": "left as it is: the key is in use by a live memory",
    "purging": "left as it is: it is being deleted for good",
    "purged": "can't come back: it was deleted for good",
    "gone": "left as it is: there is no such memory",
    "pruned": "left as it is: it was pruned since",
    "protected": "not pruned again: rails hold it",
    "end_gone": "left as it is: an end of the relationship is gone",
    "derived": "follows from facts in a slot, or from contents; nothing to take back",
    "pair_gone": "left as it is: the two are no flagged pair any more",
    "approve_again": "an approval is given again by approving the pair: jochi duplicates --approve",
    "no_record": "left as it is: there is no record of what it was",
    "compress_again": "a worker shortens it again once its hold is over",
    "forbidden": "left as it is",
    "merge_again": "a merge is taken up again by approving the pair: jochi duplicates --approve",
}


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
        for row in done.rows[:_SHOWN]:
            out.print(_line(row), markup=False)
        if len(done.rows) > _SHOWN:
            out.print(f"… and {len(done.rows) - _SHOWN:,} more: --json names all")
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


def _line(row: UndoneAction) -> str:
    changed = f": {', '.join(row.changed)}" if row.changed else ""
    if row.constraint:
        changed = f": {forbidden_by(row.constraint, row.holder)}"
    return f"{row.key} ({row.action}): {_WORDS.get(row.outcome, row.outcome)}{changed}"
