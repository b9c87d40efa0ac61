"""What docs/tutorial/first-half-hour.md shows is what the commands print."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import TestServer
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.policy import LoadedPolicy, load_policy

PAGE = Path(__file__).parents[2] / "docs/tutorial/first-half-hour.md"
BLOCK = re.compile(r"^```text\n\$ jochi (?P<command>.*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
FILE = re.compile(r"^```json\n(?P<lines>(?:.*\n)*?)```$", re.MULTILINE)

CHECKS_OF_THE_PUMP = "procedures(?= {5})|pump|restart|hygiene|derivations|threads|lock time-out|constraints of apps"
OF_THE_PUMP = re.compile(
    rf"^(?:pump:|procedures:|last runs| +\d{{4}}-|jobs:|(?:ok|warn|fail) +(?:{CHECKS_OF_THE_PUMP}) |database .* ok, | +→)"
)
"""Lines about what the database does by itself: the tests' server isn't armed, and has constraints of its own."""

VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ|@[0-9a-f]{12}|\b\d+\.\d+\.\d+\b|(?<=all )\d+|restore/[-0-9a-f]{36}|(?<=applied by )\S+"
)
"""Moments, versions, and numbers of what is installed."""


def lines(output: str) -> list[str]:
    """What must be the same each time."""
    same = (line for line in output.splitlines() if line.strip() and not OF_THE_PUMP.match(line))
    return [VOLATILE.sub("#", line).rstrip() for line in same]


@pytest.mark.server
def test_commands_print_what_the_page_shows(
    install_once: Callable[[LoadedPolicy], Jochi], server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, page = install_once(load_policy()), PAGE.read_text(encoding="utf-8")
    password = tmp_path / "password"
    password.write_text(server.password)
    [memories] = FILE.finditer(page)
    (tmp_path / "memories.jsonl").write_text(memories["lines"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    surroundings = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD_FILE": str(password)}
    blocks = list(BLOCK.finditer(page))
    assert {"status", "plan", "doctor", "--help"} <= {block["command"] for block in blocks}
    for block in blocks:
        result = CliRunner().invoke(
            app, block["command"].split(), prog_name="jochi", env={**surroundings, "COLUMNS": "80"}
        )
        # What else stands there may tell of what other tests left in the server.
        printed = lines(result.output)
        assert not [line for line in lines(block["output"]) if line not in printed], block["command"]
        if block["command"].startswith("apply"):
            client.run("curate_due")  # as the pump does within five minutes
