"""What `jochi restore`, `jochi unmerge` and `jochi decompress` say alike."""

from __future__ import annotations

from collections.abc import Iterable

from jochi.cli.output import out


def what_to_look_at(unknown: Iterable[str]) -> str | None:
    """What to look at where a key isn't what the command is for; None where the lines above say it all."""
    key = next(iter(unknown), None)
    return (
        None
        if key is None
        else f"`jochi explain {key}` says what is known of a key; `jochi runs ls` what was done lately"
    )


def print_changed(names: Iterable[str]) -> None:
    """A line for each property or relationship that has changed since and stays."""
    for name in names:
        out.print(f"  changed since, left as it is: {name}", markup=False)
