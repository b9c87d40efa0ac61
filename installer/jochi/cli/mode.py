"""`jochi jobs mode`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, moment, out, write_json
from jochi.jobs.results import Mode


class Wanted(str, Enum):
    """What a person can ask for."""

    IDLE = "IDLE"
    BACKGROUND = "BACKGROUND"
    MINIMAL = "MINIMAL"
    AUTO = "auto"


def mode(
    context: typer.Context,
    wanted: Annotated[
        Wanted | None,
        typer.Argument(
            case_sensitive=False, help="Keep this mode, whatever applications do. auto lets the engine choose again."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how busy the engine is, and why: IDLE if applications are quiet, MINIMAL if they work hard, else BACKGROUND."""
    with jochi(context) as client:
        found = client.pin_mode(None if wanted is Wanted.AUTO else wanted.value) if wanted else client.mode()
    if as_json:
        write_json(found)
    else:
        out.print(mode_in_words(found), soft_wrap=True, markup=False)


def mode_in_words(found: Mode) -> str:
    """One line: the mode, why, and since when."""
    why = (
        "nothing has looked yet"
        if found.rate is None
        else f"{found.rate:,.1f} accesses and writes a minute at {moment(found.looked_at)}"
    )
    if found.pinned_by is not None:
        why = f"pinned by {found.pinned_by}; `jochi jobs mode auto` lets it choose; {why}"
    since = f" since {moment(found.since)}" if found.since else ""
    return f"mode: {found.mode}{since}: {why}"
