"""`jochi memory edges`."""

from __future__ import annotations

import typer

from jochi.cli.arguments import At, parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, moment, out, table, write_json


def edges(context: typer.Context, at: At = None, as_json: AsJson = False) -> None:
    """Show how many edges there are of each declared type, how many are due, and which have waited longest."""
    with jochi(context) as client:
        found = client.edges(parse_moment(at))
    if as_json:
        write_json(found)
        return
    rows = [
        (t.type, "one way" if t.one_way else "both ways", t.lifecycle, t.stored, t.due, moment(t.next_due))
        for t in found.types
    ]
    table("Edges", ("type", "recall follows it", "time takes its", "stored", "due", "next due"), rows, right=(3, 4))
    waiting = [
        (t.type, e.start, e.end, e.confidence, moment(e.anchor), moment(e.next_due))
        for t in found.types
        for e in t.samples
    ]
    if waiting:
        table("Longest due", ("type", "from", "to", "confidence", "counted from", "due since"), waiting, right=(3,))
    out.print(f"edges that something else wrote were last looked for at {moment(found.walked_at)}")
