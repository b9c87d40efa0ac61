"""Before what can't be taken back a person is asked; nobody there to answer is told what to pass."""

from __future__ import annotations

import typer
from typer.testing import CliRunner

from jochi.cli.asking import ask
from jochi.errors import Refused

app = typer.Typer()


@app.command()
def burn(yes: bool = False) -> None:
    ask("Burn it?", yes=yes)
    typer.echo("burnt")


def test_yes_and_a_persons_yes_go_on() -> None:
    assert CliRunner().invoke(app, ["--yes"]).stdout == "burnt\n"
    assert CliRunner().invoke(app, [], input="y\n").stdout.endswith("burnt\n")


def test_no_and_nobody_change_nothing_and_say_what_to_pass() -> None:
    for given in ("n\n", ""):
        ended = CliRunner().invoke(app, [], input=given)
        assert isinstance(ended.exception, Refused)
        assert "--yes" in str(ended.exception.fix)
        assert "burnt" not in ended.stdout
