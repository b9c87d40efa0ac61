"""`jochi mirror …`: a folder of files that says what the memories of a scope say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, err, out, say, shortened, some, write_json
from jochi.errors import PartlyDone, Refused
from jochi.mirror import WriteResult

app = typer.Typer(
    no_args_is_help=True, help="A folder of Markdown files with facts, artifacts and profiles: people read and edit it."
)

Scope = Annotated[str, typer.Option("--scope", "-s", help="Whose memories they are.")]
Folder = Annotated[Path, typer.Option("--out", help="The folder. Each scope has one of its own.")]
Sensitive = Annotated[bool, typer.Option("--include-sensitive", help="With memories whose access_tier is SENSITIVE.")]
StrikeMany = Annotated[bool, typer.Option("--strike-many", help="Also where many lines of a file are gone.")]


def _writer(*, whole: bool) -> Callable[..., None]:
    def write(
        context: typer.Context,
        folder: Folder,
        scope: Scope = "default",
        include_sensitive: Sensitive = False,
        strike_many: StrikeMany = False,
        as_json: AsJson = False,
    ) -> None:
        with jochi(context) as client:
            done = client.write_mirror(
                folder, scope, include_sensitive=include_sensitive, whole=whole, strike_many=strike_many
            )
        if as_json:
            write_json(done)
        else:
            _print(done)
        if done.left:
            raise PartlyDone(
                f"{some(len(done.left), 'file', 'files')} couldn't be brought up to date",
                where=str(folder),
                fix="the lines above say why; the next write tries again" if not as_json else "`left` says why",
            )

    return write


app.command(
    "write", help="Take in what people changed in the files, and write what changed in the graph since the last time."
)(_writer(whole=False))
app.command(
    "rebuild", help="The same, looking at all memories: what was changed or deleted without Jochi is found, too."
)(_writer(whole=True))


@app.command()
def check(
    context: typer.Context,
    folder: Folder,
    scope: Scope = "default",
    include_sensitive: Sensitive = False,
    as_json: AsJson = False,
) -> None:
    """Show which files are missing, edited, stale or foreign. This writes nothing; code 5 where something differs."""
    with jochi(context) as client:
        found = client.check_mirror(folder, scope, include_sensitive=include_sensitive)
    if as_json:
        write_json(found)
    else:
        for name in ("missing", "edited", "stale", "foreign"):
            for path in getattr(found, name):
                say(f"{name}: {path}")
        out.print(f"{some(found.files, 'file', 'files')} of {scope}", markup=False)
    if not found.is_none:
        raise Refused(
            "the folder doesn't say what the graph says",
            where=str(folder),
            fix=f"`jochi mirror rebuild --scope {scope} --out {folder}` takes in what was edited, and mends the rest",
        )


def _print(done: WriteResult) -> None:
    for edit in done.taken_in:
        outcome = "" if edit.outcome == "done" else f" ({edit.outcome})"
        say(f"{edit.edit}: {edit.key} {shortened(edit.text, 60)}{outcome}")
    for note in done.notes:
        err.print(note, markup=False, soft_wrap=True)
    for path, why in done.left.items():
        err.print(f"{path}: {why}", markup=False, soft_wrap=True)
    out.print(f"{some(len(done.written), 'file', 'files')} written, {len(done.removed):,} deleted", markup=False)
