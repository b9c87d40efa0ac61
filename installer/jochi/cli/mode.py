"""`jochi mode`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, out, write_json
from jochi.cli.status import mode_in_words


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
