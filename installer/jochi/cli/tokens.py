"""`jochi tokens prime|count`: the vocabulary, and how many tokens a text has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from jochi.cli.output import AsJson, err, finish_with_json, out, say
from jochi.errors import UsageError
from jochi.text import vocabulary
from jochi.text.tokens import ESTIMATE_COUNTER, Tiktoken, best_counter

app = typer.Typer(help="Exact token counts, if the vocabulary is on this machine.", no_args_is_help=True)


@app.command()
def prime(
    source: Annotated[
        Path | None, typer.Option("--from", help="Take the vocabulary from this file instead of the network.")
    ] = None,
) -> None:
    """Fetch the vocabulary of o200k_base, check its hash and store it."""
    target = vocabulary.prime_from_network() if source is None else vocabulary.prime_from_file(source)
    Tiktoken(target)
    say(f"tokens are counted exactly from now on: {target}")


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
    if counter.name == ESTIMATE_COUNTER:
        err.print("  → an estimate; `jochi tokens prime` fetches the vocabulary for exact counts", markup=False)


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the text can't be read: {error}", where=file) from None
