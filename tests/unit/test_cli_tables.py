"""Tables: whole lines in a file or pipe, whole ids on a terminal; and a reader that goes away."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from rich.console import Console

from jochi.cli import output

RUN = "curate_due/2d0b9d5e-8a3b-4c7a-9a0e-0123456789ab"
AUDIT = "7f0b9d5e-8a3b-4c7a-9a0e-0123456789cd"
LONG = "pruned 2, archived 4, promoted 18, demoted 1, flagged 3 " * 6


def told(width: int, columns: tuple[str, ...], *rows: tuple[object, ...], monkeypatch: pytest.MonkeyPatch) -> str:
    file = io.StringIO()
    monkeypatch.setattr(output, "out", Console(file=file, width=width, highlight=False))
    output.table("Runs", columns, rows)
    return file.getvalue()


def test_nothing_is_folded_where_no_terminal_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert output.out.width >= 10_000
    text = told(output.out.width, ("run", "what", "audit id"), (RUN, LONG, AUDIT), monkeypatch=monkeypatch)
    (line,) = [line for line in text.splitlines() if line.startswith("│")]
    assert [cell.strip() for cell in line.strip("│").split("│")] == [RUN, LONG.strip(), AUDIT]


def test_on_a_terminal_other_columns_give_way_to_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    text = told(80, ("run", "what"), (RUN, LONG), monkeypatch=monkeypatch)
    assert f"│ {RUN} │" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    "columns", [("run", "started", "took", "status", "what"), ("run", "audit id", "at", "by", "x")]
)
def test_what_is_too_wide_is_told_line_by_line(columns: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    text = told(80, columns, (RUN, AUDIT, "[b]", "one\ntwo", None), monkeypatch=monkeypatch)
    longest = max(map(len, columns))
    assert f"{'run':>{longest}}: {RUN}\n" in text
    assert f": {AUDIT}\n" in text
    assert ": [b]\n" in text
    assert f": one\n{'':{longest + 2}}two\n" in text
    assert "│" not in text


def test_without_ids_a_table_stays_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ("job", "starts", "state", "last", "finished", "changed", "next", "failures", "crashes")
    text = told(80, columns, tuple("curate_due" for _ in columns), monkeypatch=monkeypatch)
    assert "│" in text
    assert max(map(len, text.splitlines())) <= 80


HEAD = """
import sys
import jochi.cli.app as tree
from jochi.cli import main
from jochi.cli.output import out, table, write_json
@tree.app.command()
def talk(how: str) -> None:
    for number in range(20_000):
        if how == "echo":
            write_json(number)
        else:
            out.print(f"line {number}")
    table("Runs", ("run",), [("x",)])
    sys.stderr.write("done")
    if how == "fails":
        raise SystemExit(3)
main()
"""


def ended(*command: str, read: bool) -> tuple[int, str]:
    """What a command ends with, and says to standard error, whose output is read to its first line, or not at all."""
    with subprocess.Popen(
        [sys.executable, "-c", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        if read:
            assert process.stdout.readline()
        process.stdout.close()
        return process.wait(), process.stderr.read()


@pytest.mark.parametrize(("how", "told"), [("fails", (3, "done")), ("echo", (0, ""))])
def test_a_closed_pipe_is_no_error(how: str, told: tuple[int, str]) -> None:
    assert ended(HEAD, "talk", how, read=True) == told


@pytest.mark.exhaustive
def test_help_that_nobody_reads_is_no_error() -> None:
    assert ended("from jochi.cli import main; main()", "--help", read=False) == (0, "")
