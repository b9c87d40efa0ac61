"""`jochi tokens count`: how many tokens a text has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from jochi.cli.output import AsJson, finish_with_json, out, say
from jochi.errors import UsageError
from jochi.text.tokens import best_counter

app = typer.Typer(help="How many tokens a text has, counted as limits are kept.", no_args_is_help=True)


@app.command(hidden=True)
def prime(source: Annotated[Path | None, typer.Option("--from")] = None) -> None:
    """Nothing any more: the vocabulary comes with Jochi. It is still here for scripts that call it."""
    say(f"tokens are counted by {best_counter().name}; nothing has to be fetched for that any more")


@app.command()
def count(
    file: Annotated[str, typer.Argument(help="A text file in UTF-8. - reads standard input.")] = "-",
    as_json: AsJson = False,
) -> None:
    """Count the tokens of a text, and say who counted."""
    counter = best_counter()
    tokens = counter.count(_text(file))
    finish_with_json({"tokens": tokens, "counter": counter.name}, as_json)
    out.print(f"{tokens:,} tokens ({counter.name})", markup=False)


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the text can't be read: {error}", where=file) from None
