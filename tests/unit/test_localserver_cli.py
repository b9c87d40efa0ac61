"""`jochi server …` without a server: usage, exit codes and what is printed where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jochi.cli.server import app
from jochi.errors import Refused, UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JOCHI_HOME", str(tmp_path))
    return tmp_path


def test_status_of_a_stopped_server_ends_with_4() -> None:
    plain = CliRunner().invoke(app, ["status", "--name", "x"])
    assert (plain.exit_code, plain.stdout.splitlines()[0]) == (4, "Local server 'x' is stopped.")
    shown = CliRunner().invoke(app, ["status", "--name", "x", "--json"])
    assert shown.exit_code == 4
    assert json.loads(shown.stdout)["state"] == "stopped"


def test_stop_and_reset_of_what_does_not_run_are_done_already() -> None:
    assert "did not run" in CliRunner().invoke(app, ["stop"]).stdout
    assert "There is no local server" in CliRunner().invoke(app, ["reset"]).stdout


def test_reset_asks_before_it_deletes(home: Path) -> None:
    password = home / "servers/default/password"
    password.parent.mkdir(parents=True)
    password.write_text("x")
    refused = CliRunner().invoke(app, ["reset"], input="n\n")
    assert refused.exit_code == 1
    assert password.exists()
    assert CliRunner().invoke(app, ["reset"], input="y\n").exit_code == 0
    assert not password.exists()


def test_an_upgrade_is_asked_about(home: Path) -> None:
    folder = home / "servers/default"
    (folder / "data/databases").mkdir(parents=True)
    record = {"uri": "bolt://127.0.0.1:1", "port": 1, "version": "5.26.30", "apoc": None, "password_set": True}
    (folder / "server.json").write_text(json.dumps(record))
    refused = CliRunner().invoke(app, ["start", "--version", "2026.09.0"], input="n\n")
    assert isinstance(refused.exception, Refused)
    assert (
        "5.26.30 can't open them afterwards. Copy them (1 MB) to the local server 'default-5-26-30'" in refused.output
    )
    assert [each.name for each in (home / "servers").iterdir() if each.is_dir()] == ["default"]


def test_logs_of_a_server_that_never_ran_say_where_they_would_be() -> None:
    result = CliRunner().invoke(app, ["logs", "-n", "5"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert "console.log" in result.stderr


def test_logs_print_the_last_lines(home: Path) -> None:
    log = home / "servers/default/logs/console.log"
    log.parent.mkdir(parents=True)
    log.write_text("one\ntwo\nthree\n")
    assert CliRunner().invoke(app, ["logs", "-n", "2"]).stdout == "two\nthree\n"


@pytest.mark.parametrize(
    "arguments", [["--setting", "novalue"], ["--version", "4.4"], ["--port", "1"], ["--name", "../x"]]
)
def test_wrong_usage_is_an_error_with_a_remedy(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, ["start", *arguments])
    assert isinstance(result.exception, UsageError)
    assert result.exception.fix


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from jochi.cli.server import app
from jochi.errors import JochiError
try:
    app(["start", "--version", "5.26.99"])
except JochiError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    "package",
    ["psutil", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("filelock", "jgo", "requests"))],
)
def test_without_the_extra_the_remedy_is_named(package: str, tmp_path: Path) -> None:
    environment = {**os.environ, "JOCHI_CACHE": str(tmp_path / "cache")}
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT, package], capture_output=True, text=True, env=environment, check=True
    )
    assert result.stdout.startswith(f"MissingExtra the local server needs the package {package}")
    assert "pip install 'jochi[server]'" in result.stdout
