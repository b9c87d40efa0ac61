"""A server whose only database isn't called neo4j, and has dots and a dash in its name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.faults.support import within
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import JochiError
from jochi.jobs.rearm import rearm_key, rearm_line
from jochi.localserver import LocalServer, conf

pytestmark = pytest.mark.server

NAME = "mem.prod-1"


@dataclass(frozen=True)
class Reply:
    exit_code: int
    output: str


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    monkeypatch.setattr(conf, "_FIXED", ())
    for name in [name for name in os.environ if name.startswith("JOCHI_")]:
        monkeypatch.delenv(name)
    local = LocalServer("names", home=tmp_path)
    running = local.start(settings={"initial.dbms.default_database": NAME, rearm_key(NAME): rearm_line()})
    monkeypatch.setenv("JOCHI_URI", running.uri)
    monkeypatch.setenv("JOCHI_PASSWORD_FILE", str(running.password_file))
    yield local
    local.kill()
    local.reset()


def run(*words: str) -> Reply:
    done = CliRunner().invoke(app, list(words))
    error = done.exception
    return Reply(error.exit_code if isinstance(error, JochiError) else done.exit_code, f"{done.output}{error or ''}")


def test_every_command_works_with_the_option_and_without_it(local: LocalServer) -> None:
    told = run("install")
    assert (told.exit_code, f"database {NAME}" in told.output) == (0, True), told.output
    assert f"jochi.pump.{NAME}" in told.output
    for option in ((), ("--database", "Mem.Prod-1")):
        for words in (
            ("status",),
            ("install",),
            ("remember", "--kind", "Belief", "--id", "m1", "tea"),
            ("recall", "tea"),
            ("jobs", "ls"),
            ("plan",),
            ("run", "requeue"),
        ):
            told = run(*option, *words)
            assert told.exit_code in (0, 3), (option, words, told.output)
        told = run(*option, "doctor")
        assert rearm_key(NAME) in told.output, told.output
        assert "neo4j" not in told.output.replace("https://neo4j", ""), told.output
    told = run("--database", "neo4j", "status")
    assert (told.exit_code, "no database named 'neo4j'" in told.output) == (4, True), told.output
    local.stop()
    with local.start(
        settings={"initial.dbms.default_database": NAME, rearm_key(NAME): rearm_line()}
    ).driver() as driver:
        client = Jochi(driver)
        within(
            60,
            lambda: client.armed() == [f"jochi.pump.{NAME}", f"jochi.watch.{NAME}"],
            "the line of apoc.conf arms them",
        )
    assert run("uninstall", "--yes").exit_code == 0
