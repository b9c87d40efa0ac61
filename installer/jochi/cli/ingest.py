"""`jochi ingest FILE…`: raw sources, as they come (seed 002, Phase 0)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, printable, some, write_json
from jochi.errors import UsageError
from jochi.write.ingesting import KEPT, READERS, Fault, IngestResult


def ingest(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(help="Files or folders; `-` reads standard input.")],
    scope: Annotated[str, typer.Option("--scope", "-s", help="Whose memories they become.")] = "default",
    format: Annotated[str | None, typer.Option(help=f"One of {', '.join(READERS)}.", show_default="guessed")] = None,
    zone: Annotated[str, typer.Option(help="Time zone of times that have none.")] = "UTC",
    sensitivity: Annotated[str | None, typer.Option(help="low, normal or high: who may see new ones.")] = None,
    agent: Annotated[str | None, typer.Option(help="Who ingests.")] = None,
    as_json: AsJson = False,
) -> None:
    """Take in conversations, mails, threads, transcripts and notes as they are. Workers make memories of them.

    The same file again is known, also under another name; what is new in it goes in, and what was edited takes the place of
    what was there. What can't be read is named with its
    place, and the rest goes in: exit code 3.
    """
    if sensitivity not in (None, "low", "normal", "high"):
        raise UsageError(f"{sensitivity!r} is no sensitivity", fix="there are: low, normal, high")
    try:
        known_zone = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(f"there is no time zone {zone!r}", fix="give one such as Europe/Berlin") from None

    def tell(fault: Fault) -> None:
        # A plain line, never wrapped, and at once: a file may be long.
        if not as_json:
            typer.echo(printable(str(fault)), err=True)

    with jochi(context) as client:
        done = client.ingest(
            _opened(files),
            scope=scope,
            format=format,
            zone=known_zone,
            agent=agent,
            properties={"sensitivity": sensitivity} if sensitivity else None,
            on_fault=tell,
        )
    if as_json:
        write_json(done)
    else:
        _show(done)
    if done.faulty:
        raise typer.Exit(3)


def _opened(files: list[str]) -> Iterator[Any]:
    for name in files:
        yield sys.stdin.buffer if name == "-" else Path(name)


def _show(done: IngestResult) -> None:
    written = some(done.messages, "new message", "new messages")
    out.print(
        f"{written} in {some(done.sources, 'new source', 'new sources')} and {done.continued:,} known ones; "
        f"{some(done.known, 'message was', 'messages were')} there already",
        markup=False,
    )
    if done.edited:
        out.print(
            f"{some(done.edited, 'message has', 'messages have')} another text by now, which took the place of the old one; "
            f"`jochi undo {done.run}` takes that back",
            markup=False,
        )
    if done.faulty:
        more = f"; the first {KEPT:,} are above" if done.faulty > KEPT else ""
        out.print(f"{some(done.faulty, 'message', 'messages')} left out{more}", markup=False)
    if done.messages or done.edited:
        out.print("`jochi sources ls` shows how far they are", markup=False)
