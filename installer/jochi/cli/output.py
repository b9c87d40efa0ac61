"""How results look on a terminal, and as JSON."""

from __future__ import annotations

import errno
import json
import os
import select
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jochi.graph.driver_values import to_json

AsJson = Annotated[bool, typer.Option("--json", help="Write the result as JSON.")]

_WIDTH_OF_A_FILE = 100_000
"""Whatever reads a file or a pipe wants a line as one line: nothing is folded there."""

_IDS = frozenset({"run", "plan", "memory", "key", "other", "audit id"})
"""Columns of what is copied into the next command: folded, it couldn't be."""

_NARROW = 10
"""A column of other things isn't pressed below this on a terminal."""


class _Output(Console):
    """A console whose reader may go away (`| head -1`): the command goes on to its end, and the rest of its words is dropped."""

    def on_broken_pipe(self) -> None:
        # Rich ends the process here, which would leave a command undone that has just shown what it is about to do.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())


out = _Output(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE)
err = _Output(stderr=True, highlight=False)


def forbidden_by(constraint: str | None, holder: str | None) -> str:
    """Why something doesn't come back that a constraint of an application is about."""
    return f"the constraint {constraint} forbids it" + (f": {holder} has its value" if holder else "")


def expect_reader() -> None:
    """Raises `BrokenPipeError` where nobody reads standard output any more: who waits for something to write would never notice."""
    if not hasattr(select, "poll"):
        return
    try:
        looked = select.poll()
        looked.register(sys.stdout.fileno(), 0)
    except OSError:  # it is no file, such as in a test
        return
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in looked.poll(0)):
        raise BrokenPipeError(errno.EPIPE, "nobody reads on")


def write_json(value: Any) -> None:
    """Dataclasses, driver values and plain data as JSON on standard output."""
    typer.echo(json.dumps(to_json(_plain(value)), indent=2, ensure_ascii=False))


def finish_with_json(value: Any, as_json: bool, *, exit_code: int = 0) -> None:
    """With ``as_json`` the command ends here, and this is all that it prints."""
    if as_json:
        write_json(value)
        raise typer.Exit(exit_code)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()) -> None:
    """A table on standard output; ``right`` names the columns that hold numbers."""
    cells = [[_cell(value) for value in row] for row in rows]
    if _IDS.intersection(columns) and _needed(columns, cells) > out.width:
        _print_as_lines(title, columns, cells)
        return
    made = Table(title=title, title_justify="left", header_style="bold")
    for position, column in enumerate(columns):
        justify: Literal["left", "right"] = "right" if position in right else "left"
        made.add_column(column, justify=justify, overflow="fold", no_wrap=column in _IDS)
    for row in cells:
        made.add_row(*row)
    out.print(made)


def _needed(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """The width without which an id would be broken, or a column become unreadable."""
    frame = 3 * len(columns) + 1
    for position, column in enumerate(columns):
        widest = max(
            cell_len(line) for cell in (column, *(row[position] for row in rows)) for line in [*cell.splitlines(), ""]
        )
        frame += widest if column in _IDS else min(widest, _NARROW)
    return frame


def _print_as_lines(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """What is too wide for this terminal with its ids whole, one value a line."""
    longest = max(len(column) for column in columns)
    out.print(f"[bold]{escape(title)}[/]", soft_wrap=True)
    for row in rows:
        out.print()
        for column, cell in zip(columns, row, strict=True):
            value = f"\n{'':{longest + 2}}".join(cell.splitlines())
            out.print(f"{column:>{longest}}: {value}", soft_wrap=True)


def say(text: str) -> None:
    """A line on standard output, as it is: never folded, nothing in it is markup."""
    out.print(text, soft_wrap=True, markup=False)


def some(n: int, one: str, many: str) -> str:
    """A number with its words: "1 memory waits", "2 memories wait"."""
    return f"{n:,} {one if n == 1 else many}"


def shortened(text: str | None, longest: int) -> str:
    """A text on one line, of at most ``longest`` characters."""
    plain = " ".join((text or "").split())
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return escape(str(value))


def moment(value: datetime | None) -> str:
    """A time to the second, in UTC."""
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M:%S}Z"


def printable(text: str) -> str:
    """The text without control characters: a reason may quote what stood in a file."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
