"""`jochi duplicates`: pairs of memories that say nearly the same, and what a person decides over them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, moment, out, printable, say, shortened, some, table, write_json
from jochi.curate.duplicates import Decided, Decision, DuplicatePair, PairStanding, PairToDecide
from jochi.errors import PartlyDone, UsageError

app = typer.Typer(help="Pairs of memories that say nearly the same: look, and decide.", invoke_without_command=True)

Scope = Annotated[str | None, typer.Option("--scope", "-s", help="Only of this scope.")]
KindName = Annotated[str | None, typer.Option("--kind", "-k", help="Only of this kind.")]
_LONGEST = 400


@app.callback()
def duplicates(
    context: typer.Context,
    scope: Scope = None,
    kind: KindName = None,
    verdict: Annotated[
        str | None,
        typer.Option(help="waiting, merge, flag, veto, approved, rejected or merged. Default: all but merged."),
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Only with this reason, such as number.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many pairs at most.")] = 20,
    approve: Annotated[
        tuple[str, str] | None, typer.Option(metavar="KEY KEY", help="Let these two merge, whatever the worker judged.")
    ] = None,
    reject: Annotated[tuple[str, str] | None, typer.Option(metavar="KEY KEY", help="Never merge these two.")] = None,
    approve_file: Annotated[
        Path | None, typer.Option(help="The same for pairs in a file (- is standard input).")
    ] = None,
    reject_file: Annotated[
        Path | None, typer.Option(help="The same for pairs in a file (- is standard input).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List pairs with both texts, the nearest first, or decide over some.

    A file of pairs is what --json writes, or a part of it; or two keys a line with a tab between them. A decision holds for
    as long as both texts stay what they are.
    """
    if context.invoked_subcommand is not None:
        return
    given = [
        (cast(Decision, decision), pair, file)
        for decision, pair, file in (("approved", approve, approve_file), ("rejected", reject, reject_file))
        if pair is not None or file is not None
    ]
    if given:
        if any((scope, kind, verdict, reason)):
            raise UsageError("--scope, --kind, --verdict and --reason choose what is listed, not what is decided")
        _decide(context, given, as_json)
        return
    found = answer(
        context,
        as_json,
        lambda client: client.duplicates(
            scope=scope, kind=kind, verdict=cast("PairStanding | None", verdict), reason=reason, limit=limit
        ),
    )
    for pair in found.pairs:
        _print(pair)
    more = "; there are more: --limit shows them" if found.more else ""
    out.print(some(len(found.pairs), "pair", "pairs") + more)


@app.command()
def summary(context: typer.Context, scope: Scope = None, kind: KindName = None, as_json: AsJson = False) -> None:
    """Show how many pairs there are, by verdict and reason."""
    found = answer(context, as_json, lambda client: client.count_duplicates(scope=scope, kind=kind))
    rows = [(count.verdict, count.reason, count.kind, count.n) for count in found.counts]
    table(
        f"{some(found.pairs, 'pair', 'pairs')} of near duplicates",
        ("verdict", "reason", "kind", "pairs"),
        rows,
        right=(3,),
    )
    held = f", {found.held:,} of them were held up last time" if found.held else ""
    out.print(f"to be merged: {found.to_merge:,}{held}; contents merged away: {found.merged_contents:,}")
    since = f" since {moment(found.oldest_judge)}" if found.oldest_judge else ""
    waits = f"{some(found.judge_waiting, 'pair waits', 'pairs wait')} for `jochi worker`{since}"
    out.print(
        f"{some(found.looking, 'memory is to look for its own', 'memories are to look for theirs')}; {waits}",
        markup=False,
    )


def _decide(
    context: typer.Context, given: list[tuple[Decision, tuple[str, str] | None, Path | None]], as_json: bool
) -> None:
    results: list[Decided] = []
    read = [(decision, ([pair] if pair else []) + (_read(file) if file else [])) for decision, pair, file in given]
    with jochi(context) as client:
        for decision, pairs in read:
            results += client.decide_duplicates(pairs, decision)
    if as_json:
        write_json(results)
    else:
        for result in results:
            say(result.sentence)
    if failed := sum(not result.done for result in results):
        raise PartlyDone(f"{failed} of {len(results)} pairs were not decided")


def _read(file: Path) -> list[PairToDecide]:
    """The pairs in a file, as --json writes them or two keys a line; `UsageError` with the line that is wrong."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the file of pairs can't be read: {error}", where=str(file)) from None
    if text.lstrip().startswith(("{", "[")):
        return _from_json(text, file)
    pairs = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        keys = [key.strip() for key in line.split("\t")]
        if len(keys) != 2 or not all(keys):
            raise UsageError("not two keys with a tab between them", where=f"{file}:{number}")
        pairs.append(PairToDecide(keys[0], keys[1]))
    return pairs


def _from_json(text: str, file: Path) -> list[PairToDecide]:
    try:
        data: Any = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the file of pairs is no JSON: {error}", where=str(file)) from None
    entries = data.get("pairs") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise UsageError("no list of pairs", where=str(file), fix="give what `jochi duplicates --json` writes")
    pairs = []
    for number, entry in enumerate(entries, start=1):
        names = ("left", "right", "left_hash", "right_hash")
        values: list[Any] = [entry.get(name) if isinstance(entry, dict) else None for name in names]
        if not all(isinstance(value, str) for value in values[:2]) or not all(
            value is None or isinstance(value, str) for value in values[2:]
        ):
            raise UsageError("no pair with the texts left and right", where=f"{file}, pair {number}")
        pairs.append(PairToDecide(*values))
    return pairs


def _print(pair: DuplicatePair) -> None:
    near = "same text" if pair.same_text else "–" if pair.score is None else f"{pair.score:.4f}"
    why = f" ({', '.join(pair.reasons)})" if pair.reasons else ""
    who = f" by {pair.decided_by} at {moment(pair.decided_at)}" if pair.verdict in ("approved", "rejected") else ""
    held = f"; held up by {pair.held_in_words}" if pair.held_by else ""
    say(f"{near}  {pair.verdict}{why}{who}{held}  {pair.kind}")
    for key, content in ((pair.left, pair.left_content), (pair.right, pair.right_content)):
        say(f"  {printable(key)}\t{_short(content)}")


def _short(content: str | None) -> str:
    return printable(shortened(content or "–", _LONGEST))
