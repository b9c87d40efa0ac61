"""`jochi report`: a page of what any database has on record of a span of days."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from jochi import clock
from jochi.cli.connection import job_verbs
from jochi.cli.output import say
from jochi.cli.progress import screen

FILE = Path("jochi-report.html")


def report(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write; one that is there is replaced.")] = FILE,
    since: Annotated[
        str, typer.Option("--since", help="30d, or the day or time that the span begins with: 2026-11-01.")
    ] = "30d",
    until: Annotated[
        str | None, typer.Option("--until", help="The last day, or the time that it ends at.", show_default="now")
    ] = None,
    scope: Annotated[
        str | None, typer.Option("--scope", "-s", help="Only what was done in this scope; no jobs, no workers.")
    ] = None,
    scopes: Annotated[
        bool, typer.Option("--scopes", help="Show the names of scopes, which may be those of people.")
    ] = False,
    count: Annotated[
        bool, typer.Option("--count/--no-count", help="Read every memory once, to count what there is.")
    ] = True,
) -> None:
    """Write what came, what went and why, and how jobs and workers did, as one HTML page.

    Days are those of the policy's time zone. The page holds numbers and names of kinds, rules and jobs; nothing that a memory says.
    """
    from jochi.operate.report import parse_span, read_report, require_matplotlib, require_writable, write_page

    require_matplotlib()
    require_writable(out, "--out")
    began = time.monotonic()
    with job_verbs(context) as client, screen() as shown:
        span = parse_span(since, until, now=clock.now(), zone=ZoneInfo(client.policy.policy.policy.time_zone))
        found = read_report(client, span, scope=scope, count=count, on_progress=shown.doing)
        from jochi.operate.report.sections import page_of

        shown.doing("drawing")
        write_page(page_of(found, names=scopes), out)
    say(f"Report: {out} ({time.monotonic() - began:.1f} s)")
    for note in found.now.notes:
        say(f"not on it: {note}")
