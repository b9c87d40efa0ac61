"""`jochi`: the command line, thin over `jochi.Jochi`."""

from __future__ import annotations

import errno
import logging
import os
import sys

from jochi.errors import JochiError

_STOPPED = 130
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> None:
    """Runs the command line; an error that a person can act on is printed without a traceback."""
    _open_closed_streams()
    try:
        _run()
    except KeyboardInterrupt:
        # Also while the commands are being imported, and with them all but this file and `jochi.errors`.
        sys.stderr.write("stopped; what was committed stays, and the same command again goes on or changes nothing\n")
        sys.exit(_STOPPED)


def _open_closed_streams() -> None:
    """Services and scripts (`>&-`) start commands without these. The next file would get a closed one's number, and its words."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the process ends


def _run() -> None:
    from jochi.cli.app import app

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
        _print_error(f"[bold red]error:[/] {_escaped(str(error))}")
        sys.exit(error.exit_code)
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is written at the end
        _print_error(f"[bold red]error:[/] the output can't be written: {error.strerror}")
        _print_error("  → make room, and run the same command again; what was committed stays")
        sys.exit(1)
    except Exception as error:
        code = _print_error_of_driver(error)
        if code is None:
            raise
        sys.exit(code)


def _print_error_of_driver(error: Exception) -> int | None:
    """The exit code; None for what is no error of the driver, which is imported only here: a help text needs none."""
    from neo4j.exceptions import DriverError, Neo4jError

    if isinstance(error, Neo4jError):
        _print_error(f"[bold red]error:[/] the server refused a statement: {_escaped(error.message or str(error))}")
        _print_error(f"  → code {error.code}; `jochi doctor` looks for the cause")
        return 1
    if isinstance(error, DriverError):
        _print_error(f"[bold red]error:[/] the connection failed: {_escaped(str(error))}")
        return 4
    return None


def _print_error(text: str) -> None:
    from jochi.cli.output import err

    err.print(text, soft_wrap=True)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
