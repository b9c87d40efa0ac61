"""`jochi remember`: one memory from the command line, or many from JSON Lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, finish_with_json, out, printable
from jochi.errors import UsageError
from jochi.write.importing.files import open_source
from jochi.write.importing.jsonlines import LONGEST_LINE, json_value, lines_of
from jochi.write.remembering import BATCH_SIZE, RememberResult, Result, Unreadable

REFUSED = 3
"""Exit code where some of the memories were refused."""


def remember(
    context: typer.Context,
    content: Annotated[str | None, typer.Argument(help="The text to remember.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", "-k", help="Its kind, such as Belief.")] = None,
    id: Annotated[str | None, typer.Option(help="Its id in the scope. Without it, an id is made.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="Its scope (default: default).")] = None,
    file: Annotated[str | None, typer.Option(help="Memories as JSON Lines instead; `-` reads standard input.")] = None,
    agent: Annotated[str | None, typer.Option(help="Who remembers.")] = None,
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, max=5_000, help="Memories in one transaction.")
    ] = BATCH_SIZE,
    as_json: AsJson = False,
) -> None:
    """Write memories. What is known already is reinforced instead of written twice.

    A refused memory is named with its index (from 0) and its reason, and the others are written: exit code 3.
    """
    if (file is None) == (content is None and kind is None):
        raise UsageError("nothing to remember, or too much", fix="give a text with --kind, or --file")
    if file is None and content is None:
        raise UsageError("there is no text to remember", fix="give one; memories without content go in with --file")
    if file is None and kind is None:
        raise UsageError("a memory needs a kind", fix="add --kind Belief, or another kind of the policy")
    if file is not None and (id is not None or scope is not None):
        raise UsageError("--id and --scope go with one text", fix="write them into the lines of the file")

    def tell(result: Result) -> None:
        # A plain line, never wrapped, and at once: a file may be long.
        if result.outcome == "refused" and not as_json:
            typer.echo(printable(str(result)), err=True)

    with ExitStack() as stack:
        memories: Any = {"kind": kind, "content": content, "id": id, "scope": scope}
        if file is not None:
            memories = _memories(_opened(stack, file))
        client = stack.enter_context(jochi(context))
        remembered = client.remember(memories, agent=agent, batch_size=batch_size, on_result=tell)
    _show(remembered, as_json=as_json, one=file is None)
    if remembered.refused:
        raise typer.Exit(REFUSED)


def _opened(stack: ExitStack, file: str) -> IO[bytes]:
    if file == "-":
        return sys.stdin.buffer
    source = open_source(Path(file))
    stack.callback(source.close)
    return source.stream


def _memories(stream: IO[bytes]) -> Iterator[object]:
    for raw in lines_of(stream):
        if raw is None:
            yield Unreadable(f"the line is longer than {LONGEST_LINE // 1024**2} MB")
        elif raw.strip():
            try:
                yield json_value(raw)
            except ValueError as error:
                yield Unreadable(f"the line {error}")


def _show(remembered: RememberResult, *, as_json: bool, one: bool) -> None:
    counts = {
        "written": remembered.written,
        "reinforced": remembered.reinforced,
        "refused": remembered.refused,
    }
    finish_with_json(
        {**counts, "refusals": remembered.refusals, "results": remembered.results},
        as_json,
        exit_code=REFUSED if remembered.refused else 0,
    )
    for result in remembered.results:
        if one and result.outcome != "refused":
            known = "" if result.owner is None else f": {result.owner} is known"
            out.print(f"{result.key} {result.outcome}{known}", markup=False)
    if not one:
        out.print(", ".join(f"{n:,} {outcome}" for outcome, n in counts.items()))
