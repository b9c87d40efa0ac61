"""`jochi memory history`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi import clock
from jochi.cli.arguments import At, parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, table, write_json


def history(
    context: typer.Context,
    scope: Annotated[str, typer.Argument(help="Whose facts.")],
    subject: Annotated[str, typer.Argument(help="Of what or whom, such as Ann. Case and blanks make no difference.")],
    attribute: Annotated[str, typer.Argument(help="What of it, such as city.")],
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Show what held of a subject's attribute, and when. With --at, show only what held then. This writes nothing."""
    moment = parse_moment(at)
    with jochi(context) as client:
        found = client.history_of(scope, subject, attribute, moment)
    if as_json:
        write_json(found)
        return
    now = moment or clock.now()
    rows = [
        (each.value, each.valid_from, each.valid_to, "yes" if each.holds(now) else "", each.keys[0], len(each.keys) - 1)
        for each in found
    ]
    table(
        f"{attribute} of {subject} in {scope}",
        ("value", "from", "to", "holds", "key", "confirmed"),
        rows,
        right=(5,),
    )
