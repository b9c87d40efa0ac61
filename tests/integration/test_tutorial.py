"""What docs/tutorial/first-half-hour.md and README.md show is what comes out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import TestServer
from typer.testing import CliRunner

from jochi import Jochi, Turn
from jochi.cli.app import app
from jochi.cli.worker import making
from jochi.context import render
from jochi.policy import LoadedPolicy, load_policy
from jochi.text.tokens import Estimate
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Stop, Worker

PAGE = Path(__file__).parents[2] / "docs/tutorial/first-half-hour.md"
README = Path(__file__).parents[2] / "README.md"
TURNS = re.compile(r"^\$ cat (\w+)\.jsonl\n((?:\{.*\n)+)", re.MULTILINE)
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


@pytest.mark.slow
@pytest.mark.server
def test_the_turns_of_the_readme_come_to_what_it_shows(install_once: Callable[[LoadedPolicy], Jochi]) -> None:
    """MEMORY.md, what was replaced, and what stands behind what was said later. Its answers need vectors: made by hand."""
    client = install_once(load_policy())
    _, _, section = README.read_text(encoding="utf-8").partition("## What comes out of a conversation\n")
    section, _, _ = section.partition("\n## What an agent")
    handlers = [PrepareHandler(Estimate()), *making(client, Stop(), "extractive", {}, only="learn")]
    said = [(session, [json.loads(line) for line in turns.splitlines()]) for session, turns in TURNS.findall(section)]
    assert sum(len(turns) for _, turns in said) == 10
    for session, turns in said:
        for turn in turns:
            client.observe(Turn(**turn, session=session, scope="home"))
        client.flush(session, scope="home")
        client.run("flush_buffers", drain=True)
        Worker(client.engine, handlers).run(once=True)
    memory = render(client.context("home"), "", Estimate().count, include_sensitive=False).text
    # The turns are of no day, so they are of today.
    assert _entries(memory) == _entries(section)
    found = client.database.run(
        "MATCH (n:Fact)-[r:SUPERSEDES|MAY_REPLACE]->(o:Fact) RETURN type(r) AS how, n.content AS new, o.content AS old"
    )
    # By their first and last words.
    assert {row["how"]: (row["new"][-9:], row["old"][:30]) for row in found} == {
        "SUPERSEDES": ("16 March.", "Lena: The installation is on 1"),
        "MAY_REPLACE": ("ot 2,400.", "Lena: No need, their quote is "),
    }


def _entries(text: str) -> list[str]:
    """The lines of a MEMORY.md, each item with those behind it, without ids and days."""
    items = re.findall(r"^- .* <!--.*(?:\n  - .* <!--.*)*", text, re.MULTILINE)
    return sorted(re.sub(r" <!--.*?-->|[0-9]{4}-[0-9]{2}-[0-9]{2}", "", item) for item in items)
