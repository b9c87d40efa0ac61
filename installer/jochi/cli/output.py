"""How results look on a terminal, and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from jochi.temporal import to_json

AsJson = Annotated[bool, typer.Option("--json", help="Write the result as JSON.")]

_WIDTH_OF_A_FILE = 160

out = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE)
err = Console(stderr=True, highlight=False)


def write_json(value: Any) -> None:
    """Dataclasses, driver values and plain data as JSON on standard output."""
    typer.echo(json.dumps(to_json(_plain(value)), indent=2, ensure_ascii=False))


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
    made = Table(title=title, title_justify="left", header_style="bold")
    for position, column in enumerate(columns):
        made.add_column(column, justify="right" if position in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(_cell(value) for value in row))
    out.print(made)


def some(n: int, one: str, many: str) -> str:
    """A number with its words: "1 memory waits", "2 memories wait"."""
    return f"{n:,} {one if n == 1 else many}"


def shortened(text: str | None, longest: int) -> str:
    """A text on one line, of at most ``longest`` characters."""
    plain = " ".join((text or "").split())
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def _cell(value: object) -> str:
    from rich.markup import escape

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
