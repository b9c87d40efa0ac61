"""`jochi observe`: a turn of a conversation, many from standard input, or what is buffered, handed on (seed 003, Write Path); and
statements that may be replaced by what was said later (DESIGN §16)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from jochi.cli.arguments import keys_of, parse_moment
from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, moment, out, printable, say, shortened, some, write_json
from jochi.errors import JochiError, PartlyDone, UsageError
from jochi.use.doubts import MOST, DoubtDecision
from jochi.write.importing.jsonlines import LONGEST_LINE, json_value, lines_of
from jochi.write.observing import ObserveResult, Turn

_LONGEST = 400
_FIELDS = ("text", "session", "scope", "speaker", "at", "id")


def observe(
    context: typer.Context,
    text: Annotated[
        str | None,
        typer.Argument(
            help="What was said; `-` reads turns from standard input, JSON Lines with text, speaker, at, id."
        ),
    ] = None,
    session: Annotated[str | None, typer.Option(help="Of which conversation (default: default).")] = None,
    scope: Annotated[str, typer.Option("--scope", "-s", help="Whose memories they become.")] = "default",
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    at: Annotated[str | None, typer.Option(help="When it was said: 2026-12-24T18:00:00Z.", show_default="now")] = None,
    id: Annotated[str | None, typer.Option(help="Its id in the session.")] = None,
    flush: Annotated[
        bool,
        typer.Option("--flush", help="Have what is buffered learned from now (without --session: all of the scope)."),
    ] = False,
    doubts: Annotated[
        bool,
        typer.Option("--doubts", help="List the statements of the scope that may be replaced by what was said later."),
    ] = False,
    replaces: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="NEWER OLDER", help="Decide: of these two keys the newer one takes the older one's place."
        ),
    ] = None,
    both_hold: Annotated[
        tuple[str, str] | None, typer.Option(metavar="NEWER OLDER", help="Decide: both of these hold.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MOST, help="How many doubts at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Hand a turn of a conversation to the database. Workers learn facts from it, at once or with those that follow."""
    decisions: list[tuple[DoubtDecision, tuple[str, str] | None]] = [("replaces", replaces), ("both", both_hold)]
    given = [(decision, pair) for decision, pair in decisions if pair is not None]
    if doubts or given:
        if text is not None or flush or (doubts and given):
            raise UsageError("turns, a list of doubts and a decision don't go together", fix="do one after the other")
        if doubts:
            _list_doubts(context, scope, limit, as_json)
        else:
            _decide(context, given, scope, as_json)
        return
    if text is None and not flush:
        raise UsageError("there is no turn", fix="give what was said, `-`, or --flush")
    of_turns = {"session": session or "default", "scope": scope, "speaker": speaker}
    done: list[ObserveResult] = []
    faults: list[str] = []
    with jochi(context) as client:
        if text == "-":
            for number, turn in enumerate(_turns(of_turns), 1):
                try:
                    done.append(client.observe(turn() if callable(turn) else turn))
                except (UsageError, ValueError) as error:  # it is told, and the others go on
                    what = error.what if isinstance(error, JochiError) else str(error)
                    faults.append(f"line {number}: {what}")
                    typer.echo(printable(faults[-1]), err=True)
        elif text is not None:
            done.append(client.observe(Turn(text, **of_turns, at=parse_moment(at), id=id)))  # type: ignore[arg-type]
        batches = client.flush(session, scope=scope) if flush else []
    if as_json:
        write_json({"turns": done, "flushed": batches, "faults": faults})
    else:
        _show(done, batches if flush else None)
    if faults:
        raise typer.Exit(3)


def _turns(given: dict[str, Any]) -> Iterator[Any]:
    """Of each line what makes its turn."""
    for raw in lines_of(sys.stdin.buffer):
        if raw is None or raw.strip():
            yield lambda raw=raw: _turn(raw, given)


def _turn(raw: bytes | None, given: dict[str, Any]) -> Turn:
    if raw is None:
        raise ValueError(f"is longer than {LONGEST_LINE // 1024**2} MB")
    read = json_value(raw)
    if not isinstance(read, dict) or read.keys() - set(_FIELDS) or "text" not in read:
        raise UsageError(f"a turn is a map with text and, as far as known, {', '.join(_FIELDS[1:])}")
    at = parse_moment(read.pop("at")) if isinstance(read.get("at"), str) else None
    return Turn(**{**given, **read, "at": at})


def _show(done: list[ObserveResult], batches: list[str] | None) -> None:
    if len(done) == 1:
        told = f", {', '.join(done[0].about)}" if done[0].about else ""
        out.print(f"{done[0].outcome} (signal {done[0].signal}{told})", markup=False)
    elif done:
        signals, outcomes = Counter(each.signal for each in done), Counter(each.outcome for each in done)
        out.print(
            f"{some(len(done), 'turn', 'turns')}: " + ", ".join(f"{n:,} {name}" for name, n in outcomes.items()),
            markup=False,
        )
        out.print("signals: " + ", ".join(f"{n:,} {name}" for name, n in signals.items()), markup=False)
    if batches is not None:
        out.print(f"{some(len(batches), 'buffer', 'buffers')} handed on", markup=False)


def _list_doubts(context: typer.Context, scope: str, limit: int, as_json: bool) -> None:
    found = answer(context, as_json, lambda client: client.doubts(scope=scope, limit=limit))
    for one in found.doubts:
        for name, key, at, content in (
            ("newer", one.newer, one.newer_at, one.newer_content),
            ("older", one.older, one.older_at, one.older_content),
        ):
            said = printable(shortened(content, _LONGEST))
            say(f"{name}  {moment(at) if at else '–'}  {printable(key)}\t{said}")
    out.print(
        some(len(found.doubts), "doubt", "doubts") + ("; there are more: --limit shows them" if found.more else "")
    )
    if found.doubts:
        say("`jochi observe --replaces NEWER OLDER` or `--both-hold NEWER OLDER` decides, by their keys")


def _decide(
    context: typer.Context, given: list[tuple[DoubtDecision, tuple[str, str]]], scope: str, as_json: bool
) -> None:
    with jochi(context) as client:
        decided = [client.decide_doubts([keys_of(pair, scope)], decision) for decision, pair in given]
    if as_json:
        write_json(decided)
    else:
        for each in decided:
            for result in each.results:
                say(result.sentence)
            if each.run:
                out.print(f"run {each.run}: `jochi undo {each.run}` takes it back", markup=False)
    if failed := sum(not result.done for each in decided for result in each.results):
        raise PartlyDone(f"{some(failed, 'doubt was', 'doubts were')} not decided")
