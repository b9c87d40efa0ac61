"""`jochi doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, err, out, write_json
from jochi.localserver.paths import apoc_conf_at
from jochi.operate.check import Level
from jochi.operate.doctor import MOST_MEMORIES, Diagnosis, examine

EXIT_FAILED = 5

_STYLE = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red", Level.UNKNOWN: "cyan"}


def doctor(
    context: typer.Context,
    probe: Annotated[
        bool,
        typer.Option(help="Find out how many jobs the server runs at once: a few jobs sleep for a moment."),
    ] = True,
    most: Annotated[
        int, typer.Option("--memories", min=0, help="Look at no more than so many memories, each once.")
    ] = MOST_MEMORIES,
    as_json: AsJson = False,
) -> None:
    """Check the server, the engine and the memories, and show the fix of each finding. Before an install, show what is missing.

    The exit code is 5 if a check fails. It stays 0 for warnings and for what can't be known.
    """
    with jochi(context) as client, err.status("looking"):
        found = examine(client, probe=probe, most_memories=most, apoc_conf_at=apoc_conf_at)
    if as_json:
        write_json(as_plain(found))
    else:
        print_diagnosis(found)
    if found.failed:
        raise typer.Exit(EXIT_FAILED)


def as_plain(found: Diagnosis) -> dict[str, object]:
    """The diagnosis as plain data, for `--json`."""
    checks = [{"name": c.name, "level": c.level.value, "found": c.found, "fix": c.fix} for c in found.checks]
    return {
        "database": found.database,
        "at": found.at,
        "installed": found.installed,
        "failed": len(found.failed),
        "checks": checks,
    }


def print_diagnosis(found: Diagnosis) -> None:
    """One line a check and one line a fix; lines are not wrapped, so that they can be copied."""
    from rich.markup import escape

    width = max(len(check.name) for check in found.checks)
    for check in found.checks:
        word = f"[{_STYLE[check.level]}]{check.level.value:<7}[/]"
        out.print(f"{word}  {check.name:<{width}}  {escape(check.found)}", soft_wrap=True)
        if check.fix and check.level is not Level.OK:
            out.print(f"{'':7}  {'':<{width}}  → {escape(check.fix)}", soft_wrap=True)
    counts = {level: sum(check.level is level for check in found.checks) for level in Level}
    parts = [f"{counts[level]} {level.value}" for level in Level if counts[level]]
    out.print(f"database {escape(found.database)}: " + ", ".join(parts), soft_wrap=True)
