"""`jochi ingest FILE…` and `jochi sources`: raw sources, and how far workers are with them (seed 002, Phase 0, Status Flow)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, finish_with_json, out, printable, say, shortened, some, table, write_json
from jochi.errors import Refused, UsageError
from jochi.use.sources import PHASES, STATES, SourceState
from jochi.write.ingesting import KEPT, READERS, Fault, IngestResult

_NAMED = 3
"""So many files that are left out for one reason are named."""
_SHOWN = 50
"""So many sources of a dry run are shown."""


def ingest(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(help="Files or folders; `-` reads standard input.")],
    scope: Annotated[str, typer.Option("--scope", "-s", help="Whose memories they become.")] = "default",
    format: Annotated[str | None, typer.Option(help=f"One of {', '.join(READERS)}.", show_default="guessed")] = None,
    zone: Annotated[str, typer.Option(help="Time zone of times that have none.")] = "UTC",
    sensitivity: Annotated[str | None, typer.Option(help="low, normal or high: who may see new ones.")] = None,
    agent: Annotated[str | None, typer.Option(help="Who ingests.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read everything, and write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take in conversations, mails, threads, transcripts and notes as they are. Workers make memories of them.

    The same file again is known, also under another name; what is new in it goes in, and what was edited takes the place of
    what was there. What can't be read is named with its
    place, and the rest goes in: exit code 3. Of a folder conversations are read and what people wrote; programs, their settings
    and what they made are named and left out, unless you name the file.
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
            dry_run=dry_run,
        )
    if as_json:
        write_json(done)
    else:
        _print_ingested(done)
    if done.faulty:
        raise typer.Exit(3)


def _opened(files: list[str]) -> Iterator[Any]:
    for name in files:
        yield sys.stdin.buffer if name == "-" else Path(name)


def _print_ingested(done: IngestResult) -> None:
    if done.dry_run:
        _print_preview(done)
    written = some(done.messages, "new message", "new messages")
    sources = some(done.sources, "new source", "new sources")
    say(
        f"{'nothing is written; it would be ' if done.dry_run else ''}{written} in {sources} and {done.continued:,} known ones; "
        f"{some(done.known, 'message was', 'messages were')} there already"
    )
    if done.edited:
        places = "would take" if done.dry_run else "took"
        undo = "" if done.dry_run else f"; `jochi undo {done.run}` takes that back"
        edited = some(done.edited, "message has", "messages have")
        say(f"{edited} another text by now, which {places} the place of the old one{undo}")
    if done.faulty:
        more = f"; the first {KEPT:,} are above" if done.faulty > KEPT else ""
        say(f"{some(done.faulty, 'piece', 'pieces')} couldn't be read or may not be written{more}")
    if done.omissions:
        say("left out: " + ", ".join(f"{why} ({n:,})" for why, n in _most_first(done.omissions)))
    for why, n in _most_first({why: files.n for why, files in done.omitted_files.items()}):
        paths = [printable(path) for path in done.omitted_files[why].paths[:_NAMED]]
        say(f"left out, {why} ({n:,}): {', '.join(paths)}{', …' if n > len(paths) else ''}")
    if (done.messages or done.edited) and not done.dry_run:
        say("`jochi sources ls` shows how far they are")


def _most_first(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def _print_preview(done: IngestResult) -> None:
    columns = ("key", "type", "title", "format", "file", "new", "edited", "known")
    rows = [
        (one.key, one.source_type, shortened(one.title, 40), one.format, one.file, one.messages, one.edited, one.known)
        for one in done.preview[:_SHOWN]
    ]
    table("Sources", columns, rows, right=(5, 6, 7))
    found = done.sources + done.continued + done.unchanged
    if found > len(rows):
        say(f"and {found - len(rows):,} more; --json has the first {KEPT:,}")
    empty = [one for one in done.files if not one.messages]
    read = some(done.files_read, "file was read", "files were read")
    nothing = f"; nobody says anything in {some(len(empty), 'of them', 'of them')}" if empty else ""
    say(read + nothing)


app = typer.Typer(help="See what was ingested, how far it is, and put back what workers gave up on.")


@app.command()
def ls(
    context: typer.Context,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="Only this scope.", show_default="all")] = None,
    state: Annotated[str | None, typer.Option(help=f"One of {', '.join(STATES)}.", show_default="all")] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="So many at most, the newest first.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """List sources, the newest first. `failed`: workers gave up; `stuck`: a phase has waited for more than a day."""
    with jochi(context) as client:
        counts, found = client.sources(scope=scope, state=state, limit=limit)
    finish_with_json({"counts": counts, "sources": found}, as_json)
    rows = [
        (
            one.key,
            one.state,
            one.source_type,
            shortened(one.title or "", 40),
            f"{one.started_at:%Y-%m-%d}" if one.started_at else "",
            one.messages,
            _why(one),
        )
        for one in found
    ]
    table("Sources", ("key", "state", "type", "title", "from", "messages", "waits for"), rows, right=(5,))
    out.print(
        ", ".join(f"{counts[name]:,} {name}" for name in STATES if counts.get(name)) or "no sources", markup=False
    )


@app.command()
def show(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="A source's key: scope/id.")],
    as_json: AsJson = False,
) -> None:
    """Show one source: how far it is, what was made of it, and what is left to do."""
    with jochi(context) as client:
        found = client.source(key)
    if found is None:
        raise Refused("there is no such source", where=key, fix="`jochi sources ls` lists them")
    finish_with_json(found, as_json)
    said = {
        "state": found.state,
        "type": found.source_type,
        "title": found.title,
        "from": found.started_at,
        "to": found.ended_at,
        "messages": found.messages,
        "of these attachments": found.attachments or None,
        "participants": ", ".join(found.participants),
        "summary": found.summary,
        "keywords": ", ".join(found.keywords),
        "tags": ", ".join(found.tags),
        "waits for": _why(found),
    }
    for title, value in said.items():
        if value not in (None, ""):
            lines = [printable(line) for line in f"{title}: {value}".splitlines()]
            say("\n  ".join(lines))


@app.command()
def retry(
    context: typer.Context,
    key: Annotated[str | None, typer.Argument(help="Only this source.", show_default="all")] = None,
) -> None:
    """Put back what workers gave up on: its phase starts afresh."""
    from jochi_workers import queue

    with jochi(context) as client:
        if key is not None and client.source(key) is None:
            raise Refused("there is no such source", where=key, fix="`jochi sources ls` lists them")
        # All that is prepared aren't sources: without a key that is for `jochi derive retry prepare`.
        phases = PHASES if key is not None else PHASES[1:]
        put_back = sum(queue.retry(client.engine, derivation=phase, key=key) for phase in phases)
    out.print(f"put back: {some(put_back, 'piece of work', 'pieces of work')}")


@app.command()
def take(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="A team's source: scope/id.")],
    scope: Annotated[str, typer.Option("--scope", "-s", help="The scope of the user who needs it.")],
    agent: Annotated[str | None, typer.Option(help="Who takes it.")] = None,
) -> None:
    """Give a user a team's source, as a copy of its own: what is extracted of it is that user's alone. Again it brings in what
    is new."""
    with jochi(context) as client:
        taken = client.take_source(key, scope, agent=agent)
    came = f"{some(taken.messages, 'new message', 'new messages')}, {taken.known:,} there already"
    out.print(f"{taken.key}: {came}", markup=False)
    for one in taken.changed:
        out.print(f"{one} says something else than the team's by now, and stays as it is", markup=False)


def _why(source: SourceState) -> str:
    return "; ".join(
        f"{one.phase} ({'given up' if one.put_aside else 'tried'}: {one.error})" if one.error else one.phase
        for one in source.waiting
    )
