"""`jochi worker --compress` as it is called: killed in the middle, against an endpoint that fails, and silent about its key."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import TestServer
from tests.unit.stub_chat import Answer, Stub, stub_server
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.text.tokens import Estimate
from jochi_workers.derive.compress import CompressHandler
from jochi_workers.derive.compress.extractive import ExtractiveSummariser
from jochi_workers.queue import Queue

KEY = "sk-tests-0123456789-secret"
TEXT = "Ann has 3 cats in Berlin. " + "They sleep all day and play at night when nobody is looking. " * 50
GOOD = "Ann has 3 cats in Berlin. They sleep all day and play at night."


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    jochi.apply()
    jochi.database.run(
        "UNWIND ['a', 'b'] AS id CREATE (:Curated:CompressedContext {key: 's/' + id, scope: 's', id: id, content: $text, "
        "tier: 'ARCHIVE', content_hash: 'h', token_count: 770, token_counter: 'mine', created_at: $made, "
        "compression_level: 'full'})",
        {"text": TEXT, "made": datetime.now(timezone.utc) - timedelta(days=9)},
    )
    return jochi


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setenv("TESTS_KEY", KEY)
    with stub_server() as made:
        yield made


@pytest.fixture
def environment(server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    password = tmp_path / "password"
    password.write_text(server.password)
    mine = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD_FILE": str(password)}
    for name, value in mine.items():
        monkeypatch.setenv(name, value)
    return {**os.environ, **mine}


def contents(client: Jochi) -> list[Any]:
    rows = client.database.run(
        "MATCH (m:Curated) RETURN m.content AS c, "
        "head(COLLECT { MATCH (w:JochiWork {key: m.key}) RETURN w.lease }) AS l ORDER BY m.key",
        write=False,
    )
    return [(row["c"] == TEXT, row["l"] is not None) for row in rows]


def words(stub: Stub, *more: str) -> list[str]:
    asked = ["worker", "--compress", "anthropic", "--compress-model", "m-1", "--compress-base-url", stub.url]
    return [*asked, "--compress-key-variable", "TESTS_KEY", *more]


def test_killed_while_a_model_answers(client: Jochi, stub: Stub, environment: dict[str, str]) -> None:
    stub.script = [Answer(hang=True)]
    code = f"import sys; sys.argv = ['jochi', *{words(stub)!r}]; from jochi.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        while not stub.requests:
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
    finally:
        process.kill()
        process.communicate()
    assert sorted(contents(client)) == [(True, False), (True, True)]
    [row] = client.database.run("MATCH (s) WHERE s:CurationSnapshot OR s:CurationAudit RETURN count(s) AS n")
    assert row["n"] == 0
    late = datetime.now(timezone.utc) + client.policy.policy.work.lease + client.policy.policy.compression.cycle
    handler = CompressHandler(ExtractiveSummariser(Estimate()), client.policy.policy.compression, Estimate())
    queue = Queue(client.engine, "compress", clock=lambda: late)
    batch = queue.lease(10)
    assert len(batch.rows) == 2, "its lease has run out"
    assert queue.finish(batch, handler.handle(batch.rows).done).done == 2
    assert contents(client) == [(False, False), (False, False)]


def test_an_endpoint_that_fails_first_then_answers(client: Jochi, stub: Stub, environment: dict[str, str]) -> None:
    stub.script = [Answer(status=429, headers={"Retry-After": "0"}), Answer(GOOD), Answer(GOOD, stop="max_tokens")]
    result = CliRunner().invoke(app, words(stub, "--once"))
    assert result.exit_code == 0, result.output
    assert sorted(contents(client)) == [(False, False), (True, False)]
    assert "1 rejected: cut off" in result.output
    assert "22 tokens sent, 14 received" in result.output
    told = CliRunner().invoke(app, ["derive", "ls"])
    assert "compress today: 1 of 2 tried; 22 tokens sent, 14 received" in told.output
    [row] = client.database.run(
        "MATCH (n) UNWIND keys(n) AS name RETURN collect(DISTINCT toStringOrNull(n[name])) AS values"
    )
    assert KEY not in result.output + told.output + "".join(value for value in row["values"] if value)
    [audit] = client.database.run("MATCH (a:CurationAudit {action: 'compress'}) RETURN properties(a) AS a")
    assert audit["a"].items() >= {"provider": "anthropic", "model": "m-1", "tokens_in": 11, "tokens_out": 7}.items()


def test_a_wrong_key_ends_the_worker_and_costs_no_memory(
    client: Jochi, stub: Stub, environment: dict[str, str]
) -> None:
    stub.script = [Answer(status=401)] * 3
    result = CliRunner().invoke(app, words(stub, "--once"))
    assert result.exit_code != 0
    assert KEY not in result.output + repr(result.exception)
    assert contents(client) == [(True, False), (True, False)]
    rows = client.database.run("MATCH (w:JochiWork) WHERE w.tries > 0 RETURN w")
    assert rows == []


def test_decompress_from_the_command_line(client: Jochi, stub: Stub, environment: dict[str, str]) -> None:
    stub.script = [Answer(GOOD), Answer(GOOD)]
    CliRunner().invoke(app, words(stub, "--once"))
    assert contents(client) == [(False, False), (False, False)]
    told = CliRunner().invoke(app, ["decompress", "s/a", "--dry-run"])
    assert (told.exit_code, "would be whole again, 770 tokens" in told.output) == (0, True), told.output
    told = CliRunner().invoke(app, ["decompress", "s/a", "s/none"])
    assert "s/a: whole again, 770 tokens" in told.output
    assert "s/none: there is no live memory" in told.output
    assert told.exit_code != 0
    assert contents(client) == [(True, False), (False, False)]
