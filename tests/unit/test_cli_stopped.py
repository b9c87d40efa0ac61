"""Ctrl-C while the command line is still being imported: one line, and 130. An output that nothing can be written to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STOPPED_AT = """
import sys
class Stop:
    def find_spec(self, name, *_):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stop())
from jochi.cli import main
main()
"""


@pytest.mark.parametrize(
    "name",
    [
        "neo4j",
        *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("jochi.client", "jochi.cli.app", "rich.table")),
    ],
)
def test_ctrl_c_while_something_is_imported_is_one_line(name: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", STOPPED_AT.format(name=name), "doctor"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr == "stopped; what was committed stays, and the same command again goes on or changes nothing\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_an_output_that_cannot_be_written_is_told() -> None:
    command = [sys.executable, "-m", "jochi", "policy", "show"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == (
        "error: the output can't be written: No space left on device\n"
        "  → make room, and run the same command again; what was committed stays\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="a shell closes it")
def test_a_command_runs_without_standard_output() -> None:
    command = ["sh", "-c", 'exec "$0" -m jochi policy show >&-', sys.executable]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_package_alone_imports_next_to_nothing() -> None:
    text = "import sys, jochi.cli; print(sorted(name for name in sys.modules if name.split('.')[0] in ('jochi', 'neo4j', 'typer')))"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "['jochi', 'jochi.cli', 'jochi.errors', 'jochi.version']"


def test_the_client_is_there_when_it_is_asked_for() -> None:
    import jochi
    from jochi.client import Jochi

    assert jochi.Jochi is Jochi
    with pytest.raises(AttributeError, match="no attribute 'Jochy'"):
        jochi.Jochy  # noqa: B018
