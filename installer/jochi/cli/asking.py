"""Asking before something that can't be taken back."""

from __future__ import annotations

import typer

from jochi.errors import Refused


def ask(question: str, *, yes: bool, fix: str = "pass --yes where nobody can answer") -> None:
    """Goes on if ``yes``, or if a person says so; `Refused` where the answer is no, or where nobody can give one: ``fix``."""
    if yes:
        return
    try:
        if typer.confirm(question, err=True):
            return
    except typer.Abort:
        typer.echo(err=True)
    raise Refused("nothing was changed", fix=fix)
