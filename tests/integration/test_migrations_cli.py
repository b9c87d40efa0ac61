"""`jochi engine migrations ls|apply|validate` as a person runs them. Needs the fixture `database`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from jochi.cli import migrations as commands
from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.errors import Refused, UsageError
from jochi.schema.migrations.files import read_folder

pytestmark = pytest.mark.server

FILES = read_folder(schema_folder()).files


@pytest.fixture
def run(database: Database, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs one command on the test's database; the connection options are another test's matter."""

    @contextmanager
    def connected(context: object) -> Iterator[Database]:
        yield database

    monkeypatch.setattr(commands, "connect", connected)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(commands.app, list(arguments))

    return invoke


def test_from_pending_to_valid(run: Any, database: Database) -> None:
    listed = [line for line in run("ls").stdout.splitlines() if line.startswith("│")]
    for file in FILES:
        (line,) = [line for line in listed if file.source in line]
        assert "PENDING" in line, "nothing is folded in a pipe"
    assert [row["state"] for row in json.loads(run("ls", "--json").stdout)["migrations"]] == ["PENDING"] * len(FILES)
    validated = run("validate")
    assert validated.exit_code == 5
    assert "INCOMPLETE_DATABASE" in validated.stdout
    refused = run("validate", "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["outcome"]) == (5, "INCOMPLETE_DATABASE")
    applied = run("apply")
    assert applied.exit_code == 0, applied.output
    assert f"applied V0001__curated_memories.cypher: {len(FILES[0].executable)} statements" in applied.stdout
    assert "applying V0001__curated_memories.cypher" in applied.stderr
    assert "nothing to do" in run("apply").stdout
    assert json.loads(run("apply", "--json").stdout)["outcome"] == "NOTHING_TO_DO"
    assert json.loads(run("validate", "--json").stdout)["outcome"] == "VALID"
    validated = run("validate")
    assert (validated.exit_code, validated.stdout) == (0, f"VALID (database {database.name})\n")


def test_a_lock_is_shown_and_stops_apply(run: Any, database: Database) -> None:
    database.run("CREATE (:__Neo4jMigrationsLock {id: 'b7', name: 'John Doe'})")
    assert "locked by another tool" in run("ls").stdout
    stopped = run("apply", "--wait", "0")
    assert isinstance(stopped.exception, Refused)
    broken = run("apply", "--wait", "0", "--break-lock", "--placeholder", "a=b=c")
    assert broken.exit_code == 0
    assert "took over the lock" in broken.stdout


def test_a_malformed_placeholder_is_wrong_usage(run: Any) -> None:
    assert isinstance(run("apply", "--placeholder", "novalue").exception, UsageError)
