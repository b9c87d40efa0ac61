"""`jochi demo` without a server: what is refused before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from jochi.cli.demo import demo
from jochi.errors import JochiError, UsageError
from jochi.operate.report import page

app = typer.Typer()
app.command()(demo)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JOCHI_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def refused(home: Path, *arguments: str) -> JochiError:
    found = CliRunner().invoke(app, list(arguments)).exception
    assert isinstance(found, JochiError)
    assert not (home / "servers/demo/run").exists(), "no server was started"
    return found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no memories in it"),
        ("not json\n", "no memories in it; the first of 1 bad lines"),
        ("[1, 2]", "isn't LoCoMo"),
        ("[{", "isn't one"),
        ('{"kind": "Task", "id": "1", "created_at": "2024-01-01T00:00:00Z"}\n', "could expire"),
    ],
)
def test_files_that_hold_nothing_to_show(home: Path, tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "data"
    file.write_text(text, encoding="utf-8")
    error = refused(home, "--data", str(file))
    assert isinstance(error, UsageError)
    assert says in error.what
    assert error.fix


def test_a_file_that_is_not_there(home: Path) -> None:
    error = refused(home, "--data", "nowhere.jsonl")
    assert "No such file" in error.what
    assert isinstance(error, UsageError)


def test_a_report_that_cannot_be_written(home: Path, tmp_path: Path) -> None:
    assert "no such folder" in refused(home, "--report", "nowhere/report.html").what
    assert "a folder stands there" in refused(home, "--report", str(tmp_path)).what


def test_without_matplotlib_the_extra_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page.importlib.util, "find_spec", lambda name: None)
    assert "jochi[report]" in (refused(home).fix or "")
