"""`jochi`: the command line, thin over `jochi.Jochi`."""

from __future__ import annotations

import logging
import sys

from jochi.errors import JochiError

_STOPPED = 130


def main() -> None:
    """Runs the command line; an error that a person can act on is printed without a traceback."""
    try:
        _run()
    except KeyboardInterrupt:
        # Also while the commands are being imported, and with them all but this file and `jochi.errors`.
        sys.stderr.write("stopped; what was committed stays, and the same command again goes on or changes nothing\n")
        sys.exit(_STOPPED)


def _run() -> None:
    from neo4j.exceptions import DriverError, Neo4jError

    from jochi.cli.app import app
    from jochi.cli.output import err

    # What the driver retries is no news for a person: what fails for good is an error below.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    try:
        app(prog_name="jochi")
    except SystemExit as ended:
        # So Typer ends a command that was stopped, without a word.
        if ended.code == _STOPPED:
            raise KeyboardInterrupt from None
        # Typer and Rich end with 1 where nobody reads on (`| head -1`): that is no error of the command.
        if ended.code == 1 and isinstance(ended.__context__, BrokenPipeError):
            sys.exit(0)
        raise
    except JochiError as error:
        err.print(f"[bold red]error:[/] {_escaped(str(error))}", soft_wrap=True)
        sys.exit(error.exit_code)
    except Neo4jError as error:
        err.print(
            f"[bold red]error:[/] the server refused a statement: {_escaped(error.message or str(error))}",
            soft_wrap=True,
        )
        err.print(f"  → code {error.code}; `jochi doctor` looks for the cause", soft_wrap=True)
        sys.exit(1)
    except DriverError as error:
        err.print(f"[bold red]error:[/] the connection failed: {_escaped(str(error))}", soft_wrap=True)
        sys.exit(4)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
