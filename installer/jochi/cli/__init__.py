"""`jochi`: the command line, thin over `jochi.Jochi`."""

from __future__ import annotations

import logging
import sys

from jochi.errors import JochiError


def main() -> None:
    """Runs the command line; an error that a person can act on is printed without a traceback."""
    from neo4j.exceptions import DriverError, Neo4jError

    from jochi.cli.app import app
    from jochi.cli.output import err

    # What the driver retries is no news for a person: what fails for good is an error below.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    try:
        app(prog_name="jochi")
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
    except KeyboardInterrupt:
        err.print("stopped; what was committed stays", soft_wrap=True)
        sys.exit(130)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
