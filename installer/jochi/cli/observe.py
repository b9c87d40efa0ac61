"""`jochi observe`: a turn of a conversation, many from standard input, or what is buffered, handed on (seed 003, Write Path)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from jochi.cli.arguments import parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, printable, some, write_json
from jochi.errors import JochiError, UsageError
from jochi.write.importing.jsonlines import LONGEST_LINE, json_value, lines_of
from jochi.write.observing import ObserveResult, Turn

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
    as_json: AsJson = False,
) -> None:
    """Hand a turn of a conversation to the database. Workers learn facts from it, at once or with those that follow."""
    if text is None and not flush:
        raise UsageError("there is no turn", fix="give what was said, `-`, or --flush")
    given = {"session": session or "default", "scope": scope, "speaker": speaker}
    done: list[ObserveResult] = []
    faults: list[str] = []
    with jochi(context) as client:
        if text == "-":
            for number, turn in enumerate(_turns(given), 1):
                try:
                    done.append(client.observe(turn() if callable(turn) else turn))
                except (UsageError, ValueError) as error:  # it is told, and the others go on
                    what = error.what if isinstance(error, JochiError) else str(error)
                    faults.append(f"line {number}: {what}")
                    typer.echo(printable(faults[-1]), err=True)
        elif text is not None:
            done.append(client.observe(Turn(text, **given, at=parse_moment(at), id=id)))  # type: ignore[arg-type]
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
