"""`jochi inbox`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from jochi.cli.connection import job_verbs as jochi
from jochi.cli.options import options_of
from jochi.cli.output import AsJson, finish_with_json, moment, printable, say
from jochi.errors import UsageError
from jochi.localserver.paths import apoc_conf_at
from jochi.operate.inbox import Command, Inbox, Item, line
from jochi.operate.inbox import inbox as read

WAITS = 3
"""Exit code: something waits."""


def inbox(
    context: typer.Context,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", "-k", help="Only this kind of what waits. Can be given several times.", show_default="all"
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=10_000, help="So many of each kind, the oldest. 0: only counts.")
    ] = 5,
    dismiss: Annotated[
        str | None, typer.Option(metavar="ID", help="Answer that all stays as it is: the item isn't shown any more.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show all that waits for a person, each with the commands that decide it. What stops the engine comes first, then the oldest.

    The exit code is 0 if nothing waits, else 3.
    """
    with jochi(context) as client:
        if dismiss is not None:
            if not client.dismiss(dismiss):
                raise UsageError(f"nothing with the id {dismiss!r} waits", fix="`jochi inbox` shows what does")
            say("it stays as it is")
            return
        found = read(client, limit=limit, kinds=kind, apoc_conf_at=apoc_conf_at)
    given = options_of(context)
    options = {
        "--uri": given.uri,
        "--user": given.user,
        "--password-file": given.password_file,
        "--database": given.database,
        "--policy": given.policy,
    }
    begin = line(*(f"{name}={value}" for name, value in options.items() if value is not None))
    found = replace(found, items=tuple(_beginning(item, begin) for item in found.items))
    code = WAITS if found.counts else 0
    finish_with_json({**vars(found), "more": sorted(found.more)}, as_json, exit_code=code)
    _print(found, begin)
    if code:
        raise typer.Exit(code)


def _beginning(item: Item, begin: str) -> Item:
    """With the options that this command was given: so its commands speak of the same database."""
    lines = (Command(each.does, begin + each.line.removeprefix(line())) for each in item.commands)
    return replace(item, commands=tuple(lines))


def _print(found: Inbox, begin: str) -> None:
    for item in found.items:
        since = f", since {moment(item.since)}" if item.since else ""
        say(f"{item.kind}{since}")
        say(f"  {printable(item.what)}")
        for text in item.texts:
            say(f"    “{printable(text)}”")
        widest = max(len(command.does) for command in item.commands)
        for command in item.commands:
            say(f"    {command.does:<{widest}}  {command.line}")
        say("")
    shown = {kind: sum(item.kind == kind for item in found.items) for kind in found.counts}
    for kind, n in found.counts.items():
        if (left := n - shown[kind]) or kind in found.more:
            more = f"{left:,}{'+' if kind in found.more else ''} more of {kind}"
            say(f"… {more}: {begin} inbox --kind {kind} --limit {min(10_000, max(100, 2 * n))}")
    say(found.sentence)
